// A comparison as one page: everything stands in it without a script, which sorts and filters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "infimum/reports/comparison_report.h"
#include "infimum/reports/quantity_text.h"
#include "reports/assets.h"
#include "reports/comparison_sections.h"
#include "reports/html_page.h"
#include "reports/html_sections.h"
#include "reports/html_text.h"
#include "reports/html_writer.h"

namespace infimum {
namespace {

// Tables from so many rows on can be filtered.
constexpr std::size_t kFilteredRows = 8;
constexpr std::size_t kFoldedRows = 20;  // gains
// A text that is longer wraps.
constexpr std::size_t kProse = 48;

// Of a cell by what it says; the stronger the further from the baseline, in steps of a factor of 1.19, 2 and 4.
std::string ClassOf(const SectionCell& cell) {
  const auto strength = [&cell] {
    const double octaves = cell.ratio && *cell.ratio > 0 ? std::abs(std::log2(*cell.ratio)) : 0;
    return octaves < 0.25 ? 1 : octaves < 1 ? 2 : octaves < 2 ? 3 : 4;
  };
  switch (cell.tone) {
    case CellTone::kFaster:
      return fmt::format("faster-{}", strength());
    case CellTone::kSlower:
      return fmt::format("slower-{}", strength());
    case CellTone::kSame:
      return "within-noise";
    case CellTone::kUndecided:
      return "undecided";
    case CellTone::kUnknown:
      return "unknown";
    case CellTone::kPlain:
      break;
  }
  return "";
}

void WriteCell(const SectionCell& cell, const TableColumn& column, bool is_first, HtmlWriter& html) {
  if (is_first) {
    html.Open("th", {{"scope", "row"}}).Element("div", cell.text).Close();
    return;
  }
  std::string classes = ClassOf(cell);
  if (column.align == Align::kRight) classes += classes.empty() ? "number" : " number";
  if (cell.is_best) classes += " best";
  if (cell.number && std::isfinite(*cell.number)) {
    html.Element("td", {{"class", classes}, {"data-number", FormatNumber(*cell.number)}}, cell.text);
  } else {
    html.Open("td", {{"class", classes}});
    if (column.align == Align::kLeft && cell.text.size() > kProse) {
      html.Element("div", {{"class", "prose"}}, cell.text).Close();
    } else {
      html.Text(cell.text).Close();
    }
  }
}

void WriteTable(const Section& section, HtmlWriter& html) {
  const std::string table = section.id + "-table";
  if (section.rows.size() >= kFilteredRows) {
    html.Open("div", {{"class", "controls"}}).Open("label").Text("Filter ");
    html.Open("input", {{"type", "search"}, {"data-filters", table}, {"autocomplete", "off"}, {"spellcheck", "false"}});
    html.Close().Close().Element("span", {{"role", "status"}}, "").Close();
  }
  html.Open("div", {{"class", "scroll"},
                    {"tabindex", "0"},
                    {"role", "region"},
                    {"aria-label", section.title + ", scrolls sideways"}});
  html.Open("table", {{"class", "comparison"}, {"id", table}}).Open("thead").Open("tr");
  for (const TableColumn& column : section.columns)
    html.Element("th", {{"scope", "col"}, {"class", column.align == Align::kRight ? "number" : ""}}, column.title);
  html.Close().Close().Open("tbody");
  for (const std::vector<SectionCell>& row : section.rows) {
    html.Open("tr");
    for (std::size_t i = 0; i < row.size(); ++i) WriteCell(row[i], section.columns[i], i == 0, html);
    html.Close();
  }
  html.Close().Close().Close();
}

// The ladder as bars with their intervals: of one model its times, of several the mean ratios. Its numbers stand in
// the table below it.
void WriteBars(const ComparisonReport& report, HtmlWriter& html) {
  constexpr double kWidth = 330, kHeight = 16;
  struct Bar {
    double value = 0, low = 0, high = 0;
    std::string text;
  };
  const SideComparison& comparison = report.comparison;
  std::vector<Bar> bars(report.sides.size());
  double most = 0;
  for (std::size_t side = 0; side < bars.size(); ++side) {
    Bar& bar = bars[side];
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
  const auto at = [most](double value) { return FormatNumber(std::round(10 * kWidth * value / most) / 10); };
  for (std::size_t side = 0; side < bars.size(); ++side) {
    const Bar& bar = bars[side];
    const bool is_best = !comparison.order.empty() && comparison.order.front() == side;
    html.Open("li", {{"class", is_best ? "best" : ""}}).Element("span", {{"class", "label"}}, report.sides[side].label);
    html.Open("svg", {{"viewbox", "0 0 340 16"}, {"preserveaspectratio", "none"}, {"height", FormatNumber(kHeight)}});
    html.Element("rect", {{"x", "0"}, {"y", "2"}, {"width", at(bar.value)}, {"height", "12"}}, "");
    if (bar.high > bar.low)
      html.Element("line", {{"x1", at(bar.low)}, {"x2", at(bar.high)}, {"y1", "8"}, {"y2", "8"}}, "");
    html.Close().Element("span", bar.text + (is_best ? ", the fastest" : "")).Close();
  }
  html.Close();
}

std::string SectionsHtml(const ComparisonReport& report, const std::vector<Section>& sections) {
  HtmlWriter html;
  for (const Section& section : sections) {
    const std::string title = section.id + "-title";
    html.Open("section", {{"id", section.id}, {"aria-labelledby", title}});
    html.Element("h2", {{"id", title}}, section.title);
    if (!section.note.empty()) html.Element("p", {{"class", "lead"}}, section.note);
    if (section.id == "ladder") WriteBars(report, html);
    if (section.id == "layers" || section.id == "families") {
      html.Open("p", {{"class", "key-line"}});
      html.Element("span", {{"class", "faster-3"}}, "faster").Element("span", {{"class", "slower-3"}}, "slower");
      html.Element("span", "= within noise").Element("span", "? undecided");
      html.Element("span", {{"class", "best"}}, "the fastest").Close();
    }
    // What is faster than a baseline of long ago is nearly everything.
    const bool is_long = section.id == "gains" && section.rows.size() > kFoldedRows;
    if (is_long) html.Open("details").Element("summary", CountText(section.rows.size(), "row"));
    if (!section.rows.empty()) WriteTable(section, html);
    if (is_long) html.Close();
    html.Close();
  }
  return html.Take();
}

std::string ContentsHtml(const std::vector<Section>& sections) {
  HtmlWriter html;
  for (const Section& section : sections) html.Element("a", {{"href", "#" + section.id}}, section.title).Text(" ");
  return html.Take();
}

std::string CautionsHtml(const ComparisonReport& report) {
  HtmlWriter html;
  for (const std::string& caution : report.cautions) html.Element("p", {{"class", "callout"}}, caution);
  return html.Take();
}

std::string RemarksHtml(const ComparisonReport& report) {
  if (report.remarks.empty()) return "";
  HtmlWriter html;
  html.Open("section", {{"id", "remarks"}, {"aria-labelledby", "remarks-title"}});
  html.Element("h2", {{"id", "remarks-title"}}, "What this rests on").Open("ul");
  for (const std::string& remark : report.remarks) html.Element("li", remark);
  return html.Close().Close().Take();
}

}  // namespace

std::string ComparisonPage(const ComparisonReport& report) {
  const std::vector<Section> sections = ComparisonSections(report, 0);
  const std::string style = std::string(ReportStyle()) + std::string(ComparisonStyle());
  const std::string json = ComparisonJson(report);
  return FillPage(
      ComparisonTemplate(),
      {{"POLICY", [&] { return EscapedHtml(PolicyFor({style}, {ComparisonScript()})); }},
       {"TITLE", [&] { return EscapedHtml(ComparisonTitle(report)); }},
       {"STYLE", [&] { return style; }},
       {"HEADLINE", [&] { return SentenceHtml(ComparisonHeadline(report)); }},
       {"FACTS", [&] { return EscapedHtml(Join(report.conditions, " · ")); }},
       {"CAUTIONS", [&] { return CautionsHtml(report); }},
       {"CONTENTS", [&] { return ContentsHtml(sections); }},
       {"SECTIONS", [&] { return SectionsHtml(report, sections); }},
       {"REMARKS", [&] { return RemarksHtml(report); }},
       {"FOOTER",
        [&] {
          const std::string data = DataAsOf(report);
          return EscapedHtml(fmt::format("{}Written by infimum {}. This page is one file and fetches nothing.",
                                         data.empty() ? data : data + ". ", report.infimum_version));
        }},
       {"DATA",
        [&] {
          std::string data;
          AppendScriptData(json, data);
          return data;
        }},
       {"SCRIPT", [] { return std::string(ComparisonScript()); }}});
}

}  // namespace infimum
