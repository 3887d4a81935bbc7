// PostgreSQL as a Connection, through libpqxx; nothing of pqxx is seen outside these files.
//
//   PostgreSqlConnection::Open("postgresql://infimum@db.example.org/infimum", /*read_only=*/false)
//
// libpq takes what the address leaves out from the environment (PGPASSWORD, PGSSLMODE, ...) and ~/.pgpass. Our tables
// live in the schema `infimum` of the database, so that other programs' do not mix with them.
#pragma once

#include <memory>
#include <string>

#include "db/connection/sql_connection.h"

namespace infimum {

inline constexpr char kPostgreSqlSchema[] = "infimum";

bool IsPostgreSqlAddress(std::string_view address);
// The address without its password, for messages and reports.
std::string WithoutPassword(std::string_view address);

class PostgreSqlConnection : public Connection {
 public:
  // A read-only connection cannot change anything: the server sees to it.
  static Result<std::unique_ptr<PostgreSqlConnection>> Open(const std::string& address, bool read_only);
  ~PostgreSqlConnection() override;

  Dialect dialect() const override { return Dialect::kPostgreSql; }
  const std::string& name() const override { return name_; }
  Result<std::unique_ptr<Statement>> Prepare(std::string_view sql) override;
  Result<std::unique_ptr<Statement>> PrepareReadOnly(std::string_view sql, const SqlLimits* limits = nullptr) override;
  Status Execute(const std::string& script) override;
  std::int64_t Changes() const override { return changes_; }
  Result<std::unique_ptr<BulkInsert>> StartBulkInsert(const std::string& table,
                                                      const std::vector<std::string>& columns) override;
  Status Begin(Purpose purpose) override;
  Status Commit() override;
  void Rollback() override;
  // A schema of the database: "infimum_schema_5". The rows alone, without keys and indexes.
  Result<std::string> BackUp(const std::string& label) override;

 private:
  friend class PostgreSqlStatement;
  friend class PostgreSqlCursor;
  struct Server;  // libpqxx's connection and the transaction that is open on it
  PostgreSqlConnection(std::string name, std::unique_ptr<Server> server);

  std::string name_;
  std::unique_ptr<Server> server_;
  std::int64_t changes_ = 0;
};

}  // namespace infimum
