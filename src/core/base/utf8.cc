#include "infimum/base/utf8.h"

namespace infimum {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool IsControl(std::uint32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

// Characters that reorder or break what follows them on a line.
bool Misleads(std::uint32_t c) {
  return (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

// "\x1b": `digits` of the code point, in hexadecimal.
std::string Escaped(char kind, std::uint32_t c, int digits) {
  std::string text = {'\\', kind};
  for (int digit = digits - 1; digit >= 0; --digit) text += "0123456789abcdef"[(c >> (4 * digit)) & 0xF];
  return text;
}

}  // namespace

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
    out += c.valid ? text.substr(0, c.bytes) : kReplacement;
    text.remove_prefix(c.bytes);
  }
  return out;
}

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = FirstCodePoint(text);
    if (!c.valid) {
      out += kReplacement;
    } else if (IsControl(c.value)) {
      out += Escaped('x', c.value, 2);
    } else if (Misleads(c.value)) {
      out += Escaped('u', c.value, 4);
    } else {
      out += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace infimum
