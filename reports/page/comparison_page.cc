// A comparison as one page: everything stands in it without a script, which sorts and filters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/page/assets.h"
#include "reports/page/heat_table.h"
#include "reports/page/html_page.h"
#include "reports/page/html_sections.h"
#include "reports/page/html_table.h"
#include "reports/page/html_writer.h"
#include "reports/sides/comparison_report.h"
#include "reports/sides/side_labels.h"
#include "reports/text/fact_text.h"

namespace infimum {
namespace {

constexpr std::size_t kFoldedRows = 20;  // gains

std::vector<std::string> LabelsOf(const ComparisonReport& report) {
  std::vector<std::string> labels;
  for (const ReportSide& side : report.sides) labels.push_back(side.label);
  return labels;
}

// The same with short names of the sides, for tables.
ComparisonReport WithShortLabels(const ComparisonReport& report) {
  ComparisonReport shown = report;
  const std::vector<std::string> labels = ShortSideLabels(LabelsOf(report));
  for (std::size_t side = 0; side < labels.size(); ++side) {
    shown.sides[side].label = labels[side];
    if (shown.nodes && side < shown.nodes->columns.size()) shown.nodes->columns[side].source = labels[side];
  }
  return shown;
}

HeatLook LookOf(const ComparisonReport& report, const std::vector<Section>& sections) {
  HeatLook look{LabelsOf(report), HeatScale(ColouredRatios(sections)), std::nullopt};
  if (report.comparison.order.size() > 1) look.winner = report.comparison.order.front();
  return look;
}

// What tables call the sides, where that is not all of their names.
void WriteSideNames(const ComparisonReport& shown, const HeatLook& look, HtmlWriter& html) {
  if (LabelsOf(shown) == look.labels) return;
  html.Open("dl", {{"class", "side-names"}, {"id", "side-names"}});
  for (std::size_t side = 0; side < look.labels.size(); ++side)
    html.Element("dt", shown.sides[side].label).Element("dd", look.labels[side]);
  html.Close();
}

// The ladder as bars with their intervals: of one model its times, of several the mean ratios. Its numbers stand in
// the table below it.
void WriteBars(const ComparisonReport& report, HtmlWriter& html) {
  constexpr double kBarsWidth = 330, kBarsHeight = 16;
  struct SideBar {
    double value = 0, low = 0, high = 0;
    std::string text;
  };
  const SideComparison& comparison = report.comparison;
  std::vector<SideBar> bars(report.sides.size());
  double most = 0;
  for (std::size_t side = 0; side < bars.size(); ++side) {
    SideBar& bar = bars[side];
    if (comparison.models.size() == 1) {
      const SideTime& time = comparison.models.front().times[side];
      if (!time.latency) continue;
      bar.value = bar.low = bar.high = time.latency->count();
      if (time.interval) bar.low = time.interval->low.count(), bar.high = time.interval->high.count();
      bar.text = FormatLatency(*time.latency);
    } else if (side == 0 || comparison.means[side]) {
      const Difference difference = side == 0 ? Difference() : *comparison.means[side];
      bar = {difference.ratio, difference.between.low, difference.between.high,
             fmt::format("{:.3g} times", difference.ratio)};
    }
    most = std::max({most, bar.value, bar.high});
  }
  if (!(most > 0) || !std::isfinite(most)) return;
  html.Open("ul", {{"class", "bars"}, {"aria-hidden", "true"}});
  const auto at = [most](double value) { return FormatNumber(std::round(10 * kBarsWidth * value / most) / 10); };
  for (std::size_t side = 0; side < bars.size(); ++side) {
    const SideBar& bar = bars[side];
    const bool is_best = !comparison.order.empty() && comparison.order.front() == side;
    html.Open("li", {{"class", is_best ? "best" : ""}}).Element("span", {{"class", "label"}}, report.sides[side].label);
    html.Open("svg",
              {{"viewbox", "0 0 340 16"}, {"preserveaspectratio", "none"}, {"height", FormatNumber(kBarsHeight)}});
    html.Element("rect", {{"x", "0"}, {"y", "2"}, {"width", at(bar.value)}, {"height", "12"}}, "");
    if (bar.high > bar.low)
      html.Element("line", {{"x1", at(bar.low)}, {"x2", at(bar.high)}, {"y1", "8"}, {"y2", "8"}}, "");
    html.Close().Element("span", bar.text + (is_best ? ", the fastest" : "")).Close();
  }
  html.Close();
}

std::string SectionsHtml(const ComparisonReport& report, const ComparisonReport& shown,
                         const std::vector<Section>& sections) {
  const HeatLook look = LookOf(report, sections);
  HtmlWriter html;
  for (const Section& section : sections) {
    OpenSection(section.id, section.title, section.note, html);
    if (section.id == "ladder") {
      WriteBars(shown, html);
      WriteSideNames(shown, look, html);
    }
    if (section.id == "layers" || section.id == "families") AddHeatKey(sections, look, html);
    // What is faster than a baseline of long ago is nearly everything.
    const bool is_long = section.id == "gains" && section.rows.size() > kFoldedRows;
    if (is_long) html.Open("details").Element("summary", CountText(section.rows.size(), "row"));
    if (!section.rows.empty()) AddHeatTable(section, look, html);
    if (is_long) html.Close();
    html.Close();
  }
  return html.Take();
}

std::string CautionsHtml(const ComparisonReport& report) {
  HtmlWriter html;
  for (const std::string& caution : report.cautions) html.Element("p", {{"class", "callout"}}, caution);
  return html.Take();
}

}  // namespace

std::string ComparisonPage(const ComparisonReport& report) {
  const ComparisonReport shown = WithShortLabels(report);
  const std::vector<Section> sections = ComparisonSections(shown, 0);
  const std::string title = ComparisonTitle(report), data_as_of = DataAsOf(report);
  const PageFrame frame{.page = ComparisonTemplate(),
                        .title = title,
                        .style = std::string(ReportStyle()) + std::string(ComparisonStyle()),
                        .script = ComparisonScript(),
                        .json = ComparisonJson(report),
                        .data_as_of = data_as_of,
                        .infimum_version = report.infimum_version};
  return WritePage(frame, {{"KIND", [] { return std::string("comparison"); }},
                           {"HEADLINE", [&] { return SentenceHtml(ComparisonHeadline(report)); }},
                           {"FACTS", [&] { return EscapedHtml(Join(report.conditions, " · ")); }},
                           {"CAUTIONS", [&] { return CautionsHtml(report); }},
                           {"CONTENTS", [&] { return LinksHtml(sections); }},
                           {"SECTIONS", [&] { return SectionsHtml(report, shown, sections); }},
                           {"REMARKS", [&] { return RemarksHtml(report.remarks); }}});
}

}  // namespace infimum
