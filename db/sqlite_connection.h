// SQLite behind two small classes: a connection, and a statement that binds, steps and reads. Errors of SQLite
// become Errors that name the file; nothing of sqlite3.h is seen outside these files.
//
//   Result<Statement> insert = connection.Prepare("INSERT INTO workloads (text) VALUES (?)");
//   insert->Bind(1, text);
//   INFIMUM_RETURN_IF_ERROR(insert->Run());
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace infimum {

// Texts are bound, never pasted into SQL. NUL inside a text is kept.
class Statement {
 public:
  void Bind(int position, std::int64_t value);
  void Bind(int position, double value);
  void Bind(int position, std::string_view text);
  void Bind(int position, std::optional<double> value);
  void BindBlob(int position, const void* bytes, std::size_t size);

  // True while there is a row.
  Result<bool> Step();
  // For statements without rows; ready to be bound and run again.
  Status Run();
  void Reset();

  std::int64_t Integer(int column) const;
  double Number(int column) const;
  std::string Text(int column) const;
  std::optional<double> OptionalNumber(int column) const;
  std::vector<double> Numbers(int column) const;  // of a blob of doubles

 private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3_stmt* statement, const class Connection* connection)
      : statement_(statement), connection_(connection) {}
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const Connection* connection_;
};

class Connection {
 public:
  enum class Mode {
    kReadOnly,
    kImmutable,  // read-only, without looking at a write-ahead log: for folders where nothing may be made
    kReadWrite,
    kMemory,
  };
  // Waits up to `kBusyWait` for another writer before it reports that the file is locked.
  static Result<std::unique_ptr<Connection>> Open(const std::string& path, Mode mode);

  Result<Statement> Prepare(std::string_view sql) const;
  Status Execute(const std::string& sql) const;  // any number of statements, no rows
  Result<std::int64_t> AskInteger(std::string_view sql) const;
  std::int64_t Changes() const;
  std::int64_t LastId() const;

  // Copies everything of `source` into this one, page by page.
  Status CopyFrom(const Connection& source) const;

  // The last error as one of ours: "infimum.db: database is locked; another program writes to it, try again".
  Error LastError() const;
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  Connection(sqlite3* database, std::string path) : database_(database), path_(std::move(path)) {}
  std::unique_ptr<sqlite3, Close> database_;
  std::string path_;
};

// Begins a writing transaction at once (so that two writers wait for each other instead of failing half-way); rolls
// back unless it was committed.
class Transaction {
 public:
  static Result<Transaction> Begin(const Connection& connection);
  Transaction(Transaction&& other) noexcept : connection_(other.connection_) { other.connection_ = nullptr; }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(const Connection* connection) : connection_(connection) {}
  const Connection* connection_;
};

}  // namespace infimum
