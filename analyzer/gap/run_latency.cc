#include "analyzer/gap/run_latency.h"

#include <cmath>

#include "infimum/base/quantity_text.h"

namespace infimum {
std::vector<Repetition> RepetitionsOf(const RunProfile& run) {
  std::vector<Repetition> repetitions;
  if (!run.noisy.empty()) return repetitions;
  for (const RunRepetition& repetition : run.end_to_end)
    if (!repetition.samples.empty()) {
      repetitions.push_back(Summarize(repetition.samples));
      repetitions.back().beat = repetition.beat;
    }
  return repetitions;
}

void HoldTo(const Pace& pace, RunProfile& run) {
  const std::optional<Latency> before = EndToEndOf(run);
  for (RunRepetition& repetition : run.end_to_end) {
    const double factor = pace.FactorOf(repetition.beat);
    for (Latency& sample : repetition.samples) sample *= factor;
    repetition.beat.reset();
  }
  const std::optional<Latency> after = EndToEndOf(run);
  if (!before || !after || std::abs(*after / *before - 1) < Pace::kWorthSaying) return;
  run.warnings.push_back("held to the metronome: measured " + FormatLatency(*before) + ", at the pace of the layers " +
                         FormatLatency(*after));
}

std::optional<Latency> EndToEndOf(const RunProfile& run) {
  const std::vector<Repetition> repetitions = RepetitionsOf(run);
  if (repetitions.empty()) return std::nullopt;
  return PointValue(repetitions);
}

}  // namespace infimum
