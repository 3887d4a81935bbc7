// Writes HTML element by element, so that no text enters a page unescaped, whether as text, as an attribute's value, as
// a link or as data.
//
//   HtmlWriter html;
//   html.Open("p", {{"class", "lead"}}).Text("a < b & c").Close();
//   html.Element("a", {{"href", "#layers"}}, "Layers");
//   html.Take()   // <p class="lead">a &lt; b &amp; c</p><a href="#layers">Layers</a>
//
// Names of elements and attributes are the code's own: others than plain ones, attributes that hold script or style,
// and an element that is left open are bugs and abort. Values may be anything; a link that leads elsewhere than within
// the page, to a page of its site or to an https address loses its target. A class, an id or a title of no length is
// left out.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace infimum {

class HtmlWriter {
 public:
  using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  HtmlWriter& Open(std::string_view name, Attributes attributes = {});
  HtmlWriter& Text(std::string_view text);
  HtmlWriter& Close();  // the innermost open element

  // Open, Text, Close.
  HtmlWriter& Element(std::string_view name, Attributes attributes, std::string_view text);
  HtmlWriter& Element(std::string_view name, std::string_view text) { return Element(name, {}, text); }

  // What was written; every element must be closed.
  std::string Take();

 private:
  std::string out_;
  std::vector<std::string> open_;
};

// Any bytes as text or as a quoted attribute's value: & < > " ' as entities, bytes that are not UTF-8 as U+FFFD, and as
// Printable() shows it what HTML does not allow (NUL and other controls) or what turns the text around it.
void AppendHtmlText(std::string_view text, std::string& out);

// JSON as the content of <script type="application/json">: the same value, without a character that
// could end the element or start a comment in it (< > & and the line separators stand as \u escapes).
void AppendScriptData(std::string_view json, std::string& out);

}  // namespace infimum
