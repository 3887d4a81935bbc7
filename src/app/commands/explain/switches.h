// What each of a framework's own switches wins: an optimization, a layout, a memory plan, on as a program gets it and
// off, in whole inferences of that framework within one process.
//
//   ExplainOptions options{.replay = {.model = "resnet50.onnx"}, .switches = "onnxruntime"};
//   Result<Explanation> explanation = ExplainSwitches(options, log);
//   explanation->factors[1].name               // "NCHWc layout"
//   explanation->effects.effects[1].value      // what an inference takes longer without it
//
// The framework's script (scripts/frameworks/explain_<framework>.py) names the switches that change anything for the
// model, and times the runs of a design of them.
#pragma once

#include "src/app/commands/explain/explain.h"

namespace infimum {

// At once in one process: a session for each combination of levels, that is 64 settings of a design and both ends.
inline constexpr std::size_t kMostPrograms = 64;

// Replicates of a design whose settings are at most so many: of more than six factors all replicates are the first one.
std::vector<DesignRun> DesignOfSwitches(std::size_t factors, std::size_t replicates, std::uint64_t seed);

struct SwitchedRun {
  Explanation explanation;
  RunRepetition level0;  // the timed inferences with nothing off
  std::string noisy;     // as in RunProfile
};
// Without a store or a device.
Result<SwitchedRun> RunSwitches(const Installation& installation, const ExplainOptions& options, ProgressLog& log);

// Kept in the store, as ExplainModel does.
Result<Explanation> ExplainSwitches(const ExplainOptions& options, ProgressLog& log);

}  // namespace infimum
