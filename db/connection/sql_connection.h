// A database that speaks SQL, behind one face: what the store needs of SQLite and of PostgreSQL. The same statements
// run on both, with parameters $1, $2, ...; the few places where the two differ ask for the dialect.
//
//   INFIMUM_ASSIGN_OR_RETURN(const auto find, connection.Prepare("SELECT id FROM devices WHERE key = $1"));
//   find->Bind(1, key);                    // or find->BindAll(key, ...) of several
//   INFIMUM_ASSIGN_OR_RETURN(const bool found, find->Step());
//   if (found) id = find->Integer(0);
//
// Values are bound, never pasted into SQL. Errors name the database, the cause and what to do.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/db/queries.h"

namespace infimum {

// A text as every database can keep it: PostgreSQL refuses bytes that are not UTF-8, and NUL. Both become U+FFFD, in
// SQLite too, so that the same rows are the same in both.
class StorableText {
 public:
  // Copies only what must be changed: `text` must outlive this.
  explicit StorableText(std::string_view text);
  StorableText(const StorableText&) = delete;
  StorableText& operator=(const StorableText&) = delete;

  std::string_view text() const { return text_; }

 private:
  std::string changed_;
  std::string_view text_;
};

// A text as a message may show it: one line, no control characters, cut after 300 characters.
std::string OneLine(std::string_view text);

enum class Dialect { kSqlite, kPostgreSql };

using Blob = std::span<const std::byte>;
using SqlValue = std::variant<std::nullptr_t, std::int64_t, double, std::string_view, Blob>;

SqlValue OrNull(std::optional<double> value);

enum class CellType { kNull, kInteger, kNumber, kText };

// When a statement of the user's has run long enough.
class QueryDeadline {
 public:
  explicit QueryDeadline(const SqlLimits* limits)  // null: never
      : limits_(limits), begin_(std::chrono::steady_clock::now()) {}
  bool is_over() const { return limits_ != nullptr && (is_interrupted() || is_late()); }
  std::string reason() const;

 private:
  bool is_interrupted() const { return limits_->interrupted && limits_->interrupted(); }
  bool is_late() const { return std::chrono::steady_clock::now() - begin_ >= limits_->time; }

  const SqlLimits* limits_;
  std::chrono::steady_clock::time_point begin_;
};

class Statement {
 public:
  virtual ~Statement() = default;

  // `position` from 1. Texts and blobs are copied; texts become StorableText.
  virtual void Bind(int position, const SqlValue& value) = 0;
  // True while there is a row.
  virtual Result<bool> Step() = 0;
  // Ready to be bound and run again.
  virtual void Reset() = 0;
  // Steps once and resets, for statements without rows or whose rows are not needed.
  Status Run();
  // All values, from position 1 on.
  void BindAll(const auto&... values) {
    int position = 0;
    (Bind(++position, values), ...);
  }
  Status RunWith(const auto&... values) {
    BindAll(values...);
    return Run();
  }

  // Values of the current row; columns from 0.
  virtual int Columns() const = 0;
  virtual std::string ColumnName(int column) const = 0;
  virtual CellType TypeOf(int column) const = 0;
  bool IsNull(int column) const { return TypeOf(column) == CellType::kNull; }
  virtual std::int64_t Integer(int column) const = 0;
  virtual double Number(int column) const = 0;
  virtual std::string Text(int column) const = 0;
  virtual std::vector<std::byte> Bytes(int column) const = 0;
  std::optional<double> OptionalNumber(int column) const;
};

// Many rows into one table, as fast as the database takes them. Nothing is promised of them before Finish().
class BulkInsert {
 public:
  virtual ~BulkInsert() = default;
  virtual Status Add(std::span<const SqlValue> row) = 0;
  virtual Status Finish() = 0;
};

class Connection {
 public:
  virtual ~Connection() = default;

  virtual Dialect dialect() const = 0;
  // What the user calls it: a path, or an address without its password.
  virtual const std::string& name() const = 0;

  virtual Result<std::unique_ptr<Statement>> Prepare(std::string_view sql) = 0;
  // For a statement of the user's: the database refuses any that does more than read, and more than one.
  // Rows are fetched as they are needed; one statement at a time for each connection. `limits` outlive the statement;
  // without them it is one of ours.
  virtual Result<std::unique_ptr<Statement>> PrepareReadOnly(std::string_view sql,
                                                             const SqlLimits* limits = nullptr) = 0;
  virtual Status Execute(const std::string& script) = 0;  // any number of statements, no rows
  // Rows that the last Run() added, changed or deleted.
  virtual std::int64_t Changes() const = 0;

  // Into `table`, in a transaction (Begin()) that the caller ends.
  virtual Result<std::unique_ptr<BulkInsert>> StartBulkInsert(const std::string& table,
                                                              const std::vector<std::string>& columns) = 0;

  // kWriting: one at a time; a second writer waits for the first, before it has seen or changed anything. So writers
  // neither fail half-way nor wait for each other in a circle. kStaging: for tables that only this connection sees.
  enum class Purpose { kStaging, kWriting };
  virtual Status Begin(Purpose purpose) = 0;
  virtual Status Commit() = 0;
  virtual void Rollback() = 0;

  // Makes a backup of what is saved now beside the store and returns its place; empty where there is none to make (in
  // memory). Within a transaction that has written nothing yet. `label` becomes a part of the copy's name; no copy
  // replaces an earlier one.
  virtual Result<std::string> BackUp(const std::string& label) = 0;

  Result<std::int64_t> AskInteger(std::string_view sql);
};

// Rolls back unless it was committed.
class Transaction {
 public:
  static Result<Transaction> Begin(Connection& connection, Connection::Purpose purpose = Connection::Purpose::kWriting);
  Transaction(Transaction&& other) noexcept : connection_(other.connection_) { other.connection_ = nullptr; }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;
};

// A table of one column `value`: the elements of the JSON list of texts that is bound to `parameter` ("$1").
std::string ListTable(Dialect dialect, std::string_view parameter, std::string_view alias);

}  // namespace infimum
