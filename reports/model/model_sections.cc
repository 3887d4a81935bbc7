#include "reports/model/model_sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/bound/bound_table.h"
#include "reports/model/model_rows.h"
#include "reports/run/waterfall_writers.h"
#include "reports/text/layer_words.h"
#include "reports/text/quantity_text.h"

namespace infimum {
namespace {

std::string TimeOrNothing(const std::optional<Latency>& latency) { return latency ? FormatLatency(*latency) : ""; }

// One part by its name and time; several in a sentence, with how many are left out.
Cell PartsCell(const GapStep& step, std::size_t most) {
  if (step.cause == GapCause::kAboveFloor || step.parts.empty()) return Cell();
  const auto time = [](const GapPart& part) { return SignedLatencyText(part.latency); };
  if (most == 1) return CodeCell(step.parts.front().name, time(step.parts.front()));
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(most, step.parts.size()); ++i)
    parts.push_back(step.parts[i].name + " " + time(step.parts[i]));
  if (step.parts.size() > most) parts.push_back(fmt::format("and {} more", step.parts.size() - most));
  return Cell(Join(parts, ", "));
}

// What a single change would win over the whole model, solved by itself, so that gains do not add up.
struct PossibleGain {
  std::string what;
  Latency gain{0};   // of the bound that it is held against; negative where it costs
  std::string note;  // how it is known
};

// The tag that says what keeps layers from running at once: "core-time-decides".
std::string DeciderOf(const Bound& parallel) {
  for (const std::string& tag : parallel.assumptions)
    if (tag.ends_with("-decides")) return tag;
  return "";
}

void AddWhatIfs(const ReportModel& report, const Bound& main, std::vector<PossibleGain>& gains) {
  for (const WhatIfOutcome& outcome : report.bracket.what_ifs) {
    // Other caches are no change that anybody could make.
    if (outcome.name.starts_with("cache:")) continue;
    for (const WhatIfBound& bound : outcome.bounds) {
      if (bound.variant != main.variant || !bound.gain) continue;
      // What lacks layers that the bound has would seem to win them.
      if (outcome.coverage && outcome.coverage->missing > report.bracket.coverage.missing) continue;
      gains.push_back({"what if " + outcome.name, *bound.gain,
                       fmt::format("{}, {} {}{}", CountText(outcome.layers, "layer"), Name(bound.variant),
                                   FormatLatency(bound.latency),
                                   outcome.coverage ? ", measured " + PercentText(outcome.coverage->measured) : "")});
    }
  }
}

std::vector<PossibleGain> PossibleGains(const ReportModel& report) {
  std::vector<PossibleGain> gains;
  const Bound* main = MainBound(report);
  const Bound* sequential = report.bracket.Find(BoundVariant::kSequential);
  if (main == nullptr || sequential == nullptr) return gains;
  if (const Bound* fused = report.bracket.Find(BoundVariant::kFusedSequential);
      fused && !report.bracket.regions.empty()) {
    const auto chosen = std::ranges::count_if(report.bracket.regions, &RegionLatency::is_chosen);
    gains.push_back({"run the measured fused kernels", sequential->latency - fused->latency,
                     CountText(static_cast<std::size_t>(chosen), "region") + ", against each layer alone"});
  }
  if (const Bound* ideal = report.bracket.Find(BoundVariant::kIdealFusion))
    gains.push_back({"fuse every element-wise and layout layer", main->latency - ideal->latency,
                     "kernels that need not exist yet, against the bound"});
  if (const Bound* parallel = report.bracket.Find(BoundVariant::kParallel))
    gains.push_back({"run independent layers at once", sequential->latency - parallel->latency, DeciderOf(*parallel)});
  if (report.bracket.regret)
    gains.push_back(
        {"the best algorithm in place of the library’s choice", std::max(report.bracket.regret->sum, Latency(0)),
         !(report.bracket.regret->sum.count() > 0)
             ? RegretText(*report.bracket.regret)
             : CountText(report.bracket.regret->layers, "layer") +
                   (report.bracket.regret->is_validated ? ", measured on repetitions that did not choose the winner"
                                                        : ", not told from noise")});
  AddWhatIfs(report, *main, gains);
  return gains;
}

}  // namespace

