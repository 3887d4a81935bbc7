// Checked access to the members of a JSON object. Every function names the member in its error:
//
//   'threads' is missing;   'count' is the text '12', expected a whole number from 1
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "infimum/base/result.h"

namespace infimum {

using Json = nlohmann::json;
// Members keep their order, so that files are stable and read well.
using OrderedJson = nlohmann::ordered_json;

// 31 years: sums of such times stay far from overflow.
inline constexpr double kMaxMicroseconds = 1e15;

// Of a number. Without `most` anything up to the largest of its type; a Latency up to kMaxMicroseconds.
struct Limits {
  double least = 0;
  std::optional<double> most = std::nullopt;
};

// Parses one document; the error starts with the byte, from 1, where it is not JSON. Refuses documents
// nested deeper than any of ours, or of more values, before anything is built from them.
Result<Json> ParseJson(std::string_view text);

// One line, or indented by `indent` spaces; never throws on invalid UTF-8.
template <class AnyJson>
std::string DumpJson(const AnyJson& json, int indent = -1) {
  return json.dump(indent, ' ', false, AnyJson::error_handler_t::replace);
}

// nullptr where there is none or it is null; `object` may be any JSON.
const Json* FindMember(const Json& object, std::string_view name);

Error Missing(std::string_view name);
Error Unexpected(const Json& json, std::string_view name, std::string_view expected);

Result<const Json*> ObjectField(const Json& object, std::string_view name);
Result<const Json*> ArrayField(const Json& object, std::string_view name);
Result<std::string> TextField(const Json& object, std::string_view name);

// That a document's 'schema' is this one.
Status CheckSchema(const Json& document, std::string_view schema);

// A value on its own; `name` is what errors call it.
Result<std::int64_t> IntegerOf(const Json& json, std::string_view name, const Limits& limits);
Result<double> NumberOf(const Json& json, std::string_view name, const Limits& limits);  // finite

}  // namespace infimum
