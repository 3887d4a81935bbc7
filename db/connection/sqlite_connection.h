// SQLite as a Connection; nothing of sqlite3.h is seen outside these files.
#pragma once

#include <memory>
#include <string>

#include "db/connection/sql_connection.h"

struct sqlite3;

namespace infimum {

class SqliteConnection : public Connection {
 public:
  enum class Mode {
    kReadOnly,
    kReading,    // changes nothing, and takes the log away that it made where it was the last to read
    kImmutable,  // read-only, without looking at a write-ahead log: for folders where nothing may be made
    kReadWrite,
    kMemory,
  };
  // A statement waits up to 20 s for another writer before it reports that the file is locked.
  static Result<std::unique_ptr<SqliteConnection>> Open(const std::string& path, Mode mode);

  Dialect dialect() const override { return Dialect::kSqlite; }
  const std::string& name() const override { return path_; }
  Result<std::unique_ptr<Statement>> Prepare(std::string_view sql) override;
  Result<std::unique_ptr<Statement>> PrepareReadOnly(std::string_view sql, const SqlLimits* limits = nullptr) override;
  Status Execute(const std::string& script) override;
  std::int64_t Changes() const override;
  Result<std::unique_ptr<BulkInsert>> StartBulkInsert(const std::string& table,
                                                      const std::vector<std::string>& columns) override;
  Status Begin(Purpose purpose) override;
  Status Commit() override;
  void Rollback() override;

  // A file beside it: "infimum.db.schema-5.bak".
  Result<std::string> BackUp(const std::string& label) override;

  // Copies everything of `source` into this one, page by page.
  Status CopyFrom(const SqliteConnection& source);

  // The last error as one of ours: "infimum.db: database is locked; another program is writing to it: try again".
  Error LastError() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  SqliteConnection(sqlite3* database, std::string path, std::string file)
      : database_(database), path_(std::move(path)), file_(std::move(file)) {}
  std::unique_ptr<sqlite3, Close> database_;
  std::string path_;  // as messages show it
  std::string file_;  // empty: in memory
};

}  // namespace infimum
