#include "reports/text/terminal_text.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace infimum {
namespace {

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

std::size_t ColumnsOf(std::uint32_t c) {
  if ((c >= 0x0300 && c <= 0x036F) || (c >= 0x1AB0 && c <= 0x1AFF) || (c >= 0x20D0 && c <= 0x20FF) ||
      (c >= 0xFE00 && c <= 0xFE0F)) {
    return 0;
  }
  bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
              (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
              (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1F64F) || (c >= 0x1F900 && c <= 0x1F9FF) ||
              (c >= 0x20000 && c <= 0x3FFFD);
  return wide ? 2 : 1;
}

// Where the first word ends; a number and its unit are one.
std::size_t WordEnd(std::string_view text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  if (end == 0 || end == text.size() || text[end - 1] < '0' || text[end - 1] > '9') return end;
  const std::size_t next = std::min(text.find(' ', end + 1), text.size());
  return next - end <= 4 ? next : end;
}

}  // namespace

std::size_t DisplayWidth(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    CodePoint c = FirstCodePoint(text);
    width += ColumnsOf(c.value);
    text.remove_prefix(c.bytes);
  }
  return width;
}

std::string CutToWidth(std::string_view text, std::size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    CodePoint c = FirstCodePoint(text);
    std::size_t columns = ColumnsOf(c.value);
    if (used + columns > width - 1) break;
    out += text.substr(0, c.bytes);
    used += columns;
    text.remove_prefix(c.bytes);
  }
  return out += kEllipsis;
}

std::vector<std::string> Wrapped(std::string_view text, std::size_t width, std::size_t less) {
  if (width == 0) width = std::numeric_limits<std::size_t>::max() / 2;
  const std::string shown = Printable(text);
  std::string_view rest = shown;
  std::vector<std::string> lines;
  std::string line;
  std::size_t used = 0;
  while (!rest.empty()) {
    const std::size_t end = WordEnd(rest);
    const std::string word = CutToWidth(rest.substr(0, end), width);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    const std::size_t columns = DisplayWidth(word);
    const std::size_t room = lines.empty() ? width - std::min(width, less) : width;
    if (used > 0 && used + 1 + columns > room) {
      lines.push_back(line);
      line.clear();
      used = 0;
    }
    if (used > 0) line += ' ';
    line += word;
    used += columns + (used > 0 ? 1 : 0);
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string IndentedText(std::string_view lead, std::string_view text, std::size_t indent, std::size_t width) {
  const std::size_t led = DisplayWidth(lead);
  std::string indented;
  bool is_first = true;
  for (const std::string& line : Wrapped(text, width == 0 ? 0 : std::max<std::size_t>(width, indent + 20) - indent,
                                         led - std::min(led, indent))) {
    indented += is_first ? std::string(lead) : std::string(indent, ' ');
    indented += line + '\n';
    is_first = false;
  }
  return indented;
}

std::string ShellText(std::string_view command, std::size_t width) {
  const std::string shown = Printable(command);
  if (width == 0 || DisplayWidth(shown) <= width) return shown + '\n';
  std::string_view rest = shown;
  std::string text, line;
  bool is_quoted = false;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size() - 1) + 1;
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(end);
    // A quote and a backslash follow what stands before a break.
    if (!line.empty() && DisplayWidth(line) + DisplayWidth(word) + 2 > width) {
      text += line + (is_quoted ? "'\\\n" : "\\\n");
      line = is_quoted ? "'" : "";
    }
    line += word;
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (word[i] == '\\' && !is_quoted) {
        ++i;
      } else if (word[i] == '\'') {
        is_quoted = !is_quoted;
      }
    }
  }
  return text + line + '\n';
}

}  // namespace infimum
