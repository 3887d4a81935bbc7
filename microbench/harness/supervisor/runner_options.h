// The command line of a runner, parsed and checked.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/measurement/plan.h"
#include "microbench/harness/supervisor/run_campaign.h"
#include "microbench/harness/worker/worker.h"

namespace infimum {

enum class RunnerAction { kRun, kList, kDryRun, kReplay };

struct RunnerOptions {
  RunnerAction action = RunnerAction::kRun;
  std::optional<std::string> plan_path;  // "-": standard input
  std::optional<std::string> layer;      // a workload's text, in place of a plan
  std::optional<NumericContract> contract;
  std::optional<Shard> shard;
  std::string replay;                // kReplay: the schedule's file
  std::string tensors;               // kReplay: the folder that the schedule's tensors are in; empty: random ones
  std::vector<std::string> results;  // kReplay: journals whose fastest rows run the steps
  std::string output = "-";
  bool list_json = false;        // kList: lines of JSON (candidate_list.h), not of text
  std::string format = "jsonl";  // or "google-benchmark"
  MeasuringOptions campaign;
  WorkerSetup worker;
  std::string affinity;  // for Environment: "pinned", "pinned:0,2" where the user chose
  int progress_descriptor = -1;
  bool quiet = false;
  bool verbose = false;
};

// Nothing to run: help or version was asked for, or the command line is wrong.
struct EarlyExit {
  int code = 0;
  std::string output;  // for standard output (code 0) or standard error
};

std::variant<RunnerOptions, EarlyExit> ParseRunnerOptions(int argc, const char* const* argv, std::string_view backend,
                                                          const RunnerTraits& traits = {});

// The plan that the options name, read and parsed.
Result<Plan> ReadPlanOf(const RunnerOptions& options);

}  // namespace infimum
