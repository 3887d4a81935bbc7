#include "reports/text/utf8.h"

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

}  // namespace infimum
