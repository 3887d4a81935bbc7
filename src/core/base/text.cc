#include "infimum/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "infimum/base/check.h"
#include "infimum/base/utf8.h"

namespace infimum {
namespace {

constexpr std::size_t kMostQuotedCharacters = 80;

// Levenshtein's distance in two rows.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Bytes of the printable UTF-8 character at the start of `text`; 0 for what must be escaped: control
// characters, broken or overlong sequences, surrogates, and the marks that reorder or break lines.
std::size_t PrintableLength(std::string_view text) {
  const CodePoint point = FirstCodePoint(text);
  const std::uint32_t code = point.value;
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool line_or_direction = (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
                                 (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
  return !point.valid || control || line_or_direction ? 0 : point.bytes;
}

}  // namespace

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::string Join(std::span<const std::string> pieces, std::string_view separator) {
  std::string joined;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0) joined += separator;
    joined += pieces[i];
  }
  return joined;
}

bool IsOneOf(std::string_view text, std::span<const std::string_view> texts) {
  return std::ranges::find(texts, text) != texts.end();
}

std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::optional<std::int64_t> ParseInteger(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> ParseNumber(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string FormatNumber(double value) {
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  INFIMUM_CHECK(error == std::errc(), "the shortest text of a double fits 64 characters");
  return std::string(buffer, end);
}

std::optional<std::string> NearestName(std::string_view name, std::span<const std::string_view> known) {
  std::optional<std::string> nearest;
  std::size_t least = 0;
  for (const std::string_view candidate : known) {
    const std::size_t longer = std::max(name.size(), candidate.size());
    const std::size_t shorter = std::min(name.size(), candidate.size());
    // Also keeps a name of a megabyte from costing a megabyte times each known name.
    if (3 * (longer - shorter) > longer) continue;
    const std::size_t distance = EditDistance(name, candidate);
    if (3 * distance > longer || (nearest && distance >= least)) continue;
    nearest = std::string(candidate);
    least = distance;
  }
  return nearest;
}

std::string DidYouMean(std::string_view name, std::span<const std::string_view> known) {
  const std::optional<std::string> nearest = NearestName(name, known);
  return nearest ? ", did you mean " + Quoted(*nearest) + "?" : std::string();
}

std::string Quoted(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "'";
  for (std::size_t characters = 0; !text.empty(); ++characters) {
    if (characters == kMostQuotedCharacters) {
      quoted += "...";
      break;
    }
    const std::size_t length = PrintableLength(text);
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(text[0]);
      quoted += {'\\', 'x', kHex[byte >> 4U], kHex[byte & 15U]};
    } else {
      if (text[0] == '\'' || text[0] == '\\') quoted += '\\';
      quoted += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return quoted + "'";
}

std::string ShellQuoted(std::string_view text) {
  // A word that begins with = or ~ means something to some shells, one with a dash to the command.
  const bool is_plain =
      !text.empty() && text.front() != '=' && text.front() != '-' && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_./:=@%+,-").find(c) != std::string_view::npos;
      });
  if (is_plain) return std::string(text);
  std::string quoted = "'";
  for (const char character : text) quoted += character == '\'' ? std::string("'\\''") : std::string(1, character);
  return quoted + "'";
}

}  // namespace infimum
