// The rows that may enter a bound, by workload: those of every measurable layer and fusable region of a model and of
// its sub-graphs, or of workloads that a rule set names, fetched in one question, and on several threads one more for
// each smaller number of them.
//
//   rows.Find(KeyOf(workload))->by_threads.at(1)  ->  the rows of this workload on one core that count
//   rows.Of(graph).layers[7]                      ->  the same rows for a layer of the graph, without its key
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/floor/residency.h"
#include "analyzer/rows/timed_rows.h"
#include "analyzer/rows/uncertainty.h"
#include "infimum/graph/fusable_regions.h"
#include "infimum/graph/model_graph.h"
#include "infimum/measurement/measurement_source.h"

namespace infimum {

// The fusable regions of a model and of its bodies, found once, with the keys and the work that questions to a store
// and floors need.
//
//   const RegionSet regions(graph);
//   for (const KnownRegion& known : regions.Of(graph)) ...
struct KnownRegion {
  FusableRegion region;
  WorkloadKey key;
  Work work;
};

class RegionSet {
 public:
  // `graph` lives longer.
  explicit RegionSet(const ModelGraph& graph) { Add(graph); }

  // Empty for a graph that is neither the model's nor a body of it.
  std::span<const KnownRegion> Of(const ModelGraph& graph) const;

 private:
  void Add(const ModelGraph& graph);

  std::unordered_map<const ModelGraph*, std::vector<KnownRegion>> regions_;
};

// The operands of a workload for which its candidates declare layouts: those that vary from one inference to the next,
// in the order in which the candidates name them.
//
//   Conv 1x64x8x8 with weights, 32 channels out   reads {place 0: 1x64x8x8}, writes {1x32x8x8}
//   region Conv + Add                             lists {input, weights, residual}, declares {input, residual}:
//                                                 reads {place 0: 1x64x8x8, place 2: 1x32x8x8}
struct VaryingOperands {
  struct Read {
    std::size_t place = 0;  // in Layer::operand_inputs, or FusableRegion::operands
    Shape shape;            // as the workload sees it
  };
  std::vector<Read> reads;
  std::vector<Shape> writes;
  bool keeps_layout = false;  // element-wise: any layout does that all its tensors have
};

VaryingOperands VaryingOperandsOf(const Workload& workload);

// A workload with what every question about it needs.
struct KeyedWorkload {
  Workload workload;
  WorkloadKey key;
  Work work;
};
KeyedWorkload Keyed(Workload workload);

struct WorkloadRows {
  const Workload* workload = nullptr;
  Work work;
  NumericContract native = NumericContract::kStrictF32;
  std::size_t number = 0;    // its place in the order of keys
  VaryingOperands operands;  // of rows of a graph
  // Rows by how many threads they ran on; only measured ones that meet the contract.
  std::map<std::int64_t, std::vector<TimedRow>> by_threads;
  std::vector<TimedRow> observed;  // on the selection's threads: what frameworks ran, which is in none of the others
  std::string refusal = {};        // a library's words about why it has no candidate, where one said so

  // Those on exactly so many threads.
  std::span<const TimedRow> On(std::int64_t threads) const;
};

// The rows of a graph's own layers and regions, each in the graph's order (regions in that of RegionSet).
struct GraphRows {
  std::vector<const WorkloadRows*> layers;  // null where a layer was not asked for
  std::vector<const WorkloadRows*> regions;
};

class MeasuredRows {
 public:
  // Graph, regions and workloads live longer. Where the selection is in context, `residency` says how near constants
  // are; rows that are asked for without it are warm.
  static Result<MeasuredRows> Fetch(const ModelGraph& graph, const RegionSet& regions, MeasurementSource& source,
                                    const Selection& selection, const Residency* residency);
  static Result<MeasuredRows> Fetch(std::span<const KeyedWorkload> workloads, MeasurementSource& source,
                                    const Selection& selection);

  // Only moved, since pointers lead into it.
  MeasuredRows(MeasuredRows&&) = default;
  MeasuredRows& operator=(MeasuredRows&&) = default;

  // nullptr where this workload was not asked for.
  const WorkloadRows* Find(const WorkloadKey& key) const;
  // Of the graph that was asked for, or a body of it.
  const GraphRows& Of(const ModelGraph& graph) const;
  // For all of them, in the order of their keys.
  const std::map<WorkloadKey, WorkloadRows>& all() const { return rows_; }
  // Those that the rows come from.
  const std::set<EnvironmentKey>& environments() const { return environments_; }
  // What they contain of where they were measured, and the clocks seen there.
  const std::map<EvidenceText, std::optional<ClockRange>>& evidence() const { return evidence_; }
  // What the source has for the selection's own threads, whatever became of it.
  std::span<const Measurement> asked() const { return found_.back().rows(); }
  // What the repetitions of all rows say about the noise.
  const NoiseModel& noise() const { return noise_; }
  // To which those on the selection's own threads are held.
  const Pace& pace() const { return pace_; }
  // Whether a row is of the selected device, of a workload that was asked for and meets its contract.
  bool Counts(const Measurement& row, const Selection& selection) const;

 private:
  MeasuredRows() = default;

  WorkloadRows* Add(const WorkloadKey& key, const Workload& workload, const Work& work);
  const WorkloadRows* AddOfGraph(const WorkloadKey& key, const Workload& workload, const Work& work);
  void Collect(const ModelGraph& graph, const RegionSet& regions);
  Status FetchRows(MeasurementSource& source, const Selection& selection, const Residency* residency);
  void FindRefusals(std::span<const Measurement> found, const Selection& selection);
  void FindNoise();
  void Sort(const TimedRows& found, std::int64_t threads, const Selection& selection);

  std::map<WorkloadKey, WorkloadRows> rows_;
  std::unordered_map<const ModelGraph*, GraphRows> by_graph_;
  std::vector<TimedRows> found_;  // the source's answers, which all the rows point into
  LayoutTexts layouts_;           // of their candidates
  NoiseModel noise_;
  Pace pace_;
  std::set<EnvironmentKey> environments_;
  std::map<EvidenceText, std::optional<ClockRange>> evidence_;
};

// Whether a row counts under the contract asked for: it was measured under it, or under strict-f32, which
// keeps more of the numbers than any other contract for the same workload.
bool Meets(const Measurement& row, NumericContract wanted);

}  // namespace infimum
