// The few text operations that the standard library lacks in C++20 and every parser here needs.
//
//   Split("1x64x56", 'x')                       -> {"1", "64", "56"}
//   ParseInteger("64")                          -> 64; "", "6 4", "0x4", "1e3", 2^63 -> nullopt
//   NearestName("strid", {"stride", "pad"})     -> "stride"
//   DidYouMean("strid", {"stride", "pad"})      -> ", did you mean 'stride'?"
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace infimum {

// Pieces between separators; an empty text has one empty piece.
std::vector<std::string_view> Split(std::string_view text, char separator);

std::string Join(std::span<const std::string> pieces, std::string_view separator);

std::string_view TrimSpace(std::string_view text);

bool IsOneOf(std::string_view text, std::span<const std::string_view> texts);
inline bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> texts) {
  return IsOneOf(text, std::span(texts.begin(), texts.size()));
}

// Decimal integers, an optional minus and digits only, the whole text; nullopt otherwise or on overflow.
std::optional<std::int64_t> ParseInteger(std::string_view text);

// A finite decimal number, the whole text, in the C locale.
std::optional<double> ParseNumber(std::string_view text);

// Shortest text that ParseNumber reads back as the same double ("0.1", "1e-05").
std::string FormatNumber(double value);

// The name at the least edit distance, if that distance is at most a third of the longer length.
std::optional<std::string> NearestName(std::string_view name, std::span<const std::string_view> known);

// ", did you mean 'x'?" or an empty text, to append to an error.
std::string DidYouMean(std::string_view name, std::span<const std::string_view> known);

// The text in single quotes, control characters and invalid UTF-8 escaped, cut at 80 characters:
// safe to put into any message.
std::string Quoted(std::string_view text);

// One word for a POSIX shell, in single quotes where a shell would change it.
std::string ShellQuoted(std::string_view text);

}  // namespace infimum
