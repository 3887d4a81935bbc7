#include <algorithm>
#include <cmath>
#include <map>

#include "analyzer/findings/engine_layers.h"
#include "analyzer/findings/rules.h"
#include "analyzer/gap/precision.h"
#include "analyzer/types/disjoint_sets.h"
#include "infimum/base/quantity_text.h"

namespace infimum {
namespace {

// A layer's time varies by as much from run to run.
constexpr double kNoise = 0.05;

// Layers that both runs time in whole rows: the rows of either side that share layers belong together.
struct Group {
  std::vector<LayerId> layers;
  Latency wide{0}, narrow{0};
  bool seen_wide = false, seen_narrow = false;
};

std::vector<Group> GroupsOf(const ModelGraph& graph, const std::vector<ComparedRow>& wide,
                            const std::vector<ComparedRow>& narrow) {
  DisjointSets sets(graph.layers.size());
  for (const auto* rows : {&wide, &narrow})
    for (const ComparedRow& row : *rows)
      for (const LayerId layer : row.layers) sets.Join(row.layers.front().index(), layer.index());
  std::map<std::size_t, Group> groups;
  for (const ComparedRow& row : wide) {
    if (row.layers.empty() || !row.measured) continue;
    Group& group = groups[sets.Find(row.layers.front().index())];
    group.wide += *row.measured;
    group.seen_wide = true;
    group.layers.insert(group.layers.end(), row.layers.begin(), row.layers.end());
  }
  for (const ComparedRow& row : narrow) {
    if (row.layers.empty() || !row.measured) continue;
    Group& group = groups[sets.Find(row.layers.front().index())];
    group.narrow += *row.measured;
    group.seen_narrow = true;
  }
  std::vector<Group> both;
  for (auto& [root, group] : groups)
    if (group.seen_wide && group.seen_narrow) both.push_back(std::move(group));
  return both;
}

// Casts, reformats, conversions of weights: of no layer of the model.
Latency EngineOnly(const std::vector<ComparedRow>& rows) {
  Latency sum{0};
  for (const ComparedRow& row : rows)
    if (row.layers.empty()) sum += row.measured.value_or(Latency(0));
  return sum;
}

// The engine's kernel or layer that takes most of a group.
std::string EngineOf(const RunProfile& run, const std::vector<ComparedRow>& rows, const std::vector<LayerId>& layers) {
  std::vector<std::size_t> of_group;
  for (const ComparedRow& row : rows)
    if (!row.layers.empty() && std::ranges::find(layers, row.layers.front()) != layers.end())
      of_group.insert(of_group.end(), row.engine_layers.begin(), row.engine_layers.end());
  const ProfiledLayer* longest = LongestLayer(run, of_group);
  return longest == nullptr ? "" : findings::KernelOrName(*longest);
}

std::string MoreOrLess(Latency latency) {
  return FormatLatency(latency.count() < 0 ? -latency : latency) + (latency.count() < 0 ? " less" : " more");
}

}  // namespace

bool IsNarrower(const RunProfile& run, const std::vector<ComparedRow>& rows, const RunProfile& other,
                const std::vector<ComparedRow>& other_rows) {
  const std::size_t width = WidthOf(run, rows), others = WidthOf(other, other_rows);
  return width > 0 && others > 0 && width < others;
}

std::optional<Finding> PrecisionThatDoesNotPay(const ModelGraph& graph, const RunProfile& wide,
                                               const std::vector<ComparedRow>& wide_rows, const RunProfile& narrow,
                                               const std::vector<ComparedRow>& narrow_rows) {
  std::vector<Group> losing;
  Latency won{0}, lost{0};
  std::size_t winners = 0, even = 0;
  for (Group& group : GroupsOf(graph, wide_rows, narrow_rows)) {
    if (group.narrow > group.wide * (1 + kNoise)) {
      lost += group.narrow - group.wide;
      losing.push_back(std::move(group));
    } else if (group.narrow < group.wide * (1 - kNoise)) {
      won += group.wide - group.narrow;
      ++winners;
    } else {
      ++even;
    }
  }
  const Latency own = EngineOnly(narrow_rows) - EngineOnly(wide_rows);
  const Latency cost = lost + std::max(own, Latency(0));
  if (cost < findings::TimeOf(wide) * findings::kLeastShare) return std::nullopt;
  std::stable_sort(losing.begin(), losing.end(),
                   [](const Group& a, const Group& b) { return a.narrow - a.wide > b.narrow - b.wide; });
  const Latency net = findings::TimeOf(wide) - findings::TimeOf(narrow);
  const std::string wide_name = wide.contract.empty() ? "the wider run" : wide.contract;
  const std::string narrow_name = narrow.contract.empty() ? "the narrower run" : narrow.contract;
  Finding finding;
  finding.kind = net.count() > 0 ? findings::kLowPrecisionLosses : findings::kLowPrecisionDoesNotPay;
  finding.gain = cost;
  finding.overlaps = true;
  finding.held_against = "in " + wide_name;
  for (std::size_t i = 0; i < std::min<std::size_t>(losing.size(), 5); ++i) {
    const std::string& name = graph.layer(MainLayer(graph, losing[i].layers)).name;
    finding.layers.push_back(name);
    finding.cases.push_back({name, EngineOf(narrow, narrow_rows, losing[i].layers), losing[i].narrow, losing[i].wide,
                             EngineOf(wide, wide_rows, losing[i].layers), ""});
  }
  finding.evidence = narrow_name + " against " + wide_name + ": " + std::to_string(winners) + " rows win " +
                     FormatLatency(won) + ", " + std::to_string(losing.size()) + " lose " + FormatLatency(lost) + ", " +
                     std::to_string(even) + " are within " + std::to_string(std::lround(100 * kNoise)) +
                     " %; what is no layer of the model (casts, reformats, conversions of weights) takes " +
                     MoreOrLess(own) + "; in all it " +
                     (net.count() >= 0 ? "wins " + FormatLatency(net) : "loses " + FormatLatency(-net));
  if (!finding.cases.empty())
    finding.evidence += "; " + finding.cases.front().layer + " takes " + FormatLatency(finding.cases.front().measured) +
                        " instead of " + FormatLatency(*finding.cases.front().best);
  const std::size_t computed = ComputedWidth(narrow, narrow_rows);
  if (net.count() <= 0 && computed > 0 && computed >= ComputedWidth(wide, wide_rows))
    finding.action = "the engine computes most of this model in the wider type and adds conversions: run " + wide_name +
                     " here, or an engine with kernels for " + narrow_name;
  else if (own > lost)
    finding.action =
        "keep the values in one precision and layout between the layers that gain, so that fewer are converted: "
        "the conversions cost more than the layers that lose";
  else
    finding.action =
        "keep the layers named here in the wider precision, together with the layers between them, so that "
        "conversions do not cost more than the gain";
  return finding;
}

}  // namespace infimum
