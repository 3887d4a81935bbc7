#include "reports/page/html_writer.h"

#include <gtest/gtest.h>

#include "reports/page/html_page.h"

namespace infimum {
namespace {

TEST(HtmlWriter, EscapesTextsAndValues) {
  HtmlWriter html;
  html.Open("p", {{"title", "\"><script>"}}).Text("a < b & 'c'").Close();
  EXPECT_EQ(html.Take(), "<p title=\"&quot;&gt;&lt;script&gt;\">a &lt; b &amp; &#39;c&#39;</p>");
}

TEST(HtmlWriter, LinksLeadNowhereButWithinThePageOrItsSiteOrToHttps) {
  for (const char* target :
       {"javascript:alert(1)", " javascript:x", "JAVASCRIPT:x", "data:text/html,x", "//host/x", "http://host",
        "file:///etc/passwd", "/x.html", "\\\\host", "\thttp:x", "x.html?a", "x%2f", ""}) {
    HtmlWriter html;
    html.Element("a", {{"href", target}}, "x");
    EXPECT_EQ(html.Take(), "<a>x</a>") << target;
  }
  HtmlWriter html;
  html.Element("a", {{"href", "#a\"b"}}, "x").Element("a", {{"href", "https://host/?a&b"}}, "y");
  html.Element("a", {{"href", "../models/x-1.html#gpu-7"}}, "z");
  EXPECT_EQ(html.Take(),
            "<a href=\"#a&quot;b\">x</a><a href=\"https://host/?a&amp;b\">y</a><a "
            "href=\"../models/x-1.html#gpu-7\">z</a>");
}

using HtmlWriterDeathTest = ::testing::Test;

TEST(HtmlWriterDeathTest, RefusesWhatABrowserWouldRun) {
  EXPECT_DEATH(HtmlWriter().Open("script"), "holds script or style");
  EXPECT_DEATH(HtmlWriter().Open("p", {{"onclick", "x"}}), "holds script or style");
  EXPECT_DEATH(HtmlWriter().Open("p", {{"style", "x"}}), "holds script or style");
  EXPECT_DEATH(HtmlWriter().Open("p><img"), "no name of one");
  EXPECT_DEATH(HtmlWriter().Open("p").Take(), "left open");
  EXPECT_DEATH(HtmlWriter().Close(), "no element is open");
}

TEST(HtmlPage, ATemplateHasTwoVersions) {
  const std::string page = "a<!--x-->b<!--/x--><!--y-->c<!--/y-->d<!--y--><!--/y--><!--x-->e<!--/x-->";
  EXPECT_EQ(VersionOf(page, "x", "y"), "abde");
  EXPECT_EQ(VersionOf(page, "y", "x"), "acd");
}

TEST(HtmlPage, WhatIsPutInIsNotSearchedAgain) {
  EXPECT_EQ(FillPage("<a>@@X@@</a>@@Y@@.",
                     {{"X", [] { return std::string("@@Y@@"); }}, {"Y", [] { return std::string("y"); }}}),
            "<a>@@Y@@</a>y.");
}

// The hash of "alert('Hello, world.');" as the specification of Content Security Policy gives it.
TEST(HtmlPage, ThePolicyNamesScriptsByTheirHash) {
  const std::string policy = PolicyFor({""}, {"alert('Hello, world.');"});
  EXPECT_NE(policy.find("script-src 'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"), std::string::npos)
      << policy;
  EXPECT_NE(policy.find("style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"), std::string::npos)
      << policy;
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
}

}  // namespace
}  // namespace infimum
