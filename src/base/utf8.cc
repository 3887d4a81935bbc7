#include "infimum/base/utf8.h"

namespace infimum {

CodePoint FirstCodePoint(std::string_view text) {
  constexpr CodePoint kInvalid{0xFFFD, 1, false};
  auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1, true};
  std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return kInvalid;
  std::uint32_t value = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return kInvalid;
    value = (value << 6) | (next & 0x3Fu);
  }
  bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return kInvalid;
  return {value, length, true};
}

std::string ValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    CodePoint c = FirstCodePoint(text);
    out += c.valid ? text.substr(0, c.bytes) : "\xEF\xBF\xBD";
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace infimum
