// The demonstrated run R: the best candidates that the store knows of a model's layers, really run one after the other
// on its weights, with the outputs compared.
//
//   ReplayOptions options{.model = "resnet50.onnx", .dims = {{"batch", 1}}};
//   Result<Replay> replay = ReplayModel(options, log);
//   replay->result.demonstrated()   // R, when replay->result.FirstFault() is absent
//
// Weights that the file lacks are random, seeded; expected outputs come from ONNX Runtime in the user's Python. A run
// whose numbers are right is kept in the store as a run of the framework "infimum-replay", where bounds find it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/bracket/bracket.h"
#include "infimum/db/store.h"
#include "infimum/graph/model_graph.h"
#include "infimum/graph/replay_schedule.h"
#include "src/app/processes/progress_log.h"
#include "src/app/runners/campaign.h"
#include "src/app/runners/installation.h"
#include "src/core/results/replay_result.h"
#include "src/planner/replay_planner.h"

namespace infimum {

inline constexpr std::string_view kReplayFramework = "infimum-replay";

struct ReplayOptions {
  std::filesystem::path model;
  std::map<std::string, std::int64_t> dims;
  std::string database = "infimum.db";
  // Backend and threads; `cache`: whose rows name the best candidates; `budget`: of measuring with weights from memory
  // what decides the bound, after a run that found them there.
  CampaignOptions campaign;
  std::optional<NumericContract> contract;
  std::string python;
  std::int64_t rounds = 3;
  bool regions = true;         // run what the fused bound runs as one as one
  std::filesystem::path keep;  // schedule and tensors are left in this folder; empty: nowhere
  // When it is ended if it has not done so by itself.
  std::optional<std::chrono::steady_clock::time_point> end = std::nullopt;
};

struct Replay {
  ReplaySchedule schedule;
  ReplayResult result;
};

// What the best plan of a bracket runs: a candidate for each layer, empty where none is known, and the regions that it
// runs as one.
struct ReplayPlan {
  ModelGraph graph;
  std::optional<NumericContract> selected;  // as in ModelUnder
  RunnerDescription here;
  Bracket bracket;
  std::vector<ReplayCandidate> candidates;
  std::vector<ReplayRegion> regions;
};

// From the store's rows; peaks, and reorders that the plan needs, are measured where they lack.
Result<ReplayPlan> PlanReplay(const ReplayOptions& options, const Installation& installation, Store& store,
                              ProgressLog& log);

ReplayCandidate ByName(const Candidate& candidate);

// Writes the schedule, has ONNX Runtime make the model's tensors, and runs it. `arguments` are more of the runner's:
// "--rounds", "3". An error where it could not be run; wrong numbers are in the result.
Result<ReplayResult> RunOnTensors(const Installation& installation, const ReplayOptions& options,
                                  const ReplaySchedule& schedule, const std::vector<std::string>& arguments,
                                  ProgressLog& log);

// Runs a plan. R, if the numbers are right, and the model are kept in the store.
Result<Replay> RunPlan(const ReplayOptions& options, const Installation& installation, const ReplayPlan& plan,
                       Store& store, ProgressLog& log);

// Both, and where R found its weights in memory, what decides the bound is measured so as well.
Result<Replay> ReplayModel(const ReplayOptions& options, ProgressLog& log);

// The schedule alone, as text, with no candidate named: for a machine that has a runner and its results and nothing
// else (infimum-microbench-cuda --replay FILE --results JOURNAL). With regions, the largest that can be replayed come
// first.
Result<std::string> ScheduleText(const ReplayOptions& options);

// What a stored replay says of itself; nullopt where it is of a version that did not.
std::optional<CompositionError> CompositionOf(const RunProfile& replay);

// Earlier replays of this model, on this device and with these threads, noisy ones apart. What each of them shows
// remains true, so a bound takes the fastest.
Result<std::vector<RunProfile>> StoredReplays(Store& store, const std::string& model_sha256, const DeviceKey& device,
                                              const std::map<std::string, std::int64_t>& dims, std::int64_t threads);

}  // namespace infimum
