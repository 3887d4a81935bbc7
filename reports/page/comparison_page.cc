// A comparison as one page: everything stands in it without a script, which sorts and filters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/page/assets.h"
#include "reports/page/heat_scale.h"
#include "reports/page/html_page.h"
#include "reports/page/html_sections.h"
#include "reports/page/html_table.h"
#include "reports/page/html_writer.h"
#include "reports/sides/comparison_report.h"
#include "reports/sides/side_labels.h"
#include "reports/text/quantity_text.h"

namespace infimum {
namespace {

// Tables from so many rows on can be filtered.
constexpr std::size_t kFilteredRows = 12;
constexpr std::size_t kFoldedRows = 20;  // gains
// A text that is longer wraps.
constexpr std::size_t kProse = 24;

// From so many sides on what stands behind a time stands below it.
constexpr std::size_t kStackedSides = 5;

// What all tables of a page share.
struct Look {
  std::vector<std::string> labels;  // of the sides, the whole of them
  HeatScale scale;
  std::optional<std::size_t> winner;
};

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

// Of a cell by what it says; the stronger the further from the baseline.
std::string ClassOf(const Cell& cell, const HeatScale& scale) {
  switch (cell.tone) {
    case CellTone::kFaster:
      return fmt::format("faster-{}", scale.StepOf(cell.ratio.value_or(1)));
    case CellTone::kSlower:
      return fmt::format("slower-{}", scale.StepOf(cell.ratio.value_or(1)));
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

// The ratios that are told apart by colour.
std::vector<double> ColouredRatios(const std::vector<Section>& sections) {
  std::vector<double> ratios;
  for (const Section& section : sections)
    for (const TableRow& row : section.rows)
      for (const Cell& cell : row)
        if (cell.ratio && (cell.tone == CellTone::kFaster || cell.tone == CellTone::kSlower))
          ratios.push_back(*cell.ratio);
  return ratios;
}

Look LookOf(const ComparisonReport& report, const std::vector<Section>& sections) {
  Look look{LabelsOf(report), HeatScale(ColouredRatios(sections)), std::nullopt};
  if (report.comparison.order.size() > 1) look.winner = report.comparison.order.front();
  return look;
}

// The side whose column it is.
std::optional<std::size_t> SideOf(const Section& section, std::size_t column, const Look& look) {
  if (!section.first_side || column < *section.first_side) return std::nullopt;
  const std::size_t side = column - *section.first_side;
  return side < look.labels.size() ? std::optional(side) : std::nullopt;
}

void WriteHeading(const Section& section, std::size_t column, const Look& look, HtmlWriter& html) {
  const TableColumn& shown = section.columns[column];
  const std::string_view align = shown.align == Align::kRight ? "number" : "";
  const std::optional<std::size_t> side = SideOf(section, column, look);
  if (!side) {
    html.Element("th", {{"scope", "col"}, {"class", align}}, shown.title);
    return;
  }
  const bool is_winner = side == look.winner;
  html.Open(
      "th",
      {{"scope", "col"}, {"class", is_winner ? "number side winner" : "number side"}, {"title", look.labels[*side]}});
  if (is_winner) html.Element("span", {{"class", "side-note"}}, "the fastest").Text(" ");
  html.Text(shown.title).Close();
}

void WriteCell(const Cell& cell, const Section& section, std::size_t column, const Look& look, HtmlWriter& html) {
  if (column == 0) {
    html.Open("th", {{"scope", "row"}}).Element("div", cell.text).Close();
    return;
  }
  const bool is_right = section.columns[column].align == Align::kRight;
  const std::optional<std::size_t> side = SideOf(section, column, look);
  std::string classes = ClassOf(cell, look.scale);
  const auto add = [&classes](bool is_so, std::string_view name) {
    if (is_so) classes.append(classes.empty() ? "" : " ").append(name);
  };
  add(is_right, "number");
  add(cell.is_best, "best");
  add(side && side == look.winner, "winner");
  if (cell.number && std::isfinite(*cell.number)) {
    html.Open("td", {{"class", classes}, {"data-number", FormatNumber(*cell.number)}}).Text(cell.text);
  } else {
    html.Open("td", {{"class", classes}});
    if (!is_right && cell.text.size() > kProse) {
      html.Element("div", {{"class", "prose"}}, cell.text);
    } else {
      html.Text(cell.text);
    }
  }
  if (!cell.aside.empty()) html.Text(" ").Element("span", {{"class", "aside"}}, cell.aside);
  html.Close();
}

void WriteTable(const Section& section, const Look& look, HtmlWriter& html) {
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
  const bool is_stacked = section.first_side && look.labels.size() >= kStackedSides;
  html.Open("table", {{"class", is_stacked ? "comparison stacked" : "comparison"}, {"id", table}});
  html.Open("thead").Open("tr");
  for (std::size_t i = 0; i < section.columns.size(); ++i) WriteHeading(section, i, look, html);
  html.Close().Close().Open("tbody");
  for (const TableRow& row : section.rows) {
    html.Open("tr");
    for (std::size_t i = 0; i < row.size(); ++i) WriteCell(row[i], section, i, look, html);
    html.Close();
  }
  html.Close().Close().Close();
}

// Which colour is how much, as far as any cell of the page goes, and what the signs mean.
void WriteKey(const std::vector<Section>& sections, const Look& look, HtmlWriter& html) {
  int fastest = 0, slowest = 0;
  for (const Section& section : sections)
    for (const TableRow& row : section.rows)
      for (const Cell& cell : row) {
        if (!cell.ratio) continue;
        int* const most = cell.tone == CellTone::kFaster   ? &fastest
                          : cell.tone == CellTone::kSlower ? &slowest
                                                           : nullptr;
        if (most != nullptr) *most = std::max(*most, look.scale.StepOf(*cell.ratio));
      }
  html.Open("p", {{"class", "key-line"}});
  const auto step = [&](std::string_view direction, int at, int most) {
    const std::string text = at == 1 ? "less" : look.scale.BeginOf(at) + (at == most ? " times and more" : "");
    html.Element("span", {{"class", fmt::format("{}-{}", direction, at)}}, text);
  };
  if (fastest > 0) html.Element("b", "faster by");
  for (int at = fastest; at > 0; --at) step("faster", at, fastest);
  html.Element("span", "= within noise").Element("span", "? undecided");
  if (slowest > 0) html.Element("b", "slower by");
  for (int at = 1; at <= slowest; ++at) step("slower", at, slowest);
  html.Element("span", {{"class", "best"}}, "bold: the fastest of its row").Close();
}

// What tables call the sides, where that is not all of their names.
void WriteSideNames(const ComparisonReport& shown, const Look& look, HtmlWriter& html) {
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
  const Look look = LookOf(report, sections);
  HtmlWriter html;
  for (const Section& section : sections) {
    OpenSection(section.id, section.title, section.note, html);
    if (section.id == "ladder") {
      WriteBars(shown, html);
      WriteSideNames(shown, look, html);
    }
    if (section.id == "layers" || section.id == "families") WriteKey(sections, look, html);
    // What is faster than a baseline of long ago is nearly everything.
    const bool is_long = section.id == "gains" && section.rows.size() > kFoldedRows;
    if (is_long) html.Open("details").Element("summary", CountText(section.rows.size(), "row"));
    if (!section.rows.empty()) WriteTable(section, look, html);
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
  OpenSection("remarks", "What this rests on", "", html);
  html.Open("ul");
  for (const std::string& remark : report.remarks) html.Element("li", remark);
  return html.Close().Close().Take();
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
  return WritePage(frame, {{"HEADLINE", [&] { return SentenceHtml(ComparisonHeadline(report)); }},
                           {"FACTS", [&] { return EscapedHtml(Join(report.conditions, " · ")); }},
                           {"CAUTIONS", [&] { return CautionsHtml(report); }},
                           {"CONTENTS", [&] { return ContentsHtml(sections); }},
                           {"SECTIONS", [&] { return SectionsHtml(report, shown, sections); }},
                           {"REMARKS", [&] { return RemarksHtml(report); }}});
}

}  // namespace infimum
