// F1, our estimate from below: the best time of every layer or fused region, combined over the graph.
//
//   layer     best   waits for      4 cores, all times on 4 cores
//   conv_1    2.0                   sequential = 2 + 3 + 1 + 1 = 7.0
//   conv_2    3.0    conv_1         longest path conv_1, conv_2, add = 6.0
//   conv_3    1.0    conv_1         parallel = max(6.0, core time / 4)
//   add       1.0    conv_2, conv_3
//
//   Where conv_2 was also measured on 1 core with 4.0 (core time 4 x 1 = 4 instead of 3 x 4 = 12):
//   core time / 4 = (8 + 4 + 4 + 4) / 4 = 5.0, so parallel = 6.0, decided by the longest path.
//   Where nothing was measured on fewer cores: core time / 4 = 7.0 = sequential: layers that each use
//   all cores gain nothing by running at once. With one core parallel always equals sequential.
//
//   Where {conv_2, add} was measured as one region in 3.2: fused-sequential = 2 + 1 + 3.2 = 6.2, and the fused graph
//   conv_1, conv_3, {conv_2, add} has the longest path 2 + 1 + 3.2 = 6.2 too; fused-parallel = min(6.0, 6.2) = 6.0
//   where the longest path decides: running a region is a choice, and here it is better not to.
//
// Layers in parallel share one device. Each of its resources k (all cores of a processor together; of a GPU its memory
// and its arithmetic units by type) is busy for at least the sum of what its layers occupy of it, so
//
//   parallel = min(sequential, max(longest path, max over k of sum over layers of occupancy_k))
//
// A missing layer adds nothing and is listed in the coverage.
#pragma once

#include <string>
#include <vector>

#include "analyzer/bounds/dag_view.h"
#include "analyzer/bounds/fusion_choice.h"
#include "analyzer/rows/uncertainty.h"

namespace infimum {

// Times of what runs as one: a layer, or a region in place of its layers.
struct NodeTimes {
  Latency best{0};
  // Of each of the device's resources how long all of it is taken, at most `best`.
  std::vector<Latency> occupancy;
  Term term = {};  // its true time, for intervals
};

struct RegionTimes {
  std::vector<std::size_t> layers;  // ascending, views included
  NodeTimes times;
};

struct BoundsProblem {
  std::vector<std::vector<LayerId>> predecessors;
  std::vector<NodeTimes> layers;
  std::vector<RegionTimes> regions;
  std::vector<std::string> resources;  // names, as many as each node has occupancies
};

struct CombinedBound {
  Latency latency{0};
  std::string decided_by;  // of the parallel ones: "longest-path" or the resource's name
  bool exact = true;       // of the fused ones: otherwise a relaxation, which no selection goes below
};

struct CombinedBounds {
  CombinedBound sequential;
  CombinedBound parallel;
  CombinedBound fused_sequential;
  CombinedBound fused_parallel;
  LongestPath longest_path;  // of the layers, unfused
  // Regions of fused_sequential, by first layer; where that is a relaxation, of the best selection found.
  std::vector<std::size_t> chosen;
};

// Where its relaxation is not reached, fused_parallel tries every selection as long as layers x selections stay below.
inline constexpr std::size_t kMostTriedWork = std::size_t{1} << 18;
CombinedBounds CombineBounds(const BoundsProblem& problem);

}  // namespace infimum
