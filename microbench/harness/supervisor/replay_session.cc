#include "microbench/harness/supervisor/replay_session.h"

#include <cstdio>
#include <iostream>

#include "infimum/base/file_text.h"
#include "infimum/base/quantity_text.h"

namespace infimum {
namespace {

// Weights are read and packed, and every step is compared with a slow reference.
constexpr auto kTimeLimit = std::chrono::minutes(20);

Result<ReplayResult> RunOne(const ReplaySession& session, std::int64_t round, Worker& worker) {
  INFIMUM_RETURN_IF_ERROR(worker.Start(round));
  const WorkerReply reply = worker.Ask(ReplayRequest{session.schedule, session.tensors, session.results, round == 0,
                                                     session.budget, session.design_budget},
                                       session.design_budget + kTimeLimit);
  if (const auto* loss = std::get_if<WorkerLoss>(&reply)) return Error{"the replay failed: " + loss->reason};
  const auto& answer = std::get<WorkerAnswer>(reply);
  if (const auto* error = std::get_if<Error>(&answer)) return *error;
  if (const auto* result = std::get_if<ReplayResult>(&answer)) return *result;
  return Error{"the replay failed: unexpected answer from the worker"};
}

}  // namespace

Result<ReplayResult> RunReplaySession(const ReplaySession& session, const ReplayTools& tools) {
  std::optional<ReplayResult> all;
  const Clock::Duration start = tools.clock.Now();
  Clock::Duration took{0};
  for (std::int64_t round = 0; round < session.rounds; ++round) {
    const Clock::Duration begin = tools.clock.Now();
    if (all && session.most && begin - start + took > *session.most) break;
    tools.progress(round, session.rounds);
    INFIMUM_ASSIGN_OR_RETURN(ReplayResult one, RunOne(session, round, tools.worker));
    took = tools.clock.Now() - begin;
    if (!all) {
      all = std::move(one);
      if (all->FirstFault() || !all->inferences.empty()) break;
      continue;
    }
    INFIMUM_ASSIGN_OR_RETURN(all, Joined(*std::move(all), one));
  }
  if (!all) return Error{"--rounds must be 1 or more"};
  return *std::move(all);
}

Status WriteReplay(const ReplayResult& result, const std::string& path) {
  const std::string text = FormatReplayResult(result);
  if (path == "-") {
    std::cout << text << std::flush;
    return std::cout ? Status() : Status(Error{"standard output: writing failed"});
  }
  return WriteFile(path, text);
}

std::string DescribeReplay(const ReplayResult& result) {
  if (!result.inferences.empty()) {
    return "R " + FormatLatency(result.demonstrated()) + ", and " + std::to_string(result.inferences.size()) +
           " inferences after its design";
  }
  std::size_t reorders = 0;
  Latency reordering{0};
  for (const ReplayPart& part : result.parts) {
    if (!part.is_reorder) continue;
    ++reorders;
    reordering += part.alone;
  }
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "%.3f", result.composition_error());
  return "R " + FormatLatency(result.demonstrated()) + ", sum of its " + std::to_string(result.parts.size()) +
         " parts alone " + FormatLatency(result.sum_alone(CacheState::kWarm)) + " warm, " +
         FormatLatency(result.sum_alone(CacheState::kColdWeights)) + " with cold weights (in the loop " +
         FormatLatency(result.sum_in_loop()) + "): composition error " + ratio + " (" +
         std::string(Name(result.cache_of_weights())) + "); " + std::to_string(reorders) + " are reorders, " +
         FormatLatency(reordering);
}

}  // namespace infimum
