#include "db/store/migrations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "db/connection/postgresql_connection.h"
#include "db/store/data_sheets.h"
#include "db/store/device_joining.h"
#include "db/store/run_details.h"
#include "infimum/measurement/device.h"

namespace infimum {
namespace {

constexpr std::int64_t kEvidenceSchema = 6;
constexpr std::int64_t kApplicationId = 0x696e666d;  // "infm"

// SQLite keeps the number in the file's header, beside a number that marks our files.
Result<std::int64_t> SchemaOfSqlite(Connection& connection) {
  // First: another process may make the store between two of these, and where it has objects it has the numbers.
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t objects, connection.AskInteger("SELECT count(*) FROM sqlite_schema"));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t version, connection.AskInteger("PRAGMA user_version"));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t application, connection.AskInteger("PRAGMA application_id"));
  if (objects == 0 && version == 0) return 0;
  if (application != kApplicationId || version < 1) {
    return Error{fmt::format("{}: a SQLite file, but not an infimum store; give --db another name", connection.name())};
  }
  return version;
}

// PostgreSQL in a table of its own.
Result<std::int64_t> SchemaOfPostgreSql(Connection& connection) {
  INFIMUM_ASSIGN_OR_RETURN(
      const std::int64_t tables,
      connection.AskInteger(fmt::format("SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON "
                                        "n.oid = c.relnamespace WHERE n.nspname = '{}'",
                                        kPostgreSqlSchema)));
  if (tables == 0) return 0;
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t ours,
                           connection.AskInteger(fmt::format("SELECT count(*) FROM pg_catalog.pg_tables WHERE "
                                                             "schemaname = '{}' AND tablename = 'schema_versions'",
                                                             kPostgreSqlSchema)));
  if (ours == 0) {
    return Error{fmt::format("{}: its schema '{}' was not made by infimum; give --db another database",
                             connection.name(), kPostgreSqlSchema)};
  }
  return connection.AskInteger("SELECT coalesce(max(version), 0) FROM schema_versions");
}

Status RecordVersion(Connection& connection) {
  if (connection.dialect() == Dialect::kSqlite) {
    return connection.Execute(
        fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {}", NewestSchema(), kApplicationId));
  }
  return connection.Execute(fmt::format("INSERT INTO schema_versions (version) VALUES ({})", NewestSchema()));
}

// Generations that came before the store knew about years.
Status DateGenerations(Connection& connection) {
  INFIMUM_ASSIGN_OR_RETURN(const auto find, connection.Prepare("SELECT id, name FROM generations WHERE year IS NULL"));
  std::vector<std::pair<std::int64_t, std::int64_t>> years;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
    if (!row) break;
    if (const auto year = YearOfGeneration(find->Text(1))) years.emplace_back(find->Integer(0), *year);
  }
  INFIMUM_ASSIGN_OR_RETURN(const auto update, connection.Prepare("UPDATE generations SET year = $1 WHERE id = $2"));
  for (const auto& [id, year] : years) {
    INFIMUM_RETURN_IF_ERROR(update->RunWith(year, id));
  }
  return {};
}

// What each environment becomes whose key held evidence too, for schema 6.
Status ListOlderEnvironments(Connection& connection) {
  const char* const text = connection.dialect() == Dialect::kSqlite ? "TEXT" : "TEXT COLLATE \"C\"";
  INFIMUM_RETURN_IF_ERROR(connection.Execute(fmt::format(
      "CREATE TEMP TABLE older_environments (id BIGINT PRIMARY KEY, kept BIGINT NOT NULL, key {0} NOT NULL, told {0} "
      "NOT NULL, facts {0} NOT NULL)",
      text)));
  INFIMUM_ASSIGN_OR_RETURN(const auto find,
                           connection.Prepare("SELECT id, key, libraries, threads, affinity, clock_policy, host, "
                                              "infimum_version FROM environments ORDER BY id"));
  INFIMUM_ASSIGN_OR_RETURN(const auto add,
                           connection.Prepare("INSERT INTO older_environments (id, kept, key, told, facts) VALUES ($1, "
                                              "$2, $3, $4, $5)"));
  std::map<std::string, std::int64_t> kept;  // by its new key the first
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
    if (!row) return {};
    Environment environment;
    const Result<std::map<std::string, std::string>> libraries = ParseTexts(find->Text(2));
    if (libraries.ok()) environment.libraries = *libraries;
    environment.threads = find->Integer(3);
    environment.evidence = {{evidence::kAffinity, find->Text(4)},
                            {evidence::kClocks, find->Text(5)},
                            {evidence::kSystem, find->Text(6)},
                            {evidence::kInfimum, find->Text(7)}};
    std::erase_if(environment.evidence, [](const auto& fact) { return fact.second.empty(); });
    // One whose libraries cannot be read keeps its key; `infimum db check` reports it.
    const std::string key = libraries.ok() ? environment.Key().text : find->Text(1);
    const std::string facts = FormatTexts(environment.evidence);
    INFIMUM_RETURN_IF_ERROR(add->RunWith(find->Integer(0), kept.try_emplace(key, find->Integer(0)).first->second, key,
                                         environment.Told().text, facts));
  }
}

