#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/sides/comparison_report.h"
#include "reports/text/fact_text.h"

namespace infimum {
namespace {

// So many times its roofline a layer is decided by neither bytes nor arithmetic.
constexpr double kFarFromRoofline = 4;
constexpr double kNoRoofline = 100;
// A kernel that is so much further from its roofline than another is a worse one.
constexpr double kWorseKernel = 1.5;
// A roofline that falls by less promises nothing.
constexpr double kSameRoofline = 0.9;

constexpr const char* kAllElsewhere = ".json, .csv and .html have all";

// "57.3 times", "4221 times".
std::string TimesText(double ratio) {
  return ratio < 100 ? fmt::format("{:.3g} times", ratio) : fmt::format("{:.0f} times", ratio);
}

Cell TimeCell(const SideTime& time) {
  Cell cell(time.latency ? (time.is_estimated ? "~" : "") + FormatLatency(*time.latency) : "unknown");
  if (time.latency) cell.number = time.latency->count();
  if (!time.latency) cell.tone = CellTone::kUnknown;
  return cell;
}

// A time with what it is of the baseline's, and whether that is more than noise.
Cell HeatCell(const SideTime& time, const std::optional<Difference>& difference) {
  Cell cell = TimeCell(time);
  if (!difference) return cell;
  cell.tone = ToneOf(difference->verdict);
  cell.ratio = difference->ratio;
  cell.aside = fmt::format("({}{:.3g}x)",
                           cell.tone == CellTone::kSame        ? "="
                           : cell.tone == CellTone::kUndecided ? "?"
                                                               : "",
                           difference->ratio);
  return cell;
}

// Of every side; the one with the least time is marked.
void AddHeatCells(const std::vector<SideTime>& times, const std::vector<std::optional<Difference>>& differences,
                  TableRow& row) {
  const std::size_t first = row.size();
  for (std::size_t side = 0; side < times.size(); ++side) row.push_back(HeatCell(times[side], differences[side]));
  Cell* best = nullptr;
  for (std::size_t i = first; i < row.size(); ++i)
    if (row[i].number && *row[i].number >= 0 && (best == nullptr || *row[i].number < *best->number)) best = &row[i];
  if (best != nullptr) best->is_best = true;
}

Cell DifferenceCell(const std::optional<Difference>& difference) {
  Cell cell(difference ? DifferenceText(*difference) : "");
  if (!difference) return cell;
  cell.tone = ToneOf(difference->verdict);
  cell.ratio = difference->ratio;
  cell.number = difference->ratio;
  return cell;
}

Cell VerdictCell(const std::optional<Difference>& difference) {
  Cell cell(difference ? VerdictText(*difference) : "");
  if (difference) cell.tone = ToneOf(difference->verdict);
  return cell;
}

Cell LatencyCell(const std::optional<Latency>& latency) {
  return latency ? Cell(FormatLatency(*latency), latency->count()) : Cell();
}

std::string IntervalOrNone(const SideTime& time) {
  if (!time.latency) return "";
  return time.interval ? IntervalText(*time.interval) : "no spread known";
}

std::string GenerationText(const ReportSide& side) {
  return side.generation + (side.year ? fmt::format(" ({})", *side.year) : std::string());
}

// "conv1", "conv1 and 3 more".
std::string NameOf(const SetLayer& layer) {
  std::string name = layer.uses.front().name;
  if (layer.uses.size() > 1) name += fmt::format(" and {} more", layer.uses.size() - 1);
  return name;
}

const std::string& BaselineLabel(const ComparisonReport& report) { return report.sides.front().label; }

bool HasNoSpread(const std::vector<std::optional<Difference>>& differences) {
  return std::ranges::any_of(differences,
                             [](const auto& difference) { return difference && !difference->is_spread_known; });
}

Section Ladder(const ComparisonReport& report) {
  const SideComparison& comparison = report.comparison;
  Section section{.id = "ladder", .title = "Totals", .columns = {NameColumn("side")}};
  const bool has_generation = std::ranges::any_of(report.sides, [](const auto& s) { return !s.generation.empty(); });
  const bool is_of_runs = IsOfRuns(report.axis), is_one = comparison.models.size() == 1;
  const bool has_intervals = is_one && std::ranges::any_of(comparison.models.front().times, [](const SideTime& time) {
                               return time.interval.has_value();
                             });
  // Where nothing was measured as one, the fused bound says nothing more.
  const bool has_fused =
      is_one && !is_of_runs && comparison.models.front().fused != comparison.models.front().sequential;
  if (has_generation) section.columns.emplace_back("generation");
  if (is_one) {
    section.columns.push_back(NumberColumn(report.quantity));
    if (has_intervals) section.columns.emplace_back("between");
  } else {
    section.note = fmt::format("Geometric mean of the ratios of {}.", CountText(comparison.models.size(), "model"));
  }
  section.columns.emplace_back("against " + BaselineLabel(report));
  section.columns.emplace_back("verdict");
  if (is_one && !is_of_runs) {
    section.columns.push_back(NumberColumn("compared"));
    if (has_fused) section.columns.push_back(NumberColumn("own fused bound"));
    section.note = "Compared: of what a side knows of the model, what every side knows.";
  }
  section.columns.emplace_back("contract");
  section.columns.push_back(NameColumn(is_of_runs ? "conditions" : "libraries"));
  if (HasNoSpread(comparison.means))
    section.note += fmt::format("{}° no spread is known of a time: {:g} % stand for noise.",
                                section.note.empty() ? "" : " ", 100 * comparison.threshold);
  for (std::size_t side = 0; side < report.sides.size(); ++side) {
    const ReportSide& shown = report.sides[side];
    TableRow& row = section.rows.emplace_back();
    row.emplace_back(shown.label);
    if (has_generation) row.emplace_back(GenerationText(shown));
    if (is_one) {
      row.push_back(TimeCell(comparison.models.front().times[side]));
      if (has_intervals) row.emplace_back(IntervalOrNone(comparison.models.front().times[side]));
    }
    row.push_back(DifferenceCell(comparison.means[side]));
    row.push_back(VerdictCell(comparison.means[side]));
    if (is_one && !is_of_runs) {
      row.emplace_back(PercentText(comparison.models.front().shares[side]));
      if (has_fused) row.push_back(LatencyCell(comparison.models.front().fused[side]));
    }
    row.emplace_back(shown.contract);
    const bool has_both = !shown.framework.empty() && !shown.environment.empty();
    row.emplace_back(shown.framework + (has_both ? ", " : "") + shown.environment);
  }
  return section;
}

// By which classes of layers the fastest side is ahead of the next, over the set.
Section Lead(const ComparisonReport& report) {
  const SideComparison& comparison = report.comparison;
  const std::size_t best = comparison.order[0], next = comparison.order[1];
  Section section{.id = "lead",
                  .title = fmt::format("Why {} is ahead of {}", report.sides[best].label, report.sides[next].label)};
  section.columns = {"class",
                     NumberColumn("layers"),
                     NumberColumn(report.sides[best].label),
                     NumberColumn(report.sides[next].label),
                     NumberColumn("ahead by"),
                     "difference"};
  std::vector<const SetTotal*> families;
  for (const SetTotal& family : comparison.families)
    if (family.times[best].latency && family.times[next].latency) families.push_back(&family);
  const auto ahead = [&](const SetTotal* family) {
    return *family->times[next].latency - *family->times[best].latency;
  };
  std::ranges::stable_sort(families, std::ranges::greater{}, ahead);
  for (const SetTotal* family : families) {
    section.rows.push_back(
        {family->name, CountCell(family->common), TimeCell(family->times[best]), TimeCell(family->times[next]),
         Cell(SignedLatencyText(ahead(family)), ahead(family).count()),
         DifferenceCell(DifferenceOf(family->times[best], family->times[next], comparison.threshold))});
  }
  return section;
}

void AddSideColumns(const ComparisonReport& report, Section& section) {
  section.first_side = section.columns.size();
  for (const ReportSide& side : report.sides) section.columns.push_back(NumberColumn(side.label));
}

Section Models(const ComparisonReport& report) {
  const SideComparison& comparison = report.comparison;
  Section section{.id = "models", .title = "Each model"};
  section.columns = {NameColumn("model"), NumberColumn("layers"), NumberColumn("compared")};
  AddSideColumns(report, section);
  for (const ModelTotal& model : comparison.models) {
    TableRow& row = section.rows.emplace_back(TableRow{model.name, CountCell(model.layers), CountCell(model.common)});
    AddHeatCells(model.times, model.differences, row);
  }
  return section;
}

Section Families(const ComparisonReport& report) {
  Section section{.id = "families", .title = "Classes of layers", .columns = {"class", NumberColumn("layers")}};
  section.note = "Sums over the layers that every side knows; in brackets, how many times " + BaselineLabel(report) +
                 " they take; = is within noise, ? undecided.";
  AddSideColumns(report, section);
  for (const SetTotal& family : report.comparison.families) {
    TableRow& row = section.rows.emplace_back(TableRow{family.name, CountCell(family.common)});
    AddHeatCells(family.times, family.differences, row);
  }
  return section;
}

Section Layers(const ComparisonReport& report, std::size_t most) {
  Section section{.id = "layers", .title = "Layers", .rest = kAllElsewhere};
  section.columns = {NameColumn("layer"), "class", NumberColumn("uses")};
  section.note = "One use; in brackets, how many times " + BaselineLabel(report) +
                 " it takes; = is within noise, ? undecided, ~ estimated.";
  AddSideColumns(report, section);
  AddRows(report.comparison.layers, most, section, [](const SetLayer& layer) {
    TableRow row{NameOf(layer), layer.family, CountCell(layer.uses.size())};
    AddHeatCells(layer.times, layer.differences, row);
    return row;
  });
  return section;
}

// Regressions, or gains.
Section Differences(const ComparisonReport& report, bool is_slower, std::size_t most) {
  const SideComparison& comparison = report.comparison;
  Section section{.id = is_slower ? "regressions" : "gains",
                  .title = is_slower ? "What takes longer" : "What is won",
                  .rest = kAllElsewhere};
  const bool has_sides = comparison.sides > 2;
  if (has_sides) section.columns.push_back(NameColumn("side"));
  section.columns.insert(section.columns.end(),
                         {NameColumn("layer"), "class", NumberColumn("uses"),
                          NumberColumn(is_slower ? "costs" : "wins"), NumberColumn("of the set"),
                          NumberColumn("before"), NumberColumn("after"), "difference", NameColumn("candidate")});
  const std::vector<LayerDifference>& list = is_slower ? comparison.regressions : comparison.gains;
  section.note = list.empty() ? "Nothing, beyond noise."
                              : fmt::format("Against {}, beyond noise and a factor of {:g}; over all uses in the set.",
                                            BaselineLabel(report), 1 + comparison.threshold);
  AddRows(list, most, section, [&](const LayerDifference& entry) {
    const SetLayer& layer = comparison.layers[entry.layer];
    Cell cost(FormatLatency(is_slower ? entry.cost : -entry.cost), entry.cost.count());
    Cell share(PercentText(std::abs(entry.share)), entry.share);
    const SideTime &before = layer.times.front(), &after = layer.times[entry.side];
    const bool is_one = before.candidate == after.candidate || before.candidate.empty();
    TableRow row;
    if (has_sides) row.emplace_back(report.sides[entry.side].label);
    row.insert(row.end(), {NameOf(layer), layer.family, CountCell(layer.uses.size()), std::move(cost), std::move(share),
                           TimeCell(before), TimeCell(after),
                           layer.differences[entry.side] ? DifferenceCell(layer.differences[entry.side])
                                                         : Cell(is_slower ? "from nothing" : "to nothing"),
                           is_one ? after.candidate : before.candidate + " -> " + after.candidate});
    return row;
  });
  return section;
}

Section RankChanges(const ComparisonReport& report, std::size_t most) {
  Section section{.id = "rank-changes", .title = "Where the slower one is faster", .rest = kAllElsewhere};
  section.columns = {NameColumn("faster in all"), NameColumn("than"),        "by",
                     NameColumn("yet slower in"), NumberColumn("and loses"), "there in all"};
  const std::vector<RankChange>& changes = report.comparison.rank_changes;
  section.note = changes.empty()
                     ? "Nowhere, beyond noise: who is faster in all is slower in no layer."
                     : "Layers in which the side that is faster in all is the slower one, beyond noise, and what it "
                       "loses in them over all their uses.";
  AddRows(changes, most, section, [&report](const RankChange& change) {
    Cell by(fmt::format("{:.3g} times as fast", 1 / change.overall));
    by.number = change.overall;
    std::string where = fmt::format("{} of {}", CountText(change.layers, "layer"), change.name);
    if (change.is_whole) where = "all of " + change.name;
    if (!change.cause.empty()) where += ", most in " + change.cause;
    return TableRow{
        report.sides[change.faster].label, report.sides[change.slower].label, std::move(by), std::move(where),
        LatencyCell(change.lost),          DifferenceCell(change.here)};
  });
  return section;
}

// Layers that a contract does not make faster, with what tells why.
Section NoGains(const ComparisonReport& report, std::size_t most) {
  const SideComparison& comparison = report.comparison;
  Section section{.id = "no-gain", .title = "What does not get faster, and why", .rest = kAllElsewhere};
  section.columns = {
      "side",       NameColumn("layer"), NumberColumn("uses"), NumberColumn("before"), NumberColumn("after"),
      "difference", NameColumn("why")};
  struct Entry {
    const SetLayer* layer;
    std::size_t side;
    Latency time;
  };
  std::vector<Entry> entries;
  for (const SetLayer& layer : comparison.layers)
    for (std::size_t side = 1; side < comparison.sides; ++side)
      if (const auto& difference = layer.differences[side]; difference && difference->verdict != Verdict::kFaster)
        entries.push_back({&layer, side, static_cast<double>(layer.uses.size()) * *layer.times[side].latency});
  std::ranges::stable_sort(entries, std::ranges::greater{}, &Entry::time);
  if (entries.empty()) section.note = "Nothing: every layer that is known gets faster.";
  AddRows(entries, most, section, [&report](const Entry& entry) {
    const SideTime &before = entry.layer->times.front(), &after = entry.layer->times[entry.side];
    const std::optional<Difference>& difference = entry.layer->differences[entry.side];
    return TableRow{report.sides[entry.side].label,
                    NameOf(*entry.layer),
                    CountCell(entry.layer->uses.size()),
                    TimeCell(before),
                    TimeCell(after),
                    DifferenceCell(difference),
                    ReasonOfNoGain(after, before, *difference)};
  });
  return section;
}

Section Findings(const ComparisonReport& report) {
  Section section{.id = "findings", .title = "What the runs show"};
  section.note = KnownLegend();
  section.columns = {NameColumn("run"), "finding", "known", NumberColumn("gain"), "evidence", "to do"};
  for (const ReportSide& side : report.sides)
    for (const Finding& finding : side.findings)
      section.rows.push_back({side.label, finding.kind, std::string(Name(finding.known)), LatencyCell(finding.gain),
                              finding.evidence, finding.action});
  return section;
}

Section Nodes(const ComparisonReport& report, std::size_t most) {
  const NodeTable& nodes = *report.nodes;
  Section section{.id = "nodes", .title = "Each node of the model", .rest = kAllElsewhere};
  section.note = "What each engine took for the row that stands for the node; (name): it ran within that row.";
  section.columns = {NameColumn("node"), "operator"};
  section.first_side = section.columns.size();
  for (const NodeColumn& column : nodes.columns) section.columns.push_back(NumberColumn(column.source));
  AddRows(nodes.rows, most, section, [](const NodeRow& node) {
    TableRow row{node.name, node.op};
    for (const NodeCell& cell : node.cells)
      row.push_back(cell.within.empty() ? LatencyCell(cell.measured) : Cell("(" + cell.within + ")"));
    return row;
  });
  return section;
}

Section Gaps(const ComparisonReport& report) {
  Section section{.id = "gaps", .title = "What is missing"};
  section.columns = {NameColumn("side"), "model", NumberColumn("layers"), "such as", "why", "fill it"};
  for (const SideGap& gap : report.gaps)
    section.rows.push_back({report.sides[gap.side].label, gap.model, CountCell(gap.layers), Join(gap.examples, ", "),
                            gap.reason, gap.command});
  return section;
}

}  // namespace

std::string ReasonOfNoGain(const SideTime& subject, const SideTime& baseline, const Difference& difference) {
  if (subject.is_estimated || baseline.is_estimated) return "estimated from its bytes, not measured";
  if (!subject.latency || !baseline.latency || !subject.floor || !baseline.floor) return "";
  if (!(subject.floor->count() > 0) || !(baseline.floor->count() > 0)) return "";
  const double after = *subject.latency / *subject.floor, before = *baseline.latency / *baseline.floor;
  // A roofline so far below says that the caches hold all of it, and no more.
  if (after > kNoRoofline || before > kNoRoofline)
    return "its values fit the caches, whose rates are not known: those, or what a kernel costs to start, decide";
  if (difference.verdict == Verdict::kSlower && after > before * kWorseKernel)
    return fmt::format("no kernel as good: {} takes {} its roofline, {} {}", subject.candidate, TimesText(after),
                       baseline.candidate, TimesText(before));
  if (after > kFarFromRoofline && before > kFarFromRoofline)
    return fmt::format(
        "{} its roofline, {} before: what a kernel costs to start, or too little work for the device, "
        "decides",
        TimesText(after), TimesText(before));
  if (*subject.floor > *baseline.floor * kSameRoofline)
    return "its roofline is no lower: nothing to win by arithmetic or bytes";
  return fmt::format("{} its roofline, {} before", TimesText(after), TimesText(before));
}

std::vector<Section> ComparisonSections(const ComparisonReport& report, std::size_t most) {
  std::vector<Section> sections{Ladder(report)};
  if (report.comparison.models.size() > 1) sections.push_back(Models(report));
  const std::vector<Section> differences{Differences(report, true, most), Differences(report, false, most)};
  if (report.axis == ComparisonAxis::kDevice) {
    if (report.comparison.order.size() > 1) sections.push_back(Lead(report));
    sections.push_back(Families(report));
    sections.push_back(RankChanges(report, most));
  } else {
    sections.insert(sections.end(), differences.begin(), differences.end());
    if (report.axis == ComparisonAxis::kContract) sections.push_back(NoGains(report, most));
    sections.push_back(Families(report));
  }
  Section findings = Findings(report);
  if (!findings.rows.empty()) sections.push_back(std::move(findings));
  sections.push_back(Layers(report, most));
  if (report.nodes) sections.push_back(Nodes(report, most));
  if (report.axis == ComparisonAxis::kDevice)
    sections.insert(sections.end(), differences.begin(), differences.end());
  else if (report.comparison.sides > 2)
    sections.push_back(RankChanges(report, most));
  if (!report.gaps.empty()) sections.push_back(Gaps(report));
  return sections;
}

}  // namespace infimum
