// Matrix products: Gemm, MatMul with broadcasting, MatMulInteger, the products of com.microsoft.
//
//   matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x3072 bias=column weights=const
//
// Shapes are logical, batch x m x k and batch x k x n, after any transposition: in which order an
// operand lies in memory is a layout, which belongs to the candidate. Canonicalize() merges what does
// not change the cost: a batch over an unbatched b becomes rows of a, equal neighbouring batch
// dimensions become one. Ranks are equal and at least three; a batch dimension of 1 broadcasts.
//
// Operands: a, b, bias (unless `bias=no`).
#pragma once

#include <vector>

#include "infimum/layer/data_type.h"
#include "infimum/layer/shape.h"
#include "src/core/layer/work.h"

namespace infimum {

enum class MatMulBias {
  kNone,    // "no"
  kColumn,  // "column": one element for each of the n columns
  kFull,    // "full": the shape of the result (Gemm's C)
};
std::span<const NamedValue<MatMulBias>> NamesOf(MatMulBias);

struct MatMulConfig {
  OperandTypes types{DataType::kF32, DataType::kF32, DataType::kF32};
  Shape a;
  Shape b;
  MatMulBias bias = MatMulBias::kNone;
  Constness weights = Constness::kConstant;  // of b

  static constexpr std::string_view kName = "matmul";
  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("dtype", self.types);
    visit("a", self.a);
    visit("b", self.b);
    visit("bias", self.bias);
    visit("weights", self.weights);
  }
  friend bool operator==(const MatMulConfig&, const MatMulConfig&) = default;
};

// From two shapes as ONNX's MatMul takes them (vectors are promoted as NumPy does).
Result<MatMulConfig> MakeMatMul(OperandTypes types, const Shape& a, const Shape& b, MatMulBias bias, Constness weights);

Shape OutputShape(const MatMulConfig& config);

// direct = conventional = 2 * batch * m * n * k (+ batch * m * n with a bias).
Work WorkOf(const MatMulConfig& config);

Status Validate(const MatMulConfig& config);
std::vector<Operand> OperandsOfFamily(const MatMulConfig& config);
std::vector<Operand> OutputsOfFamily(const MatMulConfig& config);

}  // namespace infimum
