// From rows to times: for each layer and each fusable region of a graph its best time, and how it is known.
//
//   conv_1   three candidates measured      ->  measured, the cross-fitted time of the best
//   relu_1   never measured                 ->  estimated from its bytes and the measured copy curve
//   conv_2   never measured                 ->  missing, weighted by its floor in the coverage
//   {conv_1, relu_1}  never measured        ->  nothing: a bound does without it
//
// Layers are estimated only where they do little but move bytes: element-wise, normalization, softmax, reduction, scan,
// resample, movement and reorder layers. A convolution, matmul, recurrent network or attention without rows is
// missing, as is a layer that is a region without its own rows.
//
// A layer with bodies takes the time of its bodies: If of the branch that takes less, Loop and Scan of
// `least_executions` iterations. It is missing where a part of that is; the known part still enters the
// bounds. Where regions inside its bodies were measured it has a second, fused time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/bounds/bounds.h"
#include "analyzer/bounds/variants.h"
#include "analyzer/floor/residency.h"
#include "analyzer/rows/best_time.h"
#include "analyzer/types/device_model.h"
#include "analyzer/types/layer_time.h"
#include "infimum/measurement/measurement_source.h"

namespace infimum {

// What layers that run at once share: all cores of a processor together; of a GPU its memory and, for each type of
// data, its arithmetic.
//
//   four cores, a layer of 3 us on all and 4 us on one core:  core-time 4 x 1 / 4 = 1 us of the whole processor
//   V100, a layer of 120 us, 12.8 MB and 1.1 GFLOP in f32:    memory 14 us, arithmetic-f32 70 us
//
// An occupancy is never more than the layer's own time, and never less than nothing: of what a layer does beyond
// doubt. So Winograd and FFT, which need fewer operations than the textbook says, occupy no arithmetic here.
class Resources {
 public:
  Resources(const DeviceModel& device, const Selection& selection);

  const std::vector<std::string>& names() const { return names_; }
  // Of one measured or estimated workload: in the order of the names. `core_time`: cores x time, the least of all
  // counts of cores that it was measured on.
  std::vector<Latency> OccupancyOf(const Workload& workload, const Work& work, std::string_view algorithm, Latency best,
                                   Latency core_time) const;
  bool of_cores() const { return cores_ > 0; }
  std::vector<Latency> Nothing() const { return std::vector<Latency>(names_.size(), Latency(0)); }

 private:
  const DeviceModel& device_;
  std::vector<std::string> names_;
  std::vector<DataType> types_;  // of the arithmetic, behind the memory
  double cores_ = 0;             // 0: a GPU
};

struct ResolvedLayer {
  LayerLatency known;    // what is shown
  NodeTimes times;       // what the layer adds to a bound; 0 where free or missing
  NodeTimes fused;       // the same with its bodies' layers fused; equals `times` without bodies
  Latency heuristic{0};  // with the candidates that the libraries would choose
  Term heuristic_term = {};
  // The layer's weights in the coverage; a layer with bodies may have several.
  Latency measured{0};
  Latency estimated{0};
  Latency missing{0};                  // the floor of what is missing
  double flops = 0;                    // conventional
  double missing_flops = 0;            // of them what is missing
  const WorkloadRows* rows = nullptr;  // that its time is the best of; null where it has no rows, or a run was faster
  const BestTime* best = nullptr;      // of those rows
  bool is_exact = true;                // whether `fused` is the best selection in its bodies, not a relaxation
};

// Of a transpose, concatenation or split that layouts spare: it takes no time and moves nothing.
void SetFree(ResolvedLayer& layer);

struct ResolvedRegion {
  const KnownRegion* known = nullptr;  // null where only observed
  std::vector<LayerId> layers;
  Candidate candidate;
  NodeTimes times;
  const WorkloadRows* rows = nullptr;  // null where only observed
  const BestTime* best = nullptr;      // of those rows
};

class LatencyResolver {
 public:
  // All of them live longer.
  LatencyResolver(const MeasuredRows& rows, const RegionSet& regions, const Selection& selection,
                  const DeviceModel& device, const Residency& residency);

  // One for each layer, in the graph's order.
  std::vector<ResolvedLayer> Layers(const ModelGraph& graph) const;
  // A layer's roofline (FloorOfLayer) with the caches as the selection has them: all near, or in context.
  Latency RooflineOf(const ModelGraph& graph, std::size_t layer, const DeviceModel& device,
                     std::string* decided_by = nullptr) const;
  // Those of the graph itself that were measured, in the order of RegionSet.
  std::vector<ResolvedRegion> Regions(const ModelGraph& graph) const;
  // What the rows say that frameworks ran, of layers and regions of the graph itself.
  std::vector<ObservedNode> Observed(const ModelGraph& graph) const;
  // Adds what frameworks ran: a single layer where it is faster than its best candidate or has none, several as a
  // region of their own.
  void Observe(const ModelGraph& graph, const std::vector<ObservedNode>& nodes, std::vector<ResolvedLayer>& layers,
               std::vector<ResolvedRegion>& regions) const;
  // What the uncertainty of a selection is made of, most uncertain first.
  std::vector<Decider> Deciders(const std::vector<Term>& terms) const;
  // Both, ready to be combined; regions beyond those of `Regions` stand for fused bodies.
  BoundsProblem Problem(const ModelGraph& graph, const std::vector<ResolvedLayer>& layers,
                        const std::vector<ResolvedRegion>& regions) const;

 private:
  ResolvedLayer ResolveLayer(const ModelGraph& graph, std::size_t index, const WorkloadRows* rows) const;
  ResolvedLayer ResolveBody(const ModelGraph& body, double executions, bool may_run_oftener) const;
  ResolvedLayer ResolveBodies(const Layer& layer) const;

  // Null where no row counts.
  const BestTime* TimeOf(const WorkloadRows* rows) const;
  NodeTimes TimesOf(const BestTime& time, const WorkloadRows& rows, const Workload& workload, const Work& work) const;

  const MeasuredRows& rows_;
  const RegionSet& regions_;
  const DeviceModel& device_;
  const Residency& residency_;
  const Selection& selection_;
  Resources resources_;
  double threads_;
  std::vector<std::optional<BestTime>> times_;  // by the workload's number
};

// The terms of one selection: the chosen regions', and those of the layers in none.
std::vector<Term> TermsOfSelection(const BoundsProblem& problem, const std::vector<std::size_t>& chosen);

// Whether a layer may be estimated from the bytes that it moves.
bool MovesBytesOnly(const Workload& workload);

}  // namespace infimum
