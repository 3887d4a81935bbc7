// Matrix products from two inputs of a node, for Gemm, MatMul and the products of com.microsoft.
#pragma once

#include <optional>

#include "src/core/layer/matmul.h"
#include "src/readers/onnx/lowering/operator_table.h"
#include "src/readers/onnx/lowering/region_builder.h"

namespace infimum::lowering {

// A region's first member: the GEMM of inputs `a` and `b` of the node, whose shapes are given after
// any transposition, plus input `bias` where there is one. A bias of columns or of the whole result
// belongs to the GEMM; one that broadcasts otherwise is a member of its own. `shape` receives the
// GEMM's m x n (with its batch before).
struct Product {
  std::size_t a = 0;
  std::size_t b = 1;
  std::optional<std::size_t> bias;
  std::optional<DataType> a_type;  // where the GEMM does not read the input's own type
  std::optional<DataType> b_type;
  std::optional<RegionBuilder::Source> a_source;  // an earlier member instead of input `a`
  // Of a b in fewer bits: inputs that are there, and the block of b that shares a scale, in b's rank.
  std::optional<std::size_t> scales;
  std::optional<std::size_t> zero_points;
  std::optional<DataType> zero_type;  // where they are packed in bytes
  Shape block;
  // Of an a in fewer bits, too: the input with its scales, one for so many elements of a row.
  std::optional<std::size_t> row_scales;
  std::int64_t row_block = 0;
  DataType activations = DataType::kNone;
  std::optional<bool> b_turned = {};  // whether the product turns b round; nullopt: b is no tensor of it alone
  std::optional<std::size_t> b_zero_point = {};  // of all of b
};
inline Product ProductOf(std::size_t a, std::size_t b, std::optional<std::size_t> bias = std::nullopt) {
  Product product;
  product.a = a;
  product.b = b;
  product.bias = bias;
  return product;
}
Result<RegionBuilder::Source> AddProduct(RegionBuilder& region, const NodeView& node, const Product& product,
                                         const Shape& a, const Shape& b, Shape* shape = nullptr);

// Input b as the product takes it, whatever the file stores (kStoredShape).
Result<Shape> WeightShape(const NodeView& node, std::size_t position);

// Swaps the last two dimensions; a vector stays.
Shape Transposed(Shape shape);

// Adds an activation over `shape` where one is named.
Status AddActivation(RegionBuilder& region, const NodeView& node, const Shape& shape, RegionBuilder::Source value);

Result<Lowering> LowerMatMul(const NodeView& node);

}  // namespace infimum::lowering
