#include "src/readers/profiles/nsys/nsys_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "infimum/base/text.h"
#include "src/readers/files/file_start.h"

namespace infimum::ingest {
namespace {

namespace fs = std::filesystem;

constexpr int kMillion = 1'000'000;

// Steps of SQLite's machine, in millions. A row takes some forty steps and more than a hundred bytes; a small file may
// be slow to look texts up in.
std::int64_t BudgetOf(std::uint64_t bytes) { return 100 + static_cast<std::int64_t>(bytes / kMillion) * 8; }

int SpendBudget(void* budget) { return --*static_cast<std::int64_t*>(budget) < 0 ? 1 : 0; }

// SQLite's URI of an immutable file: no lock, no journal, no new file.
std::string ImmutableUri(const fs::path& absolute) {
  std::string uri = "file://";
  for (const char c : absolute.string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                       c == '.' || c == '-' || c == '_';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

bool HasContent(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return !error && size > 0;
}

Status CheckWhatStandsBeside(const fs::path& path, bool logged) {
  const fs::path log = path.string() + "-wal", journal = path.string() + "-journal";
  if (logged && HasContent(log)) {
    return Error{fmt::format(
        "{}: some of its data is still in {}; end the program that writes it, or merge them: sqlite3 FILE 'PRAGMA "
        "wal_checkpoint(TRUNCATE)'",
        path.string(), log.filename().string())};
  }
  if (HasContent(journal)) {
    return Error{fmt::format("{}: it is being written, or its writer was stopped ({} exists); export it again: {}",
                             path.string(), journal.filename().string(), kNsysExportCommand)};
  }
  return {};
}

Status CheckHeader(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::directory)
    return Error{path.string() + ": a folder; name the exported file in it"};
  // A pipe would be waited for.
  if (!error && status.type() != fs::file_type::not_found && status.type() != fs::file_type::regular)
    return Error{path.string() + ": not a file"};
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error{
        fmt::format("{}: cannot be read: {}", path.string(), errno != 0 ? std::strerror(errno) : "unknown cause")};
  }
  std::array<char, kSqliteHeaderBytes> bytes{};
  file.read(bytes.data(), bytes.size());
  const std::string_view header(bytes.data(), static_cast<std::size_t>(file.gcount()));
  if (!IsSqlite(header)) {
    const std::string kind = path.extension().string();
    if (kind == ".nsys-rep" || kind == ".qdrep" || kind == ".qdstrm") {
      return Error{fmt::format(
          "{}: a report of Nsight Systems, which only its own programs read; export it: nsys export --type sqlite "
          "--output {} {}",
          path.string(), fs::path(path).replace_extension(".sqlite").string(), path.string())};
    }
    if (header.starts_with("\x1f\x8b"))
      return Error{path.string() +
                   ": compressed with gzip; reading a database needs random access, so decompress it first"};
    return Error{fmt::format("{}: not a SQLite database; Nsight Systems writes one with: {}", path.string(),
                             kNsysExportCommand)};
  }
  if (IsStoreOfOurs(header)) {
    return Error{path.string() + ": a store of infimum, not an export of Nsight Systems; give it as --db"};
  }
  return CheckWhatStandsBeside(path, HasWriteAheadLog(header));
}

}  // namespace

std::string QuotedSqlName(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

Result<NsysDatabase> NsysDatabase::Open(const fs::path& path) {
  INFIMUM_RETURN_IF_ERROR(CheckHeader(path));
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  NsysDatabase opened;
  opened.name_ = path.string();
  opened.bytes_ = fs::file_size(path, error);
  if (error) return Error{fmt::format("{}: cannot be read: {}", opened.name_, error.message())};
  opened.budget_ = std::make_unique<std::int64_t>(BudgetOf(opened.bytes_));
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(
      ImmutableUri(absolute).c_str(), &database,
      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE,
      nullptr);
  opened.database_.reset(database);
  if (code != SQLITE_OK) return Error{fmt::format("{}: {}", opened.name_, sqlite3_errstr(code))};
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  // A report keeps whole files as texts, so a row may be large; names have a limit of their own.
  for (const auto& [limit, value] :
       {std::pair(SQLITE_LIMIT_LENGTH, 1 << 26), std::pair(SQLITE_LIMIT_SQL_LENGTH, 1 << 17),
        std::pair(SQLITE_LIMIT_COLUMN, 500), std::pair(SQLITE_LIMIT_EXPR_DEPTH, 50),
        std::pair(SQLITE_LIMIT_ATTACHED, 0), std::pair(SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        std::pair(SQLITE_LIMIT_COMPOUND_SELECT, 5), std::pair(SQLITE_LIMIT_WORKER_THREADS, 0)})
    sqlite3_limit(database, limit, value);
  sqlite3_progress_handler(database, kMillion, SpendBudget, opened.budget_.get());
  // A mapped file that is cut while it is read would end the program.
  if (sqlite3_exec(database, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY", nullptr,
                   nullptr, nullptr) != SQLITE_OK)
    return opened.LastError();
  INFIMUM_RETURN_IF_ERROR(opened.ReadTables());
  return opened;
}

// Views and virtual tables have no page of their own.
Status NsysDatabase::ReadTables() {
  INFIMUM_ASSIGN_OR_RETURN(const SqliteStatement rows,
                           Prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"));
  int code = 0;
  while ((code = sqlite3_step(rows.get())) == SQLITE_ROW) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(rows.get(), 0));
    if (text != nullptr) tables_.emplace(text, static_cast<std::size_t>(sqlite3_column_bytes(rows.get(), 0)));
  }
  return code == SQLITE_DONE ? Status() : LastError();
}

Result<std::vector<std::string>> NsysDatabase::ColumnsOf(std::string_view table) const {
  // Unlike table_xinfo, it leaves out what is computed.
  INFIMUM_ASSIGN_OR_RETURN(const SqliteStatement rows,
                           Prepare(fmt::format("PRAGMA table_info({})", QuotedSqlName(table))));
  std::vector<std::string> columns;
  int code = 0;
  while ((code = sqlite3_step(rows.get())) == SQLITE_ROW) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(rows.get(), 1));
    if (text != nullptr) columns.emplace_back(text, static_cast<std::size_t>(sqlite3_column_bytes(rows.get(), 1)));
  }
  if (code != SQLITE_DONE) return LastError();
  return columns;
}

