#include "reports/text/wrapped_text.h"

#include <algorithm>
#include <limits>

#include "reports/text/utf8.h"

namespace infimum {
namespace {

// Where the first word ends; a number and its unit are one.
std::size_t WordEnd(std::string_view text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  if (end == 0 || end == text.size() || text[end - 1] < '0' || text[end - 1] > '9') return end;
  const std::size_t next = std::min(text.find(' ', end + 1), text.size());
  return next - end <= 4 ? next : end;
}

}  // namespace

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
