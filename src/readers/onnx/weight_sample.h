// What the stored weights of a model look like, by a small sample of each: how many are zero, and in how many bits
// they could be stored. And which of them have zeros where Sparse Tensor Cores want them, by all elements.
//
//   WeightSampler sampler;
//   sampler.Add(tensor, shape, elements);  // each initializer
//   std::optional<WeightSample> weights = sampler.Take();
//
// An initializer's sample is 1024 elements in 16 blocks, evenly spaced, the first and the last among them: equal files
// give equal samples. Its elements are split by the position of their bytes; H is the entropy of the bytes at one
// position,
//   H = -sum p_i log2 p_i + (m - 1) / (2 n ln 2)    for n bytes of m values, at most 8 bits
// with the correction of Miller and Madow (Miller, "Note on the bias of information estimates", 1955) for what a sample
// of n does not show. The sum over the positions is at least the entropy of the elements one by one; what they say
// about each other is not looked for.
#pragma once

#include <onnx/onnx_pb.h>

#include <optional>

#include "infimum/graph/model_graph.h"
#include "src/readers/onnx/parse/model_file.h"

namespace infimum {

class WeightSampler {
 public:
  // Where `floats` is given, weights of f32, f16 and bf16 are stored as that type instead: others say nothing.
  explicit WeightSampler(std::optional<DataType> floats = std::nullopt) : floats_(floats) {}

  // `elements`: where they are if not in the message. Tensors of less than 4096 elements, of indices (32 and 64-bit
  // integers, bool), and elements that are not as many as the shape's say nothing.
  void Add(const onnx::TensorProto& tensor, const Shape& shape, StoredElements elements);

  // Nullopt where nothing was sampled.
  std::optional<WeightSample> Take() const;

 private:
  std::optional<DataType> floats_;
  std::int64_t bytes_ = 0;
  double zeros_ = 0, information_ = 0;  // of the bytes
};

// Of a matrix of floating-point numbers or signed 8-bit integers, or several; what is too small to be sampled, or zero
// throughout its sample, has none. Elements that a large file keeps as protobuf's numbers are not looked at. A matrix
// is read to the first four that break the pattern, one that has it whole. Of a vector of bytes: whether it is zero.
ZeroPattern ZeroPatternOf(const onnx::TensorProto& tensor, const Shape& shape, const StoredElements& elements);
// Whether it is looked for in this type.
bool HasZeroPattern(DataType type);

}  // namespace infimum
