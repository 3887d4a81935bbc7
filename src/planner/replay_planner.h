// From a model and the candidates chosen for its layers to a schedule that a runner replays.
//
//   Result<std::vector<ReplayUnit>> units = UnitsOf(graph, candidates);
//   Result<ReplaySchedule> schedule = BuildReplaySchedule(graph, *units);
//
// Views become other names of the tensor that they look at; weights that a GEMM reads transposed become a step that
// runs once; attributes and small constants that change results become values.
#pragma once

#include <string>
#include <vector>

#include "infimum/graph/fusable_regions.h"
#include "infimum/graph/replay_schedule.h"

namespace infimum {

// What becomes one step: a layer, or several that run as a region.
struct ReplayUnit {
  std::vector<LayerId> layers;
  std::vector<std::vector<LayerId>> members;  // of a region, the layers that each of its members covers
  Workload workload;
  ReplayCandidate candidate;
  std::vector<ValueId> operands;  // of a layer by OperandsOf; of a region in0, in1 ..., then w0, w1 ...
  std::vector<ValueId> outputs;
  std::vector<ReplayValues> values = {};            // of a region, by member: what its rule took in
  std::optional<ReplayLevel> level = std::nullopt;  // of a factor; absent: it always runs
};

// A region that is to run as one, by a candidate of its own.
struct ReplayRegion {
  FusableRegion region;
  ReplayCandidate candidate;
};

// Whether all values that a region's step needs are known: not those of an attention with a scale that is no constant.
bool CanReplay(const FusableRegion& region);

// One unit for each region and for each measurable layer in none, each behind what it reads. `candidates`: one for each
// layer of the graph, empty where none is known; the regions share no layer. An error names a layer that cannot be
// replayed, and why.
Result<std::vector<ReplayUnit>> UnitsOf(const ModelGraph& graph, const std::vector<ReplayCandidate>& candidates,
                                        const std::vector<ReplayRegion>& regions = {});

// Two ways to run the same graph, as one whose choices are open:
//
//   plan    {conv1 + relu1} by onednn/graph, {conv2} by jit, {pool}
//   other   {conv1} by gemm, {relu1},        {conv2} by gemm, {pool}
//   ->      factor conv1: the region at level 0, its two layers at level 1; factor conv2; {pool} always
struct ReplayChoices {
  std::vector<ReplayUnit> units;
  std::vector<std::string> factors;  // each by its first layer
};

// `plan` is level 0. A factor is what both ways split differently or run by different candidates: the least set of
// layers that both run as whole units. An error where such sets depend on each other.
Result<ReplayChoices> ChoicesBetween(const ModelGraph& graph, const std::vector<ReplayUnit>& plan,
                                     const std::vector<ReplayUnit>& other);

// Units in the graph's order. An error names a layer of which a value cannot be carried over.
Result<ReplaySchedule> BuildReplaySchedule(const ModelGraph& graph, const std::vector<ReplayUnit>& units);
// Without a design.
Result<ReplaySchedule> BuildReplaySchedule(const ModelGraph& graph, const ReplayChoices& choices);

// The values of one layer: {"epsilon": {1e-12}}. An error where an attribute asks for what candidates do not
// support, and for operators whose attributes were not reviewed.
Result<ReplayValues> ReplayValuesOf(const ModelGraph& graph, const Layer& layer);

}  // namespace infimum
