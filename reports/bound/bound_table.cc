#include "reports/bound/bound_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/check.h"
#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/text/csv.h"
#include "reports/text/layer_words.h"
#include "reports/text/quantity_text.h"
#include "reports/text/table.h"
#include "reports/text/utf8.h"

namespace infimum {
namespace {

std::vector<Cell> FloorRow(std::string name, const Floor& floor) {
  std::vector<std::string> notes;
  if (!floor.decided_by.empty()) notes.push_back("decided by " + floor.decided_by);
  notes.insert(notes.end(), floor.assumptions.begin(), floor.assumptions.end());
  return BracketRow(std::move(name), floor.latency, std::nullopt, Join(notes, ", "));
}

Section BracketSection(const Bracket& bracket) {
  Section section{"bracket",
                  "The bracket",
                  "",
                  {{"quantity"}, {"latency", Align::kRight}, {"interval"}, {"assumptions", Align::kLeft, true}},
                  BracketRows(bracket)};
  if (bracket.bounds.empty())
    section.rows.push_back(BracketRow("roofline", bracket.roofline, std::nullopt, "estimated, nothing is measured"));
  for (const UpperLimit& limit : bracket.upper)
    section.rows.push_back(BracketRow(limit.name, limit.latency, limit.interval, "measured"));
  return section;
}

// What the numbers above do not say by themselves.
std::string NotesText(const Bracket& bracket) {
  std::string out;
  if (bracket.regret) {
    out += fmt::format("regret     {} over {} that a library chooses for{}\n", SignedLatencyText(bracket.regret->sum),
                       CountText(bracket.regret->layers, "layer"),
                       bracket.regret->is_validated ? "" : " (of one repetition: not told from noise)");
  }
  if (bracket.layouts && !bracket.layouts->reorders.empty()) {
    const LayoutPlan& plan = *bracket.layouts;
    const auto estimated = plan.reorders.size() -
                           static_cast<std::size_t>(std::ranges::count_if(plan.reorders, &PlannedReorder::is_measured));
    out += fmt::format("layouts    {} of layout take {} of with-layouts{}\n", CountText(plan.reorders.size(), "change"),
                       FormatLatency(plan.reordering),
                       estimated > 0 ? fmt::format(" ({} not measured, counted as copies)", estimated) : "");
  }
  if (bracket.hosts) out += fmt::format("hosts      {}\n", HostsText(*bracket.hosts));
  if (bracket.composition) out += fmt::format("R          {}\n", CompositionText(*bracket.composition));
  for (const Inversion& inversion : bracket.inversions) {
    out += fmt::format("inversion  {} is {} above {}{}\n", Printable(inversion.bound), FormatLatency(inversion.excess),
                       Printable(inversion.name), inversion.is_beyond_noise ? "" : ", within noise");
  }
  return out;
}

// A line for each bound that an assumption changes.
Table WhatIfsTable(const std::vector<WhatIfOutcome>& what_ifs) {
  Table table{{{"what if", Align::kLeft, true},
               {"layers", Align::kRight},
               {"bound"},
               {"latency", Align::kRight},
               {"change", Align::kRight},
               {"interval"},
               {"measured", Align::kRight},
               {"missing", Align::kRight}},
              {}};
  for (const WhatIfOutcome& outcome : what_ifs) {
    std::string name = outcome.name, layers = std::to_string(outcome.layers);
    if (outcome.inferences != 1) name += fmt::format(" (against {} inferences)", FormatNumber(outcome.inferences));
    const std::string measured = outcome.coverage ? PercentText(outcome.coverage->measured) : "";
    const std::string missing = outcome.coverage ? PercentText(outcome.coverage->missing) : "";
    if (outcome.bounds.empty())
      table.rows.push_back({name, layers, "nothing is measured", "-", "-", "", measured, missing});
    for (const WhatIfBound& bound : outcome.bounds) {
      table.rows.push_back({name, layers, std::string(Name(bound.variant)), FormatLatency(bound.latency),
                            bound.gain ? SignedLatencyText(-*bound.gain) : "-",
                            bound.interval ? IntervalText(*bound.interval) : "", measured, missing});
      name.clear();
      layers.clear();
    }
  }
  return table;
}

Table RegionsOfBracket(const ModelGraph& graph, const Bracket& bracket) {
  Table table{{{"region", Align::kLeft, true},
               {"rule"},
               {"latency", Align::kRight},
               {"unfused", Align::kRight},
               {"chosen"},
               {"candidate", Align::kLeft, true}},
              {}};
  for (const RegionLatency& region : bracket.regions) {
    table.rows.push_back({Join(LayerNames(graph, region.layers), " "), region.rule, FormatLatency(region.latency),
                          region.has_missing ? "-" : FormatLatency(region.unfused), region.is_chosen ? "*" : "",
                          region.candidate.name()});
  }
  return table;
}

Table TransformsTable(const ModelGraph& graph, const LayoutPlan& plan) {
  Table table{{{"value", Align::kLeft, true},
               {"from"},
               {"to"},
               {"latency", Align::kRight},
               {"status"},
               {"change of layout", Align::kLeft, true}},
              {}};
  for (const PlannedReorder& planned : plan.reorders) {
    std::vector<std::string> workloads;
    for (const Workload& workload : planned.workloads) workloads.push_back(Format(workload));
    table.rows.push_back({graph.value(planned.value).name, planned.from, planned.to, FormatLatency(planned.latency),
                          planned.is_measured ? "measured" : "estimated", Join(workloads, " ; ")});
  }
  return table;
}

Table LayersTable(const ModelGraph& graph, const Bracket& bracket) {
  Table table{{{"layer", Align::kLeft, true},
               {"op", Align::kLeft, true},
               {"status"},
               {"latency", Align::kRight},
               {"roofline", Align::kRight},
               {"path"},
               {"regret", Align::kRight},
               {"candidate", Align::kLeft, true}},
              {}};
  for (const LayerLatency& row : bracket.layers) {
    const Layer& layer = graph.layer(row.layer);
    table.rows.push_back({layer.name, layer.op, std::string(Name(row.status)),
                          row.latency ? FormatLatency(*row.latency) : "-", FormatLatency(row.floor),
                          row.on_critical_path ? "*" : "", row.choice ? SignedLatencyText(row.choice->regret) : "",
                          row.candidate ? row.candidate->name() : ReasonOf(layer, row)});
  }
  return table;
}

std::string Number(const std::optional<Latency>& latency) {
  return latency ? FormatNumber(latency->count()) : std::string();
}

}  // namespace

std::vector<Cell> BracketRow(std::string name, Latency latency, const std::optional<Interval>& interval,
                             std::string note) {
  return {Cell(std::move(name)), Cell(FormatLatency(latency)), Cell(interval ? IntervalText(*interval) : ""),
          Cell(std::move(note))};
}

std::vector<std::vector<Cell>> BracketRows(const Bracket& bracket) {
  std::vector<std::vector<Cell>> rows = {FloorRow("floor", bracket.floor),
                                         FloorRow("conventional floor", bracket.conventional_floor)};
  for (const Bound& bound : bracket.bounds)
    rows.push_back(BracketRow("bound, " + std::string(Name(bound.variant)), bound.latency, bound.interval,
                              Join(bound.assumptions, ", ")));
  return rows;
}

std::string SelectionText(const Selection& selection) {
  std::string contract = "the model's own types";
  if (selection.contract) contract = Name(*selection.contract);
  return fmt::format("{}, {} caches, {}, {}, {}", CountText(static_cast<std::size_t>(selection.threads), "thread"),
                     Name(selection.cache), Name(selection.statistic), contract,
                     selection.environment ? selection.environment->text : "fullest, then newest libraries");
}

std::string BoundTable(const ModelGraph& graph, const Bracket& bracket, bool layers, std::size_t width) {
  INFIMUM_CHECK(graph.layers.size() == bracket.layers.size(), "a bracket with other layers than its graph");
  std::string out = SectionTable(BracketSection(bracket), width);
  out += fmt::format("\ncoverage   {}\n", CoverageText(bracket.coverage));
  out += NotesText(bracket);
  out += fmt::format("contract   {}\n", Name(bracket.contract));
  out += fmt::format("selection  {}\n", Printable(SelectionText(bracket.selection)));
  for (const EnvironmentKey& environment : bracket.environments)
    out += fmt::format("measured   {}\n", Printable(environment.text));
  out += fmt::format("device     {}\n", Printable(bracket.selection.device.text));
  if (!bracket.what_ifs.empty()) out += '\n' + FormatTable(WhatIfsTable(bracket.what_ifs), width);
  if (layers) {
    out += '\n';
    out += FormatTable(LayersTable(graph, bracket), width);
    if (!bracket.regions.empty()) out += '\n' + FormatTable(RegionsOfBracket(graph, bracket), width);
    if (bracket.layouts && !bracket.layouts->reorders.empty())
      out += '\n' + FormatTable(TransformsTable(graph, *bracket.layouts), width);
  }
  return out;
}

std::string BoundCsv(const ModelGraph& graph, const Bracket& bracket, bool layers) {
  INFIMUM_CHECK(graph.layers.size() == bracket.layers.size(), "a bracket with other layers than its graph");
  Table table;
  if (!layers) {
    table.columns = {{"quantity"}, {"latency_us"}, {"low_us"}, {"high_us"}, {"assumptions"}};
    auto add = [&](std::string name, Latency latency, const Interval* interval, const std::string& assumptions) {
      table.rows.push_back({std::move(name), Number(latency), interval ? Number(interval->low) : "",
                            interval ? Number(interval->high) : "", assumptions});
    };
    add("floor", bracket.floor.latency, nullptr, Join(bracket.floor.assumptions, " "));
    add("conventional-floor", bracket.conventional_floor.latency, nullptr,
        Join(bracket.conventional_floor.assumptions, " "));
    for (const Bound& bound : bracket.bounds) {
      add(std::string(Name(bound.variant)), bound.latency, &bound.interval, Join(bound.assumptions, " "));
    }
    if (bracket.bounds.empty()) add("roofline", bracket.roofline, nullptr, "estimated");
    for (const UpperLimit& limit : bracket.upper) add(limit.name, limit.latency, &limit.interval, "measured");
    return FormatCsv(table);
  }
  table.columns = {{"name"},
                   {"op"},
                   {"status"},
                   {"latency_us"},
                   {"low_us"},
                   {"high_us"},
                   {"floor_us"},
                   {"candidate"},
                   {"library_choice"},
                   {"regret_us"},
                   {"parallel_gain_if_free_us"},
                   {"parallel_gain_at_floor_us"},
                   {"on_critical_path"},
                   {"config"}};
  for (const LayerLatency& row : bracket.layers) {
    const Layer& layer = graph.layer(row.layer);
    table.rows.push_back(
        {layer.name, layer.op, std::string(Name(row.status)), Number(row.latency),
         row.interval ? Number(row.interval->low) : "", row.interval ? Number(row.interval->high) : "",
         Number(row.floor), row.candidate ? row.candidate->name() : "", row.choice ? row.choice->candidate.name() : "",
         row.choice ? FormatNumber(row.choice->regret.count()) : "", FormatNumber(row.parallel_gain_if_free.count()),
         FormatNumber(row.parallel_gain_at_floor.count()), row.on_critical_path ? "true" : "false",
         layer.workload ? Format(*layer.workload) : ""});
  }
  return FormatCsv(table);
}

}  // namespace infimum
