// The result: a bracket around the best possible latency, never a bare number.
//
//   floor(class) <= T*(class) <= U = min(R, every measured T that meets the contract)
//   F1: the best known kernels added up, which predicts R
//
// Each bound is a value with its variant, its assumption tags, its interval and its coverage.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/bounds/variants.h"
#include "analyzer/bracket/not_tried.h"
#include "analyzer/bracket/shown_loss.h"
#include "analyzer/bracket/what_if.h"
#include "analyzer/estimate/estimate.h"
#include "analyzer/floor/floor.h"
#include "analyzer/rows/pace.h"
#include "analyzer/types/layer_time.h"
#include "analyzer/types/layout_plan.h"
#include "infimum/graph/fusable_regions.h"
#include "infimum/measurement/measurement_source.h"

namespace infimum {

struct BracketOptions {
  // Which fusable regions may take part; absent: all.
  std::function<bool(const FusableRegion&)> takes;
  std::vector<ObservedNode> observed;  // of a profiled run: they count in best-known-or-observed alone, as such rows do
  std::vector<WhatIf> what_ifs;
};

// A run that really happened and meets the contract: T* is no larger.
inline constexpr std::string_view kDemonstratedName = "demonstrated";  // R
struct UpperLimit {
  std::string name;  // "onnxruntime 1.31.1", kDemonstratedName
  Latency latency{0};
  Interval interval;
  bool is_held = false;         // to the metronome: it took another time, at another pace than the rows
  std::size_t repetitions = 0;  // processes; 0: not known
};

// R over the sum of the parts that it ran, each of them alone: what of R no row explains. In a whole model weights are
// where the inference before left them, so that sum is between the one with all caches warm and the one with weights
// from memory, as far along as the caches keep what an inference goes through:
//
//   {1.39, 1.08, 0.55}.value()   // 1 / (0.55 / 1.39 + 0.45 / 1.08) = 1.23
struct CompositionError {
  double warm = 0;            // R over the sum with all caches warm
  double cold_weights = 0;    // R over the sum with weights from memory
  double resident_share = 1;  // of what an inference goes through, as if so much stayed near the core; 0 to 1
  double value() const { return 1 / (resident_share / warm + (1 - resident_share) / cold_weights); }

  friend bool operator==(const CompositionError&, const CompositionError&) = default;
};

// A bound above an upper limit: some kernel of that run is not among our candidates, or one of the two was mismeasured.
// The dense-read floor above one: a rate is higher than was ever seen, or that run skips weights or compresses them.
inline constexpr std::string_view kFloorName = "floor";
struct Inversion {
  std::string bound;             // "fused-sequential", the name of a variant; "floor"
  std::string name;              // of the upper limit
  Latency excess{0};             // of the bound over it
  bool is_beyond_noise = false;  // their intervals do not meet
};
// Rows of one device and one set of libraries that were measured on several hosts: no single machine showed all of
// them.
struct SeveralHosts {
  std::size_t count = 0;
  std::set<std::string> clock_policies;      // those that are known; more than one: their clocks differ
  std::optional<ClockRange> highest_clocks;  // of the slowest and the fastest host, where these are far apart
  bool clocks_differ() const { return clock_policies.size() > 1 || highest_clocks.has_value(); }
};

// Of a bracket in context: how near an inference leaves the weights, and of how many it was measured what it costs
// where they are not.
struct ModelContext {
  double working_set = 0;  // bytes that one inference goes through
  double constants = 0;    // bytes of the weights of all layers that can be measured
  double near = 0;         // of them those that count as near
  double cold = 0;         // bytes of the weights of layers whose best candidate needs no row from memory, or has one
  bool is_warm = true;     // no row from memory counts: the same as with all caches warm
  double near_share() const { return constants > 0 ? near / constants : 1; }
  double cold_share() const { return constants > 0 ? cold / constants : 1; }
  // What they cost from memory hardly counts then.
  bool stays_near() const { return near_share() >= 0.9; }
};

struct Bracket {
  Selection selection;
  std::optional<ModelContext> context;  // absent where the selection names a cache state
  NumericContract contract = NumericContract::kStrictF32;
  std::vector<Floor> floors;  // see ComputeFloors
  const Floor& dense_read() const { return FloorOf(floors, ProgramClass::kDenseRead); }
  const Floor& textbook() const { return FloorOf(floors, ProgramClass::kTextbook); }
  // The layers' own floors one after the other, what a roofline model says, or the textbook floor where that is more:
  // layers that fit into the caches one by one may not fit together. An estimate where nothing is measured; no bound,
  // since layers may be fused.
  Latency roofline{0};
  Latency launches{0};        // of it what starts of kernels add, where theirs is known
  std::vector<Bound> bounds;  // in the order of the variants; none where of no layer a time is known
  const Bound* Find(BoundVariant variant) const;  // null where there is none
  // F1, the bound that runs are held against: fused where it can be; null where nothing is known.
  const Bound* BestKnown() const;
  std::optional<LayoutPlan> layouts;      // absent where no candidate's layout has to be paid for
  std::optional<AlgorithmRegret> regret;  // absent where no row is a library's choice
  std::optional<Latency> demonstrated;
  std::optional<CompositionError> composition;  // of demonstrated
  std::optional<ShownLoss> shown_loss;          // likewise
  Coverage coverage;
  std::vector<EnvironmentKey> environments;  // that its measurements come from, ascending
  std::vector<EvidenceText> evidence;        // that they carry, ascending
  std::optional<SeveralHosts> hosts;         // absent where one host is all that is known of
  Pace pace;                                 // to which its rows are held, and runs are to be (HoldTo)
  std::vector<LayerLatency> layers;          // one for each layer of the graph, in its order
  std::vector<RegionLatency> regions;        // measured ones of the graph itself, by first layer
  std::vector<NotTried> not_tried;           // where a run may be faster than all that is known
  std::vector<ObservedNode> observed;        // that best-known-or-observed counts, by what they save of what is known
  std::vector<WhatIfOutcome> what_ifs;       // as asked for; and contracts and cache states that have rows
  std::optional<Estimate> estimate;          // of `sequential`, from other devices, where it was asked for: no bound
  std::vector<Decider> deciders;             // of fused-sequential, most uncertain first
  std::vector<UpperLimit> upper;             // see AddUpperLimit
  const UpperLimit* Shown() const;           // R; null where there is none
  std::vector<Inversion> inversions;
};

// The contract of most of the model's work, by its own types.
NumericContract MainContract(const ModelGraph& graph);

// Needs a graph that Validate() accepts. Asks `source` once for all layers and regions (on several threads once more
// for each smaller power of two, see analyzer/bounds/bounds.h), once for reorders and once for the peaks. An
// error only where the source fails, the device has no peaks and no data sheet at all, or a what-if multiplies a peak
// that is not known.
Result<Bracket> ComputeBracket(const ModelGraph& graph, MeasurementSource& source, const Selection& selection,
                               const BracketOptions& options = {});

// Records an upper limit and every bound of the bracket that is above it, the dense-read floor too; but not
// `heuristic`, which nothing keeps from being slower than a run. Nothing is clipped: the bracket is as wide as both
// say.
void AddUpperLimit(UpperLimit limit, Bracket& bracket);

}  // namespace infimum