// And runs that came before it kept their point value.
Status SummarizeRuns(Connection& connection) {
  INFIMUM_ASSIGN_OR_RETURN(const auto next,
                           connection.Prepare("SELECT id, details FROM runs WHERE id > $1 ORDER BY id LIMIT 1"));
  INFIMUM_ASSIGN_OR_RETURN(const auto update,
                           connection.Prepare("UPDATE runs SET best_us = $1, low_us = $2, high_us = $3 WHERE id = $4"));
  std::int64_t id = 0;
  while (true) {
    next->Bind(1, id);
    INFIMUM_ASSIGN_OR_RETURN(const bool row, next->Step());
    if (!row) return {};
    id = next->Integer(0);
    RunProfile run;
    const bool readable = ParseRunDetails(next->Text(1), run).ok();  // `infimum db check` reports the others
    next->Reset();
    const std::optional<RunSummary> summary = readable ? SummaryOf(run) : std::nullopt;
    if (!summary) continue;
    INFIMUM_RETURN_IF_ERROR(update->RunWith(summary->best_us, summary->low_us, summary->high_us, id));
  }
}

}  // namespace

std::int64_t NewestSchema() {
  std::int64_t newest = 0;
  for (const SchemaFile& file : SchemaFiles()) newest = std::max(newest, file.version);
  return newest;
}

Result<std::int64_t> SchemaOf(Connection& connection) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t version, connection.dialect() == Dialect::kSqlite
                                                           ? SchemaOfSqlite(connection)
                                                           : SchemaOfPostgreSql(connection));
  if (version > NewestSchema()) {
    return Error{fmt::format("{}: made by a newer infimum (schema {}, this one supports {}): update infimum",
                             connection.name(), version, NewestSchema())};
  }
  return version;
}

Status Migrate(Connection& connection, const std::function<void(const std::string&)>& say) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t seen, SchemaOf(connection));
  if (seen == NewestSchema()) return {};
  INFIMUM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(connection));
  // Asked again inside: another program may have migrated it meanwhile.
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t version, SchemaOf(connection));
  if (version == NewestSchema()) return {};
  std::string copy;
  if (version > 0) {
    INFIMUM_ASSIGN_OR_RETURN(copy, connection.BackUp(fmt::format("schema-{}", version)));
  }
  if (version == 0 && connection.dialect() == Dialect::kPostgreSql) {
    INFIMUM_RETURN_IF_ERROR(connection.Execute(fmt::format(
        "CREATE SCHEMA IF NOT EXISTS {}; CREATE TABLE schema_versions (version BIGINT PRIMARY KEY, migrated_at "
        "TIMESTAMPTZ NOT NULL DEFAULT now())",
        kPostgreSqlSchema)));
  }
  for (const SchemaFile& file : SchemaFiles()) {
    if (file.dialect != connection.dialect() || file.version <= version) continue;
    if (file.version == kEvidenceSchema && version > 0) INFIMUM_RETURN_IF_ERROR(ListOlderEnvironments(connection));
    INFIMUM_RETURN_IF_ERROR(connection.Execute(std::string(file.text)));
  }
  if (version < 3) {
    INFIMUM_RETURN_IF_ERROR(DateGenerations(connection));
    INFIMUM_RETURN_IF_ERROR(SummarizeRuns(connection));
  }
  if (version > 0 && version < kEvidenceSchema) INFIMUM_RETURN_IF_ERROR(RenewDevices(connection));
  INFIMUM_RETURN_IF_ERROR(RecordVersion(connection));
  INFIMUM_RETURN_IF_ERROR(transaction.Commit());
  if (!copy.empty())
    say(fmt::format("{}: brought from schema {} to {}; as it was, it is kept in {}", connection.name(), version,
                    NewestSchema(), copy));
  return {};
}

}  // namespace infimum
