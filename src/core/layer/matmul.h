// Matrix products: Gemm, MatMul with broadcasting, MatMulInteger, the products of com.microsoft.
//
//   matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x3072 bias=column weights=const
//
// Shapes are logical, batch x m x k and batch x k x n, after any transposition: in which order an
// operand lies in memory is a layout, which belongs to the candidate. Canonicalize() merges what does
// not change the cost: a batch over an unbatched b becomes rows of a, equal neighbouring batch
// dimensions become one. Ranks are equal and at least three; a batch dimension of 1 broadcasts.
//
//   matmul dtype=f32:u4:f32 a=1x1x4096 b=1x4096x14336 bias=no weights=const scales=32x1:f32:u4 activations=s8
//
// A b that is stored in fewer bits: a scale, and where there is a third word a zero point, for each 32 rows of each
// column; an element is (stored - zero point) x scale. A single scale for all of b is a value, not in the text.
//
//   matmul dtype=f4e2m1:f4e2m1:f16 a=1x128x4096 b=1x4096x4096 bias=no weights=const scales=16x1:f8e4m3
//          a_scales=1x16:f8e4m3
//
// Both operands in fewer bits, with scales by blocks (NVFP4 above; MX is 32x1:f8e8m0 and 1x32:f8e8m0; f32 scales of
// f8 by rows and columns, or by 128 elements): each product of two elements is multiplied by both scales.
//
//   matmul dtype=f16:f16:f16 a=1x128x4096 b=1x4096x4096 bias=no weights=const sparsity=2:4
//
// Structured sparsity: of each four elements of b that follow one another along the depth at most two are other than
// zero, as Sparse Tensor Cores want it. Its work is that of the two, with two bits each for where they are.
//
// Operands: a, b, bias (unless `bias=no`), scales, zero points, scales of a.
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

enum class Sparsity {
  kNone,    // "no": nothing is known of zeros
  kTwoOf4,  // "2:4"
};
std::span<const NamedValue<Sparsity>> NamesOf(Sparsity);

struct BlockScales {
  std::int64_t rows = 0;  // of a block of b's k x n, or of a's m x k; 0: there are none
  std::int64_t columns = 0;
  DataType type = DataType::kNone;
  DataType zero_points = DataType::kNone;  // kNone: zero

  bool any() const { return rows > 0; }
  friend bool operator==(const BlockScales&, const BlockScales&) = default;
};

struct MatMulConfig {
  OperandTypes types{DataType::kF32, DataType::kF32, DataType::kF32};
  Shape a;
  Shape b;
  MatMulBias bias = MatMulBias::kNone;
  Constness weights = Constness::kConstant;  // of b, and with it bias and scales
  BlockScales scales = {};
  BlockScales a_scales = {};               // of a block of one row; without zero points, and only beside scales of b
  DataType activations = DataType::kNone;  // what the model allows a to be rounded to on the way in: f16, bf16, s8
  Sparsity sparsity = Sparsity::kNone;     // of b

  static constexpr std::string_view kName = "matmul";
  static void VisitFields(auto& self, auto& visit) {
    visit("dtype", self.types);
    visit("a", self.a);
    visit("b", self.b);
    visit("bias", self.bias);
    visit("weights", self.weights);
    visit.Optional("scales", self.scales);
    visit.Optional("a_scales", self.a_scales);
    visit.Optional("activations", self.activations);
    visit.Optional("sparsity", self.sparsity);
  }
  friend bool operator==(const MatMulConfig&, const MatMulConfig&) = default;
};

// From two shapes as ONNX's MatMul takes them (vectors are promoted as NumPy does).
Result<MatMulConfig> MakeMatMul(OperandTypes types, const Shape& a, const Shape& b, MatMulBias bias, Constness weights);

Shape OutputShape(const MatMulConfig& config);

// The shape of scales and zero points: that of an operand, in blocks.
Shape ScaleShape(const Shape& operand, const BlockScales& scales);

// direct = 2 * batch * m * n * k (+ batch * m * n with a bias); conventional the same, of sparse weights with half of
// k.
Work WorkOf(const MatMulConfig& config);

Status Validate(const MatMulConfig& config);
std::vector<Operand> OperandsOfFamily(const MatMulConfig& config);

}  // namespace infimum
