#include "db/sqlite_connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstring>

namespace infimum {
namespace {

constexpr int kBusyWaitMilliseconds = 20'000;

// What the user can do about it.
const char* AdviceFor(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "; another program writes to it, try again";
    case SQLITE_READONLY:
      return "; give --db another file, or make it and its folder writable";
    case SQLITE_FULL:
      return "; free some space, what was saved before is safe";
    case SQLITE_IOERR:
      return "; is its disk full or failing? what was saved before is safe";
    case SQLITE_CORRUPT:
      return "; it is damaged: restore a copy, or move it away and measure again";
    case SQLITE_NOTADB:
      return "; give --db a file that infimum made, or one that does not exist yet";
    case SQLITE_CANTOPEN:
      return "; is its folder there and readable?";
    default:
      return "";
  }
}

// The path as SQLite's URI; what has a meaning there is escaped.
std::string ImmutableUri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::Bind(int position, std::int64_t value) { sqlite3_bind_int64(statement_.get(), position, value); }
void Statement::Bind(int position, double value) { sqlite3_bind_double(statement_.get(), position, value); }
void Statement::Bind(int position, std::string_view text) {
  // A null pointer would bind NULL, not the empty text.
  sqlite3_bind_text64(statement_.get(), position, text.empty() ? "" : text.data(), text.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
}
void Statement::Bind(int position, std::optional<double> value) {
  if (value) {
    Bind(position, *value);
  } else {
    sqlite3_bind_null(statement_.get(), position);
  }
}
void Statement::BindBlob(int position, const void* bytes, std::size_t size) {
  sqlite3_bind_blob64(statement_.get(), position, size == 0 ? "" : bytes, size, SQLITE_TRANSIENT);
}

Result<bool> Statement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return connection_->LastError();
}

Status Statement::Run() {
  const Result<bool> row = Step();
  Reset();
  if (!row) return row.error();
  return {};
}

void Statement::Reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

std::int64_t Statement::Integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::Number(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return "";
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::optional<double> Statement::OptionalNumber(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
  return Number(column);
}

std::vector<double> Statement::Numbers(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const std::size_t size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  std::vector<double> numbers(size / sizeof(double));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes, numbers.size() * sizeof(double));
  return numbers;
}

void Connection::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Result<std::unique_ptr<Connection>> Connection::Open(const std::string& path, Mode mode) {
  const bool reads_only = mode == Mode::kReadOnly || mode == Mode::kImmutable;
  const int flags = (reads_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) |
                    (mode == Mode::kImmutable ? SQLITE_OPEN_URI : 0);
  const std::string name = mode == Mode::kMemory ? ":memory:" : mode == Mode::kImmutable ? ImmutableUri(path) : path;
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(name.c_str(), &database, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  std::unique_ptr<Connection> connection(new Connection(database, path));
  if (code != SQLITE_OK) {
    return Error{fmt::format("{}: {}{}", path, database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code),
                             AdviceFor(code))};
  }
  sqlite3_busy_timeout(database, kBusyWaitMilliseconds);
  // Hostile files: no schema of theirs may run functions of ours, none may be deeper than ours is.
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  INFIMUM_RETURN_IF_ERROR(connection->Execute("PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON"));
  return connection;
}

Result<Statement> Connection::Prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK) {
    return LastError();
  }
  return Statement(statement, this);
}

Status Connection::Execute(const std::string& sql) const {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return LastError();
  return {};
}

Result<std::int64_t> Connection::AskInteger(std::string_view sql) const {
  INFIMUM_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  INFIMUM_ASSIGN_OR_RETURN(const bool row, statement.Step());
  if (!row) return Error{fmt::format("{}: no answer to: {}", path_, sql)};
  return statement.Integer(0);
}

std::int64_t Connection::Changes() const { return sqlite3_changes64(database_.get()); }
std::int64_t Connection::LastId() const { return sqlite3_last_insert_rowid(database_.get()); }

Status Connection::CopyFrom(const Connection& source) const {
  sqlite3_backup* backup = sqlite3_backup_init(database_.get(), "main", source.database_.get(), "main");
  if (backup == nullptr) return LastError();
  sqlite3_backup_step(backup, -1);
  if (sqlite3_backup_finish(backup) != SQLITE_OK) return LastError();
  return {};
}

Error Connection::LastError() const {
  const int code = sqlite3_extended_errcode(database_.get());
  return Error{fmt::format("{}: {}{}", path_, sqlite3_errmsg(database_.get()), AdviceFor(code))};
}

Result<Transaction> Transaction::Begin(const Connection& connection) {
  INFIMUM_RETURN_IF_ERROR(connection.Execute("BEGIN IMMEDIATE"));
  return Transaction(&connection);
}

Transaction::~Transaction() {
  // The error that made it roll back is already on its way to the user.
  if (connection_ != nullptr) static_cast<void>(connection_->Execute("ROLLBACK").ok());
}

Status Transaction::Commit() {
  INFIMUM_RETURN_IF_ERROR(connection_->Execute("COMMIT"));
  connection_ = nullptr;
  return {};
}

}  // namespace infimum
