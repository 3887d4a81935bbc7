#include "reports/sweep/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "infimum/base/text.h"
#include "reports/text/fact_text.h"

namespace infimum {
namespace {

constexpr std::string_view kDevice = "device";
constexpr std::size_t kMostSides = 6;  // of a condition whose values are held against the first
constexpr std::size_t kInversions = 20;
// Values of an axis that a map has.
constexpr std::size_t kMostMapped = 500;

// What is said of how a model is run, not of the model or of how it is measured.
bool IsCondition(const std::string& field) {
  return field == kDevice || field == "contract" || field == "threads" || field == "cores" ||
         field.starts_with("framework.");
}

// By its name or by what people call it.
const SweepAxis* FindAxis(const std::vector<SweepAxis>& axes, const std::string& name) {
  for (const SweepAxis& axis : axes)
    if (axis.field == name || ShortField(axis.field) == name) return &axis;
  return nullptr;
}

Status CheckAxis(const SweepReport& report, const char* option, const std::string& name) {
  if (name.empty() || FindAxis(report.axes, name) != nullptr) return {};
  std::vector<std::string> known;
  for (const SweepAxis& axis : report.axes) known.push_back(ShortField(axis.field));
  const std::vector<std::string_view> names(known.begin(), known.end());
  return Error{fmt::format("{} {}: the cells do not differ in it{}; they differ in: {}", option, Quoted(name),
                           DidYouMean(name, names), known.empty() ? "nothing" : Join(known, ", "))};
}

// What was asked for, else numbers that explain the most, then words.
void ChooseAxes(SweepReport& report) {
  std::vector<std::string> by_share;
  for (const bool numeric : {true, false}) {
    if (report.sensitivity)
      for (const Sensitivity::Axis& axis : report.sensitivity->axes)
        if (axis.is_numeric == numeric) by_share.push_back(axis.field);
    for (const SweepAxis& axis : report.axes)
      if (axis.is_numeric == numeric) by_share.push_back(axis.field);
  }
  const auto choose = [&](std::string& chosen, const std::string& other) {
    if (const SweepAxis* asked = FindAxis(report.axes, chosen)) {
      chosen = asked->field;
      return;
    }
    for (const std::string& field : by_share)
      if (field != kDevice && field != other && chosen.empty()) chosen = field;
  };
  const SweepAxis* const given = FindAxis(report.axes, report.y);
  choose(report.x, given == nullptr ? "" : given->field);
  choose(report.y, report.x);
}

void AddDevice(SweepReport& report, std::size_t begin, std::size_t end, const std::optional<SweepAxis>& x,
               const std::optional<SweepAxis>& y) {
  DeviceSweep& sweep = report.devices.emplace_back();
  sweep.device = report.cells[begin].device;
  sweep.begin = begin;
  sweep.count = end - begin;
  const std::span<const SweepCell> cells = report.CellsOf(sweep);
  std::vector<double> shares;
  bool has_floors = false;
  for (const SweepCell& cell : cells) {
    if (QuantityOf(cell, SweepQuantity::kTime)) ++sweep.measured;
    if (const std::optional<double> share = cell.utilization()) shares.push_back(*share);
    has_floors = has_floors || cell.facts.floor;
  }
  std::ranges::sort(shares);
  if (!shares.empty()) sweep.utilization = (shares[(shares.size() - 1) / 2] + shares[shares.size() / 2]) / 2;
  // Prefills and steps of decoding have nothing in common that a median or a ratio would tell.
  if (IsOfTokens(report)) return;
  if (x && y) {
    if (!shares.empty()) sweep.utilization_map = UtilizationMap(cells, *x, *y);
    if (has_floors) sweep.floor_map = FloorMap(cells, *x, *y);
  }
  if (x) sweep.memory = MemoryFrontierOf(cells, *x);
  sweep.by_parameters = ParetoOf(cells, SweepSize::kParameters);
  sweep.by_flops = ParetoOf(cells, SweepSize::kFlops);
  for (const SweepSize size : {SweepSize::kFlops, SweepSize::kBytes, SweepSize::kParameters, SweepSize::kFloor})
    if (const auto rank = RankCorrelationOf(cells, size)) sweep.ranks.push_back(*rank);
  sweep.inversions = InversionsOf(cells, kInversions);
}

void AddSpeedUps(SweepReport& report, const std::optional<SweepAxis>& x, const std::optional<SweepAxis>& y) {
  for (const SweepAxis& axis : report.axes) {
    if (!IsCondition(axis.field) || axis.values.size() > kMostSides) continue;
    std::vector<std::string> values = axis.values;
    if (axis.field == kDevice) {  // in the report's order
      values.clear();
      for (const DeviceSweep& device : report.devices) values.push_back(device.device);
    }
    for (std::size_t side = 1; side < values.size(); ++side) {
      SpeedUps found;
      for (const SweepQuantity quantity : {SweepQuantity::kTime, SweepQuantity::kFloor})
        if (found.pairs.empty())
          found = SpeedUpsOf(report.cells, axis.field, values.front(), values[side], quantity, report.threshold);
      if (found.pairs.empty()) continue;
      report.speed_up_maps.emplace_back();
      if (x && y && axis.field != x->field && axis.field != y->field)
        report.speed_up_maps.back() = SpeedUpMap(report.cells, found, *x, *y);
      report.speed_ups.push_back(std::move(found));
    }
  }
}

}  // namespace

Status Analyze(SweepReport& report) {
  report.axes = AxesOf(report.cells);
  INFIMUM_RETURN_IF_ERROR(CheckAxis(report, "--x", report.x));
  INFIMUM_RETURN_IF_ERROR(CheckAxis(report, "--y", report.y));
  const bool is_measured = std::ranges::any_of(
      report.cells, [](const SweepCell& cell) { return QuantityOf(cell, SweepQuantity::kTime).has_value(); });
  report.quantity = is_measured ? SweepQuantity::kTime : SweepQuantity::kFloor;
  const bool is_of_tokens = IsOfTokens(report);
  if (!is_of_tokens) report.sensitivity = SensitivityOf(report.cells, report.quantity);
  ChooseAxes(report);
  std::optional<SweepAxis> x, y;
  if (const SweepAxis* axis = FindAxis(report.axes, report.x)) x = *axis;
  if (const SweepAxis* axis = FindAxis(report.axes, report.y)) y = *axis;
  if (x && !y) {  // one axis alone: a row for each device
    y = SweepAxis{std::string(kDevice), {}, false};
    for (const SweepCell& cell : report.cells)
      if (y->values.empty() || y->values.back() != cell.device) y->values.push_back(cell.device);
  }
  for (std::optional<SweepAxis>* axis : {&x, &y})
    if (*axis && (*axis)->values.size() > kMostMapped) (*axis)->values.resize(kMostMapped);
  for (std::size_t begin = 0, end = 0; begin < report.cells.size(); begin = end) {
    while (end < report.cells.size() && report.cells[end].device == report.cells[begin].device) ++end;
    AddDevice(report, begin, end, x, y);
  }
  if (!is_of_tokens) AddSpeedUps(report, x, y);
  return {};
}

std::string ShortField(const std::string& field) {
  if (field == "framework.name") return "framework";
  for (const std::string_view prefix : {"model.choices.", "dims.", "framework.options.", "framework.", "model."})
    if (field.starts_with(prefix)) return field.substr(prefix.size());
  return field;
}

// "llama: at most 1264 tokens/s on NVIDIA L40S, 4664 on NVIDIA H100 80GB HBM3, at batch 1 and context 1024": the first
// conditions of the table, where devices have them.
std::string TokensHeadline(const SweepReport& report) {
  const std::vector<TokenRow> rows = TokenRows(report);
  const auto first = std::ranges::find_if(rows, [](const TokenRow& row) { return row.rate().has_value(); });
  if (first == rows.end()) return "";
  std::string text;
  for (const TokenRow& row : rows) {
    if (row.weights != first->weights || row.batch != first->batch || row.context != first->context || !row.rate())
      continue;
    text += fmt::format("{}{:.{}f}{} on {}", text.empty() ? "" : ", ", *row.rate(), *row.rate() < 100 ? 1 : 0,
                        text.empty() ? " tokens/s" : "", row.place);
  }
  return fmt::format("{}: at most {}, at batch {} and context {}.", report.name, text, first->batch, first->context);
}

std::string SweepHeadline(const SweepReport& report) {
  if (IsOfTokens(report))
    if (std::string text = TokensHeadline(report); !text.empty()) return text;
  std::size_t measured = 0, pairs = 0;
  std::vector<std::string> names;
  for (const DeviceSweep& device : report.devices) {
    measured += device.measured;
    pairs += device.inversions.pairs;
    names.push_back(device.device);
  }
  const std::string where = names.size() == 1 ? names.front() : CountText(names.size(), "device");
  const bool is_time = report.quantity == SweepQuantity::kTime;
  std::string text = fmt::format("{}: {} on {}", report.name, CountText(report.cells.size(), "cell"), where);
  const bool has_floors =
      std::ranges::any_of(report.cells, [](const SweepCell& cell) { return cell.facts.floor.has_value(); });
  text += is_time      ? fmt::format(", {} of them measured", measured)
          : has_floors ? std::string(", by their floors")
                       : std::string(", none measured yet");
  std::vector<std::string> shares;
  if (report.sensitivity)
    for (const Sensitivity::Axis& axis : report.sensitivity->axes)
      if (shares.size() < 2 && axis.share >= 0.01)
        shares.push_back(
            fmt::format("{}{} {}", ShortField(axis.field), shares.empty() ? " explains" : "", PercentText(axis.share)));
  if (!shares.empty())
    text += fmt::format("; of the variance of log {} {}", is_time ? "time" : "floor", Join(shares, ", "));
  for (const DeviceSweep& device : report.devices)
    if (device.utilization)
      text += fmt::format("; the median cell on {} reaches {} of its floor", device.device,
                          PercentText(*device.utilization));
  if (pairs > 0) text += fmt::format("; {} that the floor orders otherwise than the time", CountText(pairs, "pair"));
  return text + ".";
}

}  // namespace infimum
