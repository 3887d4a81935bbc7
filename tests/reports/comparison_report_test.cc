#include "reports/sides/comparison_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/reports/golden.h"
#include "tests/reports/sample_comparison.h"

namespace infimum::comparison_report_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

TEST(ComparisonReport, IsWrittenAsEver) {
  const ComparisonReport report = SampleComparison();
  ExpectGolden("comparison.txt", ComparisonText(report, 0));
  ExpectGolden("comparison.md", ComparisonMarkdown(report));
  ExpectGolden("comparison.json", ComparisonJson(report));
  ExpectGolden("comparison.csv", ComparisonCsv(report));
}

TEST(ComparisonReport, SaysInOneSentenceWhoIsTheFastestAndWhereNot) {
  const std::string headline = ComparisonHeadline(SampleComparison());
  EXPECT_THAT(headline, HasSubstr("of 3 devices New is the fastest"));
  EXPECT_THAT(headline, HasSubstr("then Small, 3.11 times as long"));
  EXPECT_THAT(headline, HasSubstr("Small is faster than Old <b> in all, yet loses"));
}

TEST(ComparisonReport, OfTwoSidesTheHeadlineIsAVerdict) {
  const auto verdict = [](double before, double after, std::optional<double> half_width) {
    ComparisonReport report;
    report.axis = ComparisonAxis::kChange;
    ModelSides model{"net", {}};
    for (const double microseconds : {before, after}) {
      SideTime time{Latency(microseconds), std::nullopt};
      if (half_width)
        time.interval = Interval{Latency(microseconds * (1 - *half_width)), Latency(microseconds * (1 + *half_width))};
      SideModel side;
      side.layers = {{"conv", "convolution", "", time}};
      model.sides.push_back(std::move(side));
    }
    report.sides = {{.label = "before",
                     .device = "",
                     .generation = "",
                     .year = {},
                     .environment = "",
                     .contract = "",
                     .framework = "",
                     .findings = {}},
                    {.label = "after",
                     .device = "",
                     .generation = "",
                     .year = {},
                     .environment = "",
                     .contract = "",
                     .framework = "",
                     .findings = {}}};
    report.comparison = CompareSides({{model}}, 0.05);
    return ComparisonHeadline(report);
  };
  EXPECT_EQ(
      verdict(100, 120, 0.01),
      "net: after is slower than before: +20.0 % (+17.6 to +22.4 %), 120 µs against 100 µs; 1 layer takes 20.0 µs "
      "longer in all.");
  EXPECT_EQ(verdict(100, 102, std::nullopt),
            "net: after is within noise of before: +2.0 % (no spread known), 102 µs against 100 µs; no layer takes "
            "longer beyond noise.");
  EXPECT_THAT(verdict(100, 107, 0.03), StartsWith("net: after cannot be told from before: +7.0 %"));
  EXPECT_THAT(verdict(100, 40, 0.01), StartsWith("net: after is faster than before: 2.5 times as fast (2.45 to 2.55)"));
}

TEST(ComparisonReport, AllFormsHoldTheSameNumbers) {
  const ComparisonReport report = SampleComparison();
  const Json json = Json::parse(ComparisonJson(report));
  EXPECT_EQ(json["schema"], "infimum.comparison/1");
  EXPECT_EQ(json["headline"], ComparisonHeadline(report));
  EXPECT_EQ(json["regressions"][0]["cost_us"], 20.0);  // two uses of 10 us more
  const std::string page = ComparisonPage(report), markdown = ComparisonMarkdown(report);
  for (const Section& section : ComparisonSections(report, 0)) {
    EXPECT_THAT(page, HasSubstr("<section id=\"" + section.id + "\""));
    EXPECT_THAT(markdown, HasSubstr("\n## "));
  }
  for (const char* number :
       {"200 µs <span class=\"aside\">(0.2x)</span>", "60.0 µs <span class=\"aside\">(1.2x)</span>", "+20.0 % °"})
    EXPECT_THAT(page, HasSubstr(number));
  EXPECT_THAT(markdown, HasSubstr("| 200 µs (0.2x) |"));
  EXPECT_THAT(ComparisonCsv(report), HasSubstr("conv_1,resnet,convolution,2,New,200,198,202,0.2,"));
}

