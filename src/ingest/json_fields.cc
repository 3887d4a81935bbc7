#include "src/ingest/json_fields.h"

#include <fmt/format.h>

#include <cmath>
#include <istream>

namespace infimum::ingest {
namespace {

constexpr std::size_t kMaxSamples = std::size_t{1} << 24;
constexpr std::size_t kMaxValues = kMaxSamples + kMaxSamples / 4;  // of a document; each costs up to 80 bytes

const Json* Find(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Error WrongType(const char* name, const char* wanted, const Json& found) {
  return Error{fmt::format("'{}' should be {}, not {}", name, wanted, found.type_name())};
}

}  // namespace

Result<Json> ParseJson(std::istream& input, std::string_view origin) {
  // A depth limit first: the parser is iterative, but copying and freeing a deep document is not.
  constexpr int kMaxDepth = 64;
  bool too_deep = false;
  std::size_t values = 0;
  try {
    Json document = Json::parse(input, [&](int depth, Json::parse_event_t event, Json&) {
      too_deep = too_deep || depth > kMaxDepth;
      const bool is_end = event == Json::parse_event_t::object_end || event == Json::parse_event_t::array_end;
      values += is_end ? 0 : 1;
      return depth <= kMaxDepth && values <= kMaxValues;
    });
    if (too_deep) return Error{fmt::format("{}: nested more than {} deep", origin, kMaxDepth)};
    if (values > kMaxValues) return Error{fmt::format("{}: holds more than {} values", origin, kMaxValues)};
    return document;
  } catch (const Json::parse_error& error) {
    return Error{fmt::format("{}: byte {}: not valid JSON; is the file cut off?", origin, error.byte)};
  } catch (const std::exception& error) {
    return Error{fmt::format("{}: {}", origin, error.what())};
  }
}

Result<std::string> TextField(const Json& object, const char* name, std::string fallback) {
  const Json* field = Find(object, name);
  if (field == nullptr) return fallback;
  if (!field->is_string()) return WrongType(name, "a text", *field);
  return field->get<std::string>();
}

Result<std::int64_t> IntegerField(const Json& object, const char* name, std::int64_t least, std::int64_t most,
                                  std::int64_t fallback) {
  const Json* field = Find(object, name);
  if (field == nullptr) return fallback;
  if (!field->is_number_integer()) return WrongType(name, "a whole number", *field);
  const bool huge = field->is_number_unsigned() && field->get<std::uint64_t>() > static_cast<std::uint64_t>(most);
  const std::int64_t value = huge ? most : field->get<std::int64_t>();
  if (huge || value < least || value > most) {
    return Error{fmt::format("'{}' should be between {} and {}, not {}", name, least, most, field->dump())};
  }
  return value;
}

Result<std::vector<std::string>> TextsField(const Json& object, const char* name) {
  std::vector<std::string> texts;
  const Json* field = Find(object, name);
  if (field == nullptr) return texts;
  if (!field->is_array()) return WrongType(name, "a list of texts", *field);
  for (const Json& element : *field) {
    if (!element.is_string()) return WrongType(name, "a list of texts", element);
    texts.push_back(element.get<std::string>());
  }
  return texts;
}

Result<std::map<std::string, std::string>> TextMapField(const Json& object, const char* name) {
  std::map<std::string, std::string> texts;
  const Json* field = Find(object, name);
  if (field == nullptr) return texts;
  if (!field->is_object()) return WrongType(name, "an object of texts", *field);
  for (const auto& [key, value] : field->items()) {
    if (!value.is_string()) return WrongType(name, "an object of texts", value);
    texts[key] = value.get<std::string>();
  }
  return texts;
}

Result<std::optional<Latency>> MillisecondsField(const Json& object, const char* name) {
  const Json* field = Find(object, name);
  if (field == nullptr) return std::optional<Latency>();
  if (!field->is_number()) return WrongType(name, "a number", *field);
  const std::chrono::duration<double, std::milli> value(field->get<double>());
  constexpr std::chrono::hours kLongest(24 * 366);
  if (!(value.count() >= 0) || value > kLongest) {
    return Error{fmt::format("'{}' is {}, not a time in milliseconds", name, field->dump())};
  }
  return std::optional<Latency>(value);
}

Result<std::vector<Latency>> LatenciesField(const Json& object, const char* name) {
  std::vector<Latency> latencies;
  const Json* field = Find(object, name);
  if (field == nullptr) return latencies;
  if (!field->is_array()) return WrongType(name, "a list of times", *field);
  if (field->size() > kMaxSamples) return Error{fmt::format("'{}' has over {} samples", name, kMaxSamples)};
  for (const Json& element : *field) {
    if (!element.is_number()) return WrongType(name, "a list of times", element);
    const double value = element.get<double>();
    if (!std::isfinite(value) || value < 0)
      return Error{fmt::format("'{}' holds {}, not a time", name, element.dump())};
    latencies.emplace_back(value);
  }
  return latencies;
}

}  // namespace infimum::ingest
