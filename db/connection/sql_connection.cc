#include "db/connection/sql_connection.h"

#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/utf8.h"

namespace infimum {

StorableText::StorableText(std::string_view text) : text_(text) {
  const bool plain = std::ranges::all_of(text, [](char c) { return c > 0; });
  if (plain) return;
  std::string valid = ValidUtf8(text);
  if (valid == text && text.find('\0') == std::string_view::npos) return;
  for (const char c : valid) {
    if (c == '\0') {
      changed_ += "\xEF\xBF\xBD";
    } else {
      changed_ += c;
    }
  }
  text_ = changed_;
}

std::string OneLine(std::string_view text) {
  constexpr std::size_t kMost = 300;
  const bool cut = text.size() > kMost;
  // Not in the middle of a character.
  std::size_t end = std::min(kMost, text.size());
  while (cut && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  std::string line = ValidUtf8(text.substr(0, end));
  for (char& c : line)
    if ((c >= 0 && c < ' ') || c == 0x7f) c = ' ';
  return cut ? line + "..." : line;
}

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
