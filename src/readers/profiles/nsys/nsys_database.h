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
  // "schema 3.25.0", as the export says of itself; "an unknown schema".
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

}  // namespace infimum::ingest
