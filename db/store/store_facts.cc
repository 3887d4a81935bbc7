#include "db/store/store_facts.h"

#include <fmt/format.h>

#include "db/connection/postgresql_connection.h"
#include "db/store/migrations.h"

namespace infimum {
namespace {

constexpr const char* kTables[] = {"devices",    "generations",  "environments", "evidence",    "workloads",
                                   "candidates", "campaigns",    "measurements", "repetitions", "peak_rates",
                                   "models",     "model_layers", "runs"};

}  // namespace

Result<StoreFacts> ReadFacts(Connection& connection) {
  StoreFacts facts;
  INFIMUM_ASSIGN_OR_RETURN(facts.schema, SchemaOf(connection));
  for (const char* const table : kTables) {
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t rows,
                             connection.AskInteger(fmt::format("SELECT count(*) FROM {}", table)));
    facts.tables.emplace_back(table, rows);
  }
  if (connection.dialect() == Dialect::kSqlite) {
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t pages, connection.AskInteger("PRAGMA page_count"));
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t page, connection.AskInteger("PRAGMA page_size"));
    facts.bytes = pages * page;
    return facts;
  }
  INFIMUM_ASSIGN_OR_RETURN(
      facts.bytes,
      connection.AskInteger(fmt::format("SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS BIGINT) FROM "
                                        "pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = "
                                        "c.relnamespace WHERE n.nspname = '{}' AND c.relkind = 'r'",
                                        kPostgreSqlSchema)));
  return facts;
}

}  // namespace infimum
