#include "reports/sides/comparison_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infimum/base/quantity_text.h"
#include "reports/text/quantity_text.h"

namespace infimum {
namespace {

// So many times its roofline a layer is decided by neither bytes nor arithmetic.
constexpr double kFarFromRoofline = 4;
constexpr double kNoRoofline = 100;
// A kernel that is so much further from its roofline than another is a worse one.
constexpr double kWorseKernel = 1.5;
// A roofline that falls by less promises nothing.
constexpr double kSameRoofline = 0.9;

CellTone ToneOf(const Difference& difference) {
  switch (difference.verdict) {
    case Verdict::kSame:
      return CellTone::kSame;
    case Verdict::kFaster:
      return CellTone::kFaster;
    case Verdict::kSlower:
      return CellTone::kSlower;
    case Verdict::kUndecided:
      return CellTone::kUndecided;
  }
  return CellTone::kPlain;
}

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
  cell.tone = ToneOf(*difference);
  cell.ratio = difference->ratio;
  cell.aside = fmt::format("({}{:.3g}x)",
                           cell.tone == CellTone::kSame        ? "="
                           : cell.tone == CellTone::kUndecided ? "?"
                                                               : "",
                           difference->ratio);
  return cell;
}

// Of the cells from `first` on the one with the least time.
void MarkBest(std::size_t first, std::vector<Cell>& row) {
  Cell* best = nullptr;
  for (std::size_t i = first; i < row.size(); ++i)
    if (row[i].number && *row[i].number >= 0 && (best == nullptr || *row[i].number < *best->number)) best = &row[i];
  if (best != nullptr) best->is_best = true;
}

Cell DifferenceCell(const std::optional<Difference>& difference) {
  Cell cell(difference ? DifferenceText(*difference) : "");
  if (!difference) return cell;
  cell.tone = ToneOf(*difference);
  cell.ratio = difference->ratio;
  cell.number = difference->ratio;
  return cell;
}

Cell VerdictCell(const std::optional<Difference>& difference) {
  Cell cell(difference ? VerdictText(*difference) : "");
  if (difference) cell.tone = ToneOf(*difference);
  return cell;
}

Cell LatencyCell(const std::optional<Latency>& latency) {
  Cell cell(latency ? FormatLatency(*latency) : "");
  if (latency) cell.number = latency->count();
  return cell;
}

Cell NumberCell(std::size_t number) {
  Cell cell(std::to_string(number));
  cell.number = static_cast<double>(number);
  return cell;
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
  Section section{"ladder", "Totals", "", {{"side", Align::kLeft, true}}, {}};
  const bool has_generation = std::ranges::any_of(report.sides, [](const auto& s) { return !s.generation.empty(); });
  const bool is_of_runs = IsOfRuns(report.axis), is_one = comparison.models.size() == 1;
  const bool has_intervals = is_one && std::ranges::any_of(comparison.models.front().times, [](const SideTime& time) {
                               return time.interval.has_value();
                             });
  // Where nothing was measured as one, the fused bound says nothing more.
  const bool has_fused =
      is_one && !is_of_runs && comparison.models.front().fused != comparison.models.front().sequential;
  if (has_generation) section.columns.push_back({"generation"});
  if (is_one) {
    section.columns.push_back({report.quantity, Align::kRight});
    if (has_intervals) section.columns.push_back({"between"});
  } else {
    section.note = fmt::format("Geometric mean of the ratios of {}.", CountText(comparison.models.size(), "model"));
  }
  section.columns.push_back({"against " + BaselineLabel(report)});
  section.columns.push_back({"verdict"});
  if (is_one && !is_of_runs) {
    section.columns.push_back({"compared", Align::kRight});
    if (has_fused) section.columns.push_back({"own fused bound", Align::kRight});
    section.note = "Compared: of what a side knows of the model, what every side knows.";
  }
  section.columns.push_back({"contract"});
  section.columns.push_back({is_of_runs ? "conditions" : "libraries", Align::kLeft, true});
  if (HasNoSpread(comparison.means))
    section.note += fmt::format("{}° no spread is known of a time: {:g} % stand for noise.",
                                section.note.empty() ? "" : " ", 100 * comparison.threshold);
  for (std::size_t side = 0; side < report.sides.size(); ++side) {
    const ReportSide& shown = report.sides[side];
    std::vector<Cell>& row = section.rows.emplace_back();
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
  Section section{"lead",
                  fmt::format("Why {} is ahead of {}", report.sides[best].label, report.sides[next].label),
                  "",
                  {{"class"},
                   {"layers", Align::kRight},
                   {report.sides[best].label, Align::kRight},
                   {report.sides[next].label, Align::kRight},
                   {"ahead by", Align::kRight},
                   {"difference"}},
                  {}};
  std::vector<const SetTotal*> families;
  for (const SetTotal& family : comparison.families)
    if (family.times[best].latency && family.times[next].latency) families.push_back(&family);
  const auto ahead = [&](const SetTotal* family) {
    return *family->times[next].latency - *family->times[best].latency;
  };
  std::ranges::stable_sort(families, std::ranges::greater{}, ahead);
  for (const SetTotal* family : families) {
    std::vector<Cell>& row = section.rows.emplace_back();
    row.emplace_back(family->name);
    row.push_back(NumberCell(family->common));
    row.push_back(TimeCell(family->times[best]));
    row.push_back(TimeCell(family->times[next]));
    Cell by(SignedLatencyText(ahead(family)));
    by.number = ahead(family).count();
    row.push_back(std::move(by));
    row.push_back(DifferenceCell(DifferenceOf(family->times[best], family->times[next], comparison.threshold)));
  }
  return section;
}

void AddSideColumns(const ComparisonReport& report, Section& section) {
  section.first_side = section.columns.size();
  for (const ReportSide& side : report.sides) section.columns.push_back({side.label, Align::kRight});
}

Section Models(const ComparisonReport& report) {
  const SideComparison& comparison = report.comparison;
  Section section{"models", "Each model", "", {{"model", Align::kLeft, true}, {"layers", Align::kRight}}, {}};
  section.columns.push_back({"compared", Align::kRight});
  AddSideColumns(report, section);
  for (const ModelTotal& model : comparison.models) {
    std::vector<Cell>& row = section.rows.emplace_back();
    row.emplace_back(model.name);
    row.push_back(NumberCell(model.layers));
    row.push_back(NumberCell(model.common));
    for (std::size_t side = 0; side < report.sides.size(); ++side)
      row.push_back(HeatCell(model.times[side], model.differences[side]));
    MarkBest(row.size() - report.sides.size(), row);
  }
  return section;
}

Section Families(const ComparisonReport& report) {
  Section section{"families", "Classes of layers", "", {{"class"}, {"layers", Align::kRight}}, {}};
  section.note = "Sums over the layers that every side knows; in brackets, how many times " + BaselineLabel(report) +
                 " they take; = is within noise, ? undecided.";
  AddSideColumns(report, section);
  for (const SetTotal& family : report.comparison.families) {
    std::vector<Cell>& row = section.rows.emplace_back();
    row.emplace_back(family.name);
    row.push_back(NumberCell(family.common));
    for (std::size_t side = 0; side < report.sides.size(); ++side)
      row.push_back(HeatCell(family.times[side], family.differences[side]));
    MarkBest(row.size() - report.sides.size(), row);
  }
  return section;
}

Section Layers(const ComparisonReport& report, std::size_t most) {
  Section section{"layers", "Layers", "", {{"layer", Align::kLeft, true}, {"class"}, {"uses", Align::kRight}}, {}};
  section.note = "One use; in brackets, how many times " + BaselineLabel(report) +
                 " it takes; = is within noise, ? undecided, ~ estimated.";
  AddSideColumns(report, section);
  for (const SetLayer& layer : report.comparison.layers) {
    if (most > 0 && section.rows.size() == most) {
      ++section.left_out;
      continue;
    }
    std::vector<Cell>& row = section.rows.emplace_back();
    row.emplace_back(NameOf(layer));
    row.emplace_back(layer.family);
    row.push_back(NumberCell(layer.uses.size()));
    for (std::size_t side = 0; side < report.sides.size(); ++side)
      row.push_back(HeatCell(layer.times[side], layer.differences[side]));
    MarkBest(row.size() - report.sides.size(), row);
  }
  return section;
}

// Regressions, or gains.
Section Differences(const ComparisonReport& report, bool is_slower, std::size_t most) {
  const SideComparison& comparison = report.comparison;
  Section section{is_slower ? "regressions" : "gains", is_slower ? "What takes longer" : "What is won", "", {}, {}};
  const bool has_sides = comparison.sides > 2;
  if (has_sides) section.columns.push_back({"side", Align::kLeft, true});
  for (const TableColumn& column :
       {TableColumn{"layer", Align::kLeft, true}, TableColumn{"class"}, TableColumn{"uses", Align::kRight},
        TableColumn{is_slower ? "costs" : "wins", Align::kRight}, TableColumn{"of the set", Align::kRight},
        TableColumn{"before", Align::kRight}, TableColumn{"after", Align::kRight}, TableColumn{"difference"},
        TableColumn{"candidate", Align::kLeft, true}})
    section.columns.push_back(column);
  const std::vector<LayerDifference>& list = is_slower ? comparison.regressions : comparison.gains;
  section.note = list.empty() ? "Nothing, beyond noise."
                              : fmt::format("Against {}, beyond noise and a factor of {:g}; over all uses in the set.",
                                            BaselineLabel(report), 1 + comparison.threshold);
  for (const LayerDifference& entry : list) {
    if (most > 0 && section.rows.size() == most) {
      ++section.left_out;
      continue;
    }
    const SetLayer& layer = comparison.layers[entry.layer];
    std::vector<Cell>& row = section.rows.emplace_back();
    if (has_sides) row.emplace_back(report.sides[entry.side].label);
    row.emplace_back(NameOf(layer));
    row.emplace_back(layer.family);
    row.push_back(NumberCell(layer.uses.size()));
    Cell cost(FormatLatency(is_slower ? entry.cost : -entry.cost));
    cost.number = entry.cost.count();
    row.push_back(std::move(cost));
    Cell share(PercentText(std::abs(entry.share)));
    share.number = entry.share;
    row.push_back(std::move(share));
    row.push_back(TimeCell(layer.times.front()));
    row.push_back(TimeCell(layer.times[entry.side]));
    row.push_back(layer.differences[entry.side] ? DifferenceCell(layer.differences[entry.side])
                                                : Cell(is_slower ? "from nothing" : "to nothing"));
    const std::string &before = layer.times.front().candidate, &after = layer.times[entry.side].candidate;
    row.emplace_back(before == after || before.empty() ? after : before + " -> " + after);
  }
  return section;
}

Section RankChanges(const ComparisonReport& report, std::size_t most) {
  Section section{"rank-changes",
                  "Where the slower one is faster",
                  "",
                  {{"faster in all", Align::kLeft, true},
                   {"than", Align::kLeft, true},
                   {"by"},
                   {"yet slower in", Align::kLeft, true},
                   {"and loses", Align::kRight},
                   {"there in all"}},
                  {}};
  const std::vector<RankChange>& changes = report.comparison.rank_changes;
  section.note = changes.empty()
                     ? "Nowhere, beyond noise: who is faster in all is slower in no layer."
                     : "Layers in which the side that is faster in all is the slower one, beyond noise, and what it "
                       "loses in them over all their uses.";
  for (const RankChange& change : changes) {
    if (most > 0 && section.rows.size() == most) {
      ++section.left_out;
      continue;
    }
    std::vector<Cell>& row = section.rows.emplace_back();
    row.emplace_back(report.sides[change.faster].label);
    row.emplace_back(report.sides[change.slower].label);
    Cell by(fmt::format("{:.3g} times as fast", 1 / change.overall));
    by.number = change.overall;
    row.push_back(std::move(by));
    std::string where = fmt::format("{} of {}", CountText(change.layers, "layer"), change.name);
    if (change.is_whole) where = "all of " + change.name;
    if (!change.cause.empty()) where += ", most in " + change.cause;
    row.emplace_back(where);
    row.push_back(LatencyCell(change.lost));
    row.push_back(DifferenceCell(change.here));
  }
  return section;
}

// Layers that a contract does not make faster, with what tells why.
Section NoGains(const ComparisonReport& report, std::size_t most) {
  const SideComparison& comparison = report.comparison;
  Section section{"no-gain",
                  "What does not get faster, and why",
                  "",
                  {{"side"},
                   {"layer", Align::kLeft, true},
                   {"uses", Align::kRight},
                   {"before", Align::kRight},
                   {"after", Align::kRight},
                   {"difference"},
                   {"why", Align::kLeft, true}},
                  {}};
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
  for (const Entry& entry : entries) {
    if (most > 0 && section.rows.size() == most) {
      ++section.left_out;
      continue;
    }
    std::vector<Cell>& row = section.rows.emplace_back();
    row.emplace_back(report.sides[entry.side].label);
    row.emplace_back(NameOf(*entry.layer));
    row.push_back(NumberCell(entry.layer->uses.size()));
    row.push_back(TimeCell(entry.layer->times.front()));
    row.push_back(TimeCell(entry.layer->times[entry.side]));
    row.push_back(DifferenceCell(entry.layer->differences[entry.side]));
    row.emplace_back(ReasonOfNoGain(entry.layer->times[entry.side], entry.layer->times.front(),
                                    *entry.layer->differences[entry.side]));
  }
  return section;
}

Section Findings(const ComparisonReport& report) {
  Section section{"findings", "What the runs show", "", {{"run", Align::kLeft, true}, {"finding"}}, {}};
  for (const TableColumn& column : {TableColumn{"gain", Align::kRight}, TableColumn{"evidence"}, TableColumn{"to do"}})
    section.columns.push_back(column);
  for (const ReportSide& side : report.sides) {
    for (const Finding& finding : side.findings) {
      std::vector<Cell>& row = section.rows.emplace_back();
      row.emplace_back(side.label);
      row.emplace_back(finding.kind);
      row.push_back(LatencyCell(finding.gain));
      row.emplace_back(finding.evidence);
      row.emplace_back(finding.action);
    }
  }
  return section;
}

Section Nodes(const ComparisonReport& report, std::size_t most) {
  const NodeTable& nodes = *report.nodes;
  Section section{"nodes", "Each node of the model", "", {{"node", Align::kLeft, true}, {"operator"}}, {}};
  section.note = "What each engine took for the row that stands for the node; (name): it ran within that row.";
  section.first_side = section.columns.size();
  for (const NodeColumn& column : nodes.columns) section.columns.push_back({column.source, Align::kRight});
  for (const NodeRow& node : nodes.rows) {
    if (most > 0 && section.rows.size() == most) {
      ++section.left_out;
      continue;
    }
    std::vector<Cell>& row = section.rows.emplace_back();
    row.emplace_back(node.name);
    row.emplace_back(node.op);
    for (const NodeCell& cell : node.cells)
      row.push_back(cell.within.empty() ? LatencyCell(cell.measured) : Cell("(" + cell.within + ")"));
  }
  return section;
}

Section Gaps(const ComparisonReport& report) {
  Section section{
      "gaps",
      "What is missing",
      "",
      {{"side", Align::kLeft, true}, {"model"}, {"layers", Align::kRight}, {"such as"}, {"why"}, {"fill it"}},
      {}};
  for (const SideGap& gap : report.gaps) {
    std::vector<Cell>& row = section.rows.emplace_back();
    row.emplace_back(report.sides[gap.side].label);
    row.emplace_back(gap.model);
    row.push_back(NumberCell(gap.layers));
    std::string examples;
    for (const std::string& example : gap.examples) examples += (examples.empty() ? "" : ", ") + example;
    row.emplace_back(examples);
    row.emplace_back(gap.reason);
    row.emplace_back(gap.command);
  }
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
