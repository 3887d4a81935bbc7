#include "reports/bound/bound_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/check.h"
#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "infimum/base/utf8.h"
#include "reports/text/csv.h"
#include "reports/text/fact_text.h"
#include "reports/text/layer_words.h"

namespace infimum {
namespace {

TableRow FloorRow(const Floor& floor) {
  std::vector<std::string> notes;
  if (!floor.decided_by.empty()) notes.push_back("decided by " + floor.decided_by);
  notes.insert(notes.end(), floor.assumptions.begin(), floor.assumptions.end());
  return BracketRow(FloorName(floor.program_class), floor.latency, std::nullopt, Join(notes, ", "));
}

// What an estimate is made of: "80 % interval of 7 devices left out; 100 % measured on other devices".
std::string EstimateText(const Estimate& estimate) {
  std::vector<std::string> parts;
  if (estimate.measured > 0) parts.push_back(PercentText(estimate.measured) + " measured here");
  if (estimate.transferred > 0) parts.push_back(PercentText(estimate.transferred) + " measured on other devices");
  if (estimate.neighbours > 0) parts.push_back(PercentText(estimate.neighbours) + " by similar layers");
  if (estimate.missing > 0) parts.push_back(PercentText(estimate.missing) + " of the roofline missing");
  return fmt::format("{}; {}",
                     estimate.interval ? fmt::format("{} interval of {} left out", PercentText(estimate.level),
                                                     CountText(estimate.devices, "device"))
                                       : "no interval: too few devices, or too much missing",
                     Join(parts, ", "));
}

Section NextSection(const std::vector<MeasureNext>& next) {
  Section section{.columns = {NameColumn("measure next"), NameColumn("on"), NumberColumn("interval")}};
  for (const MeasureNext& one : next)
    section.rows.push_back({one.workload.text, one.device, fmt::format("÷× {:.2f}", one.factor)});
  return section;
}

Section BracketSection(const Bracket& bracket) {
  Section section{.columns = {"quantity", NumberColumn("latency"), "interval", NameColumn("assumptions")},
                  .rows = BracketRows(bracket)};
  if (bracket.bounds.empty())
    section.rows.push_back(BracketRow("roofline", bracket.roofline, std::nullopt, "estimated, nothing is measured"));
  if (const std::optional<Estimate>& estimate = bracket.estimate)
    section.rows.push_back(
        BracketRow("estimated, sequential", estimate->latency, estimate->interval, EstimateText(*estimate)));
  for (const UpperLimit& limit : bracket.upper)
    section.rows.push_back(BracketRow(limit.name, limit.latency, limit.interval, LimitText(limit)));
  return section;
}

// What the numbers above do not say by themselves.
std::string NotesText(const ModelGraph& graph, const Bracket& bracket) {
  std::string out;
  if (const std::string unknown = UnknownLayersText(graph); !unknown.empty())
    out += fmt::format("unknown    {}: no floor and no bound counts them\n", unknown);
  out += QuantitiesText(graph);
  if (bracket.regret) {
    out += fmt::format("regret     {} over {} that a library chooses for{}\n", SignedLatencyText(bracket.regret->sum),
                       CountText(bracket.regret->layers, "layer"),
                       bracket.regret->is_validated ? "" : " (of one repetition: not told from noise)");
  }
  if (bracket.layouts && !bracket.layouts->reorders.empty()) {
    const LayoutPlan& plan = *bracket.layouts;
    const auto estimated = plan.reorders.size() -
                           static_cast<std::size_t>(std::ranges::count_if(plan.reorders, &PlannedReorder::is_measured));
    out += fmt::format("layouts    {} of layout {} {} of with-layouts{}\n", CountText(plan.reorders.size(), "change"),
                       plan.reorders.size() == 1 ? "takes" : "take", FormatLatency(plan.reordering),
                       estimated > 0 ? fmt::format(" ({} not measured, counted as copies)", estimated) : "");
  }
  if (bracket.pace.most() >= Pace::kWorthSaying)
    out += fmt::format(
        "pace       times follow the metronome's arithmetic by {:.2f} and its memory by {:.2f}: up to {} taken off\n",
        bracket.pace.arithmetic(), bracket.pace.memory(), PercentText(bracket.pace.most()));
  if (bracket.context) out += fmt::format("context    {}\n", ContextText(*bracket.context));
  if (bracket.hosts) out += fmt::format("hosts      {}\n", HostsText(*bracket.hosts));
  if (bracket.composition) out += fmt::format("R          {}\n", CompositionText(*bracket.composition));
  if (bracket.shown_loss) out += fmt::format("R loses    {}\n", ShownLossText(graph, *bracket.shown_loss));
  if (!bracket.observed.empty()) out += fmt::format("observed   {}\n", ObservedText(graph, bracket.observed));
  if (!bracket.not_tried.empty() && !bracket.bounds.empty())
    out += fmt::format("not tried  {}\n", NotTriedText(bracket.not_tried));
  if (std::ranges::any_of(bracket.what_ifs, [](const WhatIfOutcome& outcome) { return !outcome.floors.empty(); }))
    out += "floors     of other peaks, and of models without a row: what was measured is of the device as it is\n";
  for (const Inversion& inversion : bracket.inversions) {
    out += fmt::format("inversion  {} is {} above {}{}\n", Printable(inversion.bound), FormatLatency(inversion.excess),
                       Printable(inversion.name), inversion.is_beyond_noise ? "" : ", within noise");
  }
  return out;
}

// A line for each bound that an assumption changes.
Section WhatIfsSection(const std::vector<WhatIfOutcome>& what_ifs) {
  Section section{.columns = {NameColumn("what if"), NumberColumn("layers"), "bound", NumberColumn("latency"),
                              NumberColumn("change"), "interval", NumberColumn("measured"), NumberColumn("missing")}};
  for (const WhatIfOutcome& outcome : what_ifs) {
    std::string name = outcome.name, layers = std::to_string(outcome.layers);
    if (outcome.inferences != 1) name += fmt::format(" (against {} inferences)", FormatNumber(outcome.inferences));
    const std::string measured = outcome.coverage ? PercentText(outcome.coverage->measured) : "";
    const std::string missing = outcome.coverage ? PercentText(outcome.coverage->missing) : "";
    for (const WhatIfFloor& floor : outcome.floors) {
      section.rows.push_back(
          {name, layers, floor.name, FormatLatency(floor.latency), SignedLatencyText(-floor.gain), "", "", ""});
      name.clear();
      layers.clear();
    }
    if (outcome.bounds.empty() && outcome.floors.empty())
      section.rows.push_back({name, layers, "nothing is measured", "-", "-", "", measured, missing});
    for (const WhatIfBound& bound : outcome.bounds) {
      section.rows.push_back({name, layers, Name(bound.variant), FormatLatency(bound.latency),
                              bound.gain ? SignedLatencyText(-*bound.gain) : "-",
                              bound.interval ? IntervalText(*bound.interval) : "", measured, missing});
      name.clear();
      layers.clear();
    }
  }
  return section;
}

Section RegionsOfBracket(const ModelGraph& graph, const Bracket& bracket) {
  Section section{.columns = {NameColumn("region"), "rule", NumberColumn("latency"), NumberColumn("unfused"), "chosen",
                              NameColumn("candidate")}};
  for (const RegionLatency& region : bracket.regions)
    section.rows.push_back({Join(LayerNames(graph, region.layers), " "), region.rule, FormatLatency(region.latency),
                            region.has_missing ? "-" : FormatLatency(region.unfused), region.is_chosen ? "*" : "",
                            region.candidate.name()});
  return section;
}

Section ReordersSection(const ModelGraph& graph, const LayoutPlan& plan) {
  Section section{.columns = {NameColumn("value"), "from", "to", NumberColumn("latency"), "status",
                              NameColumn("change of layout")}};
  for (const PlannedReorder& planned : plan.reorders) {
    std::vector<std::string> workloads;
    for (const Workload& workload : planned.workloads) workloads.push_back(Format(workload));
    section.rows.push_back({graph.value(planned.value).name, planned.from, planned.to, FormatLatency(planned.latency),
                            planned.is_measured ? "measured" : "estimated", Join(workloads, " ; ")});
  }
  return section;
}

Section LayersOfBracket(const ModelGraph& graph, const Bracket& bracket) {
  Section section{.columns = {NameColumn("layer"), NameColumn("op"), "status", NumberColumn("latency"),
                              NumberColumn("roofline"), "path", NumberColumn("regret"), NameColumn("candidate")}};
  for (const LayerLatency& row : bracket.layers) {
    const Layer& layer = graph.layer(row.layer);
    section.rows.push_back({layer.name, layer.op, Name(row.status), row.latency ? FormatLatency(*row.latency) : "-",
                            FormatLatency(row.floor), row.on_critical_path ? "*" : "",
                            row.choice ? SignedLatencyText(row.choice->regret) : "",
                            row.candidate ? row.candidate->name() : ReasonOf(layer, row)});
  }
  return section;
}

Section CsvOfBracket(const Bracket& bracket) {
  Section section{.columns = {"quantity", "latency_us", "low_us", "high_us", "assumptions"}};
  const auto add = [&section](std::string name, Latency latency, const std::optional<Interval>& interval,
                              std::string assumptions) {
    section.rows.push_back(
        {std::move(name), CsvTime(latency), CsvLow(interval), CsvHigh(interval), std::move(assumptions)});
  };
  for (const Floor& floor : bracket.floors)
    if (floor.latency > Latency(0))
      add("floor-" + std::string(Name(floor.program_class)), floor.latency, std::nullopt, Join(floor.assumptions, " "));
  for (const Bound& bound : bracket.bounds)
    add(std::string(Name(bound.variant)), bound.latency, bound.interval, Join(bound.assumptions, " "));
  if (bracket.bounds.empty()) add("roofline", bracket.roofline, std::nullopt, "estimated");
  if (const std::optional<Estimate>& estimate = bracket.estimate)
    add("estimated-sequential", estimate->latency, estimate->interval, EstimateText(*estimate));
  for (const UpperLimit& limit : bracket.upper) add(limit.name, limit.latency, limit.interval, LimitText(limit));
  return section;
}

Section CsvOfLayers(const ModelGraph& graph, const Bracket& bracket) {
  Section section{.columns = {"name", "op", "status", "latency_us", "low_us", "high_us", "floor_us", "candidate",
                              "library_choice", "regret_us", "parallel_gain_if_free_us", "parallel_gain_at_floor_us",
                              "on_critical_path", "config"}};
  for (const LayerLatency& row : bracket.layers) {
    const Layer& layer = graph.layer(row.layer);
    section.rows.push_back(
        {layer.name, layer.op, Name(row.status), CsvTime(row.latency), CsvLow(row.interval), CsvHigh(row.interval),
         CsvTime(row.floor), CandidateOf(row), row.choice ? row.choice->candidate.name() : "",
         row.choice ? CsvTime(row.choice->regret) : "", CsvTime(row.parallel_gain_if_free),
         CsvTime(row.parallel_gain_at_floor), row.on_critical_path ? "true" : "false", ConfigOf(layer)});
  }
  return section;
}

}  // namespace

std::string FloorName(ProgramClass program_class) { return "floor, " + std::string(Name(program_class)); }

TableRow BracketRow(std::string name, Latency latency, const std::optional<Interval>& interval, std::string note) {
  return {std::move(name), FormatLatency(latency), interval ? IntervalText(*interval) : "", std::move(note)};
}

// On one thread nothing runs beside anything else.
static bool IsRepeated(const Bound& bound, const Bracket& bracket) {
  const bool is_parallel = bound.variant == BoundVariant::kParallel;
  if (bracket.selection.threads != 1 || !(is_parallel || bound.variant == BoundVariant::kFusedParallel)) return false;
  const Bound* one_by_one = bracket.Find(is_parallel ? BoundVariant::kSequential : BoundVariant::kFusedSequential);
  return one_by_one != nullptr && FormatLatency(one_by_one->latency) == FormatLatency(bound.latency);
}

std::vector<TableRow> BracketRows(const Bracket& bracket) {
  std::vector<TableRow> rows;
  for (const Floor& floor : bracket.floors)
    if (floor.latency > Latency(0)) rows.push_back(FloorRow(floor));
  // A sum without what was never measured says so beside its number.
  const double lacking = bracket.coverage.Lacking();
  const std::string part = lacking > 0.05 ? fmt::format("without {} that is missing; ", PercentText(lacking)) : "";
  for (const Bound& bound : bracket.bounds)
    if (!IsRepeated(bound, bracket))
      rows.push_back(BracketRow("bound, " + std::string(Name(bound.variant)), bound.latency, bound.interval,
                                part + Join(bound.assumptions, ", ")));
  return rows;
}

std::string SelectionText(const Selection& selection) {
  std::string contract = "the model's own types";
  if (selection.contract) contract = Name(*selection.contract);
  const bool is_gpu = selection.device.text.starts_with("gpu/");
  return fmt::format("{}{}, {}, {}, {}",
                     is_gpu ? "" : CountText(static_cast<std::size_t>(selection.threads), "thread") + ", ",
                     CacheText(selection.cache), kPointStatistic, contract,
                     selection.environment ? selection.environment->text : "fullest, then newest libraries");
}

Section RooflineOfLayers(const ModelGraph& graph, const Bracket& bracket, std::size_t most) {
  Section section{.id = "largest", .title = "Roofline by layer", .rest = "--layers has all"};
  section.columns = {NameColumn("layer"), NameColumn("operator"), NumberColumn("roofline"), NumberColumn("of it"),
                     NameColumn("decided by")};
  std::vector<const LayerLatency*> layers;
  for (const LayerLatency& layer : bracket.layers)
    if (layer.floor > Latency(0)) layers.push_back(&layer);
  std::ranges::stable_sort(layers, std::ranges::greater(), &LayerLatency::floor);
  AddRows(layers, most, section, [&](const LayerLatency* row) {
    const Layer& layer = graph.layer(row->layer);
    return TableRow{CodeCell(layer.name), layer.op, FormatLatency(row->floor),
                    PercentText(row->floor / bracket.roofline), row->floor_by};
  });
  return section;
}

// Without a time of any layer: what is least, and of which layers.
static std::string FloorsTable(const ModelGraph& graph, const Bracket& bracket, bool layers, std::size_t width) {
  constexpr std::size_t kShown = 10;
  std::string out = SectionTable(BracketSection(bracket), width);
  if (const Section roofline = RooflineOfLayers(graph, bracket, layers ? 0 : kShown); !roofline.rows.empty())
    out += '\n' + SectionTable(roofline, width);
  out += '\n' + NotesText(graph, bracket);
  out += fmt::format("contract   {}\n", Name(bracket.contract));
  out += fmt::format("device     {}\n", Printable(bracket.selection.device.text));
  if (bracket.estimate)
    if (const Section next = NextSection(bracket.estimate->next); !next.rows.empty())
      out += '\n' + SectionTable(next, width);
  if (const Section what_ifs = WhatIfsSection(bracket.what_ifs); !what_ifs.rows.empty())
    out += '\n' + SectionTable(what_ifs, width);
  return out;
}

std::string BoundTable(const ModelGraph& graph, const Bracket& bracket, bool layers, std::size_t width) {
  INFIMUM_CHECK(graph.layers.size() == bracket.layers.size(), "a bracket with other layers than its graph");
  if (bracket.bounds.empty()) return FloorsTable(graph, bracket, layers, width);
  std::string out = SectionTable(BracketSection(bracket), width);
  out += fmt::format("\ncoverage   {}\n", CoverageText(bracket.coverage));
  out += NotesText(graph, bracket);
  out += fmt::format("contract   {}\n", Name(bracket.contract));
  out += fmt::format("selection  {}\n", Printable(SelectionText(bracket.selection)));
  for (const EnvironmentKey& environment : bracket.environments)
    out += fmt::format("measured   {}\n", Printable(environment.text));
  out += fmt::format("device     {}\n", Printable(bracket.selection.device.text));
  const auto add = [&out, width](const Section& section) {
    if (!section.rows.empty()) out += '\n' + SectionTable(section, width);
  };
  if (bracket.estimate) add(NextSection(bracket.estimate->next));
  add(WhatIfsSection(bracket.what_ifs));
  if (!layers) return out;
  add(LayersOfBracket(graph, bracket));
  add(RegionsOfBracket(graph, bracket));
  if (bracket.layouts) add(ReordersSection(graph, *bracket.layouts));
  return out;
}

std::string BoundCsv(const ModelGraph& graph, const Bracket& bracket, bool layers) {
  INFIMUM_CHECK(graph.layers.size() == bracket.layers.size(), "a bracket with other layers than its graph");
  return SectionCsv(layers ? CsvOfLayers(graph, bracket) : CsvOfBracket(bracket));
}

}  // namespace infimum
