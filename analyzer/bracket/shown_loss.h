// Where R, the best known kernels run as one program, takes longer than the bound counts for them.
//
//   R 33.9 ms, bound 32.6 ms:  layers with weights 436 us, changes of layout 73 us, other layers 109 us
//   most: node_linear (296 us in R, 190 us in the bound)
//
// A part's time in R is that between its neighbours, with caches as they leave them; a bound counts a row's, weights as
// near as predicted and all else in the caches. Parts are those of one process, with the clock read between them: all
// are taken longer or shorter by one factor, so that they add up to R.
#pragma once

#include <cstddef>
#include <vector>

#include "infimum/base/units.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

struct Bracket;
struct RunProfile;

struct ShownLoss {
  struct Part {
    std::vector<LayerId> layers;  // ascending; none: a change of layout
    Latency shown{0};
    Latency known{0};  // 0 of a change of layout
  };
  Latency weights{0};      // of layers with constants
  Latency reorders{0};     // changes of layout
  Latency others{0};       // of layers without constants
  std::vector<Part> most;  // that lose most, at most kMostLost
};
inline constexpr std::size_t kMostLost = 5;

// `replay` is a stored run of the model of the bracket, `shown` its R. Parts that the bound has no time for are left
// out.
ShownLoss FindShownLoss(const ModelGraph& graph, const Bracket& bracket, const RunProfile& replay, Latency shown);

}  // namespace infimum
