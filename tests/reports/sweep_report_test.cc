#include "reports/sweep/sweep_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "infimum/base/quantity_text.h"
#include "tests/reports/golden.h"
#include "tests/reports/sample_sweep.h"

namespace infimum::sweep_report_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using OrderedJson = nlohmann::json;

TEST(SweepReport, IsWrittenAsEver) {
  const SweepReport report = SampleSweep();
  ExpectGolden("sweep.txt", SweepText(report, 0));
  ExpectGolden("sweep.md", SweepMarkdown(report));
  ExpectGolden("sweep.json", SweepJson(report));
  ExpectGolden("sweep.csv", SweepCsv(report));
}

TEST(SweepReport, OfEqualCellsAllFormsAreTheSameBytes) {
  const SweepReport one = SampleSweep(), other = SampleSweep();
  EXPECT_EQ(SweepPage(one), SweepPage(other));
  EXPECT_EQ(SweepJson(one), SweepJson(other));
}

TEST(SweepReport, TheTwoNumbersThatExplainTheMostAreTheAxes) {
  const SweepReport report = SampleSweep(6);
  EXPECT_EQ(report.x, "model.choices." + ShortField(report.sensitivity->axes[0].field));
  EXPECT_THAT((std::vector<std::string>{report.x, report.y}),
              ::testing::UnorderedElementsAre("model.choices.nodes", "model.choices.batch"));
  EXPECT_EQ(report.quantity, SweepQuantity::kTime);
}

TEST(SweepReport, AMapHasTheFirstValuesOfALongAxisAndItsTableFewer) {
  const SweepReport report = SampleSweep(510);
  const SweepMap& map = *report.devices[0].utilization_map;
  EXPECT_EQ(std::max(map.x.values.size(), map.y.values.size()), 500u);
  for (const Section& section : SweepSections(report, 0)) {
    if (section.id == "utilization") {
      EXPECT_THAT(section.note, HasSubstr("; .json has more."));
    }
    EXPECT_LE(section.columns.size(), 25u);
  }
}

TEST(SweepReport, AnAxisIsNamedInShortAndAWrongOneIsRefused) {
  SweepReport report = SampleSweep();
  report.devices.clear();
  report.speed_ups.clear();
  report.speed_up_maps.clear();
  report.x = "threads";
  report.y = "nodes";
  ASSERT_TRUE(Analyze(report).ok());
  EXPECT_EQ(report.devices[0].utilization_map->x.field, "threads");
  EXPECT_EQ(report.devices[0].utilization_map->y.field, "model.choices.nodes");
  report.x = "node";
  EXPECT_EQ(Analyze(report).error().message,
            "--x 'node': the cells do not differ in it, did you mean 'nodes'?; they differ in: device, batch, nodes, "
            "threads");
}

TEST(SweepReport, ASweepOverNothingIsAListOfCells) {
  SweepReport report = SampleSweep();
  SweepReport one;
  one.name = "one";
  one.infimum_version = "1.2.3";
  one.cells = {report.cells.front()};
  ASSERT_TRUE(Analyze(one).ok());
  EXPECT_THAT(SweepText(one, 0), HasSubstr("fc nodes=256 batch=1"));
  EXPECT_THAT(SweepPage(one), HasSubstr("sweep-roofline"));
  SweepReport none;
  ASSERT_TRUE(Analyze(none).ok());
  EXPECT_TRUE(OrderedJson::accept(SweepJson(none)));
}

// A number that a table shows is the one that JSON and CSV have.
TEST(SweepReport, AllFormsHoldTheSameNumbers) {
  const SweepReport report = SampleSweep();
  const OrderedJson json = OrderedJson::parse(SweepJson(report));
  EXPECT_EQ(json["schema"], "infimum.sweep/1");
  EXPECT_EQ(json["headline"], SweepHeadline(report));
  const std::string page = SweepPage(report), csv = SweepCsv(report);
  std::size_t line = csv.find("\r\n");
  ASSERT_EQ(json["cells"].size(), report.cells.size());
  for (std::size_t i = 0; i < report.cells.size(); ++i) {
    const SweepCell& cell = report.cells[i];
    const std::size_t end = csv.find("\r\n", line + 2);
    const std::string row = csv.substr(line + 2, end - line - 2);
    line = end;
    EXPECT_EQ(json["cells"][i]["latency_us"].is_null(), !cell.time);
    if (!cell.time) continue;
    EXPECT_EQ(json["cells"][i]["latency_us"].get<double>(), cell.time->count());
    EXPECT_THAT(row, HasSubstr(",ok,,"));
    EXPECT_THAT(page, HasSubstr(FormatLatency(*cell.time) + "</td>"));
  }
  for (const Section& section : SweepSections(report, 0)) {
    EXPECT_THAT(page, HasSubstr("<section id=\"" + section.id + "\""));
    for (const TableRow& row : section.rows) EXPECT_LE(row.size(), section.columns.size()) << section.id;
  }
  for (const OrderedJson& place : json["devices"][0]["utilization_map"]["places"]) EXPECT_GT(place["value"], 0);
}

TEST(SweepReport, HostileNamesAreTextEverywhere) {
  const SweepReport report = SampleSweep();
  EXPECT_THAT(SweepPage(report), Not(HasSubstr("<img")));
  EXPECT_THAT(SweepPage(report), Not(HasSubstr("Old <b>")));
  EXPECT_THAT(SweepMarkdown(report), Not(ContainsRegex("[^\\\\]<")));
  for (const std::string& text : {SweepText(report, 0), SweepMarkdown(report), SweepCsv(report), SweepPage(report)})
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(SweepReport, APageHasTheFirstCellsAndTheOthersWhereNoElementsAreMadeOfThem) {
  const std::string page = SweepPage(SampleSweep(20));
  const std::size_t rest = page.find("<noscript data-continues=\"cells-table\" data-rows=\"240\">");
  ASSERT_NE(rest, std::string::npos);
  EXPECT_LT(page.find("nodes=1024 batch=4"), rest);
  EXPECT_NE(page.find("nodes=5120 batch=64", rest), std::string::npos);
}

}  // namespace
}  // namespace infimum::sweep_report_test
