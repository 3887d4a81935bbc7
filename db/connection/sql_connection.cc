#include "db/connection/sql_connection.h"

#include <fmt/format.h>

namespace infimum {

SqlValue OrNull(std::optional<double> value) { return value ? SqlValue(*value) : SqlValue(nullptr); }

std::string QueryDeadline::reason() const {
  if (is_interrupted()) return "the query was interrupted";
  return fmt::format("the query was stopped after {:.3g} s: raise --timeout, or ask for fewer rows (LIMIT)",
                     std::chrono::duration<double>(limits_->time).count());
}

Status Statement::Run() {
  const Result<bool> row = Step();
  Reset();
  if (!row) return row.error();
  return {};
}

std::optional<double> Statement::OptionalNumber(int column) const {
  if (IsNull(column)) return std::nullopt;
  return Number(column);
}

Result<std::int64_t> Connection::AskInteger(std::string_view sql) {
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> statement, Prepare(sql));
  INFIMUM_ASSIGN_OR_RETURN(const bool row, statement->Step());
  if (!row) return Error{fmt::format("{}: no answer to: {}", name(), sql)};
  return statement->Integer(0);
}

Result<Transaction> Transaction::Begin(Connection& connection, Connection::Purpose purpose) {
  INFIMUM_RETURN_IF_ERROR(connection.Begin(purpose));
  return Transaction(connection);
}

Transaction::~Transaction() {
  // The error that made it roll back is already on its way to the user.
  if (connection_ != nullptr) connection_->Rollback();
}

Status Transaction::Commit() {
  INFIMUM_RETURN_IF_ERROR(connection_->Commit());
  connection_ = nullptr;
  return {};
}

std::string ListTable(Dialect dialect, std::string_view parameter, std::string_view alias) {
  if (dialect == Dialect::kSqlite) return fmt::format("json_each({}) AS {}", parameter, alias);
  return fmt::format("json_array_elements_text(CAST({} AS json)) AS {}(value)", parameter, alias);
}

}  // namespace infimum
