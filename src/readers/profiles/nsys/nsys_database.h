// A SQLite file of unknown origin, opened such that reading it changes nothing, runs nothing that the file defines, and
// ends: a page that is its own child would have rows for ever.
//
//   Result<NsysDatabase> database = NsysDatabase::Open("trace.sqlite");
//   database->HasTable("CUPTI_ACTIVITY_KIND_KERNEL")          // a view or a virtual table of that name is none
//   database->ColumnsOf("CUPTI_ACTIVITY_KIND_KERNEL")         // {"start", "end", ...}, computed ones left out
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"

namespace infimum::ingest {

// What writes a file that this folder reads.
inline constexpr std::string_view kNsysExportCommand = "nsys export --type sqlite REPORT.nsys-rep";

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using SqliteStatement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

class NsysDatabase {
 public:
  static Result<NsysDatabase> Open(const std::filesystem::path& path);

  const std::string& name() const { return name_; }
  std::uint64_t bytes() const { return bytes_; }
  const std::set<std::string, std::less<>>& tables() const { return tables_; }
  bool HasTable(std::string_view table) const { return tables_.contains(table); }
  Result<std::vector<std::string>> ColumnsOf(std::string_view table) const;
  // "schema 3.25.0", by the export's own table, or "an unknown schema".
  std::string Schema() const;

  Result<SqliteStatement> Prepare(const std::string& sql) const;
  // After a call of SQLite that failed: "FILE: database disk image is malformed; ...", or "FILE: WHERE: ...".
  Error LastError(std::string_view where = {}) const;

 private:
  struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  NsysDatabase() = default;
  Status ReadTables();

  std::string name_;
  std::uint64_t bytes_ = 0;
  std::unique_ptr<std::int64_t> budget_;  // of steps of SQLite's machine, in millions; its place must not move
  std::unique_ptr<sqlite3, CloseDatabase> database_;
  std::set<std::string, std::less<>> tables_;
};

// "CUPTI_ACTIVITY_KIND_KERNEL" in double quotes, those within doubled.
std::string QuotedSqlName(std::string_view name);

// The rows of one table of an export, one after the other, without believing a value's type.
//
//   enum : std::size_t { kStart, kEnd };
//   INFIMUM_ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(database, "OSRT_API", {{"start"}, {"end"}}));
//   while (rows.Next()) Use(rows.Integer(kStart), rows.Integer(kEnd));
//   INFIMUM_RETURN_IF_ERROR(rows.status());
//
// A value of another type counts as 0 and ends the reading: Next() is false, status() names the row and
// column it was. So a row's fields are read without a check after each.

struct NsysColumn {
  const char* name;
  bool required = true;  // else it may be absent, and is empty in every row then
};

// A time is less than this, either way, so that the difference of two has no overflow.
inline constexpr std::int64_t kTimeLimit = std::int64_t{1} << 62;

// Nanoseconds.
struct NsysSpan {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t end() const { return start + duration; }
};

class NsysTable {
 public:
  // `database` must outlive it. A column that is required and absent is an error with the command to export it.
  static Result<NsysTable> Open(const NsysDatabase& database, std::string_view table,
                                const std::vector<NsysColumn>& columns);

  bool Next();
  const Status& status() const { return status_; }
  bool Has(std::size_t column) const { return present_[column]; }

  bool IsEmpty(std::size_t column) const { return sqlite3_column_type(statement_.get(), Place(column)) == SQLITE_NULL; }
  bool IsInteger(std::size_t column) const {
    return sqlite3_column_type(statement_.get(), Place(column)) == SQLITE_INTEGER;
  }
  std::int64_t Integer(std::size_t column);
  std::optional<std::int64_t> OptionalInteger(std::size_t column);
  // Valid until Next().
  std::string_view Text(std::size_t column);
  std::int64_t Time(std::size_t column);
  NsysSpan Span(std::size_t start, std::size_t end);

  // End the reading: "FILE: TABLE row 17: WHAT", "FILE: TABLE row 17: 'COLUMN' WHAT", or the error itself.
  void Fail(std::string_view what);
  void FailAt(std::size_t column, std::string_view what);
  void FailWith(Error error);

 private:
  NsysTable(const NsysDatabase& database, std::string_view table) : database_(&database), table_(table) {}
  static int Place(std::size_t column) { return static_cast<int>(column); }

  const NsysDatabase* database_;
  std::string table_;
  std::vector<std::string> columns_;
  std::vector<bool> present_;
  SqliteStatement statement_;
  std::int64_t row_ = 0;
  Status status_;
};

}  // namespace infimum::ingest
