// Markdown: text that may be hostile, and sections.
#pragma once

#include <string>
#include <string_view>

#include "reports/text/section.h"

namespace infimum {

// A code span holds everything but its own fence; in tables a bar would still end the cell.
std::string MarkdownCode(std::string_view text);

// Prose that may hold names: every character that means something in Markdown or HTML is escaped.
std::string MarkdownProse(std::string_view text);
// The same within a table, where no cell begins a line: `+` and `#` mean nothing there.
std::string MarkdownCellProse(std::string_view text);

// The table alone, nothing without rows; and with title and note.
std::string SectionMarkdownTable(const Section& section);
std::string SectionMarkdown(const Section& section);

}  // namespace infimum
