// Addresses: which database a text names, and how it is opened.
#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "db/data_files.h"
#include "db/migrations.h"
#include "db/postgresql_connection.h"
#include "db/sql_store.h"
#include "db/sqlite_connection.h"
#include "db/storable_text.h"
#include "infimum/base/text.h"
#include "infimum/db/store.h"

namespace infimum {
namespace {

std::string PathOf(const std::string& address) {
  constexpr std::string_view kScheme = "sqlite:";
  return address.starts_with(kScheme) ? address.substr(kScheme.size()) : address;
}

std::unique_ptr<Store> StoreOver(std::unique_ptr<Connection> connection) {
  return std::make_unique<SqlStore>(std::move(connection));
}

Result<std::unique_ptr<Store>> OpenPostgreSql(const std::string& address, OpenMode mode) {
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<PostgreSqlConnection> connection,
                           PostgreSqlConnection::Open(address, mode == OpenMode::kReadOnly));
  if (mode == OpenMode::kReadWrite) {
    INFIMUM_RETURN_IF_ERROR(Migrate(*connection));
    return StoreOver(std::move(connection));
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t schema, SchemaOf(*connection));
  if (schema == 0) {
    return Error{fmt::format("{}: holds no store yet; `infimum import` or `infimum analyze` with this --db makes one",
                             connection->name())};
  }
  if (schema != NewestSchema()) {
    return Error{
        fmt::format("{}: has schema {}, this infimum needs {}: open it once with a command that writes, as its "
                    "owner, or use the infimum that made it",
                    connection->name(), schema, NewestSchema())};
  }
  return StoreOver(std::move(connection));
}

// To read a file with a write-ahead log, SQLite makes files beside it. Where nobody may (a colleague's folder, a
// read-only or full disk) and no log is left, the file alone is all there is to read.
Result<std::unique_ptr<SqliteConnection>> OpenToRead(const std::string& path) {
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection,
                           SqliteConnection::Open(path, SqliteConnection::Mode::kReadOnly));
  const Result<std::int64_t> schema = SchemaOf(*connection);
  if (schema) return connection;
  std::error_code ignored;
  const std::string log = path + "-wal";
  const bool no_log = !std::filesystem::exists(log, ignored) || std::filesystem::file_size(log, ignored) == 0;
  if (no_log) {
    Result<std::unique_ptr<SqliteConnection>> alone = SqliteConnection::Open(path, SqliteConnection::Mode::kImmutable);
    if (alone.ok() && SchemaOf(**alone).ok()) return alone;
  }
  return schema.error();
}

Result<std::unique_ptr<Store>> OpenSqlite(const std::string& path, OpenMode mode) {
  using Mode = SqliteConnection::Mode;
  const bool in_memory = path == ":memory:";
  if (mode == OpenMode::kReadWrite || in_memory) {
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection,
                             SqliteConnection::Open(path, in_memory ? Mode::kMemory : Mode::kReadWrite));
    // Readers go on while somebody writes. Folders that cannot hold the log (some network drives) keep the old way.
    static_cast<void>(connection->Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL").ok());
    INFIMUM_RETURN_IF_ERROR(Migrate(*connection));
    return StoreOver(std::move(connection));
  }
  if (!StoreExists(path)) return Error{fmt::format("{}: no such store; `infimum analyze` makes one", OneLine(path))};
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection, OpenToRead(path));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t schema, SchemaOf(*connection));
  if (schema != NewestSchema()) {
    // The file may not be changed, so a copy in memory is brought up to date instead.
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> copy, SqliteConnection::Open(path, Mode::kMemory));
    INFIMUM_RETURN_IF_ERROR(copy->CopyFrom(*connection));
    INFIMUM_RETURN_IF_ERROR(Migrate(*copy));
    connection = std::move(copy);
  }
  return StoreOver(std::move(connection));
}

}  // namespace

std::string ShownAddress(const std::string& address) {
  return address.find("://") == std::string::npos ? OneLine(address) : WithoutPassword(address);
}

bool StoreExists(const std::string& address) {
  // Whether a server answers is found out by asking it, and then said.
  if (IsPostgreSqlAddress(address)) return true;
  std::error_code error;
  return std::filesystem::exists(PathOf(address), error);
}

Result<std::unique_ptr<Store>> OpenStore(const std::string& address, OpenMode mode) {
  // Whoever takes it for the end of the address opens another store.
  if (address.find('\0') != std::string::npos)
    return Error{fmt::format("--db {}: no address holds a NUL", Quoted(ShownAddress(address)))};
  if (IsPostgreSqlAddress(address)) return OpenPostgreSql(address, mode);
  const std::string path = PathOf(address);
  if (path.empty()) return Error{"--db: an empty address; give a file name such as infimum.db"};
  if (address.find("://") != std::string::npos) {
    return Error{
        fmt::format("--db {}: stores are SQLite files (infimum.db) or PostgreSQL databases "
                    "(postgresql://user@host/name)",
                    Quoted(WithoutPassword(address)))};
  }
  return OpenSqlite(path, mode);
}

Result<std::int64_t> SchemaOfStore(const std::string& address) {
  if (IsPostgreSqlAddress(address)) {
    INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<PostgreSqlConnection> connection,
                             PostgreSqlConnection::Open(address, true));
    return SchemaOf(*connection);
  }
  const std::string path = PathOf(address);
  std::error_code error;
  if (path == ":memory:" || !StoreExists(address) || std::filesystem::file_size(path, error) == 0)
    return std::int64_t{0};
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<SqliteConnection> connection, OpenToRead(path));
  return SchemaOf(*connection);
}

Status MakeRoles(const std::string& address) {
  if (!IsPostgreSqlAddress(address)) {
    return Error{fmt::format("{}: a SQLite file has no roles: whoever may write the file may write to the store",
                             ShownAddress(address))};
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<PostgreSqlConnection> connection,
                           PostgreSqlConnection::Open(address, false));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t schema, SchemaOf(*connection));
  if (schema != NewestSchema()) {
    return Error{fmt::format("{}: {}; `infimum db {}` with this --db first", connection->name(),
                             schema == 0 ? "holds no store yet" : "has an older schema",
                             schema == 0 ? "init" : "migrate")};
  }
  return connection->Execute(std::string(RolesSql()));
}

}  // namespace infimum
