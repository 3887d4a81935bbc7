// Where the parts of a recurrent layer's weights, as ONNX has them, go in cuDNN's, which knows each gate's matrix by a
// number.
//
//   LSTM    ONNX i o f c    cuDNN's layers 0 3 1 2, and 4 7 5 6 for those that read the state
//   GRU     ONNX z r h      cuDNN's layers 1 0 2, and 4 3 5
#pragma once

#include <cstdint>
#include <vector>

#include "src/core/layer/recurrent.h"

namespace infimum::cuda {

struct RecurrentBlock {
  std::int32_t layer = 0;       // cuDNN's linear layer
  std::size_t operand = 1;      // 1: w, which reads the input; 2: r, which reads the state
  std::int64_t first = 0;       // element of that operand
  std::int64_t count = 0;       // a matrix, row by row
  std::int64_t first_bias = 0;  // element of the bias, which has `hidden` of them for the gate
};

// Every gate's two matrices, of one direction.
inline std::vector<RecurrentBlock> RecurrentBlocksOf(const RecurrentConfig& config, std::int64_t direction) {
  std::vector<std::int32_t> numbers = {0};
  if (config.kind == RecurrentKind::kLstm) numbers = {0, 3, 1, 2};
  if (config.kind == RecurrentKind::kGruLinearBeforeReset) numbers = {1, 0, 2};
  const auto gates = static_cast<std::int64_t>(numbers.size());
  std::vector<RecurrentBlock> blocks;
  for (const bool reads_state : {false, true}) {
    const std::int64_t columns = reads_state ? config.hidden : config.input;
    for (std::int64_t gate = 0; gate < gates; ++gate) {
      RecurrentBlock block;
      block.layer = numbers[static_cast<std::size_t>(gate)] + static_cast<std::int32_t>(reads_state ? gates : 0);
      block.operand = reads_state ? 2 : 1;
      block.count = config.hidden * columns;
      block.first = (direction * gates + gate) * block.count;
      block.first_bias = (direction * 2 * gates + (reads_state ? gates : 0) + gate) * config.hidden;
      blocks.push_back(block);
    }
  }
  return blocks;
}

}  // namespace infimum::cuda
