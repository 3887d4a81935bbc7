#include "src/core/results/json_struct.h"

namespace infimum {
namespace {

// Ours nest 7 deep (Google Benchmark JSON); a text of nothing but brackets would cost a hundred bytes
// of memory for each byte.
constexpr int kMaxNesting = 32;
// The largest document that is read as a whole, of 256 MiB, holds fewer of ours.
constexpr std::size_t kMaxValues = std::size_t{1} << 24;

struct Excess {
  std::size_t place = 0;
  std::string what;
};

std::optional<Excess> FindExcess(std::string_view text) {
  int depth = 0;
  std::size_t values = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == ',') {
      if (++values > kMaxValues) return Excess{i, "more than " + std::to_string(kMaxValues) + " values"};
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxNesting) return Excess{i, "nested deeper than " + std::to_string(kMaxNesting) + " levels"};
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return std::nullopt;
}

std::string Shown(const Json& json) {
  if (json.is_object()) return "an object";
  if (json.is_array()) return "a list";
  if (json.is_string()) return "the text " + Quoted(json.get_ref<const std::string&>());
  return DumpJson(json);
}

std::string Named(std::string_view name) {
  std::string text = "'";
  return text.append(name).append("'");
}

Result<const Json*> Field(const Json& object, std::string_view name) {
  if (const Json* member = FindMember(object, name)) return member;
  return Missing(name);
}

}  // namespace

Status JsonForm<Beat>::Read(const std::vector<Latency>& times, Beat& beat) {
  if (times.size() < 2 || times.size() > 3 || std::ranges::min(times) <= Latency(0))
    return Error{"expected [arithmetic, memory] or [arithmetic, memory, cache], all more than 0"};
  beat = {times[0], times[1], times.size() > 2 ? times[2] : Latency(0)};
  return {};
}

Result<Json> ParseJson(std::string_view text) {
  if (const auto excess = FindExcess(text)) return Error{std::to_string(excess->place + 1) + ": " + excess->what};
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& error) {
    return Error{std::to_string(error.byte) + ": not valid JSON"};
  } catch (const Json::exception&) {
    return Error{"1: holds a number that is too large"};
  }
}

const Json* FindMember(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto member = object.find(name);
  return member == object.end() || member->is_null() ? nullptr : &*member;
}

Error Missing(std::string_view name) { return Error{Named(name) + " is missing"}; }

Error Unexpected(const Json& json, std::string_view name, std::string_view expected) {
  return Error{(name.empty() ? "it" : Named(name)) + " is " + Shown(json) + ", expected " + std::string(expected)};
}

Result<const Json*> ObjectField(const Json& object, std::string_view name) {
  INFIMUM_ASSIGN_OR_RETURN(const Json* member, Field(object, name));
  if (!member->is_object()) return Unexpected(*member, name, "an object");
  return member;
}

Result<const Json*> ArrayField(const Json& object, std::string_view name) {
  INFIMUM_ASSIGN_OR_RETURN(const Json* member, Field(object, name));
  if (!member->is_array()) return Unexpected(*member, name, "a list");
  return member;
}

Result<std::string> TextField(const Json& object, std::string_view name) {
  INFIMUM_ASSIGN_OR_RETURN(const Json* member, Field(object, name));
  if (!member->is_string()) return Unexpected(*member, name, "a text");
  return member->get<std::string>();
}

Status CheckSchema(const Json& document, std::string_view schema) {
  INFIMUM_ASSIGN_OR_RETURN(const std::string found, TextField(document, "schema"));
  if (found == schema) return {};
  return Error{"'schema' is " + Quoted(found) + ", expected " + std::string(schema)};
}

Result<std::int64_t> IntegerOf(const Json& json, std::string_view name, const Limits& limits) {
  const bool fits = json.is_number_unsigned()
                        ? json.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}
                        : json.is_number_integer();
  if (fits) {
    const std::int64_t value = json.get<std::int64_t>();
    const double number = static_cast<double>(value);
    if (number >= limits.least && (!limits.most || number <= *limits.most)) return value;
  }
  std::string expected = "a whole number from " + FormatNumber(limits.least);
  if (limits.most) expected += " to " + FormatNumber(*limits.most);
  return Unexpected(json, name, expected);
}

Result<double> NumberOf(const Json& json, std::string_view name, const Limits& limits) {
  const double most = limits.most.value_or(std::numeric_limits<double>::max());
  if (json.is_number()) {
    const double value = json.get<double>();
    if (std::isfinite(value) && value >= limits.least && value <= most) return value;
  }
  return Unexpected(json, name, "a number from " + FormatNumber(limits.least) + " to " + FormatNumber(most));
}

}  // namespace infimum
