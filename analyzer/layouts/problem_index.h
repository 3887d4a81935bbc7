// What is known of a choice of layouts before any is made: when each node can run, which regions may be worth it, and
// which parts of a graph do not depend on each other.
//
//   conv_1 -> a -> pool -> b -> conv_2, where only `a` has several layouts and no region spans `b`
//   SplitLayouts   {conv_1, pool, a} and {conv_2}: each is chosen by itself
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "analyzer/layouts/solver.h"

namespace infimum {

struct ProblemIndex {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // `problem` lives longer.
  explicit ProblemIndex(const LayoutProblem& problem);

  const LayoutProblem& problem;
  std::vector<std::size_t> single;      // of each layer the node that is it alone; kNone where free
  std::vector<std::size_t> runs_after;  // of each node the layer at whose turn its operands are there
  std::vector<std::size_t> regions;     // that may be worth it, by first layer
  std::vector<std::size_t> last_use;    // of each tensor, by any node; layers where it is an output
  bool exact = true;                    // no region was left out for what reads its outputs early

 private:
  void NoteUse(std::size_t node);
};

// Layers that share a region or a tensor of several layouts.
struct LayoutComponent {
  std::vector<std::size_t> layers, regions, tensors;
};
std::vector<LayoutComponent> SplitLayouts(const ProblemIndex& index);

// The least cost of a node, in whatever layouts.
Latency BestCost(const LayoutNode& node);

}  // namespace infimum
