#include "src/app/runners/transform_times.h"

#include <fmt/format.h>

#include <chrono>
#include <set>

#include "src/app/processes/interrupt.h"
#include "src/planner/planner.h"

namespace infimum {
namespace {

constexpr int kMostRounds = 8;

Plan PlanOf(const std::vector<Workload>& reorders) {
  std::vector<PlanEntry> entries;
  for (const Workload& reorder : reorders) entries.push_back({reorder, NativeContract(reorder)});
  return EvenPlan(std::move(entries));
}

}  // namespace

Result<Bracket> WithTransformTimes(const Installation& installation, const ModelGraph& graph, Store& store,
                                   const Selection& selection, const BracketOptions& options,
                                   const CampaignOptions& campaign, ProgressLog& log) {
  using SteadyTime = std::chrono::steady_clock;
  const auto start = SteadyTime::now();
  INFIMUM_ASSIGN_OR_RETURN(Bracket bracket, ComputeBracket(graph, store, selection, options));
  std::set<WorkloadKey> tried;
  for (int round = 0; round < kMostRounds && bracket.layouts && !Interrupted(); ++round) {
    std::vector<Workload> reorders = ReordersToMeasure(*bracket.layouts);
    // What could not be measured is not asked for again.
    std::erase_if(reorders, [&](const Workload& reorder) { return !tried.insert(KeyOf(reorder)).second; });
    const auto spent = std::chrono::duration_cast<std::chrono::seconds>(SteadyTime::now() - start);
    if (reorders.empty() || spent >= campaign.budget) break;
    CampaignOptions rest = campaign;
    rest.budget = campaign.budget - spent;
    log.Say(fmt::format("measuring {} reorder{}", reorders.size(), reorders.size() == 1 ? "" : "s"));
    INFIMUM_ASSIGN_OR_RETURN(const CampaignEnd end, RunCampaign(installation, PlanOf(reorders), rest, store, log));
    INFIMUM_RETURN_IF_ERROR(end.failure);
    INFIMUM_ASSIGN_OR_RETURN(bracket, ComputeBracket(graph, store, selection, options));
    if (end.interrupted || end.budget_spent) break;
  }
  return bracket;
}

}  // namespace infimum
