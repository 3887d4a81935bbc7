#include "infimum/workflow/confirm.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "infimum/onnx/read_model.h"
#include "infimum/workflow/interrupt.h"

namespace infimum {
namespace {

constexpr std::int64_t kFirstRepetitions = 8;
constexpr double kNormal95 = 1.96;

Plan PlanOf(const std::vector<Decider>& deciders) {
  Plan plan;
  for (const Decider& decider : deciders) {
    // The store's own text; one that nothing can read would not have been a decider.
    Result<Workload> workload = ParseWorkload(decider.workload.text);
    if (!workload.ok()) continue;
    PlanEntry entry;
    entry.workload = *std::move(workload);
    entry.contract = decider.contract;
    plan.entries.push_back(std::move(entry));
  }
  for (PlanEntry& entry : plan.entries) entry.share = 1.0 / static_cast<double>(plan.entries.size());
  return plan;
}

std::vector<std::string> CandidatesOf(const std::vector<Decider>& deciders) {
  std::set<std::string> names;
  for (const Decider& decider : deciders) names.insert(decider.candidates.begin(), decider.candidates.end());
  return {names.begin(), names.end()};
}

}  // namespace

double IntervalWidth(const Bracket& bracket) {
  const Bound* bound = bracket.Find(BoundVariant::kFusedSequential);
  if (bound == nullptr || !(bound->latency > Latency(0))) return 0;
  return (bound->interval.high - bound->interval.low) / bound->latency;
}

std::vector<Decider> WorthConfirming(const Bracket& bracket, double width) {
  const Bound* bound = bracket.Find(BoundVariant::kFusedSequential);
  if (bound == nullptr) return {};
  const double wanted = width * bound->latency.count() / 2;
  double squares = 0, choices = 0;
  for (const Decider& decider : bracket.deciders) {
    squares += decider.deviation.count() * decider.deviation.count();
    choices += decider.choice.count();
  }
  std::vector<Decider> worth;
  for (const Decider& decider : bracket.deciders) {
    if (kNormal95 * std::sqrt(std::max(squares, 0.0)) + choices / 2 <= wanted / 4) break;
    worth.push_back(decider);
    squares -= decider.deviation.count() * decider.deviation.count();
    choices -= decider.choice.count();
  }
  return worth;
}

Result<Confirmation> Confirm(const ConfirmOptions& options, Talk& talk) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  Confirmation done;
  INFIMUM_ASSIGN_OR_RETURN(done.graph, ReadModel(options.model, ReadOptions{options.dims}));
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  if (!StoreExists(options.database))
    return Error{fmt::format("{}: no such store; `infimum analyze {}` measures and makes one",
                             ShownAddress(options.database), options.model.string())};
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadWrite));
  INFIMUM_ASSIGN_OR_RETURN(const RunnerDescription here, DescribeRunner(installation, options.campaign));
  Selection selection;
  selection.device = here.device.Key();
  selection.environment = here.environment.Key();
  selection.threads = options.campaign.threads;
  selection.cache = options.campaign.cache;
  selection.contract = options.contract;

  for (std::int64_t repetitions = kFirstRepetitions;; repetitions *= 2) {
    INFIMUM_ASSIGN_OR_RETURN(done.bracket, ComputeBracket(done.graph, *store, selection));
    done.width = IntervalWidth(done.bracket);
    if (done.bracket.deciders.empty())
      return Error{
          fmt::format("{} has no row of this model in this environment; `infimum analyze {}` measures it first",
                      ShownAddress(options.database), options.model.string())};
    done.converged = done.width <= options.width;
    done.interrupted = Interrupted();
    if (done.converged || done.interrupted || repetitions > options.repetitions) return done;
    const auto spent = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start);
    if (spent >= options.campaign.budget) return done;
    const std::vector<Decider> deciders = WorthConfirming(done.bracket, options.width);
    CampaignOptions campaign = options.campaign;
    campaign.budget = options.campaign.budget - spent;
    campaign.rounds = repetitions;
    campaign.candidates = CandidatesOf(deciders);
    talk.Say(fmt::format("the interval is {:.1f} % of the bound: {} of {} configurations again, {} repetitions each",
                         100 * done.width, deciders.size(), done.bracket.deciders.size(), repetitions));
    INFIMUM_ASSIGN_OR_RETURN(const CampaignEnd end,
                             RunCampaign(installation, PlanOf(deciders), campaign, *store, talk));
    if (end.interrupted || end.budget_spent) {
      INFIMUM_ASSIGN_OR_RETURN(done.bracket, ComputeBracket(done.graph, *store, selection));
      done.width = IntervalWidth(done.bracket);
      done.converged = done.width <= options.width;
      done.interrupted = end.interrupted;
      return done;
    }
  }
}

}  // namespace infimum
