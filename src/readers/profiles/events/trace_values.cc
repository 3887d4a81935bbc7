#include "src/readers/profiles/events/trace_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

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

}  // namespace infimum::ingest
