#include "db/connection/storable_text.h"

#include <algorithm>

#include "infimum/base/utf8.h"

namespace infimum {

StorableText::StorableText(std::string_view text) : text_(text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c > 0; });
  if (plain) return;
  std::string valid = ValidUtf8(text);
  if (valid == text && text.find('\0') == std::string_view::npos) return;
  for (const char c : valid) {
    if (c == '\0') {
      changed_ += "\xEF\xBF\xBD";
    } else {
      changed_ += c;
    }
  }
  text_ = changed_;
}

std::string OneLine(std::string_view text) {
  constexpr std::size_t kMost = 300;
  const bool cut = text.size() > kMost;
  // Not in the middle of a character.
  std::size_t end = std::min(kMost, text.size());
  while (cut && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  std::string line = ValidUtf8(text.substr(0, end));
  for (char& c : line)
    if ((c >= 0 && c < ' ') || c == 0x7f) c = ' ';
  return cut ? line + "..." : line;
}

}  // namespace infimum