Section BoundsSection(const ReportModel& report) {
  const Bracket& bracket = report.bracket;
  Section section{"bounds",
                  "The bracket",
                  "",
                  {{"Bound"}, {"Best repetition", Align::kRight}, {"Typically (95 %)", Align::kRight}, {"Assumes"}},
                  BracketRows(bracket)};
  const auto add = [&section](std::string name, Latency latency, const std::optional<Interval>& interval,
                              std::string note) {
    section.rows.push_back(BracketRow(std::move(name), latency, interval, std::move(note)));
  };
  const Bound* main = MainBound(report);
  for (const WhatIfOutcome& outcome : bracket.what_ifs) {
    if (!outcome.coverage || main == nullptr) continue;
    for (const WhatIfBound& bound : outcome.bounds)
      if (bound.variant == main->variant)
        add(fmt::format("bound, {}, {}", Name(bound.variant), outcome.name), bound.latency, bound.interval,
            "measured " + PercentText(outcome.coverage->measured));
  }
  if (bracket.demonstrated)
    add("demonstrated", *bracket.demonstrated, std::nullopt,
        "smallest repetition median" +
            (bracket.composition ? "; " + CompositionText(*bracket.composition) : std::string()));
  if (report.run)
    add(report.run->profile.framework + " " + report.run->profile.framework_version, report.run->latency,
        report.run->interval, "measured, smallest repetition median");
  return section;
}

Section StepsSection(const Waterfall& waterfall, const StepsStyle& style) {
  Section section{"steps", "Where the time goes", "", {{"Step"}, {"Time", Align::kRight}}, {}};
  if (style.has_share) section.columns.push_back({"Of the time", Align::kRight});
  section.columns.push_back({style.parts == 1 ? "The largest part" : "The largest parts"});
  const auto add = [&](std::string name, Latency latency, std::string shown, Cell parts) {
    std::vector<Cell>& row = section.rows.emplace_back();
    row.emplace_back(std::move(name));
    row.emplace_back(std::move(shown));
    if (style.has_share)
      row.emplace_back(waterfall.measured.count() > 0 ? PercentText(latency / waterfall.measured) : "");
    row.push_back(std::move(parts));
  };
  const auto level = [&](std::string name, Latency latency) {
    add(std::move(name), latency, FormatLatency(latency), Cell());
  };
  level("measured", waterfall.measured);
  for (const GapStep& step : waterfall.steps) {
    if (step.cause == GapCause::kAboveFloor && waterfall.bound)
      level("bound, " + std::string(Name(waterfall.variant)), *waterfall.bound);
    add(std::string(TitleOf(step.cause)), step.latency, SignedLatencyText(step.latency), PartsCell(step, style.parts));
  }
  if (waterfall.floor.count() > 0) level("floor", waterfall.floor);
  return section;
}

Section LargestSection(const ReportModel& report, std::size_t most) {
  const std::vector<ModelRow> rows = ModelRows(report);
  const std::vector<std::size_t> largest = LargestRows(rows, most);
  const bool compared = !largest.empty() && rows[largest.front()].gap().has_value();
  Section section{"largest", compared ? "Largest gaps" : "Most expensive layers", "", {}, {}};
  section.columns = {{"layer"}, {"family"}, {"bound", Align::kRight}};
  if (compared) {
    section.columns.push_back({"measured", Align::kRight});
    section.columns.push_back({"gap", Align::kRight});
  }
  for (const std::size_t index : largest) {
    const ModelRow& row = rows[index];
    std::vector<Cell>& cells = section.rows.emplace_back();
    cells.push_back(CodeCell(RowLabel(report, row)));
    cells.emplace_back(row.family);
    cells.emplace_back(FormatLatency(row.best.value_or(Latency(0))));
    if (!compared || !row.gap()) continue;
    cells.emplace_back(FormatLatency(*row.measured));
    cells.emplace_back(SignedLatencyText(*row.gap()));
  }
  return section;
}

