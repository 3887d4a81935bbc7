// A sweep as one page: everything stands in it without a script, which sorts and filters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/page/assets.h"
#include "reports/page/heat_table.h"
#include "reports/page/html_page.h"
#include "reports/page/html_sections.h"
#include "reports/page/html_table.h"
#include "reports/sweep/sweep_report.h"
#include "reports/text/json_values.h"
#include "reports/text/quantity_text.h"

namespace infimum {
namespace {

// Of a device with more cells so many of them, evenly, are dots.
constexpr std::size_t kMostDots = 3000;

// A mark of the roofline.
struct SweepDot {
  const SweepCell* cell = nullptr;
  double intensity = 0, reached = 0;  // FLOPs a byte, FLOPs a second
};

// Where floors lie: a rate of FLOPs, or of bytes.
struct SweepRoof {
  bool is_arithmetic = false;
  double rate = 0;  // a second; the highest that a floor has
};

// Places of numbers on a logarithmic axis.
struct LogAxis {
  double low, high, begin, end;  // the logarithms' range, and where it is drawn
  double at(double value) const { return begin + (std::log10(value) - low) / (high - low) * (end - begin); }
};

std::string InTenths(double value) { return FormatNumber(std::round(10 * value) / 10); }

std::string_view ClassOfDot(const SweepCell& cell) {
  if (cell.facts.decided_by.empty()) return "dot";
  return cell.facts.decided_by.starts_with("arithmetic") ? "dot arithmetic" : "dot memory";
}

class RooflineChart {
 public:
  RooflineChart(const SweepReport& report, const DeviceSweep& device) : device_(device.device) {
    for (const SweepCell& cell : report.CellsOf(device)) {
      const CellFacts& facts = cell.facts;
      if (!facts.flops || !facts.bytes || facts.flops->value <= 0 || facts.bytes->value <= 0) continue;
      const double flops = static_cast<double>(facts.flops->value), bytes = static_cast<double>(facts.bytes->value);
      if (const std::optional<Latency> floor = QuantityOf(cell, SweepQuantity::kFloor);
          floor && !facts.decided_by.empty()) {
        SweepRoof& roof = roofs_[facts.decided_by.substr(0, facts.decided_by.find(','))];
        roof.is_arithmetic = facts.decided_by.starts_with("arithmetic");
        roof.rate = std::max(roof.rate, (roof.is_arithmetic ? flops : bytes) / (floor->count() * 1e-6));
      }
      if (const std::optional<Latency> time = QuantityOf(cell, SweepQuantity::kTime))
        dots_.push_back({&cell, flops / bytes, flops / (time->count() * 1e-6)});
    }
  }

  bool IsEmpty() const { return dots_.empty(); }

  void Write(HtmlWriter& html) const {
    SetAxes();
    const std::size_t step = (dots_.size() + kMostDots - 1) / kMostDots;
    const std::string what = fmt::format("Roofline of {}: FLOP/s reached against FLOPs a byte, of {}", device_,
                                         CountText((dots_.size() + step - 1) / step, "cell"));
    html.Open("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", what + ", scrolls"}});
    html.Open("svg", {{"class", "sweep-roofline"}, {"viewbox", "0 0 720 380"}, {"role", "img"}, {"aria-label", what}});
    WriteTicks(html);
    for (const auto& [name, roof] : roofs_) WriteRoof(name, roof, html);
    for (std::size_t i = 0; i < dots_.size(); i += step) WriteDot(dots_[i], html);
    html.Close().Close();
  }

 private:
  void SetAxes() const {
    double left = INFINITY, right = 0, low = INFINITY, high = 0;
    for (const SweepDot& dot : dots_) {
      left = std::min(left, dot.intensity), right = std::max(right, dot.intensity);
      low = std::min(low, dot.reached), high = std::max(high, dot.reached);
    }
    for (const auto& [name, roof] : roofs_)
      if (roof.is_arithmetic) ridge_ = std::max(ridge_, roof.rate);
    high = std::max(high, ridge_);
    x_ = {std::log10(left) - 0.2, std::log10(right) + 0.2, 60, 710};
    y_ = {std::log10(low) - 0.2, std::log10(high) + 0.2, 340, 14};
  }

