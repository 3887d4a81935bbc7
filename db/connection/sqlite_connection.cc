#include "db/connection/sqlite_connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <utility>

#include "infimum/base/text.h"

namespace infimum {
namespace {

constexpr int kBusyWaitMilliseconds = 20'000;

// What the user can do about it.
const char* AdviceFor(int code) {
  constexpr std::pair<int, const char*> kAdvice[] = {
      {SQLITE_BUSY, "; another program is writing to it: try again"},
      {SQLITE_LOCKED, "; another program is writing to it: try again"},
      {SQLITE_READONLY, "; give --db another file, or make it and its folder writable"},
      {SQLITE_FULL, "; free some space; what was saved before is safe"},
      {SQLITE_IOERR, "; check whether its disk is full or failing; what was saved before is safe"},
      {SQLITE_CORRUPT, "; it is damaged: restore a copy, or move it away and measure again"},
      {SQLITE_NOTADB, "; give --db a file that infimum made, or one that does not exist yet"},
      {SQLITE_TOOBIG, "; a value of the query is too long"},
      {SQLITE_CANTOPEN, "; check that its folder exists and is readable"}};
  for (const auto& [known, advice] : kAdvice)
    if (known == (code & 0xff)) return advice;
  return "";
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

// Called while another connection holds the lock. SQLite's own handler sleeps up to 100 ms; with several constant
// writers one of them could then miss its turn for 20 s.
int WaitForOthers(void* /*unused*/, int tries) {
  constexpr int kLongestSleep = 8;
  if (tries >= 2 * kBusyWaitMilliseconds / (kLongestSleep + 1)) return 0;
  sqlite3_sleep(1 + tries % kLongestSleep);
  return 1;
}

// While a statement of the user's lives: it is stopped in time, and no value of it grows beyond what a store has.
// SQLite asks once for so many steps of its machine, some hundred times a second.
class SqliteWatch {
 public:
  SqliteWatch(sqlite3* database, const SqlLimits* limits)
      : database_(database),
        deadline_(limits),
        usual_length_(sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kMostQueryValue)) {
    sqlite3_progress_handler(
        database, 100'000, [](void* self) { return static_cast<SqliteWatch*>(self)->deadline_.is_over() ? 1 : 0; },
        this);
  }
  SqliteWatch(const SqliteWatch&) = delete;
  SqliteWatch& operator=(const SqliteWatch&) = delete;
  ~SqliteWatch() {
    sqlite3_progress_handler(database_, 0, nullptr, nullptr);
    sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, usual_length_);
  }
  std::string reason() const { return deadline_.reason(); }

 private:
  static constexpr int kMostQueryValue = 1 << 24;

  sqlite3* database_;
  QueryDeadline deadline_;
  int usual_length_;
};

class SqliteStatement : public Statement {
 public:
  SqliteStatement(sqlite3_stmt* statement, const SqliteConnection& connection,
                  std::unique_ptr<SqliteWatch> watch = nullptr)
      : watch_(std::move(watch)), statement_(statement), connection_(connection) {
    // "$1" is a name to SQLite, with a place of its own choice.
    for (int place = 1; place <= sqlite3_bind_parameter_count(statement); ++place) {
      const char* name = sqlite3_bind_parameter_name(statement, place);
      const std::size_t position =
          name == nullptr ? 0 : static_cast<std::size_t>(ParseInteger(std::string_view(name).substr(1)).value_or(0));
      if (position >= kMostParameters) continue;
      if (places_.size() <= position) places_.resize(position + 1, 0);
      places_[position] = place;
    }
  }

