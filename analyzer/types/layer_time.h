// What is known of one layer's time, or of a region's: measured, estimated, free or missing, and by which candidate;
// and how much of a model is known so.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/graph/fusable_regions.h"
#include "infimum/graph/model_graph.h"
#include "infimum/measurement/measurement.h"

namespace infimum {

// How a layer's latency is known.
enum class LatencyStatus {
  kMeasured,   // "measured": the best candidate of at least one that ran
  kEstimated,  // "estimated": bytes moved against the measured copy curve
  kFree,       // "free": a view, folded, or absorbed; the reason is in the layer
  kMissing,    // "missing": nothing known; weighted by its floor in the coverage
};
inline std::string_view Name(LatencyStatus status) {
  constexpr std::array<std::string_view, 4> kNames = {"measured", "estimated", "free", "missing"};
  return kNames[static_cast<std::size_t>(status)];
}

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
  std::string floor_by = {};            // "bandwidth memory", "arithmetic f32"; empty of what has bodies, or no floor
  bool on_critical_path = false;        // of the parallel bound's longest path
  // How much `parallel` falls if this layer alone took nothing, or as much as its floor. (`sequential` falls by the
  // layer's own time, or what of it is above the floor.)
  Latency parallel_gain_if_free{0};
  Latency parallel_gain_at_floor{0};
  std::string reason = {};  // where a rule set decides the status, why; else the layer's own reason holds
};

// A region that was measured, whether the fused bounds chose it or not.
struct RegionLatency {
  std::string rule;                     // of FusionRules()
  std::vector<LayerId> layers;          // ascending
  std::optional<FusableRegion> region;  // absent where only observed
  Latency latency{0};
  Interval interval;
  Candidate candidate;
  Latency unfused{0};        // its layers one by one, at best
  bool has_missing = false;  // a layer of it has no time of its own, so that what fusing wins is unknown
  bool is_chosen = false;    // by `fused-sequential`
};

// Layers that a framework's run really did in one piece, as a candidate beside the measured ones (ObservedIn).
struct ObservedNode {
  std::vector<LayerId> layers;  // ascending; one or more
  Latency latency{0};
  Interval interval;
  Candidate candidate;                // "observed/onnxruntime-1.31.1"
  std::optional<Latency> known = {};  // of the same layers by the best candidates; of a bracket's
};

// Why the layer is free or missing, or what its latency is made of; may be empty.
inline const std::string& ReasonOf(const Layer& layer, const LayerLatency& latency) {
  return latency.reason.empty() ? layer.reason : latency.reason;
}

// Shares of the sequential time (missing layers by their floor); the first four add up to 1. A floor says little of
// what a layer takes, so that the share of the arithmetic is given as well.
struct Coverage {
  double measured = 0;
  double estimated = 0;
  double free = 0;  // share of layers' time: always 0; kept so that the four add up to 1
  double missing = 0;
  double missing_flops = 0;  // share of the conventional FLOPs: those of layers without a time

  // How much may be missing: the larger of both shares.
  double Lacking() const { return std::max(missing, missing_flops); }
};

}  // namespace infimum
