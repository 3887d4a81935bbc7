#include <algorithm>

#include "analyzer/findings/rules.h"
#include "analyzer/findings/run_rows.h"
#include "infimum/base/quantity_text.h"

namespace infimum::findings {
namespace {

// A row's time varies by as much from run to run.
constexpr double kNoise = 0.05;

}  // namespace

std::vector<Finding> UnderBound(const RunFacts& facts, const LayerClaims&) {
  if (!facts.waterfall.bound || !facts.is_alike) return {};
  std::vector<std::size_t> rows;
  Latency below{0};
  for (std::size_t r = 0; r < facts.waterfall.rows.size(); ++r) {
    const ComparedRow& row = facts.waterfall.rows[r];
    if (row.layers.empty() || !row.measured || !row.best) continue;
    // Alone with warm caches a layer takes no more than in a model: compared with its time alone.
    Latency least = *row.best;
    if (row.layers.size() == 1 && facts.bracket.layers[row.layers.front().index()].interval)
      least = std::min(least, facts.bracket.layers[row.layers.front().index()].interval->low);
    if (*row.measured >= least * (1 - kNoise)) continue;
    below += *row.best - *row.measured;
    rows.push_back(r);
  }
  if (below < facts.waterfall.measured * kLeastShare) return {};
  std::stable_sort(rows.begin(), rows.end(), [&facts](std::size_t a, std::size_t b) {
    const auto gap = [&facts](std::size_t r) {
      return *facts.waterfall.rows[r].best - *facts.waterfall.rows[r].measured;
    };
    return gap(a) > gap(b);
  });
  Finding finding;
  finding.kind = kUnderBound;
  for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), 5); ++i) {
    finding.cases.push_back(CaseOf(facts, rows[i]));
    finding.layers.push_back(finding.cases.back().layer);
  }
  finding.evidence =
      std::to_string(rows.size()) +
      (rows.size() == 1 ? " row is faster than its best candidate" : " rows are faster than their best candidates") +
      ", by " + FormatLatency(below) +
      " in all: the engine has kernels that were not measured, or skips "
      "work, and the bound is too high there; " +
      CaseText(finding.cases.front());
  finding.action =
      "nothing to change in the run; `infimum bound --observed` counts the engine's own kernels as candidates, and "
      "`infimum confirm` measures again what decides the bound";
  return {std::move(finding)};
}

}  // namespace infimum::findings
