// Counterfactual replay: what each choice of the best plan wins over a framework-like one, measured by switching it on
// and off in whole inferences within one process.
//
//   ExplainOptions options{.replay = {.model = "resnet50.onnx"}, .run = "resnet50.run.json"};
//   Result<Explanation> explanation = ExplainModel(options, log);
//   explanation->effects.effects[3].value   // what the framework-like kernel of the fourth factor costs
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "infimum/graph/run_profile.h"
#include "reports/effects/explanation.h"
#include "src/app/commands/replay/replay.h"

namespace infimum {

struct ExplainOptions {
  ReplayOptions replay;
  std::filesystem::path run;              // what the framework ran; empty: the store's fastest run
  std::string framework = "onnxruntime";  // whose run the store is asked for
  bool rivals = false;                    // level 1 by the plan's next best candidates, of no framework
  bool heuristic = false;                 // level 1 by the libraries' own choices, whatever runs there are
  std::string switches;                   // a framework, whose own switches are switched (switches.h); empty: none
  std::string module;                     // of PyTorch, as in FrameworkOptions
  std::chrono::seconds budget{60};        // of timed inferences
  std::uint64_t seed = 1;                 // of the design
};

// An error where nothing can be switched, where numbers were wrong, or where the budget was too short for so many
// factors. What was found is kept in the store, as a run of the framework "infimum-explain".
Result<Explanation> ExplainModel(const ExplainOptions& options, ProgressLog& log);

// What both kinds of experiment share.

// As many replicates as may be run within the budget, and some more.
std::size_t ReplicatesFor(std::size_t factors, Latency inference, std::chrono::seconds budget);

// From the times of a design's first runs, and what the metronome said before each; those that follow were not timed.
Status EstimateFrom(const std::vector<DesignRun>& design, std::vector<std::optional<Latency>> times,
                    const std::vector<Beat>& beats, Explanation& explanation);

// Level 0 is a program that ran; the effects are its settings. Of the model and the device the rest is known to others.
RunProfile ExplainedRun(const Explanation& explanation, const ExplainOptions& options,
                        std::vector<RunRepetition> level0);

}  // namespace infimum
