#include "reports/model/model_sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/bound/bound_table.h"
#include "reports/model/model_rows.h"
#include "reports/run/waterfall_writers.h"
#include "reports/text/fact_text.h"
#include "reports/text/layer_words.h"

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

// The tag that says what keeps layers from running at once: "core-time-decides".
std::string DeciderOf(const Bound& parallel) {
  for (const std::string& tag : parallel.assumptions)
    if (tag.ends_with("-decides")) return tag;
  return "";
}

Section LargestGaps(const ReportModel& report) { return LargestSection(report, 10); }

// What single changes win over the whole model.
//
//   run the measured fused kernels     967 µs   42 regions, against each layer alone
//   run independent layers at once       0 µs   core-time-decides
//   what if contract:bf16             21.3 ms   122 layers, fused-sequential 9.77 ms, measured 97 %
Section GainsSection(const ReportModel& report) {
  Section section{.id = "wins", .title = "What would win what"};
  const Bracket& bracket = report.bracket;
  const Bound* main = report.bracket.BestKnown();
  const Bound* sequential = bracket.Find(BoundVariant::kSequential);
  if (HasFloorsAlone(report)) return section;
  if (main == nullptr || sequential == nullptr) {
    section.note = "Nothing can be said yet: no layer of this model has a time here.";
    return section;
  }
  section.note = "Each line is solved for the whole model, by itself: the gains do not add up.";
  section.columns = {"Change", NumberColumn("Wins"), NumberColumn("Of the bound"), "How it is known"};
  const auto add = [&](std::string what, Latency gain, std::string note) {
    section.rows.push_back({std::move(what), FormatLatency(gain), PercentText(gain / main->latency), std::move(note)});
  };
  if (const Bound* fused = bracket.Find(BoundVariant::kFusedSequential); fused && !bracket.regions.empty()) {
    const auto chosen = std::ranges::count_if(bracket.regions, &RegionLatency::is_chosen);
    add("run the measured fused kernels", sequential->latency - fused->latency,
        CountText(static_cast<std::size_t>(chosen), "region") + ", against each layer alone");
  }
  if (const Bound* parallel = bracket.Find(BoundVariant::kParallel))
    add("run independent layers at once", sequential->latency - parallel->latency, DeciderOf(*parallel));
  if (const std::optional<AlgorithmRegret>& regret = bracket.regret)
    add("the best algorithm in place of the library’s choice", std::max(regret->sum, Latency(0)),
        !(regret->sum.count() > 0)
            ? RegretText(*regret)
            : CountText(regret->layers, "layer") + (regret->is_validated
                                                        ? ", measured on repetitions that did not choose the winner"
                                                        : ", not told from noise"));
  for (const WhatIfOutcome& outcome : bracket.what_ifs) {
    // Other caches are no change that anybody could make.
    if (outcome.name.starts_with("cache:")) continue;
    // What lacks layers that the bound has would seem to win them.
    if (outcome.coverage && outcome.coverage->missing > bracket.coverage.missing) continue;
    for (const WhatIfBound& bound : outcome.bounds)
      if (bound.variant == main->variant && bound.gain)
        add("what if " + outcome.name, *bound.gain,
            fmt::format("{}, {} {}{}", CountText(outcome.layers, "layer"), Name(bound.variant),
                        FormatLatency(bound.latency),
                        outcome.coverage ? ", measured " + PercentText(outcome.coverage->measured) : ""));
  }
  return section;
}

// Those that win most first.
Section RegionsSection(const ReportModel& report) {
  constexpr std::size_t kShown = 12;
  Section section{.id = "regions", .title = "Fused regions that the bound chose", .is_part = true, .shown = kShown};
  section.columns = {"Layers", NumberColumn("Alone"), NumberColumn("Fused"), NumberColumn("Wins"), "Kernel"};
  std::vector<const RegionLatency*> chosen;
  for (const RegionLatency& region : report.bracket.regions)
    if (region.is_chosen) chosen.push_back(&region);
  const auto gain = [](const RegionLatency* region) {
    return region->has_missing ? Latency(0) : region->unfused - region->latency;
  };
  std::ranges::stable_sort(chosen, std::ranges::greater(), gain);
  for (const RegionLatency* region : chosen) {
    Cell layers = CodeCell(Join(LayerNames(report.graph, region->layers), " "));
    layers.hint = ConfigOf(*region);
    section.rows.push_back({std::move(layers), region->has_missing ? "?" : FormatLatency(region->unfused),
                            FormatLatency(region->latency), region->has_missing ? "?" : FormatLatency(gain(region)),
                            CodeCell(region->candidate.name())});
  }
  return section;
}

struct ReportTable {
  Section (*make)(const ReportModel&);
  bool is_on_page;
  bool is_in_markdown;
};
constexpr ReportTable kTables[] = {
    {LargestGaps, false, true},  // the page has a chart of them
    {GainsSection, true, false},
    {RegionsSection, true, false},
};

}  // namespace

std::vector<Section> TablesOf(const ReportModel& report, ReportForm form) {
  std::vector<Section> sections;
  for (const ReportTable& table : kTables) {
    if (!(form == ReportForm::kPage ? table.is_on_page : table.is_in_markdown)) continue;
    Section section = table.make(report);
    if (!section.rows.empty() || !section.note.empty()) sections.push_back(std::move(section));
  }
  return sections;
}

