// All repetitions of a replay, each in a fresh worker process, and their output.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "microbench/harness/worker/worker.h"
#include "src/core/results/replay_result.h"

namespace infimum {

struct ReplaySession {
  std::string schedule;
  std::string tensors;               // empty: random ones
  std::vector<std::string> results;  // journals that name what runs the steps
  std::int64_t rounds = 3;
  Clock::Duration budget = std::chrono::milliseconds(200);
  Clock::Duration design_budget = std::chrono::minutes(1);  // of a schedule with factors
  // Of all repetitions of one without: no other begins where less is left than the one before took.
  std::optional<Clock::Duration> most = std::nullopt;
};

struct ReplayTools {
  Worker& worker;
  std::function<void(std::int64_t done, std::int64_t rounds)> progress;
  const Clock& clock;
};

// The numbers are checked in the first repetition; where they are wrong, no other follows. A schedule with factors is
// run once: its levels are compared within one process.
Result<ReplayResult> RunReplaySession(const ReplaySession& session, const ReplayTools& tools);

// "-" is standard output.
Status WriteReplay(const ReplayResult& result, const std::string& path);

// "R 41.2 ms, sum of its 130 parts alone 36.1 ms warm, 39.8 ms with cold weights (in the loop 40.9 ms): composition
// error 1.035 (cold-weights); 8 are changes of layout, 0.4 ms"; of a schedule with factors "R 41.2 ms, and 760
// inferences after its design"
std::string DescribeReplay(const ReplayResult& result);

}  // namespace infimum
