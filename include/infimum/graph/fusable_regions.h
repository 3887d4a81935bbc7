// Which layers of a model a library may run as one: found by the rules of one table (FusionRules), measured like
// any other workload, and chosen or not by the bounds that fuse.
//
//   conv_1 -> relu_1 -> conv_2 -> add(conv_2, relu_1) -> relu_2
//
//   product-epilogue   {conv_1, relu_1}   region [convolution ...](in0,w0) ; [pointwise kind=relu ...](%0)
//   product-epilogue   {conv_2, add}      region [convolution ...](in0,w0) ; [pointwise kind=add ...](%0,in1)
//   product-epilogue   {conv_2, add, relu_2}
//
// What a rule promises of each region: it is convex (no path leaves it and comes back), its layers' values that
// are used outside are outputs of its workload, and the workload computes what its layers compute, also where it
// says so in another form (`matmul` and `add` of a bias as `matmul bias=column`). Regions overlap; a program
// runs a layer in one of them or alone.
//
// Views between its members belong to a region, those after its last member do not.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/graph/model_graph.h"

namespace infimum {

struct FusableRegion {
  std::string_view rule;        // of FusionRules()
  std::vector<LayerId> layers;  // ascending
  Workload workload;
  // For each operand of the workload (of a region those from outside, in order of first use) the value that it is,
  // up to views; and the values that it writes, in the workload's order.
  std::vector<ValueId> operands;
  std::vector<ValueId> outputs;
  // The layers that each member of the workload (a plain configuration is one) covers.
  std::vector<std::vector<LayerId>> members;
  // For each member what a rule took in that changes results, not cost, by the names of a replay's values. Of an
  // attention: "scale" and "mask_scale", which its products and its mask are multiplied by (absent where a factor is no
  // known number), and "keys_transposed"; of a normalization written out "epsilon". Empty where its one layer has all
  // values.
  std::vector<std::map<std::string, std::vector<double>>> values = {};
};

struct FusionRule {
  std::string_view name;
  std::string_view description;
};
const std::vector<FusionRule>& FusionRules();

// Ordered by first layer, then by length; none twice. Needs a graph that Validate() accepts; its bodies are not looked
// into (each is a graph of its own). Near-linear: a region grows to at most kMostFused layers that take time.
inline constexpr std::size_t kMostFused = 16;
std::vector<FusableRegion> FindFusableRegions(const ModelGraph& graph);

}  // namespace infimum
