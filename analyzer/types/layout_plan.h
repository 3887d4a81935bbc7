// A model run with layouts paid for: which candidate each layer or region runs with, and which reorders run
// between them. `with-layouts` is its cost, and `infimum replay` runs it.
//
//   nodes       conv_1 with onednn/brgconv:avx512_core (reads abcd, writes acdb), 210 us
//               {conv_2, relu_2} ...
//   reorders    of conv_2's output, acdb -> abcd, before pool_1: `reorder ... from=acdb to=abcd`, 35 us, measured
//
// A tensor's layout is named in the shape in which a candidate sees it; a plain result is row-major in every shape.
// What a candidate does not declare counts as row-major. A reorder that was never measured counts as a plain copy of
// its bytes, which hardly any reorder can beat: so a plan whose own reorders are all measured stays the best whatever
// the others would cost, and `ReordersToMeasure` asks for nothing but the plan's own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infimum/graph/model_graph.h"
#include "infimum/measurement/candidate.h"

namespace infimum {

struct PlannedNode {
  std::vector<LayerId> layers;        // ascending
  std::optional<std::size_t> region;  // in Bracket::regions; absent: a layer
  Candidate candidate;                // without a name where no row is behind the time
  Latency latency{0};
};

struct PlannedReorder {
  ValueId value;                    // that is reordered
  std::string from, to;             // names of layouts, in the shape of the workloads
  std::vector<Workload> workloads;  // one; two over row-major where the layouts are named in different shapes
  Latency latency{0};
  bool is_measured = false;  // all of them
};

struct LayoutPlan {
  std::vector<PlannedNode> nodes;  // that take time, in an order in which they can run
  std::vector<PlannedReorder> reorders;
  Latency latency{0};          // of all
  Latency reordering{0};       // of the reorders
  std::size_t undeclared = 0;  // nodes whose candidates do not declare a layout
  bool is_exact = true;        // no assignment of layouts and regions is better; otherwise the best that was found
};

// The reorders to measure so that every one of the plan has a time of its own; none twice.
std::vector<Workload> ReordersToMeasure(const LayoutPlan& plan);

}  // namespace infimum
