// One number, one text: what JSON says stands in the page, in Markdown and in CSV as well.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/model/report_forms.h"
#include "reports/page/html_report.h"
#include "reports/text/fact_text.h"
#include "tests/reports/sample_report.h"

namespace infimum::same_numbers_test {
namespace {

using Json = nlohmann::json;

class SameNumbers : public ::testing::Test {
 protected:
  const ReportModel report_ = SampleReport();
  const Json json_ = Json::parse(ReportJson(report_));
  const std::string page_ = HtmlReport(report_);
  const std::string markdown_ = MarkdownReport(report_);

  Json FloorOf(const std::string& program_class) const {
    for (const Json& floor : json_["floors"])
      if (floor["class"] == program_class) return floor["latency_us"];
    return nullptr;
  }

  // Both say it, in the row that begins with `name` as each writes names.
  void ExpectInRow(const std::string& name, const std::string& number) const {
    const auto expect = [&](const std::string& text, const std::string& begin, char end) {
      const std::size_t at = text.find(begin);
      ASSERT_NE(at, std::string::npos) << begin;
      const std::string line = text.substr(at, text.find(end, at) - at);
      EXPECT_NE(line.find(number), std::string::npos) << number << " in " << line;
    };
    expect(markdown_, "| " + name + " |", '\n');
  }
};

std::string TimeOf(const Json& us) { return FormatLatency(Latency(us.get<double>())); }

TEST_F(SameNumbers, OfTheBracket) {
  for (const Json& bound : json_["bounds"]) {
    const std::string name = "bound, " + bound["variant"].get<std::string>();
    ExpectInRow(name, TimeOf(bound["latency_us"]));
    const std::string interval = TimeOf(bound["interval_us"][0]) + " to " + TimeOf(bound["interval_us"][1]);
    ExpectInRow(name, interval);
    const std::string row = "<th scope=\"row\">bound, " + bound["variant"].get<std::string>() +
                            "</th><td class=\"number\">" + TimeOf(bound["latency_us"]) + "</td><td class=\"number\">" +
                            interval + "</td>";
    EXPECT_NE(page_.find(row), std::string::npos) << row;
  }
  EXPECT_NE(page_.find("<div class=\"value\">" + TimeOf(FloorOf("dense-read"))), std::string::npos);
  ExpectInRow("floor, dense-read", TimeOf(FloorOf("dense-read")));
  ExpectInRow("demonstrated", TimeOf(json_["demonstrated_us"]));
}

TEST_F(SameNumbers, OfRunGapAndFindings) {
  for (const std::string* text : {&page_, &markdown_})
    EXPECT_NE(text->find(TimeOf(json_["run"]["latency_us"])), std::string::npos);
  for (const Json& step : json_["waterfall"]) {
    const std::string time = SignedLatencyText(Latency(step["latency_us"].get<double>()));
    const std::string title = step["title"].get<std::string>();
    ExpectInRow(title, time);
    const std::string row = title + "</th><td class=\"number\">" + time + "</td>";
    EXPECT_NE(page_.find(row), std::string::npos) << row;
  }
  for (const Json& finding : json_["findings"]) {
    if (finding["gain_us"].get<double>() <= 0) continue;
    const std::string known = finding["known"], up_to = known == "bounded" ? "up to " : "";
    const std::string gain = known + ": " + up_to + TimeOf(finding["gain_us"]);
    for (const std::string* text : {&page_, &markdown_}) EXPECT_NE(text->find(gain), std::string::npos) << gain;
  }
  const std::string headline = json_["headline"];
  EXPECT_EQ(headline, Headline(report_));
}

// Without scripts each row of the page has what JSON and CSV have.
TEST_F(SameNumbers, OfEveryRow) {
  const std::string csv = ReportCsv(report_);
  std::istringstream lines(csv);
  std::string head, line;
  std::getline(lines, head);
  const std::vector<std::string_view> titles = Split(std::string_view(head).substr(0, head.size() - 1), ',');
  const auto column = [&](std::string_view title) {
    return static_cast<std::size_t>(std::ranges::find(titles, title) - titles.begin());
  };
  std::size_t at = page_.find("<tbody>", page_.find("id=\"plain-layers\""));
  for (const Json& row : json_["rows"]) {
    ASSERT_TRUE(std::getline(lines, line));
    const std::vector<std::string_view> cells = Split(line, ',');
    at = page_.find("<tr>", at + 1);
    const std::string shown = page_.substr(at, page_.find("</tr>", at) - at);
    // Commas in names would shift the cells: the sample's names have none before these.
    for (const char* key : {"bound_us", "measured_us"}) {
      if (row[key].is_null()) {
        EXPECT_EQ(cells[column(key)], "") << line;
        continue;
      }
      EXPECT_EQ(ParseNumber(cells[column(key)]), row[key].get<double>()) << line;
      EXPECT_NE(shown.find("<td class=\"number\">" + TimeOf(row[key]) + "</td>"), std::string::npos) << shown;
    }
  }
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(SameNumbers, ThePageCarriesTheDataAsItIs) {
  const std::string open = "id=\"report-data\">";
  const std::size_t start = page_.find(open) + open.size();
  EXPECT_EQ(Json::parse(page_.substr(start, page_.find("</script>", start) - start)), json_);
}

}  // namespace
}  // namespace infimum::same_numbers_test
