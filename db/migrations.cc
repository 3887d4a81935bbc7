#include "db/migrations.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "db/postgresql_connection.h"
#include "db/schema_files.h"

namespace infimum {
namespace {

constexpr std::int64_t kApplicationId = 0x696e666d;  // "infm"

// SQLite keeps the number in the file's header, beside a number that tells our files from other programs'.
Result<std::int64_t> SchemaOfSqlite(Connection& connection) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t version, connection.AskInteger("PRAGMA user_version"));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t application, connection.AskInteger("PRAGMA application_id"));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t objects, connection.AskInteger("SELECT count(*) FROM sqlite_schema"));
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
    return Error{fmt::format("{}: made by a newer infimum (schema {}, this one knows {}): update infimum",
                             connection.name(), version, NewestSchema())};
  }
  return version;
}

Status Migrate(Connection& connection) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t seen, SchemaOf(connection));
  if (seen == NewestSchema()) return {};
  INFIMUM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(connection));
  // Asked again inside: another program may have migrated it meanwhile.
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t version, SchemaOf(connection));
  if (version == NewestSchema()) return {};
  if (version == 0 && connection.dialect() == Dialect::kPostgreSql) {
    INFIMUM_RETURN_IF_ERROR(connection.Execute(fmt::format(
        "CREATE SCHEMA IF NOT EXISTS {}; CREATE TABLE schema_versions (version BIGINT PRIMARY KEY, migrated_at "
        "TIMESTAMPTZ NOT NULL DEFAULT now())",
        kPostgreSqlSchema)));
  }
  for (const SchemaFile& file : SchemaFiles()) {
    if (file.dialect != connection.dialect() || file.version <= version) continue;
    INFIMUM_RETURN_IF_ERROR(connection.Execute(std::string(file.text)));
  }
  INFIMUM_RETURN_IF_ERROR(RecordVersion(connection));
  return transaction.Commit();
}

}  // namespace infimum
