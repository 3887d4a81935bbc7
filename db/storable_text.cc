#include "db/storable_text.h"

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

}  // namespace infimum
