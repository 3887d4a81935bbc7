// Counterfactual replay: what each choice of the best plan wins over a framework-like one, measured by switching it on
// and off in whole inferences within one process.
//
//   ExplainOptions options{.replay = {.model = "resnet50.onnx"}, .run = "resnet50.run.json"};
//   Result<Explanation> explanation = ExplainModel(options, talk);
//   explanation->effects.effects[3].value   // what the framework-like kernel of the fourth factor costs
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "reports/effects/explanation.h"
#include "src/app/commands/replay/replay.h"

namespace infimum {

struct ExplainOptions {
  ReplayOptions replay;
  std::filesystem::path run;              // what the framework ran; empty: the store's fastest run
  std::string framework = "onnxruntime";  // whose run the store is asked for
  bool heuristic = false;                 // level 1 by the libraries' own choices, whatever runs there are
  std::chrono::seconds budget{60};        // of timed inferences
  std::uint64_t seed = 1;                 // of the design
};

// An error where nothing can be switched, where numbers were wrong, or where the budget was too short for so many
// factors. What was found is kept in the store, as a run of the framework "infimum-explain".
Result<Explanation> ExplainModel(const ExplainOptions& options, Talk& talk);

}  // namespace infimum
