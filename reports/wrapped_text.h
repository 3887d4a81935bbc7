// Sentences broken between words, for a terminal.
//
//   Wrapped("the largest is 1.5 ms of conv", 14)  ->  {"the largest is", "1.5 ms of conv"}
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace infimum {

// Printable, whatever the text; a number and its unit stay together, a word longer than a line is cut. `width` 0: one
// line.
std::vector<std::string> Wrapped(std::string_view text, std::size_t width);

// The same as text: each line indented by `indent` columns, the first by `lead` in their place; ends with a new line.
std::string IndentedText(std::string_view lead, std::string_view text, std::size_t indent, std::size_t width);

}  // namespace infimum
