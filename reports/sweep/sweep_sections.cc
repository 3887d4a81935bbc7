#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/sweep/sweep_report.h"
#include "reports/text/fact_text.h"

namespace infimum {
namespace {

// A map of more does not fit a page.
constexpr std::size_t kMostColumns = 24, kMostMapRows = 60;
// Cells that a page shows until all are asked for.
constexpr std::size_t kShownCells = 100;
constexpr const char* kCellsElsewhere = ".json, .csv and .html have all";
// Of what decides a floor, so that both have a colour.
constexpr double kTint = 1.5;

constexpr std::array kStates = {CellState::kOk,     CellState::kOutOfMemory, CellState::kTimeout,
                                CellState::kFailed, CellState::kUnsupported, CellState::kSkipped};

Cell ShareCell(const std::optional<double>& share) { return share ? Cell(PercentText(*share), *share) : Cell(); }

Cell TimeOrNone(const std::optional<Latency>& time) {
  return time ? Cell(FormatLatency(*time), time->count()) : Cell();
}

std::string TimesAsLong(double ratio) { return fmt::format("{:.3g} times", ratio); }

template <class Quantity, class Text>
Cell QuantityCell(const std::optional<Quantity>& quantity, const Text& text) {
  return quantity ? Cell(text(*quantity), static_cast<double>(quantity->value)) : Cell();
}

Cell ParametersCell(const CellFacts& facts) {
  if (!facts.parameters) return Cell();
  const auto parameters = static_cast<double>(*facts.parameters);
  return {FormatNumber(parameters), parameters};
}

// "fc nodes=64, onnxruntime, 2 threads"
std::string LabelOf(const SweepCell& cell) {
  return cell.name + (cell.conditions.empty() || cell.name.empty() ? "" : ", ") + cell.conditions;
}

// A device on which nothing was measured has floors.
std::string StateText(const SweepCell& cell, bool is_measured) {
  if (!cell.state) return is_measured ? "not run" : "floor";
  return std::string(Name(*cell.state)) + (cell.reason.empty() ? "" : ": " + cell.reason);
}

// Sections of one kind stand below the first of them.
void Add(Section section, std::vector<Section>& sections) {
  const auto same = std::ranges::count_if(
      sections, [&](const Section& other) { return other.id == section.id || other.id.starts_with(section.id + "-"); });
  if (same > 0) section.id += "-" + std::to_string(same + 1);
  sections.push_back(std::move(section));
}

Section Overview(const SweepReport& report) {
  Section section{.id = "overview", .title = "Devices", .note = report.description};
  section.columns = {NameColumn("device"), NumberColumn("cells"), NumberColumn("measured")};
  std::array<bool, kStates.size()> shown{};
  for (std::size_t i = 1; i < kStates.size(); ++i)
    shown[i] = std::ranges::any_of(report.cells, [&](const SweepCell& cell) { return cell.state == kStates[i]; });
  for (std::size_t i = 1; i < kStates.size(); ++i)
    if (shown[i]) section.columns.push_back(NumberColumn(std::string(Name(kStates[i]))));
  section.columns.push_back(NumberColumn("of the floor, median"));
  section.columns.push_back(NumberColumn("decided by memory"));
  for (const DeviceSweep& device : report.devices) {
    const std::span<const SweepCell> cells = report.CellsOf(device);
    TableRow row{device.device, CountCell(device.count), CountCell(device.measured)};
    for (std::size_t i = 1; i < kStates.size(); ++i)
      if (shown[i])
        row.push_back(CountCell(static_cast<std::size_t>(std::ranges::count(cells, kStates[i], &SweepCell::state))));
    row.push_back(ShareCell(device.utilization));
    std::size_t decided = 0, by_memory = 0;
    for (const SweepCell& cell : cells) {
      if (!cell.facts.floor || cell.facts.decided_by.empty()) continue;
      ++decided;
      if (!cell.facts.decided_by.starts_with("arithmetic")) ++by_memory;
    }
    const double share = static_cast<double>(by_memory) / static_cast<double>(decided);
    row.push_back(ShareCell(decided > 0 ? std::optional(share) : std::nullopt));
    section.rows.push_back(std::move(row));
  }
  return section;
}

Section Shares(const SweepReport& report) {
  const Sensitivity& found = *report.sensitivity;
  const std::string_view what = report.quantity == SweepQuantity::kTime ? "time" : "floor";
  Section section{.id = "sensitivity", .title = fmt::format("What decides the {}", what)};
  section.columns = {NameColumn("axis"),     NumberColumn("explains"), "as",
                     NumberColumn("values"), TableColumn("from"),      TableColumn("to")};
  section.note = fmt::format(
      "Of the variance of log {} of {} what a least-squares fit explains less without the axis; all axes explain {}.",
      what, CountText(found.cells, "cell"), PercentText(found.r_squared));
  if (!found.left_out.empty())
    section.note += " Not in the fit, since they have too many values: " + Join(found.left_out, ", ") + ".";
  for (const Sensitivity::Axis& share : found.axes) {
    const auto axis = std::ranges::find(report.axes, share.field, &SweepAxis::field);
    section.rows.push_back({ShortField(share.field), ShareCell(share.share), share.is_numeric ? "number" : "words",
                            CountCell(axis->values.size()), axis->values.front(), axis->values.back()});
  }
  return section;
}

// `fill` makes a cell of a place that has something.
template <class Fill>
Section MapSection(const SweepMap& map, std::string id, std::string title, std::string note, const Fill& fill) {
  Section section{.id = std::move(id), .title = std::move(title), .note = std::move(note)};
  section.columns = {NameColumn(fmt::format("{} \\ {}", ShortField(map.y.field), ShortField(map.x.field)))};
  section.first_side = 1;
  const std::size_t columns = std::min(map.x.values.size(), kMostColumns);
  const std::size_t rows = std::min(map.y.values.size(), kMostMapRows);
  if (columns < map.x.values.size() || rows < map.y.values.size())
    section.note += fmt::format(" The first {} of {} columns and {} of {} rows; .json has more.", columns,
                                map.x.values.size(), rows, map.y.values.size());
  for (std::size_t column = 0; column < columns; ++column)
    section.columns.push_back(NumberColumn(map.x.values[column]));
  for (std::size_t row = 0; row < rows; ++row) {
    TableRow& cells = section.rows.emplace_back(TableRow{map.y.values[row]});
    for (std::size_t column = 0; column < columns; ++column) {
      const MapPlace& place = map.at(row, column);
      Cell cell;
      if (place.value) {
        cell = fill(place);
        cell.number = *place.value;
        cell.hint = fmt::format("{} {}, {} {}: {}", ShortField(map.y.field), map.y.values[row], ShortField(map.x.field),
                                map.x.values[column], CountText(place.cells, "cell"));
      } else {
        cell.tone = CellTone::kUnknown;
        cell.text = "–";
      }
      cells.push_back(std::move(cell));
    }
  }
  return section;
}

Section Utilization(const DeviceSweep& device) {
  return MapSection(*device.utilization_map, "utilization", "Share of the floor reached on " + device.device,
                    "The floor over the measured time, the median of what falls into a place. The stronger the colour, "
                    "the more times the floor it takes.",
                    [](const MapPlace& place) {
                      Cell cell(PercentText(*place.value));
                      cell.tone = CellTone::kSlower;
                      cell.ratio = *place.value > 0 ? 1 / *place.value : 1;
                      return cell;
                    });
}

// "memory, weights": what decides a floor, as maps name it.
std::string WhatDecides(const std::string& word) {
  constexpr std::string_view kBandwidth = "bandwidth ";
  return word.starts_with(kBandwidth) ? word.substr(kBandwidth.size()) : word;
}

Section Floors(const DeviceSweep& device) {
  return MapSection(*device.floor_map, "floors", "Floors on " + device.device + ", and what decides them",
                    "The least time of a program that does the textbook's sums, the median of what falls into a place. "
                    "Blue: memory decides; orange: arithmetic.",
                    [](const MapPlace& place) {
                      Cell cell(FormatLatency(Latency(*place.value)));
                      if (place.word.empty()) return cell;
                      const bool is_arithmetic = place.word.starts_with("arithmetic");
                      cell.aside = "(" + WhatDecides(place.word) + ")";
                      cell.tone = is_arithmetic ? CellTone::kSlower : CellTone::kFaster;
                      cell.ratio = is_arithmetic ? kTint : 1 / kTint;
                      return cell;
                    });
}

// Along one axis of a map of floors, at each value of the other: a row for each place where something else begins to
// decide, or one where nothing does. Says whether anything does.
bool AddCrossings(const SweepMap& map, bool along_x, Section& section) {
  const SweepAxis &along = along_x ? map.x : map.y, &at = along_x ? map.y : map.x;
  bool has_crossing = false;
  for (std::size_t line = 0; line < at.values.size(); ++line) {
    const std::string where = fmt::format("{} {}", ShortField(at.field), at.values[line]);
    const MapPlace* before = nullptr;
    std::size_t last = 0;
    bool is_crossed = false;
    const auto add = [&](const std::string& then, const std::string& from) {
      section.rows.push_back(
          {ShortField(along.field), where, WhatDecides(before->word), along.values[last], then, from});
    };
    for (std::size_t step = 0; step < along.values.size(); ++step) {
      const MapPlace& place = along_x ? map.at(line, step) : map.at(step, line);
      if (!place.value || place.word.empty()) continue;
      if (before != nullptr && before->word != place.word) {
        add(WhatDecides(place.word), along.values[step]);
        is_crossed = has_crossing = true;
      }
      before = &place;
      last = step;
    }
    if (before != nullptr && !is_crossed) add("", "");
  }
  return has_crossing;
}

// Empty where one thing decides everywhere.
Section Crossings(const DeviceSweep& device, std::size_t most) {
  const SweepMap& map = *device.floor_map;
  Section section{.id = "crossings", .rest = ".html has all"};
  section.title = "Where something else begins to decide on " + device.device;
  section.note =
      "Between these two values of the axis. Weights and inputs are read from memory; the inputs of a decoding step "
      "are its KV cache.";
  section.columns = {"along", NameColumn("at"), "decides", NumberColumn("up to"), "then decides", NumberColumn("from")};
  Section all;
  bool has_crossing = false;
  for (const bool along_x : {true, false})
    if ((along_x ? map.x : map.y).is_numeric) has_crossing = AddCrossings(map, along_x, all) || has_crossing;
  if (has_crossing) AddRows(all.rows, most, section, [](const TableRow& row) { return row; });
  return section;
}

Section SpeedUpList(const SweepReport& report) {
  Section section{.id = "speed-ups", .title = "What other conditions win"};
  section.columns = {"condition", NameColumn("from"),    NameColumn("to"),
                     "of",        NumberColumn("pairs"), "takes, on average"};
  for (const Verdict verdict : {Verdict::kFaster, Verdict::kSlower, Verdict::kSame, Verdict::kUndecided})
    section.columns.push_back(NumberColumn(std::string(Name(verdict))));
  section.note = fmt::format(
      "Pairs of cells that differ in nothing else; the average is geometric, and {:g} % matter. Times are held against "
      "each other by their intervals.",
      100 * report.threshold);
  for (const SpeedUps& ups : report.speed_ups) {
    TableRow row{ShortField(ups.field),
                 ups.from,
                 ups.to,
                 ups.quantity == SweepQuantity::kTime ? "time" : "floor",
                 CountCell(ups.pairs.size()),
                 Cell(TimesAsLong(ups.mean), ups.mean)};
    for (const Verdict verdict : {Verdict::kFaster, Verdict::kSlower, Verdict::kSame, Verdict::kUndecided})
      row.push_back(CountCell(static_cast<std::size_t>(
          std::ranges::count(ups.pairs, verdict, [](const SweepPair& pair) { return pair.difference.verdict; }))));
    section.rows.push_back(std::move(row));
  }
  return section;
}

Section SpeedUpPlaces(const SpeedUps& ups, const SweepMap& map) {
  return MapSection(map, "speed-ups", fmt::format("{} {} against {}", ShortField(ups.field), ups.to, ups.from),
                    fmt::format("How many times the {} of {} it takes; = is within noise, ? undecided.",
                                ups.quantity == SweepQuantity::kTime ? "time" : "floor", ups.from),
                    [](const MapPlace& place) {
                      Cell cell(fmt::format("{:.3g}x", *place.value));
                      if (place.verdict) cell.tone = ToneOf(*place.verdict);
                      cell.ratio = *place.value;
                      if (cell.tone == CellTone::kSame) cell.aside = "=";
                      if (cell.tone == CellTone::kUndecided) cell.aside = "?";
                      return cell;
                    });
}

Section Frontier(const SweepReport& report, const DeviceSweep& device) {
  Section section{.id = "memory", .title = "What fits on " + device.device};
  section.columns = {ShortField(device.memory->field), NameColumn("the largest that runs"), NumberColumn("of memory"),
                     NameColumn("the smallest that does not"), NumberColumn("of memory")};
  const std::span<const SweepCell> cells = report.CellsOf(device);
  for (const MemoryFrontier::Row& found : device.memory->rows) {
    TableRow& row = section.rows.emplace_back(TableRow{found.value});
    for (const std::optional<std::size_t>& place : {found.fits, found.does_not}) {
      row.emplace_back(place ? LabelOf(cells[*place]) : "");
      const std::optional<Bytes> memory = place ? cells[*place].facts.memory : std::nullopt;
      row.push_back(QuantityCell(memory, BytesText));
    }
  }
  return section;
}

Section Pareto(const SweepReport& report, const DeviceSweep& device, bool by_flops, std::size_t most) {
  Section section{.id = "pareto", .rest = kCellsElsewhere};
  section.title = fmt::format("The most {} for the time on {}", by_flops ? "FLOPs" : "parameters", device.device);
  section.note = "Cells that no other one beats in both.";
  section.columns = {NameColumn("cell"), NumberColumn(by_flops ? "FLOPs" : "parameters"), NumberColumn("time")};
  const std::span<const SweepCell> cells = report.CellsOf(device);
  AddRows(by_flops ? device.by_flops : device.by_parameters, most, section, [&](std::size_t index) {
    const CellFacts& facts = cells[index].facts;
    return TableRow{LabelOf(cells[index]), by_flops ? QuantityCell(facts.flops, FlopsText) : ParametersCell(facts),
                    TimeOrNone(cells[index].time)};
  });
  return section;
}

Section Ranks(const SweepReport& report) {
  Section section{.id = "ranks", .title = "What orders the times", .columns = {NameColumn("device")}};
  section.note = "Spearman's rank correlation with the time: 1 where the order is the same.";
  constexpr std::array kSizes = {SweepSize::kFlops, SweepSize::kBytes, SweepSize::kParameters, SweepSize::kFloor};
  for (const SweepSize size : kSizes) section.columns.push_back(NumberColumn(std::string(Name(size))));
  section.columns.push_back(NumberColumn("pairs ordered otherwise by the floor"));
  for (const DeviceSweep& device : report.devices) {
    if (device.ranks.empty()) continue;
    TableRow& row = section.rows.emplace_back(TableRow{device.device});
    for (const SweepSize size : kSizes) {
      const auto rank = std::ranges::find(device.ranks, size, &RankCorrelation::size);
      row.push_back(rank == device.ranks.end() ? Cell() : Cell(fmt::format("{:.3f}", rank->rho), rank->rho));
    }
    row.push_back(CountCell(device.inversions.pairs));
  }
  return section;
}

Section InversionList(const SweepReport& report, const DeviceSweep& device, std::size_t most) {
  Section section{.id = "inversions", .rest = ".json and .html have more"};
  section.title = "Slower than a cell of a higher floor on " + device.device;
  section.note = fmt::format("{} in all, beyond their intervals; of each slow cell the worst.",
                             CountText(device.inversions.pairs, "pair"));
  section.columns = {NameColumn("slow"),          NumberColumn("time"), NumberColumn("floor"), "decided by",
                     NameColumn("yet faster is"), NumberColumn("time"), NumberColumn("floor"), "decided by",
                     NumberColumn("at least")};
  const std::span<const SweepCell> cells = report.CellsOf(device);
  AddRows(device.inversions.worst, most, section, [&](const RankInversion& inversion) {
    TableRow row;
    for (const std::size_t index : {inversion.slow, inversion.fast}) {
      const SweepCell& cell = cells[index];
      row.insert(row.end(),
                 {LabelOf(cell), TimeOrNone(cell.time), TimeOrNone(cell.facts.floor), cell.facts.decided_by});
    }
    row.emplace_back(TimesAsLong(inversion.times), inversion.times);
    return row;
  });
  return section;
}

}  // namespace

Section CellList(const SweepReport& report, std::size_t most, bool with_hashes) {
  Section section{.id = "cells", .title = "Cells", .rest = kCellsElsewhere, .shown = kShownCells};
  if (with_hashes) section.columns.emplace_back("cell");
  for (const char* title : {"model", "conditions"}) section.columns.push_back(NameColumn(title));
  const bool has_devices = report.devices.size() > 1;
  if (has_devices) section.columns.push_back(NameColumn("device"));
  for (const char* title : {"parameters", "FLOPs", "memory", "time"}) section.columns.push_back(NumberColumn(title));
  section.columns.emplace_back("between");
  section.columns.push_back(NumberColumn("floor"));
  section.columns.push_back(NumberColumn("of the floor"));
  section.columns.emplace_back("decided by");
  section.columns.push_back(NameColumn("state"));
  std::set<std::string> measured;
  for (const DeviceSweep& device : report.devices)
    if (device.measured > 0) measured.insert(device.device);
  AddRows(report.cells, most, section, [&](const SweepCell& cell) {
    TableRow row;
    if (with_hashes) row.emplace_back(cell.hash.substr(0, 12));
    row.insert(row.end(), {cell.name, cell.conditions});
    if (has_devices) row.emplace_back(cell.device);
    const bool is_spread = cell.time && cell.between.low < cell.between.high;
    row.insert(row.end(), {ParametersCell(cell.facts), QuantityCell(cell.facts.flops, FlopsText),
                           QuantityCell(cell.facts.memory, BytesText), TimeOrNone(cell.time),
                           is_spread ? IntervalText(cell.between) : "", TimeOrNone(cell.facts.floor),
                           ShareCell(cell.utilization()), cell.facts.decided_by,
                           StateText(cell, with_hashes || measured.contains(cell.device))});
    return row;
  });
  return section;
}

std::vector<Section> SweepSections(const SweepReport& report, std::size_t most) {
  std::vector<Section> sections{Overview(report)};
  if (IsOfTokens(report)) {
    sections.push_back(TokensSection(report));
    if (Section deciders = TokenDeciders(report); !deciders.rows.empty()) sections.push_back(std::move(deciders));
  }
  if (report.sensitivity && !report.sensitivity->axes.empty()) sections.push_back(Shares(report));
  for (const DeviceSweep& device : report.devices)
    if (device.utilization_map) Add(Utilization(device), sections);
  for (const DeviceSweep& device : report.devices)
    if (device.floor_map) Add(Floors(device), sections);
  for (const DeviceSweep& device : report.devices)
    if (device.floor_map)
      if (Section crossings = Crossings(device, most); !crossings.rows.empty()) Add(std::move(crossings), sections);
  if (!report.speed_ups.empty()) sections.push_back(SpeedUpList(report));
  for (std::size_t i = 0; i < report.speed_ups.size(); ++i)
    if (report.speed_up_maps[i]) Add(SpeedUpPlaces(report.speed_ups[i], *report.speed_up_maps[i]), sections);
  for (const DeviceSweep& device : report.devices)
    if (device.memory) Add(Frontier(report, device), sections);
  for (const DeviceSweep& device : report.devices)
    for (const bool by_flops : {false, true})
      if (!(by_flops ? device.by_flops : device.by_parameters).empty())
        Add(Pareto(report, device, by_flops, most), sections);
  if (Section ranks = Ranks(report); !ranks.rows.empty()) sections.push_back(std::move(ranks));
  for (const DeviceSweep& device : report.devices)
    if (!device.inversions.worst.empty()) Add(InversionList(report, device, most), sections);
  sections.push_back(CellList(report, most, false));
  return sections;
}

}  // namespace infimum
