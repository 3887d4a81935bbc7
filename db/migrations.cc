#include "db/migrations.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "db/schema_files.h"

namespace infimum {
namespace {

constexpr std::int64_t kApplicationId = 0x696e666d;  // "infm"

}  // namespace

std::int64_t NewestSchema() { return static_cast<std::int64_t>(SchemaFiles().size()); }

Result<std::int64_t> SchemaOf(const Connection& connection) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t version, connection.AskInteger("PRAGMA user_version"));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t application, connection.AskInteger("PRAGMA application_id"));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t objects, connection.AskInteger("SELECT count(*) FROM sqlite_schema"));
  if (objects == 0 && version == 0) return 0;
  if (application != kApplicationId || version < 1) {
    return Error{fmt::format("{}: a SQLite file, but not an infimum store; give --db another name", connection.path())};
  }
  if (version > NewestSchema()) {
    return Error{fmt::format("{}: made by a newer infimum (schema {}, this one knows {}): update infimum",
                             connection.path(), version, NewestSchema())};
  }
  return version;
}

Status Migrate(const Connection& connection) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t seen, SchemaOf(connection));
  if (seen == NewestSchema()) return {};
  INFIMUM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(connection));
  // Asked again inside: another program may have migrated it meanwhile.
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t version, SchemaOf(connection));
  for (std::int64_t next = version; next < NewestSchema(); ++next) {
    INFIMUM_RETURN_IF_ERROR(connection.Execute(std::string(SchemaFiles()[static_cast<std::size_t>(next)])));
  }
  INFIMUM_RETURN_IF_ERROR(connection.Execute(
      fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {}", NewestSchema(), kApplicationId)));
  return transaction.Commit();
}

}  // namespace infimum
