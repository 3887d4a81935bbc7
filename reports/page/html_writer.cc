#include "reports/page/html_writer.h"

#include <algorithm>
#include <cctype>

#include "infimum/base/check.h"
#include "infimum/base/utf8.h"

namespace infimum {
namespace {

bool IsPlainName(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

// "../models/resnet50-1f3a.html#gpu-7": without a scheme, a host or a root.
bool IsRelative(std::string_view target) {
  return !target.empty() && !target.starts_with('/') && std::ranges::all_of(target, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '/' || c == '#';
  });
}

// What a link may point to: a place of this page, a page over an encrypted connection, or one of the same site.
bool IsHarmlessLink(std::string_view target) {
  return target.starts_with('#') || target.starts_with("https://") || IsRelative(target);
}

}  // namespace

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

HtmlWriter& HtmlWriter::Open(std::string_view name, Attributes attributes) {
  INFIMUM_CHECK(IsPlainName(name) && name != "script" && name != "style",
                "an element that holds script or style, or no name of one");
  out_ += '<';
  out_ += name;
  for (const auto& [key, value] : attributes) {
    INFIMUM_CHECK(IsPlainName(key) && !key.starts_with("on") && key != "style" && key != "src" && key != "srcdoc",
                  "an attribute that holds script or style, or no name of one");
    if (key == "href" && !IsHarmlessLink(value)) continue;
    if (value.empty() && (key == "class" || key == "id" || key == "title")) continue;
    out_ += ' ';
    out_ += key;
    out_ += "=\"";
    AppendHtmlText(value, out_);
    out_ += '"';
  }
  out_ += '>';
  open_.emplace_back(name);
  return *this;
}

HtmlWriter& HtmlWriter::Text(std::string_view text) {
  AppendHtmlText(text, out_);
  return *this;
}

HtmlWriter& HtmlWriter::Close() {
  INFIMUM_CHECK(!open_.empty(), "no element is open");
  out_ += "</" + open_.back() + ">";
  open_.pop_back();
  return *this;
}

HtmlWriter& HtmlWriter::Element(std::string_view name, Attributes attributes, std::string_view text) {
  return Open(name, attributes).Text(text).Close();
}

std::string HtmlWriter::Take() {
  INFIMUM_CHECK(open_.empty(), "an element is left open");
  return std::exchange(out_, std::string());
}

}  // namespace infimum
