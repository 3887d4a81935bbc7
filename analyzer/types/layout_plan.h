// A model run with layouts paid for: which candidate each layer or region runs with, and which reorders run
// between them. `with-layouts` is its cost, and `infimum replay` runs it.
//
//   nodes       conv_1 with onednn/brgconv:avx512_core (reads abcd, writes acdb), 210 us
//               {conv_2, relu_2} ...
//   transforms  of conv_2's output, acdb -> abcd, before pool_1: `reorder ... from=acdb to=abcd`, 35 us, measured
//
// A tensor's layout is named in the shape in which a candidate sees it; a plain result is row-major in every shape.
// What a candidate leaves unsaid counts as row-major. A change that was never measured counts as a plain copy of its
// bytes, which hardly any change can beat: so a plan whose own changes are all measured stays the best whatever the
// others would cost, and `TransformsToMeasure` asks for nothing but the plan's own.
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

struct PlannedTransform {
  ValueId value;                   // that is changed
  std::string from, to;            // names of layouts, in the shape of the reorders
  std::vector<Workload> reorders;  // one; two over row-major where the layouts are named in different shapes
  Latency latency{0};
  bool is_measured = false;  // all of them
};

struct LayoutPlan {
  std::vector<PlannedNode> nodes;  // that take time, in an order in which they can run
  std::vector<PlannedTransform> transforms;
  Latency latency{0};          // of all
  Latency transforming{0};     // of the transforms
  std::size_t undeclared = 0;  // nodes whose candidates leave a layout unsaid
  bool is_exact = true;        // no assignment of layouts and regions is better; otherwise the best that was found
};

// The reorders to measure so that every transform of the plan has a time of its own; none twice.
std::vector<Workload> TransformsToMeasure(const LayoutPlan& plan);

}  // namespace infimum