  void WriteTicks(HtmlWriter& html) const {
    const auto ends = [](const LogAxis& axis) {
      return std::pair(static_cast<int>(std::ceil(axis.low)), static_cast<int>(std::floor(axis.high)));
    };
    const auto line = [&](double x1, double x2, double y1, double y2) {
      html.Element(
          "line",
          {{"class", "grid"}, {"x1", InTenths(x1)}, {"x2", InTenths(x2)}, {"y1", InTenths(y1)}, {"y2", InTenths(y2)}},
          "");
    };
    for (auto [power, last] = ends(x_); power <= last; ++power) {
      const double at = x_.at(std::pow(10, power));
      line(at, at, y_.end, y_.begin);
      html.Element("text", {{"x", InTenths(at)}, {"y", "356"}, {"text-anchor", "middle"}},
                   FormatNumber(std::pow(10, power)));
    }
    for (auto [power, last] = ends(y_); power <= last; ++power) {
      const double at = y_.at(std::pow(10, power));
      line(x_.begin, x_.end, at, at);
      html.Element("text", {{"x", "54"}, {"y", InTenths(at + 4)}, {"text-anchor", "end"}},
                   RateText(std::pow(10, power), ""));
    }
    html.Element("text", {{"x", "710"}, {"y", "374"}, {"text-anchor", "end"}}, "FLOPs a byte");
    html.Element("text", {{"x", "4"}, {"y", "12"}}, "FLOP/s reached");
  }

  // A line where it is inside the frame: y = rate, or y = rate x.
  void WriteRoof(const std::string& name, const SweepRoof& roof, HtmlWriter& html) const {
    double from = std::pow(10, x_.low), to = std::pow(10, x_.high);
    const auto height = [&](double x) { return roof.is_arithmetic ? roof.rate : roof.rate * x; };
    if (!roof.is_arithmetic) {
      from = std::max(from, std::pow(10, y_.low) / roof.rate);
      to = std::min(to, (ridge_ > 0 ? ridge_ : std::pow(10, y_.high)) / roof.rate);
    }
    if (!(from < to)) return;
    html.Element("line",
                 {{"class", roof.is_arithmetic ? "roof arithmetic" : "roof memory"},
                  {"x1", InTenths(x_.at(from))},
                  {"x2", InTenths(x_.at(to))},
                  {"y1", InTenths(y_.at(height(from)))},
                  {"y2", InTenths(y_.at(height(to)))}},
                 "");
    const std::string text = name + " " + RateText(roof.rate, roof.is_arithmetic ? "FLOP/s" : "B/s");
    if (roof.is_arithmetic) {
      html.Element("text",
                   {{"class", "halo"}, {"x", "708"}, {"y", InTenths(y_.at(roof.rate) - 5)}, {"text-anchor", "end"}},
                   text);
    } else {
      html.Element("text",
                   {{"class", "halo"},
                    {"x", InTenths(x_.at(from) + 12)},
                    {"y", InTenths(std::min(y_.at(height(from)) + 16, y_.begin - 6))}},
                   text);
    }
  }

  void WriteDot(const SweepDot& dot, HtmlWriter& html) const {
    const SweepCell& cell = *dot.cell;
    std::string hint = fmt::format("{}{}{}\n{}, {}", cell.name, cell.conditions.empty() ? "" : ", ", cell.conditions,
                                   FormatLatency(*cell.time), RateText(dot.reached, "FLOP/s"));
    if (const std::optional<double> share = cell.utilization())
      hint += fmt::format(", {} of the floor ({})", PercentText(*share), cell.facts.decided_by);
    html.Open("circle", {{"class", ClassOfDot(cell)},
                         {"cx", InTenths(x_.at(dot.intensity))},
                         {"cy", InTenths(y_.at(dot.reached))},
                         {"r", "3"}});
    html.Element("title", hint).Close();
  }

