#include "infimum/db/queries.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/queries/query_files.h"
#include "infimum/base/check.h"
#include "infimum/base/text.h"

namespace infimum {
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
    const auto found = std::find_if(query.parameters.begin(), query.parameters.end(),
                                    [&](const QueryParameter& known) { return known.name == parameter; });
    if (found == query.parameters.end())
      return Error{fmt::format("query {}: its head does not explain :{}", name, parameter)};
    const auto position = static_cast<std::size_t>(found - query.parameters.begin());
    used[position] = true;
    query.sql += fmt::format("${}", position + 1);
    at += 1 + parameter.size();
  }
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!used[i]) return Error{fmt::format("query {}: :{} is explained and not used", name, query.parameters[i].name)};
  if (query.what.empty()) return Error{fmt::format("query {}: says not what it tells", name)};
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
  const auto found =
      std::find_if(queries.begin(), queries.end(), [&](const NamedQuery& query) { return query.name == name; });
  return found == queries.end() ? nullptr : &*found;
}

}  // namespace infimum