TEST(ComparisonReport, AFindingSaysHowItsGainIsKnownAndTheTableWhatThatMeans) {
  ComparisonReport report = SampleComparison();
  report.sides[1].findings = {{"layout-changes", Latency(4200), {}, "two reorders", "keep one layout"}};
  report.sides[1].findings[0].known = Known::kBounded;
  EXPECT_EQ(Json::parse(ComparisonJson(report))["sides"][1]["findings"][0]["known"], "bounded");
  EXPECT_THAT(ComparisonMarkdown(report), HasSubstr("| layout-changes | bounded | 4.20 ms | two reorders |"));
  EXPECT_THAT(ComparisonMarkdown(report), HasSubstr("guessed: inferred from another program's times"));
}

TEST(ComparisonReport, WhatOneSideLacksIsNamedAndNotCompared) {
  const ComparisonReport report = SampleComparison();
  const Json json = Json::parse(ComparisonJson(report));
  EXPECT_EQ(json["models"][0]["layers"], 4);
  EXPECT_EQ(json["models"][0]["compared_layers"], 3);
  EXPECT_EQ(json["gaps"][0]["side"], "New");
  EXPECT_THAT(ComparisonText(report, 0), HasSubstr("infimum plan 'resnet.onnx' -o plan.txt"));
  EXPECT_THAT(ComparisonText(report, 0), HasSubstr("unknown"));
}

TEST(ComparisonReport, HostileNamesAreTextEverywhere) {
  for (const ComparisonAxis axis : {ComparisonAxis::kDevice, ComparisonAxis::kLibrary, ComparisonAxis::kContract}) {
    const ComparisonReport report = SampleComparison(axis);
    EXPECT_THAT(ComparisonPage(report), Not(HasSubstr("<img")));
    EXPECT_THAT(ComparisonPage(report), Not(HasSubstr("Old <b>")));
    EXPECT_THAT(ComparisonMarkdown(report), Not(ContainsRegex("[^\\\\]<")));
    for (const std::string& text : {ComparisonText(report, 0), ComparisonMarkdown(report), ComparisonCsv(report)})
      EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_TRUE(Json::accept(ComparisonJson(report)));
  }
}

TEST(ComparisonReport, TablesOfAScreenSayWhatTheyLeaveOut) {
  const ComparisonReport report = SampleComparison(ComparisonAxis::kLibrary, 40);
  EXPECT_THAT(ComparisonText(report, 0), HasSubstr("more; .json, .csv and .html have all"));
  EXPECT_THAT(ComparisonPage(report), HasSubstr("more_39"));
  for (const Section& section : ComparisonSections(report, 0)) EXPECT_EQ(section.left_out, 0u) << section.id;
}

TEST(ReasonOfNoGain, IsReadOffTheDistanceFromTheRoofline) {
  const auto reason = [](double before, double before_floor, double after, double after_floor) {
    const SideTime a{.latency = Latency(before), .interval = {}, .candidate = "wide", .floor = Latency(before_floor)};
    const SideTime b{.latency = Latency(after), .interval = {}, .candidate = "narrow", .floor = Latency(after_floor)};
    return ReasonOfNoGain(b, a, *DifferenceOf(b, a, 0.05));
  };
  EXPECT_EQ(reason(100, 80, 120, 20), "no kernel as good: narrow takes 6 times its roofline, wide 1.25 times");
  EXPECT_THAT(reason(10, 1, 10, 0.5), HasSubstr("what a kernel costs to start"));
  EXPECT_THAT(reason(100, 80, 100, 80), HasSubstr("its roofline is no lower"));
  EXPECT_EQ(ReasonOfNoGain({}, {}, {}), "");
}

}  // namespace
}  // namespace infimum::comparison_report_test