  std::string device_;
  std::vector<SweepDot> dots_;
  std::map<std::string, SweepRoof> roofs_;  // by what decides
  mutable LogAxis x_{}, y_{};
  mutable double ridge_ = 0;  // the highest rate of arithmetic: no bandwidth counts above it
};

// The charts of all devices, below each other.
void AddRooflines(const SweepReport& report, HtmlWriter& html) {
  bool is_open = false;
  for (const DeviceSweep& device : report.devices) {
    const RooflineChart chart(report, device);
    if (chart.IsEmpty()) continue;
    if (!std::exchange(is_open, true))
      OpenSection("roofline", "Roofline",
                  "A dot is a cell: what it reached, against the FLOPs of its model for each byte of it. Lines: the "
                  "highest rates of the floors; a floor reads less than all of a model's bytes where it may.",
                  html);
    html.Element("h3", device.device);
    chart.Write(html);
  }
  if (is_open) html.Close();
}

std::string SweepSectionsHtml(const SweepReport& report, const std::vector<Section>& sections) {
  HtmlWriter html;
  for (const Section& section : sections) {
    OpenSection(section.id, section.title, section.note, html);
    HeatLook look{{}, HeatScale(ColouredRatios({section})), std::nullopt};
    if (section.first_side)
      for (std::size_t i = *section.first_side; i < section.columns.size(); ++i)
        look.labels.push_back(section.columns[i].title);
    if (section.first_side && !section.id.starts_with("floors")) AddHeatKey({section}, look, html);
    if (!section.rows.empty()) AddHeatTable(section, look, html);
    html.Close();
    if (section.id == "overview") AddRooflines(report, html);
  }
  return html.Take();
}

// "batch 1 to 64 · nodes 256 to 768 · threads 1, 2"
std::string AxesText(const SweepReport& report) {
  std::vector<std::string> texts;
  for (const SweepAxis& axis : report.axes) {
    const bool is_long = axis.values.size() > 3;
    texts.push_back(ShortField(axis.field) + " " +
                    (is_long ? axis.values.front() + " to " + axis.values.back() : Join(axis.values, ", ")));
  }
  return Join(texts, " · ");
}

}  // namespace

std::string SweepPage(const SweepReport& report) {
  const std::vector<Section> sections = SweepSections(report, 0);
  const std::string shown = SweepSectionsHtml(report, sections);
  HtmlWriter roofline;
  if (shown.find("<section id=\"roofline\"") != std::string::npos)
    roofline.Element("a", {{"href", "#roofline"}}, "Roofline").Text(" ");
  const std::string links = roofline.Take() + LinksHtml(sections);
  const std::string data_as_of = report.data_as_of.empty() ? "" : "Data of " + report.data_as_of;
  const PageFrame frame{.page = ComparisonTemplate(),
                        .title = report.name,
                        .style = std::string(ReportStyle()) + std::string(ComparisonStyle()),
                        .script = ComparisonScript(),
                        .json = DumpJson(Json{{"schema", "infimum.sweep-page/1"}, {"name", report.name}}, -1),
                        .data_as_of = data_as_of,
                        .infimum_version = report.infimum_version};
  return WritePage(frame, {{"KIND", [] { return std::string("sweep"); }},
                           {"HEADLINE", [&] { return SentenceHtml(SweepHeadline(report)); }},
                           {"FACTS", [&] { return EscapedHtml(AxesText(report)); }},
                           {"CAUTIONS", [] { return std::string(); }},
                           {"CONTENTS", [&] { return links; }},
                           {"SECTIONS", [&] { return shown; }},
                           {"REMARKS", [&] { return RemarksHtml(report.remarks); }}});
}

}  // namespace infimum
