#include "reports/page/heat_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infimum/base/text.h"
#include "reports/page/html_table.h"

namespace infimum {

namespace {

constexpr double kLeast = 0.25, kMost = 2, kGrain = 0.125;  // octaves that a step may be wide
constexpr double kTold = 0.9;                               // so many of the ratios stand before the last step's end

double OctavesOf(double ratio) { return ratio > 0 ? std::abs(std::log2(ratio)) : 0; }

}  // namespace

HeatScale::HeatScale(std::vector<double> ratios) : octaves_(kLeast) {
  std::erase_if(ratios, [](double ratio) { return !(ratio > 0) || !std::isfinite(ratio); });
  if (ratios.empty()) return;
  for (double& ratio : ratios) ratio = OctavesOf(ratio);
  const auto place = static_cast<std::ptrdiff_t>(std::ceil(kTold * static_cast<double>(ratios.size() - 1)));
  std::nth_element(ratios.begin(), ratios.begin() + place, ratios.end());
  const double farthest = ratios[static_cast<std::size_t>(place)];
  octaves_ = std::clamp(std::ceil(farthest / kSteps / kGrain) * kGrain, kLeast, kMost);
}

int HeatScale::StepOf(double ratio) const {
  // Before it is an int: a ratio may be as large as a double.
  return 1 + static_cast<int>(std::min<double>(kSteps - 1, std::floor(OctavesOf(ratio) / octaves_)));
}

std::string HeatScale::BeginOf(int step) const {
  const double times = std::exp2(octaves_ * (step - 1));
  return times < 10 ? fmt::format("{:.2g}", times) : fmt::format("{:.0f}", times);
}
namespace {

// Tables from so many rows on can be filtered.
constexpr std::size_t kFilteredRows = 12;
// A text that is longer wraps.
constexpr std::size_t kProse = 24;
// From so many sides on what stands behind a time stands below it.
constexpr std::size_t kStackedSides = 5;

// Of a cell by what it says; the stronger the further from the baseline.
std::string HeatClassOf(const Cell& cell, const HeatScale& scale) {
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

// The side whose column it is.
std::optional<std::size_t> SideOf(const Section& section, std::size_t column, const HeatLook& look) {
  if (!section.first_side || column < *section.first_side) return std::nullopt;
  const std::size_t side = column - *section.first_side;
  return side < look.labels.size() ? std::optional(side) : std::nullopt;
}

void WriteHeading(const Section& section, std::size_t column, const HeatLook& look, HtmlWriter& html) {
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

void WriteCell(const Cell& cell, const Section& section, std::size_t column, const HeatLook& look, HtmlWriter& html) {
  if (column == 0) {
    html.Open("th", {{"scope", "row"}, {"id", cell.id}, {"title", cell.hint}}).Open("div");
    AddCellText(cell, html);
    html.Close().Close();
    return;
  }
  const bool is_right = section.columns[column].align == Align::kRight;
  const std::optional<std::size_t> side = SideOf(section, column, look);
  std::string classes = HeatClassOf(cell, look.scale);
  const auto add = [&classes](bool is_so, std::string_view name) {
    if (is_so) classes.append(classes.empty() ? "" : " ").append(name);
  };
  add(is_right, "number");
  add(cell.is_best, "best");
  add(side && side == look.winner, "winner");
  if (cell.number && std::isfinite(*cell.number)) {
    html.Open("td", {{"class", classes}, {"title", cell.hint}, {"data-number", FormatNumber(*cell.number)}});
    AddCellText(cell, html);
  } else {
    html.Open("td", {{"class", classes}, {"title", cell.hint}});
    if (!is_right && cell.text.size() > kProse) {
      html.Open("div", {{"class", cell.is_code ? "prose mono" : "prose"}});
      AddCellText(cell, html);
      html.Close();
    } else {
      AddCellText(cell, html);
    }
  }
  if (!cell.aside.empty()) html.Text(" ").Element("span", {{"class", "aside"}}, cell.aside);
  html.Close();
}

void WriteRows(const Section& section, std::size_t begin, std::size_t end, const HeatLook& look, HtmlWriter& html) {
  for (std::size_t index = begin; index < end; ++index) {
    html.Open("tr");
    const TableRow& row = section.rows[index];
    for (std::size_t i = 0; i < row.size(); ++i) WriteCell(row[i], section, i, look, html);
    html.Close();
  }
}

}  // namespace

std::vector<double> ColouredRatios(const std::vector<Section>& sections) {
  std::vector<double> ratios;
  for (const Section& section : sections)
    for (const TableRow& row : section.rows)
      for (const Cell& cell : row)
        if (cell.ratio && (cell.tone == CellTone::kFaster || cell.tone == CellTone::kSlower))
          ratios.push_back(*cell.ratio);
  return ratios;
}

void AddHeatTable(const Section& section, const HeatLook& look, HtmlWriter& html) {
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
  const std::size_t shown = section.shown > 0 ? std::min(section.shown, section.rows.size()) : section.rows.size();
  WriteRows(section, 0, shown, look, html);
  html.Close().Close();
  if (shown < section.rows.size()) {
    html.Open("noscript", {{"data-continues", table}, {"data-rows", std::to_string(section.rows.size())}});
    html.Open("table", {{"class", "comparison"}}).Open("tbody");
    WriteRows(section, shown, section.rows.size(), look, html);
    html.Close().Close().Close();
  }
  html.Close();
}

void AddHeatKey(const std::vector<Section>& sections, const HeatLook& look, HtmlWriter& html) {
  int fastest = 0, slowest = 0;
  bool has_same = false, has_undecided = false, has_best = false;
  for (const Section& section : sections)
    for (const TableRow& row : section.rows)
      for (const Cell& cell : row) {
        has_same = has_same || cell.tone == CellTone::kSame;
        has_undecided = has_undecided || cell.tone == CellTone::kUndecided;
        has_best = has_best || cell.is_best;
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
  if (has_same) html.Element("span", "= within noise");
  if (has_undecided) html.Element("span", "? undecided");
  if (slowest > 0) html.Element("b", "slower by");
  for (int at = 1; at <= slowest; ++at) step("slower", at, slowest);
  if (has_best) html.Element("span", {{"class", "best"}}, "bold: the fastest of its row");
  html.Close();
}

std::string LinksHtml(const std::vector<Section>& sections) {
  HtmlWriter html;
  for (const Section& section : sections) html.Element("a", {{"href", "#" + section.id}}, section.title).Text(" ");
  return html.Take();
}

std::string RemarksHtml(const std::vector<std::string>& remarks) {
  if (remarks.empty()) return "";
  HtmlWriter html;
  OpenSection("remarks", "What this rests on", "", html);
  html.Open("ul");
  for (const std::string& remark : remarks) html.Element("li", remark);
  return html.Close().Close().Take();
}

}  // namespace infimum
