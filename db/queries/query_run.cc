#include "db/queries/query_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/check.h"
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
    if (std::ranges::find(names, name) == names.end())
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
    // But where the query asks itself whether it is empty.
    const bool may_be_empty = query.sql.find(fmt::format("${} = ''", values.size() + 1)) != std::string::npos;
    if (wants_number && !ParseNumber(value) && !(value.empty() && may_be_empty))
      return Error{fmt::format("query {}: {}={} is not a number: {}", query.name, parameter.name, Quoted(value),
                               parameter.what)};
    values.push_back(value);
  }
  return values;
}

namespace {

bool IsNameLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

std::string_view NameAt(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && IsNameLetter(text[end])) ++end;
  return text.substr(begin, end - begin);
}

// ":name=otherwise   what", the value without spaces or in double quotes.
QueryParameter ParameterFrom(std::string_view line) {
  QueryParameter parameter;
  parameter.name = NameAt(line, 1);
  line.remove_prefix(1 + parameter.name.size());
  if (line.starts_with('=')) {
    line.remove_prefix(1);
    const std::size_t end = std::min(line.find(' '), line.size());
    parameter.otherwise = line.substr(0, end);
    line.remove_prefix(end);
  }
  parameter.what = TrimSpace(line);
  return parameter;
}

}  // namespace

Result<NamedQuery> ParseQuery(std::string_view name, std::string_view text) {
  NamedQuery query;
  query.name = name;
  while (text.starts_with("--")) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = TrimSpace(text.substr(2, end - 2));
    text.remove_prefix(end + 1);
    if (line.starts_with(':')) {
      query.parameters.push_back(ParameterFrom(line));
    } else if (query.parameters.empty()) {
      query.what += (query.what.empty() ? "" : " ") + std::string(line);
    } else {
      query.parameters.back().what += " " + std::string(line);
    }
  }
  std::vector<bool> used(query.parameters.size(), false);
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view parameter = text[at] == ':' ? NameAt(text, at + 1) : std::string_view();
    if (parameter.empty()) {
      query.sql += text[at++];
      continue;
    }
    const auto found =
        std::ranges::find_if(query.parameters, [&](const QueryParameter& known) { return known.name == parameter; });
    if (found == query.parameters.end())
      return Error{fmt::format("query {}: its head does not document :{}", name, parameter)};
    const auto position = static_cast<std::size_t>(found - query.parameters.begin());
    used[position] = true;
    query.sql += fmt::format("${}", position + 1);
    at += 1 + parameter.size();
  }
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!used[i]) return Error{fmt::format("query {}: :{} is documented but not used", name, query.parameters[i].name)};
  if (query.what.empty()) return Error{fmt::format("query {}: no description", name)};
  return query;
}

const std::vector<NamedQuery>& NamedQueries() {
  static const std::vector<NamedQuery> queries = [] {
    std::vector<NamedQuery> parsed;
    for (const QueryFile& file : QueryFiles()) {
      Result<NamedQuery> query = ParseQuery(file.name, file.text);
      INFIMUM_CHECK(query.ok(), "a query of db/queries is well-formed");
      parsed.push_back(std::move(*query));
    }
    return parsed;
  }();
  return queries;
}

const NamedQuery* FindQuery(std::string_view name) {
  const std::vector<NamedQuery>& queries = NamedQueries();
  const auto found = std::ranges::find_if(queries, [&](const NamedQuery& query) { return query.name == name; });
  return found == queries.end() ? nullptr : &*found;
}

}  // namespace infimum
