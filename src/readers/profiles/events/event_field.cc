#include "src/readers/profiles/events/event_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>

#include "infimum/base/check.h"
#include "infimum/base/text.h"

namespace infimum::ingest {
namespace {

std::string_view WithoutBlanksAtTheEnd(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string_view KeyOf(simdjson::ondemand::field& field) {
  const char* const start = field.key().raw();
  // Up to the closing quote, or within the padding.
  constexpr std::size_t kMost = 64;
  const void* const end = std::memchr(start, '"', kMost);
  return {start, end == nullptr ? kMost : static_cast<std::size_t>(static_cast<const char*>(end) - start)};
}

std::string_view TokenOf(simdjson::ondemand::value& value) { return WithoutBlanksAtTheEnd(value.raw_json_token()); }

std::string_view Unquoted(std::string_view token) {
  const bool has_quotes = token.size() >= 2 && token.front() == '"' && token.back() == '"';
  return has_quotes ? token.substr(1, token.size() - 2) : token;
}

std::optional<std::int64_t> NanosecondsOf(std::string_view token) {
  token = Unquoted(token);
  // Microseconds: 95 years, so that from the earliest start to the end of what begins the latest and takes the longest
  // is a number of 64 bits too.
  constexpr std::int64_t kMost = 3'000'000'000'000'000;
  std::size_t i = 0;
  const bool negative = !token.empty() && token[0] == '-';
  if (negative) ++i;
  const std::size_t first = i;
  std::int64_t whole = 0;
  for (; i < token.size() && IsDigit(token[i]); ++i) {
    whole = whole * 10 + (token[i] - '0');
    if (whole > kMost) return std::nullopt;
  }
  if (i == first) return std::nullopt;
  std::int64_t fraction = 0;
  if (i < token.size() && token[i] == '.') {
    std::int64_t unit = 100;
    for (++i; i < token.size() && IsDigit(token[i]); ++i, unit /= 10) fraction += unit * (token[i] - '0');
  }
  if (i < token.size()) {
    // An exponent: rare, and then no more exact than a double.
    double number = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
    if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
    if (!std::isfinite(number) || std::abs(number) > static_cast<double>(kMost)) return std::nullopt;
    return static_cast<std::int64_t>(std::llround(number * 1000));
  }
  const std::int64_t nanoseconds = whole * 1000 + fraction;
  return negative ? -nanoseconds : nanoseconds;
}

std::optional<std::int64_t> IntegerOf(std::string_view token) {
  token = Unquoted(token);
  const bool is_hexadecimal = token.starts_with("0x") || token.starts_with("0X");
  if (is_hexadecimal) token.remove_prefix(2);
  if (const std::size_t dot = token.find('.'); dot != std::string_view::npos) {
    if (token.find_first_not_of('0', dot + 1) != std::string_view::npos) return std::nullopt;
    token = token.substr(0, dot);
  }
  std::int64_t number = 0;
  const auto [end, error] =
      std::from_chars(token.data(), token.data() + token.size(), number, is_hexadecimal ? 16 : 10);
  if (error != std::errc() || end != token.data() + token.size() || token.empty()) return std::nullopt;
  return number;
}

Escapes ResolveEscapes(simdjson::ondemand::value& value, std::string_view token, std::string& scratch) {
  if (std::memchr(token.data(), '\\', token.size()) == nullptr) return Escapes::kNone;
  std::string_view resolved;
  if (value.get_string().get(resolved) != simdjson::SUCCESS) return Escapes::kWrong;
  scratch = resolved;
  return Escapes::kResolved;
}

simdjson::error_code WholeOf(simdjson::ondemand::value& value, std::optional<std::string_view>& text) {
  simdjson::ondemand::json_type type{};
  if (const auto code = value.type().get(type); code != simdjson::SUCCESS) return code;
  std::string_view raw;
  if (type == simdjson::ondemand::json_type::array) {
    simdjson::ondemand::array list;
    if (const auto code = value.get_array().get(list); code != simdjson::SUCCESS) return code;
    if (const auto code = list.raw_json().get(raw); code != simdjson::SUCCESS) return code;
    text = WithoutBlanksAtTheEnd(raw);
  }
  return simdjson::SUCCESS;
}

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

// The token itself where it is a number of usual length.
std::string Shown(std::string_view token) {
  const bool is_plain = token.size() <= 40 && token.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  return is_plain ? std::string(token) : Quoted(token);
}

bool IsNumber(std::string_view token) {
  return !token.empty() && (token.front() == '-' || (token.front() >= '0' && token.front() <= '9'));
}

}  // namespace

simdjson::error_code EventField::Set(simdjson::ondemand::value& value) {
  token_ = TokenOf(value);
  if (is_text()) {
    escapes_ = ResolveEscapes(value, token_, scratch_);
    return simdjson::SUCCESS;
  }
  if (!is_list()) return simdjson::SUCCESS;
  std::optional<std::string_view> whole;
  const auto code = WholeOf(value, whole);
  if (whole) token_ = *whole;
  return code;
}

Error EventField::Missing() const { return Error{fmt::format("'{}' is missing", name_)}; }

Error EventField::WrongType(std::string_view wanted) const {
  return Error{fmt::format("'{}' should be {}, not {}", name_, wanted, TypeOf(token_))};
}

void EventField::NoteQuoted() const {
  oddities_.Note([this] { return Error{fmt::format("'{}' is the text {}", name_, Quoted(Unquoted(token_)))}; });
}

std::string_view EventField::Text() const {
  if (absent()) return {};
  const Result<std::string_view> text = NeededText();
  if (text.ok()) return *text;
  oddities_.Note([&] { return text.error(); });
  return {};
}

std::optional<std::int64_t> EventField::Integer(std::int64_t least, std::int64_t most) const {
  if (absent()) return std::nullopt;
  if (const auto plain = IntegerOf(token_); plain && !is_text() && *plain >= least && *plain <= most) return plain;
  const Result<std::int64_t> number = NeededInteger(least, most);
  if (number.ok()) return *number;
  oddities_.Note([&] { return number.error(); });
  return std::nullopt;
}

Result<std::string_view> EventField::NeededText() const {
  if (absent()) return Missing();
  if (!is_text()) return WrongType("a text");
  if (escapes_ == Escapes::kResolved) return std::string_view(scratch_);
  if (escapes_ == Escapes::kNone) return Unquoted(token_);
  oddities_.Note([this] { return Error{fmt::format("'{}' is a text with an invalid escape", name_)}; });
  return Unquoted(token_);
}

Result<std::int64_t> EventField::NeededInteger(std::int64_t least, std::int64_t most) const {
  if (absent()) return Missing();
  const std::optional<std::int64_t> number = IntegerOf(token_);
  if (!number && !IsNumber(token_)) return WrongType("a whole number");
  if (!number) return Error{fmt::format("'{}' is {}, not a whole number of 64 bits", name_, Shown(token_))};
  if (*number < least || *number > most)
    return Error{fmt::format("'{}' should be between {} and {}, not {}", name_, least, most, Shown(token_))};
  if (is_text()) NoteQuoted();
  return *number;
}

Result<std::int64_t> EventField::NeededNanoseconds(std::int64_t least) const {
  if (absent()) return Missing();
  const std::optional<std::int64_t> time = NanosecondsOf(token_);
  if (!time && !IsNumber(token_)) return WrongType("a number");
  if (!time || *time < least) return Error{fmt::format("'{}' is {}, not a time in microseconds", name_, Shown(token_))};
  if (is_text()) NoteQuoted();
  return *time;
}

FieldSet::FieldSet(std::initializer_list<EventField*> fields) : fields_(fields) {
  std::stable_sort(fields_.begin(), fields_.end(),
                   [](const EventField* a, const EventField* b) { return a->name().size() < b->name().size(); });
  for (const EventField* const field : fields_) {
    INFIMUM_CHECK(field->name().size() <= kLongestName, "a wanted field's name fits the table of lengths");
    ++first_[field->name().size() + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
}

simdjson::error_code ReadFields(simdjson::ondemand::object& object, const FieldSet& wanted, const TakeField& other) {
  for (auto element : object) {
    simdjson::ondemand::field field;
    if (const auto code = std::move(element).get(field); code != simdjson::SUCCESS) return code;
    const std::string_view key = KeyOf(field);
    simdjson::error_code code = simdjson::SUCCESS;
    if (EventField* const one = wanted.Find(key)) {
      code = one->Set(field.value());
    } else if (other) {
      code = other(key, field.value());
    }
    if (code != simdjson::SUCCESS) return code;
  }
  return simdjson::SUCCESS;
}

simdjson::error_code ReadFields(simdjson::ondemand::value& value, const FieldSet& wanted, const TakeField& other) {
  simdjson::ondemand::object object;
  const auto code = value.get_object().get(object);
  if (code == simdjson::INCORRECT_TYPE) return simdjson::SUCCESS;
  return code == simdjson::SUCCESS ? ReadFields(object, wanted, other) : code;
}

std::int64_t NumberOrName(std::string_view token, NameTable& names) {
  if (const auto number = IntegerOf(token)) return *number;
  return -2 - static_cast<std::int64_t>(names.Intern(token));
}

Json ParseList(std::string_view token) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  if (!token.starts_with('[') || token.size() > kMostBytes) return Json::array();
  const Result<Json> list = ParseJson(token);
  return list.ok() ? *list : Json::array();
}

}  // namespace infimum::ingest
