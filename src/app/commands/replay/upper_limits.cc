#include "src/app/commands/replay/upper_limits.h"

#include <cmath>
#include <set>
#include <utility>

#include "analyzer/gap/run_latency.h"
#include "infimum/measurement/verdict.h"
#include "reports/effects/explanation.h"
#include "src/app/commands/replay/replay.h"
#include "src/app/models/run_conditions.h"

namespace infimum {
namespace {

// All but replays and explanations, which are runs of programs of ours.
Result<std::vector<RunProfile>> RunsOfFrameworks(Store& store, const std::string& model_sha256,
                                                 const Selection& selection, const Dims& dims) {
  INFIMUM_ASSIGN_OR_RETURN(std::vector<RunProfile> runs,
                           store.FindRuns(model_sha256, selection.device, dims, selection.threads, ""));
  std::erase_if(runs, [](const RunProfile& run) {
    return run.framework == kReplayFramework || run.framework == kExplainFramework;
  });
  return runs;
}

}  // namespace

std::optional<UpperLimit> LimitOf(const RunProfile& run, const Bracket& bracket) {
  std::vector<Repetition> repetitions = RepetitionsOf(run);
  if (!Keeps(run.contract, bracket.contract) || repetitions.empty()) return std::nullopt;
  const Latency took = PointValue(repetitions);
  for (Repetition& repetition : repetitions) bracket.pace.Hold(repetition);
  const Latency held = PointValue(repetitions);
  return UpperLimit{run.framework + " " + run.framework_version, held,
                    TypicalInterval(repetitions).value_or(BestSeenInterval(repetitions)),
                    std::abs(held / took - 1) >= Pace::kWorthSaying, repetitions.size()};
}

Result<std::optional<RunProfile>> FastestRun(Store& store, const std::string& model_sha256, const Selection& selection,
                                             const Dims& dims, const std::string& framework) {
  INFIMUM_ASSIGN_OR_RETURN(std::vector<RunProfile> runs,
                           store.FindRuns(model_sha256, selection.device, dims, selection.threads, framework));
  std::erase_if(runs, [](const RunProfile& run) { return !run.noisy.empty(); });
  if (runs.empty()) return std::optional<RunProfile>();
  std::size_t fastest = 0;
  std::optional<Latency> least = EndToEndOf(runs[0]);
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const bool is_like = runs[i].framework_version == runs[0].framework_version &&
                         runs[i].settings == runs[0].settings && runs[i].contract == runs[0].contract;
    const std::optional<Latency> time = is_like ? EndToEndOf(runs[i]) : std::nullopt;
    if (!time || (least && *time >= *least)) continue;
    least = time;
    fastest = i;
  }
  return std::optional<RunProfile>(std::move(runs[fastest]));
}

Result<std::optional<RunProfile>> FastestRun(Store& store, const std::string& model_sha256, const Selection& selection,
                                             const Dims& dims, const std::vector<std::string>& frameworks,
                                             NumericContract contract) {
  std::set<std::string> names(frameworks.begin(), frameworks.end());
  if (names.empty()) {
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<RunProfile> runs,
                             RunsOfFrameworks(store, model_sha256, selection, dims));
    for (const RunProfile& run : runs) names.insert(run.framework);
  }
  std::optional<RunProfile> fastest;
  const auto rank = [contract](const RunProfile& run) {
    return std::pair(!Keeps(run.contract, contract), EndToEndOf(run).value_or(Latency::max()));
  };
  for (const std::string& name : names) {
    INFIMUM_ASSIGN_OR_RETURN(std::optional<RunProfile> run, FastestRun(store, model_sha256, selection, dims, name));
    if (run && (!fastest || rank(*run) < rank(*fastest))) fastest = std::move(run);
  }
  return fastest;
}

Status HoldAgainstFrameworks(Store& store, const std::string& model_sha256, const Selection& selection,
                             const Dims& dims, Bracket& bracket) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<RunProfile> runs, RunsOfFrameworks(store, model_sha256, selection, dims));
  std::map<std::string, UpperLimit> limits;
  for (const RunProfile& run : runs) {
    std::optional<UpperLimit> limit = LimitOf(run, bracket);
    if (!limit) continue;
    const auto [known, is_new] = limits.try_emplace(limit->name, *limit);
    if (!is_new && limit->latency < known->second.latency) known->second = *std::move(limit);
  }
  for (auto& [name, limit] : limits) AddUpperLimit(std::move(limit), bracket);
  return {};
}

Status HoldAgainstReplays(Store& store, const ModelGraph& graph, const Selection& selection, const Dims& dims,
                          Bracket& bracket) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<RunProfile> replays,
                           StoredReplays(store, graph.sha256, selection.device, dims, selection.threads));
  std::optional<UpperLimit> limit;
  const RunProfile* fastest = nullptr;
  for (const RunProfile& replay : replays) {
    std::optional<UpperLimit> one = LimitOf(replay, bracket);
    if (!one || (limit && !(one->latency < limit->latency))) continue;
    limit = std::move(one);
    fastest = &replay;
  }
  if (!limit) return {};
  limit->name = kDemonstratedName;
  const Latency shown = limit->latency;
  bracket.demonstrated = limit->latency;
  bracket.composition = CompositionOf(*fastest);
  bracket.shown_loss = FindShownLoss(graph, bracket, *fastest, shown);
  AddUpperLimit(*std::move(limit), bracket);
  return {};
}

}  // namespace infimum
