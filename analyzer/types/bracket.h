// The result: a bracket around the best possible latency, never a bare number.
//
//   F0 (floor) <= T* <= U = min(R, every measured T that meets the contract);   F1: our estimate from below
//
// Each bound is a value with its variant, its assumption tags, its interval and its coverage.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/types/layout_plan.h"
#include "infimum/graph/fusable_regions.h"
#include "infimum/measurement/measurement_source.h"

namespace infimum {

// How a layer's latency is known.
enum class LatencyStatus {
  kMeasured,   // "measured": the best candidate of at least one that ran
  kEstimated,  // "estimated": bytes moved against the measured copy curve
  kFree,       // "free": a view, folded, or absorbed; the reason stands in the layer
  kMissing,    // "missing": nothing known; weighted by its floor in the coverage
};
std::string_view Name(LatencyStatus status);

// What a library's own heuristic would have run, and what that costs.
struct LibraryChoice {
  Candidate candidate;
  Latency latency{0};         // its point value
  Latency regret{0};          // of choosing it; negative by chance where it is as good as the best
  bool is_validated = false;  // measured on repetitions that did not choose the winner; else the plain difference
};

struct LayerLatency {
  LayerId layer;
  LatencyStatus status = LatencyStatus::kMissing;
  std::optional<Latency> latency;       // absent when missing
  std::optional<Interval> interval;     // measured only
  std::optional<Candidate> candidate;   // measured only
  std::optional<LibraryChoice> choice;  // measured only, where a row is a library's choice
  Latency floor{0};                     // this layer's own, by convention: max(bytes / bandwidth, FLOPs / peak)
  bool on_critical_path = false;        // of the parallel bound's longest path
  // How much `parallel` falls if this layer alone took nothing, or as much as its floor. (`sequential` falls by the
  // layer's own time, or what of it is above the floor.)
  Latency parallel_gain_if_free{0};
  Latency parallel_gain_at_floor{0};
  std::string reason = {};  // where a rule set decides the status, why; else the layer's own reason holds
};

// A region that was measured, whether the fused bounds chose it or not.
struct RegionLatency {
  std::string rule;                     // of FusionRules(), or "observed"
  std::vector<LayerId> layers;          // ascending
  std::optional<FusableRegion> region;  // absent where only observed
  Latency latency{0};
  Interval interval;
  Candidate candidate;
  Latency unfused{0};        // its layers one by one, at best
  bool has_missing = false;  // a layer of it has no time of its own, so that it cannot be told what fusing wins
  bool is_chosen = false;    // by `fused-sequential`
};

// Layers that a framework's run really did in one piece, as a candidate beside the measured ones (observed.h).
struct ObservedUnit {
  std::vector<LayerId> layers;  // ascending; one or more
  Latency latency{0};
  Interval interval;
  Candidate candidate;  // "observed/onnxruntime-1.31.1"
};

// An assumption about some layers, under which everything is solved again (what_if.h).
struct LayerChange {
  enum class Kind {
    kFree,    // takes nothing
    kFloor,   // takes its floor, where that is less than its time
    kScaled,  // takes `value` times its time
    kFixed,   // takes `value` microseconds
  };
  LayerId layer;
  Kind kind = Kind::kFree;
  double value = 0;
};
struct WhatIf {
  std::string name;
  std::vector<LayerChange> changes;
};

struct BracketOptions {
  // Which fusable regions may take part; absent: all.
  std::function<bool(const FusableRegion&)> takes;
  std::vector<ObservedUnit> observed;
  std::vector<WhatIf> what_ifs;
};

// Shares of the sequential time (missing layers by their floor); the first four add up to 1. A floor says little of
// what a layer takes, so that the share of the arithmetic is told as well.
struct Coverage {
  double measured = 0;
  double estimated = 0;
  double free = 0;  // share of layers' time: always 0; kept so that the four add up to 1
  double missing = 0;
  double missing_flops = 0;  // share of the conventional FLOPs: those of layers without a time

