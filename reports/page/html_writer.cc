#include "reports/page/html_writer.h"

#include <algorithm>

#include "infimum/base/check.h"
#include "reports/page/html_text.h"

namespace infimum {
namespace {

bool IsPlainName(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

// What a link may point to: a place of this page, or a page over an encrypted connection.
bool IsHarmlessLink(std::string_view target) { return target.starts_with('#') || target.starts_with("https://"); }

}  // namespace

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
