#include "reports/text/markdown_text.h"

#include <algorithm>

#include "reports/text/utf8.h"

namespace infimum {

std::string MarkdownCode(std::string_view text) {
  std::string inner;
  std::size_t longest = 0;
  std::size_t run = 0;
  for (char c : Printable(text)) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (c == '|') inner += '\\';
    inner += c;
  }
  if (inner.empty()) return "-";
  std::string fence(longest + 1, '`');
  bool pad = inner.front() == '`' || inner.back() == '`';
  return fence + (pad ? " " : "") + inner + (pad ? " " : "") + fence;
}

static std::string Escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (char c : Printable(text)) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string MarkdownProse(std::string_view text) { return Escaped(text, "\\`*_[]<>#+!|~&"); }

std::string MarkdownCellProse(std::string_view text) { return Escaped(text, "\\`*_[]<>!|~&"); }

}  // namespace infimum