  // How much may be missing: the larger of both shares.
  double Lacking() const { return std::max(missing, missing_flops); }
};

// How best times become one number; each is defined in analyzer/bounds/README.md.
//
//   layers conv 10 us (the library would choose one of 11), relu 2, conv 8, relu 2; one core; {conv, relu} 10.5 and 8.4
//   sequential        22.0   every layer's best candidate, one after the other
//   parallel          22.0   layers that need not wait run at once; with one core that wins nothing
//   fused-sequential  18.9   the best selection of measured regions
//   fused-parallel    18.9   likewise, at once
//   with-layouts      19.9   the same with every layout's change paid: conv_2 wants another than conv_1 leaves, 1.0
//   ideal-fusion      18.0   element-wise and layout layers cost only their bytes, whatever libraries can fuse
//   heuristic         23.0   what the libraries would choose by themselves; less sequential: the algorithm regret
enum class BoundVariant {
  kSequential,
  kParallel,
  kFusedSequential,
  kFusedParallel,
  kWithLayouts,
  kIdealFusion,
  kHeuristic,
  kBenanza2019Serial,  // these four: see benanza_bracket.h
  kBenanza2019Parallel,
  kBenanza2019FusedSerial,
  kBenanza2019FusedParallel,
};
std::string_view Name(BoundVariant variant);

// How the layers' times become bounds.
enum class BoundRules {
  kBracket,           // "bracket": the ones of this header
  kBenanza2019,       // "benanza-2019": benanza_bracket.h
  kBenanza2019Fused,  // "benanza-2019-fused"
};
std::string_view Name(BoundRules rules);
std::optional<BoundRules> FindBoundRules(std::string_view name);
std::span<const std::string_view> BoundRulesNames();

struct Bound {
  BoundVariant variant = BoundVariant::kSequential;
  Latency latency{0};
  Interval interval;
  std::vector<std::string> assumptions;  // "free-layouts", "warm-caches", "estimated-layers", ...
};

// What the libraries' own choices cost over the whole model: the sum of the layers' regrets.
struct AlgorithmRegret {
  Latency sum{0};
  std::size_t layers = 0;    // with a library's choice
  bool is_validated = true;  // all of them
};

// A bound under an assumption, and what it wins over the bound without: negative where it costs.
struct WhatIfBound {
  BoundVariant variant = BoundVariant::kSequential;
  Latency latency{0};
  // Over `inferences` times the bound without; absent where there is none, or where more of this one is missing.
  std::optional<Latency> gain = std::nullopt;
  std::optional<Interval> interval = std::nullopt;  // where other rows are behind it
};
struct WhatIfOutcome {
  std::string name;
  std::size_t layers = 0;  // that it changes
  std::vector<WhatIfBound> bounds;
  std::optional<Coverage> coverage = std::nullopt;  // where other rows are behind it: of a model as it could be
  double inferences = 1;                            // of the model as it is, that one of the changed model stands for
};

// A run that really happened and meets the contract: T* is no larger.
struct UpperLimit {
  std::string name;  // "onnxruntime 1.31.1", "demonstrated"
  Latency latency{0};
  Interval interval;
};

// R over the sum of the parts that it ran, each of them alone: what of R no row explains. In a whole model weights are
// where the inference before left them, so that sum lies between the one with all caches warm and the one with weights
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
// A floor above one: a peak is higher than was ever seen, or what F0 assumes does not hold of the model.
inline constexpr std::string_view kFloorName = "floor";
struct Inversion {
  std::string bound;             // "fused-sequential", the name of a variant; "floor"
  std::string name;              // of the upper limit
  Latency excess{0};             // of the bound over it
  bool is_beyond_noise = false;  // their intervals do not meet
};
// Why the layer is free or missing, or what its latency is made of; may be empty.
const std::string& ReasonOf(const Layer& layer, const LayerLatency& latency);

struct Floor {
  Latency latency{0};
  std::string decided_by;                // "arithmetic f32", "bandwidth memory"
  std::vector<std::string> assumptions;  // "estimated" without a data sheet, "conventional-arithmetic"
};

// A workload whose uncertainty is a part of the bound's: what `infimum confirm` measures again.
struct Decider {
  WorkloadKey workload;
  NumericContract contract = NumericContract::kStrictF32;
  std::vector<std::string> candidates;  // the best first, then those that cannot be told from it
  // Of half the width of fused-sequential's interval: by noise (deviations add in squares) and by the choice among
  // candidates (adds as it is).
  Latency deviation{0};
  Latency choice{0};
};

// Rows of one device and one set of libraries that were measured on several hosts: no single machine showed all of
// them.
struct SeveralHosts {
  std::size_t count = 0;
  std::set<std::string> clock_policies;      // those that are told; more than one: their clocks differ
  std::optional<ClockRange> highest_clocks;  // of the slowest and the fastest host, where these are far apart
  bool clocks_differ() const { return clock_policies.size() > 1 || highest_clocks.has_value(); }
};

struct Bracket {
  Selection selection;
  NumericContract contract = NumericContract::kStrictF32;
  Floor floor;
  Floor conventional_floor;
  // The layers' own floors one after the other: what a roofline model says. An estimate where nothing is measured; no
  // bound, since layers may be fused and arithmetic may be less than conventional.
  Latency roofline{0};
  std::vector<Bound> bounds;  // in the order of the variants; none where of no layer a time is known
  const Bound* Find(BoundVariant variant) const;  // null where there is none
  std::optional<LayoutPlan> layouts;              // absent where no candidate's layout has to be paid for
  std::optional<AlgorithmRegret> regret;          // absent where no row is a library's choice
  std::optional<Latency> demonstrated;
  std::optional<CompositionError> composition;  // of demonstrated
  Coverage coverage;
  std::vector<EnvironmentKey> environments;  // that its measurements come from, ascending
  std::vector<EvidenceText> evidence;        // that they carry, ascending
  std::optional<SeveralHosts> hosts;         // absent where one host is all that is known of
  std::vector<LayerLatency> layers;          // one for each layer of the graph, in its order
  std::vector<RegionLatency> regions;        // measured ones of the graph itself, by first layer
  std::vector<WhatIfOutcome> what_ifs;       // as asked for; and contracts and cache states that have rows
  std::vector<Decider> deciders;             // of fused-sequential, most uncertain first
  std::vector<UpperLimit> upper;             // see HoldAgainst
  std::vector<Inversion> inversions;
};

// The contract of most of the model's work, by its own types.
NumericContract MainContract(const ModelGraph& graph);

// Needs a graph that Validate() accepts. Asks `source` once for all layers and regions (on several threads once more
// for each smaller power of two, see analyzer/bounds/bounds.h), once for changes of layout and once for the peaks. An
// error only where the source fails or the device has no peaks and no data sheet at all.
Result<Bracket> ComputeBracket(const ModelGraph& graph, MeasurementSource& source, const Selection& selection,
                               const BracketOptions& options = {});

// Records an upper limit and every bound of the bracket that lies above it, F0 too; but not `heuristic`, which nothing
// keeps from being slower than a run. Nothing is clipped: the bracket is as wide as both say.
void HoldAgainst(UpperLimit limit, Bracket& bracket);

}  // namespace infimum