Section BoundsSection(const ReportModel& report) {
  const Bracket& bracket = report.bracket;
  Section section{.columns = {"Bound", NumberColumn("Time"), NumberColumn("95 % interval"), "Assumes"},
                  .rows = BracketRows(bracket)};
  const auto add = [&section](std::string name, Latency latency, const std::optional<Interval>& interval,
                              std::string note) {
    section.rows.push_back(BracketRow(std::move(name), latency, interval, std::move(note)));
  };
  if (HasFloorsAlone(report)) {
    section.columns.front() = TableColumn("Floor");
    section.columns.erase(section.columns.begin() + 2);
    for (TableRow& row : section.rows) row.erase(row.begin() + 2);
    return section;
  }
  const Bound* main = report.bracket.BestKnown();
  for (const WhatIfOutcome& outcome : bracket.what_ifs) {
    if (!outcome.coverage || main == nullptr) continue;
    for (const WhatIfBound& bound : outcome.bounds)
      if (bound.variant == main->variant)
        add(fmt::format("bound, {}, {}", Name(bound.variant), outcome.name), bound.latency, bound.interval,
            "measured " + PercentText(outcome.coverage->measured));
  }
  if (const UpperLimit* shown = bracket.Shown())
    add("demonstrated", shown->latency, shown->interval,
        "shown: run as one program, " + LimitText(*shown) +
            (bracket.composition ? "; " + CompositionText(*bracket.composition) : std::string()));
  if (bracket.demonstrated && bracket.shown_loss && main != nullptr && *bracket.demonstrated > main->latency)
    add("above the bound", *bracket.demonstrated - main->latency, std::nullopt,
        ShownLossText(report.graph, *bracket.shown_loss));
  if (report.run)
    add(report.run->profile.framework + " " + report.run->profile.framework_version, report.run->latency,
        report.run->interval, "measured");
  for (const UpperLimit& other : OtherRunsOf(report)) add(other.name, other.latency, other.interval, LimitText(other));
  return section;
}

Section StepsSection(const Waterfall& waterfall, const StepsStyle& style) {
  Section section{.id = "steps", .title = "Where the time goes", .columns = {"Step", NumberColumn("Time")}};
  if (style.has_share) section.columns.push_back(NumberColumn("Of the time"));
  section.columns.emplace_back(style.parts == 1 ? "The largest part" : "The largest parts");
  const auto add = [&](std::string name, Latency latency, std::string shown, Cell parts) {
    TableRow& row = section.rows.emplace_back(TableRow{std::move(name), std::move(shown)});
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

Section LargestSection(const ReportModel& report, std::size_t most, bool has_ratio) {
  if (HasFloorsAlone(report)) {
    Section section = RooflineOfLayers(report.graph, report.bracket, most);
    section.rest = ".json and .html have all";
    return section;
  }
  const std::vector<ModelRow> rows = ModelRows(report);
  const std::vector<std::size_t> largest = LargestRows(rows, most);
  const bool compared = !largest.empty() && rows[largest.front()].gap().has_value();
  Section section{.id = "largest", .title = compared ? "Largest gaps" : "Most expensive layers"};
  section.columns = {NameColumn("layer"), "family", NumberColumn("bound")};
  if (compared) section.columns.insert(section.columns.end(), {NumberColumn("measured"), NumberColumn("gap")});
  if (compared && has_ratio) section.columns.push_back(NumberColumn("ratio"));
  for (const std::size_t index : largest) {
    const ModelRow& row = rows[index];
    TableRow& cells = section.rows.emplace_back(
        TableRow{CodeCell(RowLabel(report, row)), row.family, FormatLatency(row.best.value_or(Latency(0)))});
    if (!compared || !row.gap()) continue;
    cells.emplace_back(FormatLatency(*row.measured));
    cells.emplace_back(SignedLatencyText(*row.gap()));
    if (has_ratio) cells.emplace_back(*row.best > Latency(0) ? fmt::format("{:.2f}x", *row.measured / *row.best) : "");
  }
  return section;
}

Section RoofsSection(const ReportModel& report) {
  Section section{.id = "roofs", .title = "The peaks", .columns = {"Peak", NumberColumn("Rate")}};
  for (const Roof& roof : report.arithmetic_roofs)
    section.rows.push_back({roof.name, RateText(roof.per_second, "FLOP/s")});
  for (const Roof& roof : report.bandwidth_roofs) section.rows.push_back({roof.name, RateText(roof.per_second, "B/s")});
  return section;
}

Section LayersSection(const ReportModel& report) {
  const bool has_run = report.run.has_value();
  Section section{.id = "layers", .title = "Layers"};
  if (HasFloorsAlone(report)) {
    Section roofline = RooflineOfLayers(report.graph, report.bracket, 0);
    roofline.id = section.id;
    roofline.title = section.title;
    return roofline;
  }
  section.columns = {NumberColumn("No."), "Layer", "Operator", "Bound is"};
  if (has_run) section.columns.push_back(NumberColumn("Measured"));
  section.columns.push_back(NumberColumn("Bound"));
  if (has_run) section.columns.push_back(NumberColumn("Ratio"));
  section.columns.push_back(NumberColumn("Roofline"));
  section.columns.emplace_back("Best kernel");
  for (const ModelRow& row : ModelRows(report)) {
    const bool is_own = row.layers.empty();  // the engine's
    const bool is_compared = row.best && row.measured && row.best->count() > 0;
    TableRow cells = {std::to_string(section.rows.size() + 1), RowLabel(report, row),
                      is_own ? std::string(kEngineOnlyName) : report.graph.layer(row.main).op,
                      is_own ? std::string_view() : row.status};
    if (has_run) cells.emplace_back(TimeOrNothing(row.measured));
    cells.emplace_back(TimeOrNothing(row.best));
    if (has_run) cells.emplace_back(is_compared ? fmt::format("{:.2f}×", *row.measured / *row.best) : "");
    cells.emplace_back(row.floor.count() > 0 ? FormatLatency(row.floor) : "");
    cells.emplace_back(row.candidate);
    section.rows.push_back(std::move(cells));
  }
  return section;
}

}  // namespace infimum
