// Graph outputs that may be written over a graph input, so that only what changes moves: a cache of keys to which a
// step appends rows, a buffer into which it scatters them.
//
//   present[1,32,8193,128] = Concat(past[1,32,8192,128], row[1,32,1,128]) -> graph output, f16
//   -> of the Concat's operands `past` is kept; 8 kB are written, and no program need read `past` for this output
//
// A buffer for `present` in which `past` already lies is what frameworks call a shared past and present buffer
// (ONNX Runtime GenAI's past_present_share_buffer).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "infimum/graph/model_graph.h"

namespace infimum {

struct InPlaceUpdate {
  std::size_t kept = 0;  // the operand that is a graph input, or a view of one
  double written = 0;    // bytes of the result that are not the kept operand's
};

class InPlaceUpdates {
 public:
  explicit InPlaceUpdates(const ModelGraph& graph);

  // null where the layer's result is no graph output, or every byte of it must be written.
  const InPlaceUpdate* Of(std::size_t layer) const;
  // For each graph output the layer that updates it in place.
  const std::vector<std::optional<std::size_t>>& of_outputs() const { return of_outputs_; }

 private:
  std::map<std::size_t, InPlaceUpdate> by_layer_;
  std::vector<std::optional<std::size_t>> of_outputs_;
};

}  // namespace infimum
