#include "src/core/results/json_fields.h"

#include <cmath>
#include <limits>
#include <optional>

#include "infimum/base/text.h"

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

Error Unexpected(const Json& json, std::string_view name, std::string_view expected) {
  return Error{Named(name) + " is " + Shown(json) + ", expected " + std::string(expected)};
}

Result<const Json*> Field(const Json& object, std::string_view name) {
  if (const Json* member = FindMember(object, name)) return member;
  return Error{Named(name) + " is missing"};
}

}  // namespace

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

std::string DumpJson(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

const Json* FindMember(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto member = object.find(std::string(name));
  return member == object.end() || member->is_null() ? nullptr : &*member;
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

Result<bool> TruthField(const Json& object, std::string_view name) {
  INFIMUM_ASSIGN_OR_RETURN(const Json* member, Field(object, name));
  if (!member->is_boolean()) return Unexpected(*member, name, "true or false");
  return member->get<bool>();
}

Result<std::int64_t> IntegerField(const Json& object, std::string_view name, std::int64_t least) {
  INFIMUM_ASSIGN_OR_RETURN(const Json* member, Field(object, name));
  const bool fits = member->is_number_unsigned()
                        ? member->get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}
                        : member->is_number_integer();
  if (!fits || member->get<std::int64_t>() < least) {
    return Unexpected(*member, name, "a whole number from " + std::to_string(least));
  }
  return member->get<std::int64_t>();
}

Result<double> NumberOf(const Json& json, std::string_view name, double least, double most) {
  if (json.is_number()) {
    const double value = json.get<double>();
    if (std::isfinite(value) && value >= least && value <= most) return value;
  }
  return Unexpected(json, name, "a number from " + FormatNumber(least) + " to " + FormatNumber(most));
}

Result<double> NumberField(const Json& object, std::string_view name, double least, double most) {
  INFIMUM_ASSIGN_OR_RETURN(const Json* member, Field(object, name));
  return NumberOf(*member, name, least, most);
}

Result<std::map<std::string, std::string>> TextMapField(const Json& object, std::string_view name) {
  INFIMUM_ASSIGN_OR_RETURN(const Json* member, ObjectField(object, name));
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : member->items()) {
    if (!value.is_string()) return Unexpected(value, std::string(name) + "." + key, "a text");
    texts.emplace(key, value.get<std::string>());
  }
  return texts;
}

Result<std::vector<std::string>> TextListField(const Json& object, std::string_view name) {
  INFIMUM_ASSIGN_OR_RETURN(const Json* member, ArrayField(object, name));
  std::vector<std::string> texts;
  for (const Json& value : *member) {
    if (!value.is_string()) return Unexpected(value, name, "a list of texts");
    texts.push_back(value.get<std::string>());
  }
  return texts;
}

}  // namespace infimum
