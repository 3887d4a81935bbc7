// From a measured time down to the bound and the floor, in signed steps that add up exactly: where each microsecond of
// the gap goes (README.md).
//
//   measured                 23.10 ms   onnxruntime, end to end, without a profiler
//     host-gaps               0.35        outside the layers
//     algorithm-regret        2.10        kernels slower than the best one known for the same work
//     missed-fusion           0.90        layers run apart that run faster as one
//     layout-changes          0.45        reorders, reformats, copies, casts
//     missed-parallelism      0.00        independent layers run one after the other
//     precision               0.00        wider arithmetic than the contract asks for
//     unexplained            -0.05        what could not be matched, has no bound, or differs between two runs
//     composition             0.75        kernels in the model slower than alone (a demonstrated run says so)
//   bound                    18.60        fused-parallel
//     above-floor            14.70        to the dense-read floor
//   floor                     3.90
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/gap/run_vs_best.h"

namespace infimum {

enum class GapCause {
  kHostGaps,           // "host-gaps": the device, or the layers of a processor's run, had nothing to do
  kAlgorithmRegret,    // "algorithm-regret"
  kMissedFusion,       // "missed-fusion"
  kLayoutChanges,      // "layout-changes"
  kMissedParallelism,  // "missed-parallelism": less what the run does at once
  kPrecision,          // "precision"
  kUnexplained,        // "unexplained"
  kComposition,        // "composition": R over its parts; only where a run was demonstrated
  kAboveFloor,         // "above-floor"
};
std::string_view Name(GapCause cause);

// What a step is made of: a row, a group of rows that would run as one, or a cause that is no layer's.
struct GapPart {
  std::string name;  // the main layer's, the engine layer's, or in words: "outside the layers"
  Latency latency{0};
  std::vector<std::size_t> rows;  // indices into Waterfall::rows
};

struct GapStep {
  GapCause cause = GapCause::kUnexplained;
  Latency latency{0};
  std::vector<GapPart> parts;  // the largest first, by size; they add up to the step
};

// What the time at the top is.
enum class MeasuredBy {
  kEndToEnd,  // "end-to-end": the point value of runs without a profiler
  kProfiled,  // "profiled": the median inference under the profiler, since no other is known
  kLayers,    // "layers": the sum of the layers, and of what the device idled
};
std::string_view Name(MeasuredBy by);

struct Waterfall {
  Latency measured{0};
  MeasuredBy measured_by = MeasuredBy::kEndToEnd;
  std::vector<GapStep> steps;  // in the order of GapCause; of no length are left out, but for unexplained
  std::optional<Latency> bound;
  BoundVariant variant = BoundVariant::kFusedParallel;  // of the bound
  std::optional<Latency> demonstrated;
  Latency floor{0};
  // What a layer takes in the model over what it takes alone: R over the bound of what it ran, 1 without R. The steps
  // count the best times so.
  double in_context = 1;
  // Of what is unexplained: the run that was measured against the layers' medians and what is between them. Large
  // where other work disturbed a run.
  Latency scatter{0};
  // Of an accelerator's run, where its profile reports it: what it idled in the run that was measured. A profiler slows
  // the host, so that a run without one that is shorter idles less.
  std::optional<DeviceIdle> idle;
  std::vector<ComparedRow> rows;
  // Of rows: what is computed in wider arithmetic than the bracket's contract has it.
  std::vector<bool> is_wider;

  // Whether that is over a tenth: then the gap, and what its steps say, is not to be believed before it was measured
  // again.
  bool DisagreesWithItself() const;

  const GapStep* Find(GapCause cause) const;
  Latency Of(GapCause cause) const;  // 0 where there is none
};

struct WaterfallInput {
  const ModelGraph& graph;
  const Bracket& bracket;      // under the contract that is wanted
  const RunProfile& run;       // with layers
  const Alignment& alignment;  // AlignRun(graph, run)
  // The bracket of the same layers in the wider arithmetic that some rows ran in: shows what of them is the
  // algorithm's. Null: not known, then all that such rows take above their best is precision.
  const Bracket* as_run = nullptr;
};

// A device's floor of 0 means that nothing is known of it.
Waterfall MakeWaterfall(const WaterfallInput& input);

}  // namespace infimum
