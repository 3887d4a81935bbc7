// The one way by which text enters a page.
#pragma once

#include <string>
#include <string_view>

namespace infimum {

// Any bytes as text or as a quoted attribute's value: & < > " ' as entities, bytes that are not UTF-8 as U+FFFD, and as
// Printable() shows it what HTML does not allow (NUL and other controls) or what turns the text around it.
void AppendHtmlText(std::string_view text, std::string& out);

// JSON as the content of <script type="application/json">: the same value, without a character that
// could end the element or start a comment in it (< > & and the line separators stand as \u escapes).
void AppendScriptData(std::string_view json, std::string& out);

}  // namespace infimum
