#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "infimum/base/utf8.h"
#include "reports/model/report_forms.h"
#include "reports/page/html_report.h"
#include "reports/page/html_writer.h"
#include "tests/reports/sample_report.h"

namespace infimum {
namespace {

std::string Html(std::string_view text) {
  std::string out;
  AppendHtmlText(text, out);
  return out;
}

std::string ScriptData(std::string_view json) {
  std::string out;
  AppendScriptData(json, out);
  return out;
}

// Pieces that have broken pages before, and random bytes between them.
std::string HostileText(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"</script>",
                                                   "</ScRiPt >",
                                                   "<!--",
                                                   "-->",
                                                   "<script>",
                                                   "\"",
                                                   "'",
                                                   "&",
                                                   "\\",
                                                   "\n",
                                                   "\r",
                                                   "\t",
                                                   "]]>",
                                                   "@@DATA@@",
                                                   "@@SCRIPT@@",
                                                   "${x}",
                                                   "\xE2\x80\xA8",
                                                   "\xE2\x80\xA9",
                                                   "\xC3",
                                                   "\xFF",
                                                   "\xED\xA0\x80",
                                                   "\xF0\x9F\x9A\x80",
                                                   std::string(1, '\0'),
                                                   "\x1b[31m",
                                                   "<img src=x onerror=alert(1)>"};
  std::string text;
  for (std::size_t i = random() % 7; i > 0; --i) {
    text += random() % 3 == 0 ? std::string(1, static_cast<char>(random() % 256)) : kPieces[random() % kPieces.size()];
  }
  return text;
}

TEST(HtmlText, MarkupBecomesEntities) {
  EXPECT_EQ(Html("<b a=\"1\" c='2'>&"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
  EXPECT_EQ(Html(std::string("a\0b\x1b\xFF\n", 6)), "a\\x00b\\x1b\xEF\xBF\xBD\n");
}

// What follows such a name on the page would be read backwards.
TEST(HtmlText, WhatTurnsTextAroundIsShown) { EXPECT_EQ(Html("a\u202Eb\u200B"), "a\\u202eb\\u200b"); }

TEST(HtmlText, NoHostileTextKeepsMarkupOrInvalidBytes) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string html = Html(HostileText(random));
    EXPECT_EQ(html.find_first_of("<>\"'"), std::string::npos) << html;
    EXPECT_EQ(html, ValidUtf8(html));
  }
}

TEST(ScriptData, KeepsTheValueAndCannotEndTheElement) {
  std::mt19937 random(13);
  for (int round = 0; round < 2000; ++round) {
    std::string text = HostileText(random);
    nlohmann::json value = {{"name", text}, {text, 1}};
    std::string json = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    std::string data = ScriptData(json);
    EXPECT_EQ(data.find_first_of("<>&"), std::string::npos) << data;
    EXPECT_EQ(data.find("\xE2\x80\xA8"), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(data), nlohmann::json::parse(json));
  }
}

// The content of the one element that holds the data.
std::string DataOf(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"report-data\">";
  std::size_t start = page.find(open);
  EXPECT_NE(start, std::string::npos);
  start += open.size();
  return page.substr(start, page.find("</script>", start) - start);
}

std::size_t CountOf(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(HtmlReport, HostileNamesEverywhereLeaveThePageWhole) {
  std::mt19937 random(17);
  std::string tame = HtmlReport(SampleReport());
  for (int round = 0; round < 40; ++round) {
    ReportModel report = SampleReport();
    auto spoil = [&](std::string& text) { text = HostileText(random); };
    for (Layer& layer : report.graph.layers)
      for (std::string* text : {&layer.name, &layer.op, &layer.reason}) spoil(*text);
    for (LayerLatency& latency : report.bracket.layers) {
      spoil(latency.reason);
      if (latency.candidate) spoil(latency.candidate->algorithm);
    }
    for (Value& value : report.graph.values) spoil(value.name);
    for (WorkloadCandidates& workload : report.workloads) {
      spoil(workload.workload.text);
      for (KnownCandidate& candidate : workload.candidates) spoil(candidate.row.reason);
    }
    spoil(report.bracket.selection.environment.emplace().text);
    for (std::string* text :
         {&report.title, &report.data_as_of, &report.infimum_version, &report.model_name, &report.device_name,
          &report.device_key, &report.run->profile.framework, &report.run->profile.framework_version,
          &report.environment.evidence[evidence::kSystem]}) {
      spoil(*text);
    }
    report.run->profile.settings[HostileText(random)] = HostileText(random);
    for (MissingItem& item : report.missing) spoil(item.what);
    std::string page = HtmlReport(report);
    EXPECT_EQ(page, ValidUtf8(page));
    EXPECT_EQ(page.find('\0'), std::string::npos);
    for (const char* tag : {"<script", "</script", "<img", "<!--", "<h1", "</main>", "</title>"}) {
      EXPECT_EQ(CountOf(page, tag), CountOf(tame, tag)) << tag;
    }
    nlohmann::json data = nlohmann::json::parse(DataOf(page));
    ASSERT_EQ(data["layers"].size(), report.graph.layers.size());
  }
}

TEST(HtmlReport, IsOneFileThatAsksForNothing) {
  std::string page = HtmlReport(SampleReport());
  for (const char* reference : {"src=\"", "href=\"http", "@import", "url(http", "<link rel=\"stylesheet\""}) {
    EXPECT_EQ(page.find(reference), std::string::npos) << reference;
  }
  EXPECT_NE(page.find("default-src &#39;none&#39;; style-src &#39;sha256-"), std::string::npos);
  EXPECT_EQ(page.find("unsafe-"), std::string::npos);
  EXPECT_NE(page.find("Copyright 2010-2017 Mike Bostock"), std::string::npos) << "D3's licence must go with it";
  EXPECT_EQ(page.find("@@"), std::string::npos) << "a place of the template was not filled";
}

TEST(HtmlReport, EqualReportsGiveEqualBytes) { EXPECT_EQ(HtmlReport(SampleReport()), HtmlReport(SampleReport())); }

TEST(HtmlReport, AnEmptyReportIsStillAPage) {
  ReportModel empty;
  nlohmann::json data = nlohmann::json::parse(DataOf(HtmlReport(empty)));
  EXPECT_EQ(data["schema"], "infimum.report/2");
  EXPECT_TRUE(data["run"].is_null());
  EXPECT_TRUE(data["demonstrated_us"].is_null());
}

}  // namespace
}  // namespace infimum
