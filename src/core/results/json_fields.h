// Checked access to the members of a JSON object. Every function names the member in its error:
//
//   'threads' is missing;   'count' is the text '12', expected a whole number from 1
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"

namespace infimum {

// Members keep their order, so that files are stable and read well.
using Json = nlohmann::ordered_json;

// Parses one document; the error starts with the byte, from 1, where it is not JSON. Refuses documents
// nested deeper than any of ours, or of more values, before anything is built from them.
Result<Json> ParseJson(std::string_view text);

// One line, or indented by `indent` spaces; never throws on invalid UTF-8.
std::string DumpJson(const Json& json, int indent = -1);

// nullptr where there is none or it is null; `object` may be any JSON.
const Json* FindMember(const Json& object, std::string_view name);

Result<const Json*> ObjectField(const Json& object, std::string_view name);
Result<const Json*> ArrayField(const Json& object, std::string_view name);
Result<std::string> TextField(const Json& object, std::string_view name);
Result<bool> TruthField(const Json& object, std::string_view name);
Result<std::int64_t> IntegerField(const Json& object, std::string_view name, std::int64_t least);
// Finite and in [least, most].
Result<double> NumberField(const Json& object, std::string_view name, double least, double most);
Result<std::map<std::string, std::string>> TextMapField(const Json& object, std::string_view name);
Result<std::vector<std::string>> TextListField(const Json& object, std::string_view name);

// A number of a list, checked like NumberField.
Result<double> NumberOf(const Json& json, std::string_view name, double least, double most);

}  // namespace infimum
