// Random valid layer configurations and regions, for tests of laws. The same seed gives the same ones on
// every platform.
//
//   RandomLayers random(7);
//   LayerConfig config = random.Layer();    // each family about as often
//   Region region = random.Fusion();        // two to six members
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "infimum/layer/workload.h"

namespace infimum::testing {

class RandomLayers {
 public:
  // Dimensions are mostly up to `most_extent`, with a few larger ones when it is over 16.
  explicit RandomLayers(std::uint64_t seed, std::int64_t most_extent = 64) : engine_(seed), most_extent_(most_extent) {}

  LayerConfig Layer();
  Region Fusion();
  Workload Either();

  AttentionConfig Attention();
  ConvolutionConfig Convolution();
  MatMulConfig MatMul();
  MovementConfig Movement();
  NormalizationConfig Normalization();
  PointwiseConfig Pointwise();
  PoolingConfig Pooling();
  RecurrentConfig Recurrent();
  ReductionConfig Reduction();
  ReorderConfig Reorder();
  ResampleConfig Resample();
  ScanConfig Scan();
  SoftmaxConfig Softmax();
  SortConfig Sort();

  // From 0 to count - 1, and from least to most.
  std::int64_t Below(std::int64_t count);
  std::int64_t Between(std::int64_t least, std::int64_t most);
  bool Coin() { return Below(2) == 0; }
  template <class T>
  const T& OneOf(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(Below(static_cast<std::int64_t>(choices.size())))];
  }

 private:
  std::int64_t Extent();
  // Of at most 2^20 elements, so that what is built of a few of them is valid.
  Shape AShape(std::size_t least_rank, std::size_t most_rank);
  Shape Repeated(std::size_t rank, std::int64_t least, std::int64_t most);
  DataType AnyType();
  // The shape with some dimensions 1 and perhaps some leading ones left out.
  Shape Broadcastable(const Shape& shape);
  PointwiseConfig UnaryOn(const Operand& operand);
  PointwiseConfig BinaryOn(const Operand& operand);

  std::mt19937_64 engine_;
  std::int64_t most_extent_;
};

}  // namespace infimum::testing
