#include "reports/page/html_text.h"

#include "infimum/base/utf8.h"

namespace infimum {

void AppendHtmlText(std::string_view text, std::string& out) {
  while (!text.empty()) {
    CodePoint c = FirstCodePoint(text);
    switch (c.value) {
      case '\n':
      case '\t':
        out += static_cast<char>(c.value);
        break;
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += Printable(text.substr(0, c.bytes));
    }
    text.remove_prefix(c.bytes);
  }
}

void AppendScriptData(std::string_view json, std::string& out) {
  for (std::size_t i = 0; i < json.size(); ++i) {
    switch (json[i]) {
      case '<':
        out += "\\u003c";
        continue;
      case '>':
        out += "\\u003e";
        continue;
      case '&':
        out += "\\u0026";
        continue;
      default:
        break;
    }
    std::string_view three = json.substr(i, 3);
    if (three == "\xE2\x80\xA8" || three == "\xE2\x80\xA9") {
      out += three[2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
      continue;
    }
    out += json[i];
  }
}

}  // namespace infimum
