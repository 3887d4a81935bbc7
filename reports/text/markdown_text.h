// Text that may be hostile, in Markdown.
#pragma once

#include <string>
#include <string_view>

namespace infimum {

// A code span holds everything but its own fence; in tables a bar would still end the cell.
std::string MarkdownCode(std::string_view text);

// Prose that may hold names: every character that means something in Markdown or HTML is escaped.
std::string MarkdownProse(std::string_view text);
// The same within a table, where no cell begins a line: `+` and `#` mean nothing there.
std::string MarkdownCellProse(std::string_view text);

}  // namespace infimum