  void Bind(int position, const SqlValue& value) override {
    std::visit(Binder{statement_.get(), places_[static_cast<std::size_t>(position)]}, value);
  }
  Result<bool> Step() override {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    if ((code & 0xff) == SQLITE_INTERRUPT && watch_) return Error{connection_.name() + ": " + watch_->reason()};
    return connection_.LastError();
  }
  void Reset() override {
    sqlite3_reset(statement_.get());
    sqlite3_clear_bindings(statement_.get());
  }
  int Columns() const override { return sqlite3_column_count(statement_.get()); }
  std::string ColumnName(int column) const override { return sqlite3_column_name(statement_.get(), column); }
  CellType TypeOf(int column) const override {
    switch (sqlite3_column_type(statement_.get(), column)) {
      case SQLITE_NULL:
        return CellType::kNull;
      case SQLITE_INTEGER:
        return CellType::kInteger;
      case SQLITE_FLOAT:
        return CellType::kNumber;
      default:
        return CellType::kText;
    }
  }
  std::int64_t Integer(int column) const override { return sqlite3_column_int64(statement_.get(), column); }
  double Number(int column) const override { return sqlite3_column_double(statement_.get(), column); }
  std::string Text(int column) const override {
    const unsigned char* text = sqlite3_column_text(statement_.get(), column);
    if (text == nullptr) return "";
    return {reinterpret_cast<const char*>(text),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
  }
  std::vector<std::byte> Bytes(int column) const override {
    const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
    if (bytes == nullptr) return {};
    return {bytes, bytes + sqlite3_column_bytes(statement_.get(), column)};
  }

 private:
  static constexpr std::size_t kMostParameters = 100;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  struct Binder {
    sqlite3_stmt* statement;
    int place;
    void operator()(std::nullptr_t) const { sqlite3_bind_null(statement, place); }
    void operator()(std::int64_t value) const { sqlite3_bind_int64(statement, place, value); }
    void operator()(double value) const { sqlite3_bind_double(statement, place, value); }
    // A null pointer would bind NULL, not the empty text.
    void operator()(std::string_view given) const {
      const StorableText storable(given);
      const std::string_view text = storable.text();
      sqlite3_bind_text64(statement, place, text.empty() ? "" : text.data(), text.size(), SQLITE_TRANSIENT,
                          SQLITE_UTF8);
    }
    void operator()(Blob bytes) const {
      sqlite3_bind_blob64(statement, place, bytes.empty() ? static_cast<const void*>("") : bytes.data(), bytes.size(),
                          SQLITE_TRANSIENT);
    }
  };

  std::unique_ptr<SqliteWatch> watch_;  // ends after the statement
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const SqliteConnection& connection_;
  std::vector<int> places_;  // by position
};

// While a statement is prepared, SQLite asks for each thing that it would do.
int OnlyReading(void* /*unused*/, int action, const char* object, const char* name, const char* /*database*/,
                const char* /*trigger*/) {
  // Pragmas that are asked like tables. SQLite 3.40 asks whether it may make them, 3.46 does not.
  if (action == SQLITE_READ && object != nullptr && sqlite3_strnicmp(object, "pragma_", 7) == 0) return SQLITE_DENY;
  if (action == SQLITE_FUNCTION && name != nullptr && std::string_view(name) == "load_extension") return SQLITE_DENY;
  const bool reads =
      action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE;
  return reads ? SQLITE_OK : SQLITE_DENY;
}

class SqliteBulkInsert : public BulkInsert {
 public:
  explicit SqliteBulkInsert(std::unique_ptr<Statement> insert) : insert_(std::move(insert)) {}
  Status Add(std::span<const SqlValue> row) override {
    for (std::size_t i = 0; i < row.size(); ++i) insert_->Bind(static_cast<int>(i) + 1, row[i]);
    return insert_->Run();
  }
  Status Finish() override { return {}; }

 private:
  std::unique_ptr<Statement> insert_;
};

}  // namespace

void SqliteConnection::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Result<std::unique_ptr<SqliteConnection>> SqliteConnection::Open(const std::string& path, Mode mode) {
  const bool reads_only = mode == Mode::kReadOnly || mode == Mode::kImmutable;
  const int flags = reads_only ? SQLITE_OPEN_READONLY | (mode == Mode::kImmutable ? SQLITE_OPEN_URI : 0)
                               : SQLITE_OPEN_READWRITE | (mode == Mode::kReading ? 0 : SQLITE_OPEN_CREATE);
  const std::string name = mode == Mode::kMemory ? ":memory:" : mode == Mode::kImmutable ? ImmutableUri(path) : path;
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(name.c_str(), &database, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  std::unique_ptr<SqliteConnection> connection(
      new SqliteConnection(database, OneLine(path), mode == Mode::kMemory ? "" : path));
  if (code != SQLITE_OK) {
    return Error{fmt::format("{}: {}{}", connection->path_,
                             database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code), AdviceFor(code))};
  }
  sqlite3_busy_handler(database, WaitForOthers, nullptr);
  // Hostile files: no schema of theirs may run functions of ours, none may be deeper than ours is.
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  INFIMUM_RETURN_IF_ERROR(connection->Execute("PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON"));
  if (mode == Mode::kReading) INFIMUM_RETURN_IF_ERROR(connection->Execute("PRAGMA query_only = ON"));
  return connection;
}

Result<std::unique_ptr<Statement>> SqliteConnection::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK)
    return LastError();
  return std::unique_ptr<Statement>(std::make_unique<SqliteStatement>(statement, *this));
}

