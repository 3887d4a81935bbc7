#include "src/ingest/event_field.h"

#include <fmt/format.h>

#include <sstream>

#include "infimum/base/text.h"
#include "src/ingest/trace_events.h"
#include "src/ingest/trace_values.h"

namespace infimum::ingest {
namespace {

std::string_view TypeOf(std::string_view token) {
  switch (token.empty() ? '\0' : token.front()) {
    case '"':
      return "string";
    case '[':
      return "array";
    case '{':
      return "object";
    case 't':
    case 'f':
      return "boolean";
    case 'n':
      return "null";
    default:
      return "number";
  }
}

// As it stands where that is a number of usual length.
std::string Shown(std::string_view token) {
  const bool is_plain = token.size() <= 40 && token.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  return is_plain ? std::string(token) : Quoted(token);
}

bool IsNumber(std::string_view token) {
  return !token.empty() && (token.front() == '-' || (token.front() >= '0' && token.front() <= '9'));
}

}  // namespace

Status EventField::Set(simdjson::ondemand::value& value) {
  token_ = TokenOf(value);
  text_.reset();
  if (is_text()) text_ = TextOf(value, scratch_);
  if (is_list()) {
    std::optional<std::string_view> whole;
    if (const auto code = WholeOf(value, whole); code != simdjson::SUCCESS) return Broken(code);
    if (whole) token_ = *whole;
  }
  return {};
}

Error EventField::WrongType(std::string_view wanted) const {
  return Error{fmt::format("'{}' should be {}, not {}", name_, wanted, TypeOf(token_))};
}

Result<std::string_view> EventField::Text() const {
  if (absent()) return std::string_view();
  if (!is_text()) return WrongType("a text");
  if (!text_) return Error{fmt::format("'{}' is a text with an escape that is none", name_)};
  return *text_;
}

Result<std::int64_t> EventField::Integer(std::int64_t least, std::int64_t most, std::int64_t fallback) const {
  if (absent()) return fallback;
  if (!IsNumber(token_)) return WrongType("a whole number");
  const std::optional<std::int64_t> number = IntegerOf(token_);
  if (!number || *number < least || *number > most) {
    return Error{fmt::format("'{}' should be between {} and {}, not {}", name_, least, most, Shown(token_))};
  }
  return *number;
}

Result<std::optional<std::int64_t>> EventField::Nanoseconds() const {
  if (absent()) return std::optional<std::int64_t>();
  if (!IsNumber(token_)) return WrongType("a number");
  const std::optional<std::int64_t> time = NanosecondsOf(token_);
  if (!time || *time < 0) {
    return Error{fmt::format("'{}' is {}, not a time in microseconds", name_, Shown(token_))};
  }
  return time;
}

void ClearFields(std::span<EventField* const> fields) {
  for (EventField* const field : fields) field->Clear();
}

Status ReadFields(simdjson::ondemand::object& object, std::span<EventField* const> wanted, const TakeField& other) {
  for (auto element : object) {
    simdjson::ondemand::field field;
    if (const auto code = std::move(element).get(field); code != simdjson::SUCCESS) return Broken(code);
    const std::string_view key = KeyOf(field);
    bool is_wanted = false;
    for (EventField* const one : wanted) {
      if (one->name() != key) continue;
      is_wanted = true;
      INFIMUM_RETURN_IF_ERROR(one->Set(field.value()));
    }
    if (!is_wanted && other) INFIMUM_RETURN_IF_ERROR(other(key, field.value()));
  }
  return {};
}

Status ReadFields(simdjson::ondemand::value& value, std::span<EventField* const> wanted, const TakeField& other) {
  simdjson::ondemand::object object;
  const auto code = value.get_object().get(object);
  if (code == simdjson::INCORRECT_TYPE) return {};
  if (code != simdjson::SUCCESS) return Broken(code);
  return ReadFields(object, wanted, other);
}

Result<Json> ParseList(std::string_view token) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  if (!token.starts_with('[') || token.size() > kMostBytes) return Json::array();
  std::istringstream input{std::string(token)};
  return ParseJson(input, "a list of types or shapes");
}

}  // namespace infimum::ingest
