// Bytes that claim to be text, read as UTF-8 without believing them.
//
//   ValidUtf8("caf\xe9")       ->  "caf" and U+FFFD
//   Printable("a\x1b[31mb\n")  ->  "a\\x1b[31mb\\x0a"
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace infimum {

// The code point at the start of `text` and the bytes it takes; U+FFFD and 1 where they are not UTF-8
// (overlong forms, surrogates and values past U+10FFFF included). `text` must not be empty.
struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 1;
  bool valid = true;
};
CodePoint FirstCodePoint(std::string_view text);

// The text with every byte that is not UTF-8 replaced by U+FFFD.
std::string ValidUtf8(std::string_view text);

// Valid UTF-8 on one line for a terminal: control characters and those that reverse the direction of
// text become visible escapes ("\x1b", "\u202e").
std::string Printable(std::string_view text);

}  // namespace infimum
