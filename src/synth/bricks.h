// Where a model is cut into bricks: layers, successive layers, or what a framework may run as one (after the idea of
// Li et al., "DLBricks", arXiv 1911.07967). brick_file.h makes files of them.
//
//   conv_1 -> relu_1 -> conv_2 -> add(conv_2, relu_1) -> relu_2
//
//   kLayers                    five, one a layer
//   kBlocks, block_layers 2    {conv_1, relu_1}, {conv_2, add}, {relu_2}
//   kFused                     {conv_2, add, relu_2}, {conv_1, relu_1}: the largest regions first
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "infimum/graph/model_graph.h"

namespace infimum::synth {

enum class CutInto { kLayers, kBlocks, kFused };

struct Cut {
  CutInto into = CutInto::kLayers;
  std::size_t block_layers = 1;  // of kBlocks: layers that are not free
  std::string layer = {};        // of kLayers: this one alone; empty: all
};

struct Piece {
  std::vector<LayerId> layers;  // ascending
  std::string kind;             // "convolution", "region", "block"; of a layer without workload its operator
  // The store's key of the layer or region, of a block the layers' in sequence, with what each reads where that is not
  // its neighbour alone. A layer without workload has its operator and operands, which do not say everything:
  // `is_exact` is false then.
  std::string text;
  bool is_exact = true;
  Flops flops;
  Bytes moved;
};

// In the order of their first layers. Free layers are a part of blocks, and of regions that they lie within. An error
// names the nearest layer where `cut.layer` is none; origins of a layer are its names, too.
Result<std::vector<Piece>> CutGraph(const ModelGraph& graph, const Cut& cut);

}  // namespace infimum::synth
