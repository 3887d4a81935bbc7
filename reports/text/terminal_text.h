// Text for a terminal: printable text (infimum/base/utf8.h) cut and lined up by the columns that it uses, and sentences
// broken between words.
//
//   Wrapped("the largest is 1.5 ms of conv", 14)  ->  {"the largest is", "1.5 ms of conv"}
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/utf8.h"

namespace infimum {

// Columns that a terminal uses for printable text: 2 for wide characters, 0 for combining ones.
std::size_t DisplayWidth(std::string_view text);

// The text, or its start and an ellipsis, in at most `width` columns.
std::string CutToWidth(std::string_view text, std::size_t width);

// Printable, whatever the text; a number and its unit stay together, a word longer than a line is cut. `width` 0: one
// line. The first line has room for `less` columns less.
std::vector<std::string> Wrapped(std::string_view text, std::size_t width, std::size_t less = 0);

// The same as text: each line indented by `indent` columns, the first by `lead` in their place; ends with a new line.
std::string IndentedText(std::string_view lead, std::string_view text, std::size_t indent, std::size_t width);

// A shell command in lines of at most `width` columns that can still be copied and run: broken at spaces, with a
// backslash, in single quotes with the quotes closed and opened again. Without backslash, line end and doubled quotes
// it is the command. `width` 0: one line.
//
//   ShellText("bench --layer 'relu in=4' --threads 2", 24) is "bench --layer 'relu '", a backslash, and in the next
//   line "'in=4' --threads 2"
std::string ShellText(std::string_view command, std::size_t width);

}  // namespace infimum