Result<std::unique_ptr<Statement>> SqliteConnection::PrepareReadOnly(std::string_view sql, const SqlLimits* limits) {
  sqlite3_stmt* statement = nullptr;
  const char* rest = nullptr;
  sqlite3_set_authorizer(database_.get(), OnlyReading, nullptr);
  const int code = sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement, &rest);
  sqlite3_set_authorizer(database_.get(), nullptr, nullptr);
  if (code == SQLITE_AUTH) return Error{path_ + ": a query may only read (SELECT)"};
  if (code != SQLITE_OK) return LastError();
  std::unique_ptr<Statement> prepared = std::make_unique<SqliteStatement>(
      statement, *this, limits != nullptr ? std::make_unique<SqliteWatch>(database_.get(), limits) : nullptr);
  if (statement == nullptr) return Error{path_ + ": the query is empty"};
  // What needs no permission of its own (VACUUM) still writes.
  if (sqlite3_stmt_readonly(statement) == 0) return Error{path_ + ": a query may only read (SELECT)"};
  const std::string_view left(rest, static_cast<std::size_t>(sql.data() + sql.size() - rest));
  if (left.find_first_not_of(" \t\r\n;") != std::string_view::npos)
    return Error{path_ + ": a query is a single statement, and text follows its end"};
  return prepared;
}

Status SqliteConnection::Execute(const std::string& script) {
  if (sqlite3_exec(database_.get(), script.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return LastError();
  return {};
}

std::int64_t SqliteConnection::Changes() const { return sqlite3_changes64(database_.get()); }

Result<std::unique_ptr<BulkInsert>> SqliteConnection::StartBulkInsert(const std::string& table,
                                                                      const std::vector<std::string>& columns) {
  std::string names, values;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    names += (i == 0 ? "" : ", ") + columns[i];
    values += fmt::format("{}${}", i == 0 ? "" : ", ", i + 1);
  }
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Statement> insert,
                           Prepare(fmt::format("INSERT INTO {} ({}) VALUES ({})", table, names, values)));
  return std::unique_ptr<BulkInsert>(std::make_unique<SqliteBulkInsert>(std::move(insert)));
}

// A staging transaction touches only temporary tables, which takes no lock.
Status SqliteConnection::Begin(Purpose purpose) {
  return Execute(purpose == Purpose::kWriting ? "BEGIN IMMEDIATE" : "BEGIN");
}
Status SqliteConnection::Commit() { return Execute("COMMIT"); }
void SqliteConnection::Rollback() { static_cast<void>(Execute("ROLLBACK").ok()); }

Status SqliteConnection::CopyFrom(const SqliteConnection& source) {
  sqlite3_backup* backup = sqlite3_backup_init(database_.get(), "main", source.database_.get(), "main");
  if (backup == nullptr) return LastError();
  sqlite3_backup_step(backup, -1);
  if (sqlite3_backup_finish(backup) != SQLITE_OK) return LastError();
  return {};
}

Result<std::string> SqliteConnection::BackUp(const std::string& label) {
  if (file_.empty()) return std::string();
  std::error_code error;
  std::string name = fmt::format("{}.{}.bak", file_, label);
  for (int number = 2; std::filesystem::exists(name, error); ++number)
    name = fmt::format("{}.{}-{}.bak", file_, label, number);
  // Under another name until all of it is on the disk, so that what is called a copy is one. A second connection reads
  // what is saved while this one holds the writer's lock.
  const std::string part = name + ".part";
  std::filesystem::remove(part, error);
  const auto copy = [&]() -> Status {
    INFIMUM_ASSIGN_OR_RETURN(const auto source, Open(file_, Mode::kReadOnly));
    INFIMUM_ASSIGN_OR_RETURN(const auto target, Open(part, Mode::kReadWrite));
    INFIMUM_RETURN_IF_ERROR(target->Execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = FULL"));
    return target->CopyFrom(*source);
  };
  const Status copied = copy();
  if (copied.ok()) std::filesystem::rename(part, name, error);
  if (copied.ok() && !error) return OneLine(name);
  const std::string reason = copied.ok() ? error.message() : copied.error().message;
  std::filesystem::remove(part, error);
  return Error{fmt::format("{}: the backup before a change, {}, cannot be written: {}", path_, OneLine(name), reason)};
}

Error SqliteConnection::LastError() const {
  const int code = sqlite3_extended_errcode(database_.get());
  return Error{fmt::format("{}: {}{}", path_, OneLine(sqlite3_errmsg(database_.get())), AdviceFor(code))};
}

}  // namespace infimum