std::string NsysDatabase::Schema() const {
  for (const std::string_view table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
    if (!HasTable(table)) continue;
    const Result<SqliteStatement> row =
        Prepare(fmt::format("SELECT value FROM {} WHERE name = 'EXPORT_SCHEMA_VERSION'", QuotedSqlName(table)));
    if (!row || sqlite3_step(row->get()) != SQLITE_ROW) continue;
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row->get(), 0));
    const std::string_view version = text == nullptr ? std::string_view() : text;
    if (!version.empty() && version.find_first_not_of("0123456789.") == std::string_view::npos)
      return fmt::format("schema {}", version.substr(0, 40));
  }
  return "an unknown schema";
}

Result<SqliteStatement> NsysDatabase::Prepare(const std::string& sql) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK)
    return LastError();
  return SqliteStatement(statement);
}

Error NsysDatabase::LastError(std::string_view where) const {
  const std::string place = where.empty() ? name_ : fmt::format("{}: {}", name_, where);
  const int code = sqlite3_extended_errcode(database_.get()) & 0xff;
  if (code == SQLITE_INTERRUPT) {
    return Error{fmt::format("{}: damaged: it has more rows than its {} bytes can hold; export it again: {}", place,
                             bytes_, kNsysExportCommand)};
  }
  const char* advice = "";
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) advice = "; it is damaged or cut: export it again: ";
  // The message may quote the file's own schema, of several lines.
  std::string message = sqlite3_errmsg(database_.get());
  if (std::any_of(message.begin(), message.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }))
    message = Quoted(message);
  return Error{fmt::format("{}: {}{}{}", place, message, advice, *advice != '\0' ? kNsysExportCommand : "")};
}

Result<NsysTable> NsysTable::Open(const NsysDatabase& database, std::string_view table,
                                  const std::vector<NsysColumn>& columns) {
  NsysTable opened(database, table);
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<std::string> there, database.ColumnsOf(table));
  std::string selected;
  for (const NsysColumn& column : columns) {
    const bool present = std::find(there.begin(), there.end(), column.name) != there.end();
    if (!present && column.required) {
      return Error{fmt::format("{}: {} has no column '{}' ({}); export the report with a newer Nsight Systems: {}",
                               database.name(), table, column.name, database.Schema(), kNsysExportCommand)};
    }
    opened.columns_.emplace_back(column.name);
    opened.present_.push_back(present);
    selected += (selected.empty() ? "" : ", ") + (present ? QuotedSqlName(column.name) : std::string("NULL"));
  }
  // An index of the file's own may have other rows than the table.
  INFIMUM_ASSIGN_OR_RETURN(opened.statement_, database.Prepare(fmt::format("SELECT {} FROM {} NOT INDEXED", selected,
                                                                           QuotedSqlName(table))));
  return opened;
}

bool NsysTable::Next() {
  if (!status_) return false;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) {
    ++row_;
    return true;
  }
  if (code != SQLITE_DONE) status_ = database_->LastError(fmt::format("{} after row {}", table_, row_));
  return false;
}

std::int64_t NsysTable::Integer(std::size_t column) {
  switch (sqlite3_column_type(statement_.get(), Place(column))) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement_.get(), Place(column));
    case SQLITE_NULL:
      FailAt(column, "is empty");
      return 0;
    case SQLITE_FLOAT:
      FailAt(column, "is a number with a fraction, not an integer");
      return 0;
    default: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), Place(column)));
      FailAt(column, fmt::format("is {}, not an integer", Quoted(text == nullptr ? "" : text)));
      return 0;
    }
  }
}

std::optional<std::int64_t> NsysTable::OptionalInteger(std::size_t column) {
  if (IsEmpty(column)) return std::nullopt;
  return Integer(column);
}

std::string_view NsysTable::Text(std::size_t column) {
  if (sqlite3_column_type(statement_.get(), Place(column)) != SQLITE_TEXT) {
    FailAt(column, "is not a text");
    return {};
  }
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), Place(column)));
  if (text == nullptr) {
    FailAt(column, "does not fit into memory");
    return {};
  }
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), Place(column)))};
}

std::int64_t NsysTable::Time(std::size_t column) {
  const std::int64_t time = Integer(column);
  if (time > -kTimeLimit && time < kTimeLimit) return time;
  FailAt(column, fmt::format("is {}, not a time in nanoseconds", time));
  return 0;
}

NsysSpan NsysTable::Span(std::size_t start, std::size_t end) {
  const std::int64_t first = Time(start), last = Time(end);
  if (last < first) Fail(fmt::format("'{}' is before '{}'", columns_[end], columns_[start]));
  return {first, std::max<std::int64_t>(0, last - first)};
}

void NsysTable::Fail(std::string_view what) {
  if (status_) status_ = Error{fmt::format("{}: {} row {}: {}", database_->name(), table_, row_, what)};
}

void NsysTable::FailAt(std::size_t column, std::string_view what) {
  Fail(fmt::format("'{}' {}", columns_[column], what));
}

void NsysTable::FailWith(Error error) {
  if (status_) status_ = std::move(error);
}

}  // namespace infimum::ingest
