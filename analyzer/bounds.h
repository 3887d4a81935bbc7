// F1, our estimate from below: the best time of every layer, combined over the graph.
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
// Layers in parallel share one device: on p cores, all layers together take at least the sum over layers of
// min over q of q x latency(q cores), divided by p. A missing layer adds nothing and is listed in the
// coverage. Intervals: the ends of the layers' intervals combined in the same way, as if all layers erred
// together, so they are wide rather than narrow.
#pragma once

#include <span>
#include <vector>

#include "analyzer/dag_view.h"
#include "analyzer/latency_resolution.h"
#include "infimum/analyzer/bracket.h"

namespace infimum {

struct LayerTimes {
  Latency best{0};
  Interval interval;
  Latency core_time{0};
};

struct CombinedBounds {
  Latency sequential{0};
  Interval sequential_interval;
  Latency parallel{0};
  Interval parallel_interval;
  LongestPath longest_path;
  bool path_decides_parallel = false;  // otherwise the cores' time does
};

CombinedBounds CombineBounds(const DagView& dag, std::span<const LayerTimes> layers, std::int64_t cores);

}  // namespace infimum