Section GainsSection(const ReportModel& report) {
  Section section{"gains",
                  "What changes would win",
                  "",
                  {{"Change"}, {"Wins", Align::kRight}, {"Of the bound", Align::kRight}, {"How it is known"}},
                  {}};
  const Bound* main = MainBound(report);
  for (const PossibleGain& gain : PossibleGains(report))
    section.rows.push_back({Cell(gain.what), Cell(FormatLatency(gain.gain)),
                            Cell(PercentText(gain.gain / main->latency)), Cell(gain.note)});
  return section;
}

Section RegionsSection(const ReportModel& report, const std::vector<const RegionLatency*>& regions) {
  Section section{"regions",
                  "Fused regions that the bound chose",
                  "",
                  {{"Layers"}, {"Alone", Align::kRight}, {"Fused", Align::kRight}, {"Wins", Align::kRight}, {"Kernel"}},
                  {}};
  for (const RegionLatency* region : regions) {
    Cell layers = CodeCell(Join(LayerNames(report.graph, region->layers), " "));
    layers.hint = ConfigOf(*region);
    section.rows.push_back({std::move(layers), Cell(region->has_missing ? "?" : FormatLatency(region->unfused)),
                            Cell(FormatLatency(region->latency)),
                            Cell(region->has_missing ? "?" : FormatLatency(region->unfused - region->latency)),
                            CodeCell(region->candidate.name())});
  }
  return section;
}

Section RoofsSection(const ReportModel& report) {
  Section section{"roofs", "The measured peaks", "", {{"Peak"}, {"Rate", Align::kRight}}, {}};
  const auto add = [&section](const Roof& roof, std::string_view unit) {
    section.rows.push_back({Cell(roof.name), Cell(RateText(roof.per_second, unit))});
  };
  for (const Roof& roof : report.arithmetic_roofs) add(roof, "FLOP/s");
  for (const Roof& roof : report.bandwidth_roofs) add(roof, "B/s");
  return section;
}

Section LayersSection(const ReportModel& report) {
  Section section{"layers", "Layers", "", {{"No.", Align::kRight}, {"Layer"}, {"Operator"}, {"Bound is"}}, {}};
  const bool has_run = report.run.has_value();
  if (has_run) section.columns.push_back({"Measured", Align::kRight});
  section.columns.push_back({"Bound", Align::kRight});
  if (has_run) section.columns.push_back({"Ratio", Align::kRight});
  section.columns.push_back({"Roofline", Align::kRight});
  section.columns.push_back({"Best kernel"});
  for (const ModelRow& row : ModelRows(report)) {
    const bool is_own = row.layers.empty();  // the engine's
    const bool is_compared = row.best && row.measured && row.best->count() > 0;
    std::vector<Cell> cells = {Cell(std::to_string(section.rows.size() + 1)), Cell(RowLabel(report, row)),
                               Cell(is_own ? std::string(kEngineOnlyName) : report.graph.layer(row.main).op),
                               Cell(is_own ? "" : std::string(row.status))};
    if (has_run) cells.emplace_back(TimeOrNothing(row.measured));
    cells.emplace_back(TimeOrNothing(row.best));
    if (has_run) cells.emplace_back(is_compared ? fmt::format("{:.2f}×", *row.measured / *row.best) : "");
    cells.emplace_back(row.floor.count() > 0 ? FormatLatency(row.floor) : "");
    cells.emplace_back(row.candidate);
    section.rows.push_back(std::move(cells));
  }
  return section;
}

Section CasesSection(const Finding& finding) {
  Section section{"cases", "Layers of " + finding.kind, "", {{"Layer"}, {"Ran"}, {"Took", Align::kRight}}, {}};
  section.columns.push_back({finding.held_against.empty() ? "At best" : finding.held_against, Align::kRight});
  section.columns.push_back({"With"});
  for (const FindingCase& one : finding.cases)
    section.rows.push_back({Cell(one.layer), Cell(one.engine), Cell(FormatLatency(one.measured)),
                            Cell(one.best ? FormatLatency(*one.best) : "–"), Cell(one.candidate)});
  return section;
}

}  // namespace infimum
