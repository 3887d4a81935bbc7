// Graph outputs that may be written over a graph input, so that only what changes moves: a cache of keys to which a
// step appends rows, a buffer into which it scatters them.
//
//   present[1,32,8193,128] = Concat(past[1,32,8192,128], row[1,32,1,128]) -> graph output, f16
//   -> of the Concat's operands `past` is kept; 8 kB are written, and no program need read `past` for this output
//
// Between the two may lie what leaves elements as they are: views, parts taken out at known places and joined again,
// casts to wider types and back, quantization likewise, transpositions that may undo each other. Of branches the one
// counts that leaves more; a loop, a layer that nobody knows, and a Where, of which only a run knows how much it takes
// from which side, may leave all. Layers that do more than update say so themselves (`Layer::in_place`): attention that
// takes a cache and returns it. Where the search ends early, all is taken to be kept: what is not followed counts less.
//
// A buffer for `present` in which `past` already lies is what frameworks call a shared past and present buffer
// (ONNX Runtime GenAI's past_present_share_buffer).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "infimum/graph/model_graph.h"

namespace infimum {

class InPlaceUpdates {
 public:
  explicit InPlaceUpdates(const ModelGraph& graph);

  // Of a layer that does nothing but update a graph input in place (Concat, scatter, Where) the operands that are kept;
  // null of others.
  const std::set<std::size_t>* KeptBy(std::size_t layer) const;
  // Bytes that a layer need not write, since they lie in a graph input already.
  double UnwrittenBy(std::size_t layer) const;
  // A graph output that is updated in place: the bytes of it that are not there already. A loop, or a layer that nobody
  // knows, computes its result all the same; of others nothing else need be read for it.
  struct Update {
    double written = 0;
    bool is_computed = false;
  };
  const std::vector<std::optional<Update>>& of_outputs() const { return of_outputs_; }

 private:
  std::map<std::size_t, std::set<std::size_t>> kept_;  // by layer
  std::map<std::size_t, double> unwritten_;            // likewise
  std::vector<std::optional<Update>> of_outputs_;
};

}  // namespace infimum
