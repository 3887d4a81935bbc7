// Typed access to fields of hostile JSON: a wrong type or range is an error that names the field.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/base/units.h"

namespace infimum::ingest {

using Json = nlohmann::json;

// The whole stream as JSON, with a limit to how many values that are; errors say the byte.
Result<Json> ParseJson(std::istream& input, std::string_view origin);

// Absent or null gives `fallback`.
Result<std::string> TextField(const Json& object, const char* name, std::string fallback = "");
Result<std::int64_t> IntegerField(const Json& object, const char* name, std::int64_t least, std::int64_t most,
                                  std::int64_t fallback);
Result<std::vector<std::string>> TextsField(const Json& object, const char* name);
Result<std::map<std::string, std::string>> TextMapField(const Json& object, const char* name);
// A time in milliseconds, finite and not negative; nullopt where it is absent or null.
Result<std::optional<Latency>> MillisecondsField(const Json& object, const char* name);
// Finite, not negative, at most 2^24 of them.
Result<std::vector<Latency>> LatenciesField(const Json& object, const char* name);

}  // namespace infimum::ingest
