#include "src/app/commands/bound/confirm.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "src/app/models/model_variant.h"
#include "src/app/processes/interrupt.h"
#include "src/planner/planner.h"
#include "src/readers/onnx/read_model.h"

namespace infimum {
namespace {

constexpr std::int64_t kFirstRepetitions = 8;
constexpr double kNormal95 = 1.96;

Plan PlanOf(const std::vector<Decider>& deciders) {
  std::vector<PlanEntry> entries;
  for (const Decider& decider : deciders) {
    // The store's own text; one that nothing can read would not have been a decider.
    Result<Workload> workload = ParseWorkload(decider.workload.text);
    if (workload.ok()) entries.push_back({*std::move(workload), decider.contract});
  }
  return EvenPlan(std::move(entries));
}

std::vector<std::string> CandidatesOf(const std::vector<Decider>& deciders) {
  std::set<std::string> names;
  for (const Decider& decider : deciders) names.insert(decider.candidates.begin(), decider.candidates.end());
  return {names.begin(), names.end()};
}

// Of the deciders' candidates the one that was repeated the least: campaigns do not add up, a longer one replaces it.
Result<std::int64_t> LeastRepetitions(const std::vector<Decider>& deciders, MeasurementSource& source,
                                      const Selection& selection) {
  std::vector<WorkloadKey> keys;
  std::map<WorkloadKey, const Decider*> by_key;
  for (const Decider& decider : deciders) {
    keys.push_back(decider.workload);
    by_key.emplace(decider.workload, &decider);
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Measurement> rows, source.Find(keys, selection));
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Measurement& row : rows) {
    if (row.outcome != Outcome::kMeasured || row.repetitions.empty()) continue;
    const auto found = by_key.find(row.workload);
    if (found == by_key.end()) continue;
    const std::vector<std::string>& names = found->second->candidates;
    if (std::ranges::find(names, row.candidate.name()) == names.end()) continue;
    least = std::min(least, static_cast<std::int64_t>(row.repetitions.size()));
  }
  return least == std::numeric_limits<std::int64_t>::max() ? 0 : least;
}

// 3 -> 4, 8 -> 16, 20 -> 32
std::int64_t DoubledPowerOfTwo(std::int64_t count) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(count)) * 2);
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
  // What no decider has alone its rounds have in common, and more rounds of all of them tell.
  const double half = (bound->interval.high - bound->interval.low).count() / 2;
  if (half - kNormal95 * std::sqrt(squares) - choices / 2 > wanted) return bracket.deciders;
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
  using SteadyTime = std::chrono::steady_clock;
  const auto start = SteadyTime::now();
  Confirmation done;
  INFIMUM_ASSIGN_OR_RETURN(ModelUnder under, ReadModelUnder(options.model, options.dims, options.contract));
  done.graph = std::move(under.graph);
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
  selection.contract = under.selected;

  const InterruptHold hold;  // what it found by then is shown
  std::int64_t last = 0;
  std::set<std::pair<WorkloadKey, std::int64_t>> tried;
  for (;;) {
    INFIMUM_ASSIGN_OR_RETURN(done.bracket, ComputeBracket(done.graph, *store, selection));
    done.width = IntervalWidth(done.bracket);
    if (!(done.bracket.coverage.measured > 0))
      return Error{
          fmt::format("{} has no row of this model in this environment; `infimum analyze {}` measures it first",
                      ShownAddress(options.database), options.model.string())};
    done.converged = done.width <= options.width;
    done.interrupted = Interrupted();
    const auto spent = std::chrono::duration_cast<std::chrono::seconds>(SteadyTime::now() - start);
    if (done.converged || done.interrupted || spent >= options.campaign.budget) return done;
    // None where all that is uncertain lies in bodies of control flow.
    std::vector<Decider> deciders = WorthConfirming(done.bracket, options.width);
    if (deciders.empty()) return done;
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t known, LeastRepetitions(deciders, *store, selection));
    const std::int64_t repetitions = std::max({kFirstRepetitions, DoubledPowerOfTwo(known), last});
    // Of what this run has repeated so often nothing more is to be had by it; the next power may help.
    std::erase_if(deciders,
                  [&](const Decider& decider) { return !tried.emplace(decider.workload, repetitions).second; });
    last = deciders.empty() ? 2 * repetitions : repetitions;
    if (last > options.repetitions) return done;
    if (deciders.empty()) continue;
    CampaignOptions campaign = options.campaign;
    campaign.budget = options.campaign.budget - spent;
    campaign.rounds = repetitions;
    campaign.candidates = CandidatesOf(deciders);
    talk.Say(fmt::format(
        "the interval is {:.1f} % of the bound: measuring {} of {} configurations again, {} repetitions each",
        100 * done.width, deciders.size(), done.bracket.deciders.size(), repetitions));
    INFIMUM_ASSIGN_OR_RETURN(const CampaignEnd end,
                             RunCampaign(installation, PlanOf(deciders), campaign, *store, talk));
    INFIMUM_RETURN_IF_ERROR(end.failure);
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
