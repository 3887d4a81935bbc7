// What oneDNN's attributes say about a product: scratch memory, the scales and zero points of 8-bit numbers, and the
// element-wise steps behind it.
//
//   {PostOperation{"eltwise_relu"}}  ->  steps.append_eltwise(algorithm::eltwise_relu, 0.0F, 0.0F);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infimum/layer/data_type.h"
#include "infimum/layer/pointwise.h"
#include "infimum/layer/shape.h"
#include "src/emit/onednn_source.h"

namespace infimum::emit {

struct PostOperation {
  std::string algorithm;  // "eltwise_relu", "binary_add"
  double alpha = 0;
  double beta = 0;
  bool binary = false;
  // Of a binary one's other operand, in the rank of the product's result, 1 where it broadcasts.
  Shape shape = {};
  DataType type = DataType::kF32;
  bool constant = false;
};

// oneDNN's algorithm for an element-wise kind of one operand, with the parameters that benchmarks use (values change
// results, not cost); of two operands.
std::optional<PostOperation> EltwiseOf(PointwiseKind kind);
std::optional<std::string> BinaryOf(PointwiseKind kind);

// Numbers of a product of 8-bit integers, as the runner's benchmarks have them. An accumulator that stays s32 is not
// scaled.
struct ProductNumbers {
  std::int64_t input_zero = 0;
  double input_scale = 1;
  double output_scale = 1;
  std::int64_t output_zero = 0;
  bool scaled = false;
};
ProductNumbers NumbersOf(const OperandTypes& types, std::int64_t depth);

// A scaled product takes its bias in f32.
DataType LibraryBiasType(const ProductNumbers& numbers, DataType bias);

// Defines `name`, which is called with ProductAttributes(name, ...), and the steps' dimensions as constants kStep0 ...
// `rank`: of the product's result as the primitive sees it; leading dimensions of the steps' operands fall away.
void AddAttributes(const ProductNumbers& numbers, const std::vector<PostOperation>& steps, std::string_view name,
                   std::size_t rank, OneDnnSource& source);
std::string CallAttributes(const ProductNumbers& numbers, std::string_view name, int channel_mask);

// Arguments of the scales, zero points and steps; `channels`: of the result.
void AddAttributeArguments(const ProductNumbers& numbers, const std::vector<PostOperation>& steps,
                           std::int64_t channels, OneDnnSource& source);

// Attributes() of a primitive that has none but its scratch memory.
void AddPlainAttributes(OneDnnSource& source);

}  // namespace infimum::emit
