#include "reports/wrapped_text.h"

#include <algorithm>
#include <limits>

#include "reports/utf8.h"

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

std::vector<std::string> Wrapped(std::string_view text, std::size_t width) {
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
    if (used > 0 && used + 1 + columns > width) {
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
  std::string indented;
  bool is_first = true;
  for (const std::string& line : Wrapped(text, width == 0 ? 0 : std::max<std::size_t>(width, indent + 20) - indent)) {
    indented += is_first ? std::string(lead) : std::string(indent, ' ');
    indented += line + '\n';
    is_first = false;
  }
  return indented;
}

}  // namespace infimum
