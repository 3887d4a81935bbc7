// A sweep as one page: everything stands in it without a script, which sorts and filters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/page/assets.h"
#include "reports/page/heat_table.h"
#include "reports/page/html_page.h"
#include "reports/page/html_sections.h"
#include "reports/page/html_table.h"
#include "reports/sweep/sweep_report.h"
#include "reports/text/fact_text.h"
#include "reports/text/json_values.h"

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
  bool has(double value) const { return std::log10(value) >= low && std::log10(value) <= high; }
};

std::string InTenths(double value) { return FormatNumber(std::round(10 * value) / 10); }

void AddGridLine(double x1, double x2, double y1, double y2, HtmlWriter& html) {
  html.Element(
      "line",
      {{"class", "grid"}, {"x1", InTenths(x1)}, {"x2", InTenths(x2)}, {"y1", InTenths(y1)}, {"y2", InTenths(y2)}}, "");
}

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
    for (auto [power, last] = ends(x_); power <= last; ++power) {
      const double at = x_.at(std::pow(10, power));
      AddGridLine(at, at, y_.end, y_.begin, html);
      html.Element("text", {{"x", InTenths(at)}, {"y", "356"}, {"text-anchor", "middle"}},
                   FormatNumber(std::pow(10, power)));
    }
    for (auto [power, last] = ends(y_); power <= last; ++power) {
      const double at = y_.at(std::pow(10, power));
      AddGridLine(x_.begin, x_.end, at, at, html);
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

// Of a device and a type of weights: what is most or least over the context, both logarithmic, a line for each batch.
// The colour of a dot says what decides.
class TokenCurves {
 public:
  // Of the time to the first token, or of tokens a second.
  TokenCurves(std::span<const TokenRow> rows, bool is_of_first)
      : is_of_first_(is_of_first), title_(is_of_first ? "TTFT, least" : "tokens/s, most") {
    for (const TokenRow& row : rows) {
      if (row.context <= 0) continue;
      contexts_.insert(row.context);
      const std::optional<double> time = row.first ? std::optional(row.first->count()) : std::nullopt;
      if (const std::optional<double> value = is_of_first ? time : row.rate(); value && *value > 0)
        lines_[row.batch].push_back({&row, *value});
    }
  }

  // A line takes two contexts.
  bool IsEmpty() const {
    return std::ranges::none_of(lines_, [](const auto& line) { return line.second.size() > 1; });
  }

  void Write(HtmlWriter& html) const {
    double least = INFINITY, most = 0;
    for (const auto& [batch, points] : lines_)
      for (const Point& point : points) least = std::min(least, point.value), most = std::max(most, point.value);
    const LogAxis x{std::log10(static_cast<double>(*contexts_.begin())) - 0.08,
                    std::log10(static_cast<double>(*contexts_.rbegin())) + 0.08, 74, is_of_first_ ? 640.0 : 705.0};
    const LogAxis y{std::log10(least) - 0.15, std::log10(most) + 0.15, 300, 24};
    html.Open("svg", {{"class", "sweep-roofline token-curves"},
                      {"viewbox", "0 0 720 340"},
                      {"role", "img"},
                      {"aria-label", fmt::format("{} over context, {}", title_, CountText(lines_.size(), "line"))}});
    WriteAxes(x, y, html);
    for (const auto& [batch, points] : lines_) WriteLine(points, x, y, html);
    WriteNames(x, y, html);
    html.Close();
  }

 private:
  struct Point {
    const TokenRow* row;
    double value;
  };

  void WriteAxes(const LogAxis& x, const LogAxis& y, HtmlWriter& html) const {
    double last = -INFINITY;
    for (const std::int64_t context : contexts_) {
      const double at = x.at(static_cast<double>(context));
      AddGridLine(at, at, y.end, y.begin, html);
      if (at - last < 44) continue;
      last = at;
      html.Element("text", {{"x", InTenths(at)}, {"y", "316"}, {"text-anchor", "middle"}}, std::to_string(context));
    }
    const bool is_narrow = y.high - y.low < 1.6;
    for (int power = static_cast<int>(std::floor(y.low)); power <= y.high; ++power)
      for (const int step : {1, 2, 5}) {
        const double value = step * std::pow(10, power);
        if (!y.has(value) || (step > 1 && !is_narrow)) continue;
        AddGridLine(x.begin, x.end, y.at(value), y.at(value), html);
        html.Element("text", {{"x", "68"}, {"y", InTenths(y.at(value) + 4)}, {"text-anchor", "end"}}, TextOf(value));
      }
    html.Element("text", {{"x", InTenths(x.end)}, {"y", "334"}, {"text-anchor", "end"}}, "context");
    html.Element("text", {{"x", "4"}, {"y", "12"}}, title_);
  }

  void WriteLine(const std::vector<Point>& points, const LogAxis& x, const LogAxis& y, HtmlWriter& html) const {
    std::string places;
    for (const Point& point : points)
      places += fmt::format("{}{},{}", places.empty() ? "" : " ",
                            InTenths(x.at(static_cast<double>(point.row->context))), InTenths(y.at(point.value)));
    html.Element("polyline", {{"class", "curve"}, {"points", places}}, "");
    for (const Point& point : points) {
      const TokenRow& row = *point.row;
      const std::string& by = is_of_first_ ? row.first_by : row.token_by;
      html.Open("circle", {{"class", ClassOf(by)},
                           {"cx", InTenths(x.at(static_cast<double>(row.context)))},
                           {"cy", InTenths(y.at(point.value))},
                           {"r", "4"}});
      html.Element("title", fmt::format("batch {}, context {}\n{} {}\ndecided by {}", row.batch, row.context, title_,
                                        TextOf(point.value), by))
          .Close();
    }
  }

  // At the ends where lines are apart: the rates' left ones, the times' right ones; pushed apart where they are not.
  void WriteNames(const LogAxis& x, const LogAxis& y, HtmlWriter& html) const {
    constexpr double kApart = 13;
    struct Name {
      double y, x;
      std::int64_t batch;
    };
    std::vector<Name> names;
    for (const auto& [batch, points] : lines_) {
      const Point& end = is_of_first_ ? points.back() : points.front();
      names.push_back({y.at(end.value) + (is_of_first_ ? 4 : -7),
                       x.at(static_cast<double>(end.row->context)) + (is_of_first_ ? 8 : -4), batch});
    }
    // From above, of those at one context.
    std::ranges::sort(names, {}, [](const Name& name) { return std::pair(name.x, name.y); });
    for (std::size_t i = 1; i < names.size(); ++i)
      if (names[i].x == names[i - 1].x) names[i].y = std::max(names[i].y, names[i - 1].y + kApart);
    for (std::size_t i = names.size(); i-- > 0;) {
      const bool is_last = i + 1 == names.size() || names[i].x != names[i + 1].x;
      names[i].y = std::min(names[i].y, is_last ? y.begin + 4 : names[i + 1].y - kApart);
    }
    for (const Name& name : names)
      html.Element("text", {{"class", "halo"}, {"x", InTenths(name.x)}, {"y", InTenths(name.y)}},
                   fmt::format("batch {}", name.batch));
  }

  // As the table has it.
  std::string TextOf(double value) const {
    return is_of_first_ ? FormatLatency(Latency(value)) : fmt::format("{:.{}f}", value, value < 100 ? 1 : 0);
  }

  static std::string_view ClassOf(const std::string& decided_by) {
    if (decided_by == "weights") return "dot memory";
    if (decided_by == "caches") return "dot caches";
    return decided_by.starts_with("arithmetic") ? "dot arithmetic" : "dot";
  }

  bool is_of_first_;
  std::string title_;
  std::set<std::int64_t> contexts_;
  std::map<std::int64_t, std::vector<Point>> lines_;  // by batch
};

// The curves of each device and type of weights.
void AddTokenCurves(const SweepReport& report, HtmlWriter& html) {
  const std::vector<TokenRow> rows = TokenRows(report);
  bool is_open = false;
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto is_other = [&](const TokenRow& row) {
      return row.place != begin->place || row.weights != begin->weights;
    };
    const auto end = std::find_if(begin, rows.end(), is_other);
    const std::span<const TokenRow> part(begin, end);
    const std::string title = fmt::format("{}, weights {}", begin->place, begin->weights);
    begin = end;
    const TokenCurves rates(part, false), first(part, true);
    if (rates.IsEmpty() && first.IsEmpty()) continue;
    if (!std::exchange(is_open, true)) {
      OpenSection("curves", "Over the context",
                  "A line for each batch, of the table's numbers; it ends where weights and caches no longer fit. The "
                  "colour of a dot says what decides there.",
                  html);
      html.Open("ul", {{"class", "legend"}});
      for (const auto& [key, name] :
           {std::pair("memory", "weights"), std::pair("caches", "caches"), std::pair("arithmetic", "arithmetic")})
        html.Open("li").Element("span", {{"class", fmt::format("dot-key {}", key)}}, "").Text(name).Close();
      html.Close();
    }
    html.Element("h3", title);
    html.Open("div", {{"class", "curves"}});
    for (const TokenCurves* const curves : {&rates, &first})
      if (!curves->IsEmpty()) curves->Write(html);
    html.Close();
  }
  if (is_open) html.Close();
}

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
    if (section.id == "tokens") AddTokenCurves(report, html);
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
  if (shown.find("<section id=\"curves\"") != std::string::npos)
    roofline.Element("a", {{"href", "#curves"}}, "Over the context").Text(" ");
  const std::string links = roofline.Take() + LinksHtml(sections);
  const std::string data_as_of = report.data_as_of.empty() ? "" : "Data of " + report.data_as_of;
  const PageFrame frame{.page = ComparisonTemplate(),
                        .title = report.name,
                        .style = std::string(ReportStyle()) + std::string(ComparisonStyle()),
                        .script = ComparisonScript(),
                        .json = DumpJson(OrderedJson{{"schema", "infimum.sweep-page/1"}, {"name", report.name}}, -1),
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
