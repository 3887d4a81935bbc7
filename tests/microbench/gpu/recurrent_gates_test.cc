// Every element of the weights goes to exactly one gate of cuDNN's, and each gate to the one that means the same.
#include "microbench/libraries/cudnn_legacy/recurrent_gates.h"

#include <gtest/gtest.h>

#include <set>

#include "infimum/layer/layer_config.h"

namespace infimum::cuda {
namespace {

RecurrentConfig Config(RecurrentKind kind) {
  RecurrentConfig config;
  config.kind = kind;
  config.input = 3;
  config.hidden = 5;
  config.directions = 2;
  config.bias = true;
  return config;
}

TEST(RecurrentGates, EveryWeightIsPlacedOnce) {
  for (const RecurrentKind kind :
       {RecurrentKind::kLstm, RecurrentKind::kGruLinearBeforeReset, RecurrentKind::kRnnTanh, RecurrentKind::kRnnRelu}) {
    const RecurrentConfig config = Config(kind);
    const std::vector<Operand> operands = OperandsOf(LayerConfig(config));
    std::set<std::int64_t> placed[4];
    for (std::int64_t direction = 0; direction < 2; ++direction) {
      std::set<std::int32_t> layers;
      for (const RecurrentBlock& block : RecurrentBlocksOf(config, direction)) {
        EXPECT_TRUE(layers.insert(block.layer).second);
        for (std::int64_t i = 0; i < block.count; ++i)
          EXPECT_TRUE(placed[block.operand].insert(block.first + i).second);
        for (std::int64_t i = 0; i < config.hidden; ++i) EXPECT_TRUE(placed[3].insert(block.first_bias + i).second);
      }
      EXPECT_EQ(static_cast<std::int64_t>(layers.size()), 2 * GateCount(kind));
      EXPECT_EQ(*layers.rbegin(), 2 * GateCount(kind) - 1);
    }
    for (std::size_t operand = 1; operand <= 3; ++operand) {
      EXPECT_EQ(static_cast<std::int64_t>(placed[operand].size()), ElementCount(operands[operand].shape));
      EXPECT_EQ(*placed[operand].rbegin() + 1, ElementCount(operands[operand].shape));
    }
  }
}

// cuDNN's guide: an LSTM's layers 0 and 4 are the input gate's, 1 and 5 the forget gate's, 2 and 6 the new memory's, 3
// and 7 the output gate's; a GRU's 0 and 3 the reset gate's, 1 and 4 the update gate's, 2 and 5 the new memory's.
TEST(RecurrentGates, GatesMeanTheSame) {
  const auto layers = [](RecurrentKind kind) {
    std::vector<std::int32_t> numbers;
    for (const RecurrentBlock& block : RecurrentBlocksOf(Config(kind), 0)) numbers.push_back(block.layer);
    return numbers;
  };
  EXPECT_EQ(layers(RecurrentKind::kLstm), (std::vector<std::int32_t>{0, 3, 1, 2, 4, 7, 5, 6}));
  EXPECT_EQ(layers(RecurrentKind::kGruLinearBeforeReset), (std::vector<std::int32_t>{1, 0, 2, 4, 3, 5}));
  EXPECT_EQ(layers(RecurrentKind::kRnnTanh), (std::vector<std::int32_t>{0, 1}));
}

}  // namespace
}  // namespace infimum::cuda
