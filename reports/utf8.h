// Hostile bytes made into text that is safe to print, cut and line up.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "infimum/base/utf8.h"

namespace infimum {

// Valid UTF-8 on one line for a terminal: control characters and those that reverse the direction of
// text become visible escapes ("\x1b", "\u202e").
std::string Printable(std::string_view text);

// Columns that a terminal uses for printable text: 2 for wide characters, 0 for combining ones.
std::size_t DisplayWidth(std::string_view text);

// The text, or its start and an ellipsis, in at most `width` columns.
std::string CutToWidth(std::string_view text, std::size_t width);

}  // namespace infimum
