#include "src/readers/files/json_fields.h"

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

// Makes the document while it is parsed, within limits. nlohmann's own parser with a callback looks through a whole
// list at the end of each object in it, which is quadratic; without one it knows no limits.
class DocumentBuilder final : public nlohmann::json_sax<Json> {
 public:
  Json document;
  std::string error;  // what is wrong, empty if nothing is

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t value, const string_t&) override { return Add(value); }
  bool string(string_t& value) override { return Add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return Open(Json::object()); }
  bool start_array(std::size_t) override { return Open(Json::array()); }
  bool key(string_t& name) override {
    key_ = std::move(name);
    return true;
  }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& what) override {
    // Numbers out of range come here too, and their texts say so.
    const bool is_syntax = dynamic_cast<const Json::parse_error*>(&what) != nullptr;
    error = is_syntax ? fmt::format("byte {}: not valid JSON; is the file cut off?", byte) : what.what();
    return false;
  }

 private:
  template <class Value>
  bool Add(Value&& value) {
    return Place(Json(std::forward<Value>(value))) != nullptr;
  }

  bool Open(Json structure) {
    Json* const placed = Place(std::move(structure));
    if (placed == nullptr) return false;
    // Copying and freeing a deep document is recursive.
    constexpr std::size_t kDeepest = 64;
    if (open_.size() > kDeepest) {
      error = fmt::format("nested more than {} deep", kDeepest);
      return false;
    }
    open_.push_back(placed);
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  Json* Place(Json value) {
    if (++values_ > kMaxValues) {
      error = fmt::format("holds more than {} values", kMaxValues);
      return nullptr;
    }
    if (open_.empty()) {
      document = std::move(value);
      return &document;
    }
    Json& parent = *open_.back();
    // What was placed before in `parent` is closed: nothing points to it when the list grows.
    if (parent.is_array()) return &parent.emplace_back(std::move(value));
    return &(parent[key_] = std::move(value));
  }

  std::vector<Json*> open_;
  std::string key_;
  std::size_t values_ = 0;
};

}  // namespace

Result<Json> ParseJson(std::istream& input, std::string_view origin) {
  try {
    DocumentBuilder builder;
    if (Json::sax_parse(input, &builder)) return std::move(builder.document);
    return Error{fmt::format("{}: {}", origin, builder.error)};
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
