#include "db/queries/query_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/text.h"

namespace infimum {
namespace {

QueryCell CellOf(const Statement& row, int column) {
  switch (row.TypeOf(column)) {
    case CellType::kNull:
      return nullptr;
    case CellType::kInteger:
      return row.Integer(column);
    case CellType::kNumber:
      return row.Number(column);
    case CellType::kText:
      break;
  }
  return row.Text(column);
}

}  // namespace

Result<QueryTable> RunQuery(Connection& connection, const std::string& sql, const std::vector<std::string>& values,
                            const SqlLimits* limits) {
  const QueryDeadline deadline(limits);
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> statement, connection.PrepareReadOnly(sql, limits));
  for (std::size_t i = 0; i < values.size(); ++i) statement->Bind(static_cast<int>(i) + 1, std::string_view(values[i]));
  QueryTable table;
  std::size_t bytes = 0;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, statement->Step());
    if (table.columns.empty())
      for (int column = 0; column < statement->Columns(); ++column)
        table.columns.push_back(statement->ColumnName(column));
    if (!row) return table;
    if (deadline.is_over()) return Error{connection.name() + ": " + deadline.reason()};
    if (table.rows.size() == kMostQueryRows) {
      return Error{fmt::format("{}: the answer has more than {} rows; ask for fewer (LIMIT)", connection.name(),
                               kMostQueryRows)};
    }
    std::vector<QueryCell>& cells = table.rows.emplace_back();
    for (int column = 0; column < statement->Columns(); ++column) {
      cells.push_back(CellOf(*statement, column));
      if (const auto* text = std::get_if<std::string>(&cells.back())) bytes += text->size();
    }
    if (bytes > kMostQueryBytes) {
      return Error{fmt::format("{}: the answer has more than {} MiB of text; ask for less of it (substr, LIMIT)",
                               connection.name(), kMostQueryBytes >> 20)};
    }
  }
}

Result<std::vector<std::string>> ValuesOf(const NamedQuery& query, const std::map<std::string, std::string>& given) {
  std::vector<std::string_view> names;
  for (const QueryParameter& parameter : query.parameters) names.push_back(parameter.name);
  for (const auto& [name, value] : given) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      return Error{fmt::format("query {} has no parameter {}{}", query.name, Quoted(name), DidYouMean(name, names))};
  }
  std::vector<std::string> values;
  for (const QueryParameter& parameter : query.parameters) {
    const auto found = given.find(parameter.name);
    if (found == given.end() && !parameter.otherwise)
      return Error{fmt::format("query {} needs {}=...: {}", query.name, parameter.name, parameter.what)};
    const std::string& value = found == given.end() ? *parameter.otherwise : found->second;
    // Databases differ in what they make of a text that is no number.
    const bool wants_number = parameter.otherwise && ParseNumber(*parameter.otherwise).has_value();
    if (wants_number && !ParseNumber(value))
      return Error{
          fmt::format("query {}: {}={} is no number: {}", query.name, parameter.name, Quoted(value), parameter.what)};
    values.push_back(value);
  }
  return values;
}

}  // namespace infimum
