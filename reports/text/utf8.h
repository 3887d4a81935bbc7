// Printable text (infimum/base/utf8.h) cut and lined up by the columns that a terminal uses.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "infimum/base/utf8.h"

namespace infimum {

// Columns that a terminal uses for printable text: 2 for wide characters, 0 for combining ones.
std::size_t DisplayWidth(std::string_view text);

// The text, or its start and an ellipsis, in at most `width` columns.
std::string CutToWidth(std::string_view text, std::size_t width);

}  // namespace infimum
