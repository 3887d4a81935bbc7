#include "analyzer/gap/run_latency.h"

namespace infimum {

std::vector<Repetition> RepetitionsOf(const RunProfile& run) {
  std::vector<Repetition> repetitions;
  if (!run.noisy.empty()) return repetitions;
  for (const RunRepetition& repetition : run.end_to_end)
    if (!repetition.samples.empty()) repetitions.push_back(Summarize(repetition.samples));
  return repetitions;
}

std::optional<Latency> EndToEndOf(const RunProfile& run) {
  const std::vector<Repetition> repetitions = RepetitionsOf(run);
  if (repetitions.empty()) return std::nullopt;
  return PointValue(repetitions);
}

}  // namespace infimum
