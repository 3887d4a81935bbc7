// The result: a bracket around the best possible latency, never a bare number.
//
//   F0 (floor) <= T* <= U = min(R, every measured T that meets the contract);   F1: our estimate from below
//
// Each bound is a value with its variant, its assumption tags, its interval and its coverage.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/graph/model_graph.h"
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

struct LayerLatency {
  LayerId layer;
  LatencyStatus status = LatencyStatus::kMissing;
  std::optional<Latency> latency;      // absent when missing
  std::optional<Interval> interval;    // measured only
  std::optional<Candidate> candidate;  // measured only
  Latency floor{0};                    // this layer's own, by convention: max(bytes / bandwidth, FLOPs / peak)
  bool on_critical_path = false;       // of the parallel bound's longest path
  std::string reason = {};             // where a rule set decides the status, why; else the layer's own reason holds
};

// Shares of the sequential time (missing layers by their floor); they add up to 1.
struct Coverage {
  double measured = 0;
  double estimated = 0;
  double free = 0;  // share of layers' time: always 0; kept so that the four add up to 1
  double missing = 0;
};

enum class BoundVariant {
  kSequential,                // "sequential"
  kParallel,                  // "parallel"
  kBenanza2019Serial,         // "benanza-2019-serial", and so on: see benanza_bracket.h
  kBenanza2019Parallel,       // "benanza-2019-parallel"
  kBenanza2019FusedSerial,    // "benanza-2019-fused-serial"
  kBenanza2019FusedParallel,  // "benanza-2019-fused-parallel"
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

// Why the layer is free or missing, or what its latency is made of; may be empty.
const std::string& ReasonOf(const Layer& layer, const LayerLatency& latency);

struct Floor {
  Latency latency{0};
  std::string decided_by;                // "arithmetic f32", "bandwidth memory"
  std::vector<std::string> assumptions;  // "estimated" without a data sheet, "conventional-arithmetic"
};

struct Bracket {
  Selection selection;
  NumericContract contract = NumericContract::kStrictF32;
  Floor floor;
  Floor conventional_floor;
  // The layers' own floors one after the other: what a roofline model says. An estimate where nothing is measured; no
  // bound, since layers may be fused and arithmetic may be less than conventional.
  Latency roofline{0};
  std::vector<Bound> bounds;  // none where of no layer a time is known
  std::optional<Latency> demonstrated;
  Coverage coverage;
  std::vector<EnvironmentKey> environments;  // that its measurements come from, ascending
  std::vector<LayerLatency> layers;          // one for each layer of the graph, in its order
};

// Needs a graph that Validate() accepts. Asks `source` once for all layers (on several threads once more for
// each smaller power of two, see analyzer/bounds.h) and once for the peaks. An
// error only where the source fails or the device has no peaks and no data sheet at all.
Result<Bracket> ComputeBracket(const ModelGraph& graph, MeasurementSource& source, const Selection& selection);

}  // namespace infimum
