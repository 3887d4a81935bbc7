#include "infimum/base/quantity_text.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "infimum/base/text.h"

namespace infimum {
namespace {

constexpr double kNanosecondsPerYear = 365.0 * 24 * 3600 * 1e9;

// The leading number of `text`, taken off it.
std::optional<double> TakeNumber(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && ((text[length] >= '0' && text[length] <= '9') || text[length] == '.')) ++length;
  const std::optional<double> number = ParseNumber(text.substr(0, length));
  text.remove_prefix(length);
  return number;
}

std::string_view TakeLetters(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() &&
         ((text[length] >= 'a' && text[length] <= 'z') || (text[length] >= 'A' && text[length] <= 'Z')))
    ++length;
  const std::string_view letters = text.substr(0, length);
  text.remove_prefix(length);
  return letters;
}

std::optional<double> NanosecondsIn(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 6> kUnits{
      {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}}};
  for (const auto& [name, nanoseconds] : kUnits)
    if (name == unit) return nanoseconds;
  return std::nullopt;
}

std::string Printed(const char* format, double value) {
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), format, value);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

// Three significant digits without an exponent.
std::string ThreeDigits(double value) {
  const double size = std::fabs(value);
  return Printed(size >= 99.95 ? "%.0f" : size >= 9.995 ? "%.1f" : "%.2f", value);
}

}  // namespace

Result<Clock::Duration> ParseDuration(std::string_view text) {
  const Error error{Quoted(text) + " is no time, write it like 500ms, 90s, 3m or 1h30m"};
  std::string_view rest = TrimSpace(text);
  if (rest.empty()) return error;
  double nanoseconds = 0;
  while (!rest.empty()) {
    const std::optional<double> number = TakeNumber(rest);
    rest = TrimSpace(rest);
    const std::optional<double> unit = NanosecondsIn(TakeLetters(rest));
    rest = TrimSpace(rest);
    if (!number || !unit) return error;
    nanoseconds += *number * *unit;
    if (nanoseconds > kNanosecondsPerYear) return Error{Quoted(text) + " is longer than a year, write a shorter time"};
  }
  if (nanoseconds < 1) return error;
  return Clock::Duration(static_cast<Clock::Duration::rep>(std::llround(nanoseconds)));
}

Result<Bytes> ParseByteCount(std::string_view text) {
  const Error error{Quoted(text) + " is no size, write it like 512M or 8G"};
  std::string_view rest = TrimSpace(text);
  const std::optional<double> number = TakeNumber(rest);
  rest = TrimSpace(rest);
  const std::string_view unit = TakeLetters(rest);
  if (!number || !rest.empty()) return error;
  double factor = 1;
  if (!unit.empty() && unit != "B") {
    constexpr std::string_view kUnits = "KMGT";
    const char upper = unit[0] >= 'a' ? static_cast<char>(unit[0] - 'a' + 'A') : unit[0];
    const std::size_t power = kUnits.find(upper);
    const std::string_view ending = unit.substr(1);
    if (power == std::string_view::npos || !(ending.empty() || ending == "B" || ending == "iB")) return error;
    factor = std::pow(1024.0, static_cast<double>(power + 1));
  }
  const double bytes = *number * factor;
  if (bytes < 1 || bytes > std::pow(2.0, 53)) return error;
  return Bytes{std::llround(bytes)};
}

std::string FormatDuration(Clock::Duration duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  if (seconds < 0) return "0 s";
  if (seconds < 1e-3) return Printed("%.0f µs", seconds * 1e6);
  if (seconds < 1) return Printed("%.0f ms", seconds * 1e3);
  if (seconds < 9.95) return Printed(std::fmod(seconds, 1.0) == 0 ? "%.0f s" : "%.1f s", seconds);
  const auto whole = std::llround(seconds);
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + "m " + std::to_string(whole % 60) + "s";
  return std::to_string(whole / 3600) + "h " + std::to_string(whole / 60 % 60) + "m";
}

std::string FormatLatency(Latency latency) {
  const double us = latency.count();
  const double size = std::fabs(us);
  if (!std::isfinite(us)) return "-";
  if (size == 0) return "0 µs";
  if (size < 0.9995) return ThreeDigits(us * 1e3) + " ns";
  if (size < 999.5) return ThreeDigits(us) + " µs";
  if (size < 999.5e3) return ThreeDigits(us / 1e3) + " ms";
  return ThreeDigits(us / 1e6) + " s";
}

std::string FormatByteCount(Bytes bytes) {
  constexpr std::array<const char*, 5> kUnits{" B", " KiB", " MiB", " GiB", " TiB"};
  double value = static_cast<double>(bytes.value);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return Printed(std::fmod(value, 1.0) == 0 ? "%.0f" : "%.1f", value) + kUnits[unit];
}

}  // namespace infimum
