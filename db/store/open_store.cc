// Addresses: which database a text names, and how it is opened.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <utility>

#include "db/connection/postgresql_connection.h"
#include "db/connection/sql_connection.h"
#include "db/connection/sqlite_connection.h"
#include "db/store/data_sheets.h"
#include "db/store/migrations.h"
#include "db/store/sql_store.h"
#include "infimum/base/text.h"
#include "infimum/db/store.h"

namespace infimum {
namespace {

using Say = std::function<void(const std::string&)>;

std::string PathOf(const std::string& address) {
  constexpr std::string_view kScheme = "sqlite:";
  return address.starts_with(kScheme) ? address.substr(kScheme.size()) : address;
}

std::unique_ptr<Store> StoreOver(std::unique_ptr<Connection> connection) {
  return std::make_unique<SqlStore>(std::move(connection));
}

Result<std::unique_ptr<Store>> OpenPostgreSql(const std::string& address, OpenMode mode, const Say& say) {
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<PostgreSqlConnection> connection,
                           PostgreSqlConnection::Open(address, mode == OpenMode::kReadOnly));
  if (mode == OpenMode::kReadWrite) {
    INFIMUM_RETURN_IF_ERROR(Migrate(*connection, say));
    return StoreOver(std::move(connection));
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t schema, SchemaOf(*connection));
  if (schema == 0) {
    return Error{fmt::format("{}: has no store yet; `infimum import` or `infimum analyze` with this --db creates one",
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

// A pipe would be waited for without end, and a device or folder holds no database.
Status CheckIsFile(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status there = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(there) || std::filesystem::is_regular_file(there)) return {};
  return Error{fmt::format("{}: is {}, not a file; give --db another name", OneLine(path),
                           std::filesystem::is_directory(there) ? "a folder"
                           : std::filesystem::is_fifo(there)    ? "a pipe"
                                                                : "a device or socket")};
}

bool IsEmptyFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::file_size(path, error) == 0 && !error;
}

// To read a file with a write-ahead log, SQLite makes files beside it, which who may write takes away again when he
// closes it; a log that was there before stays. Where no file may be created (a colleague's folder, a read-only or full
// disk) and no log is left, the file alone is all there is to read.
Result<std::unique_ptr<SqliteConnection>> OpenToRead(const std::string& path) {
  using Mode = SqliteConnection::Mode;
  std::error_code ignored_error;
  if (!std::filesystem::exists(path + "-wal", ignored_error)) {
    Result<std::unique_ptr<SqliteConnection>> reading = SqliteConnection::Open(path, Mode::kReading);
    if (reading.ok() && SchemaOf(**reading).ok()) return reading;
  }
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection, SqliteConnection::Open(path, Mode::kReadOnly));
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

Result<std::unique_ptr<Store>> OpenSqlite(const std::string& path, OpenMode mode, const Say& say) {
  using Mode = SqliteConnection::Mode;
  const bool in_memory = path == ":memory:";
  if (!in_memory) INFIMUM_RETURN_IF_ERROR(CheckIsFile(path));
  if (mode == OpenMode::kReadWrite || in_memory) {
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection,
                             SqliteConnection::Open(path, in_memory ? Mode::kMemory : Mode::kReadWrite));
    // Readers continue during writes. Folders that cannot hold the log (some network drives) keep the rollback journal.
    static_cast<void>(connection->Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL").ok());
    INFIMUM_RETURN_IF_ERROR(Migrate(*connection, say));
    return StoreOver(std::move(connection));
  }
  if (!StoreExists(path)) return Error{fmt::format("{}: no such store; `infimum analyze` creates one", OneLine(path))};
  // To write to, it is as good as none: a name that mktemp or an editor took.
  if (IsEmptyFile(path)) return Error{fmt::format("{}: an empty file, not a store", OneLine(path))};
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection, OpenToRead(path));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t schema, SchemaOf(*connection));
  if (schema != NewestSchema()) {
    // The file may not be changed, so a copy in memory is brought up to date instead.
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> copy, SqliteConnection::Open(path, Mode::kMemory));
    INFIMUM_RETURN_IF_ERROR(copy->CopyFrom(*connection));
    INFIMUM_RETURN_IF_ERROR(Migrate(*copy, say));
    connection = std::move(copy);
  }
  return StoreOver(std::move(connection));
}

}  // namespace

void SayOnStandardError(const std::string& text) {
  // Nobody may be there to hear it.
  static_cast<void>(std::fputs(fmt::format("infimum: {}\n", text).c_str(), stderr));
}

std::string ShownAddress(const std::string& address) {
  return address.find("://") == std::string::npos ? OneLine(address) : WithoutPassword(address);
}

bool StoreExists(const std::string& address) {
  // Whether a server answers is known only after connecting.
  if (IsPostgreSqlAddress(address)) return true;
  std::error_code error;
  return std::filesystem::exists(PathOf(address), error);
}

Result<std::unique_ptr<Store>> OpenStore(const std::string& address, OpenMode mode, const Say& say) {
  // Whoever takes it for the end of the address opens another store.
  if (address.find('\0') != std::string::npos)
    return Error{fmt::format("--db {}: an address cannot contain a NUL", Quoted(ShownAddress(address)))};
  if (IsPostgreSqlAddress(address)) return OpenPostgreSql(address, mode, say);
  const std::string path = PathOf(address);
  if (path.empty()) return Error{"--db: an empty address; give a file name such as infimum.db"};
  if (address.find("://") != std::string::npos) {
    return Error{
        fmt::format("--db {}: stores are SQLite files (infimum.db) or PostgreSQL databases "
                    "(postgresql://user@host/name)",
                    Quoted(WithoutPassword(address)))};
  }
  return OpenSqlite(path, mode, say);
}

Result<std::int64_t> SchemaOfStore(const std::string& address) {
  if (IsPostgreSqlAddress(address)) {
    INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<PostgreSqlConnection> connection,
                             PostgreSqlConnection::Open(address, true));
    return SchemaOf(*connection);
  }
  const std::string path = PathOf(address);
  if (path == ":memory:" || !StoreExists(address)) return std::int64_t{0};
  INFIMUM_RETURN_IF_ERROR(CheckIsFile(path));
  if (IsEmptyFile(path)) return std::int64_t{0};
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
                             schema == 0 ? "has no store yet" : "has an older schema",
                             schema == 0 ? "init" : "migrate")};
  }
  return connection->Execute(std::string(RolesSql()));
}

}  // namespace infimum
