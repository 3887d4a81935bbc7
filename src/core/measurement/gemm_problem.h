// A GEMM with what follows it, as the BLAS libraries of a GPU take it, and how a workload becomes one: for the runner
// and `infimum emit`.
//
//   [matmul a=1x128x768 b=1x768x3072 bias=column] ; [pointwise kind=relu]
//     rows 128, columns 3072, depth 768, batch 1, bias in the epilogue, then relu
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "infimum/layer/region.h"
#include "infimum/measurement/candidate.h"
#include "infimum/measurement/contract.h"

namespace infimum::cuda {

// kFast: of 8-bit floats, as frameworks ask for (`use_fast_accum`): Tensor Cores keep fewer bits of the sums than f32
// has. kBf16x9: of f32, whose operands become three bf16 each (cuBLAS on Blackwell); the check holds them to strict
// f32.
enum class GemmSums { kF32, kTf32, kF16, kF64, kS32, kFast, kBf16x9 };
enum class GemmActivation { kNone, kRelu, kGeluTanh };
// Of an operand in 8 or 4 bits, as cuBLASLt has them: for 16 or 32 elements of the depth, for a whole row or column,
// for 128 elements of the depth and for 128 x 128 elements.
enum class GemmScales { kNone, kVec16Ue4m3, kVec32Ue8m0, kOuterVec32f, kVec12832f, kBlk128x12832f };

// "tf32"; "", "relu", "gelu_tanh"; "", "vec16_ue4m3".
std::string_view Name(GemmSums sums);
std::string_view Name(GemmScales scales);
std::string_view Name(GemmActivation activation);

// Matrices are row-major.
struct GemmProblem {
  std::int64_t rows = 1, columns = 1, depth = 1, batch = 1;
  DataType a = DataType::kF32, b = DataType::kF32, output = DataType::kF32;
  // Elements from one matrix of the batch to the next; 0: the same for all.
  std::int64_t a_stride = 0, b_stride = 0;
  bool b_transposed = false;  // it is stored as columns x depth
  bool b_sparse = false;      // of each four elements along the depth two are left out (2:4)
  GemmSums sums = GemmSums::kF32;
  GemmActivation activation = GemmActivation::kNone;
  GemmScales a_scales = GemmScales::kNone, b_scales = GemmScales::kNone;
  DataType bias = DataType::kNone;  // of one number for each column; none where there is no bias
  bool addend = false;              // a tensor of the result's shape and type, added to the product
  double factor = 1;                // of the product

  // Sums of integers that become another type are multiplied by a factor, which the values of a layer decide.
  bool is_scaled() const { return sums == GemmSums::kS32 && output != DataType::kS32; }

  friend bool operator==(const GemmProblem&, const GemmProblem&) = default;
};

// The same for equal problems but their factors, different for others: what recordings are found by.
std::string Format(const GemmProblem& problem);

// How one GEMM is asked for: how the second operand is stored, what is added up in if not in the type's usual sums.
struct GemmForm {
  bool b_transposed = false;
  std::optional<GemmSums> sums{};
  bool b_sparse = false;  // for libraries of sparse products alone
  friend bool operator==(const GemmForm&, const GemmForm&) = default;
};
// The usual one first. `heuristic` has that one alone. `sparse`: those with `b_sparse`; none of a layer whose zeros are
// not where Sparse Tensor Cores want them.
std::vector<GemmForm> GemmFormsOf(const Region& region, NumericContract contract, CandidateTier tier,
                                  bool sparse = false);
// "/b=transposed/acc=f16", after an algorithm's name.
std::string Suffix(const GemmForm& form);

// A tensor of the region that the GEMM reads or writes.
struct GemmTensor {
  RegionOperand tensor;
  DataType type = DataType::kF32;
  Shape shape;
  bool transposed = false;                // its last two dimensions are exchanged in memory
  GemmScales scales = GemmScales::kNone;  // what it holds for its operand, where it is no operand itself
  bool of_columns = false;                // scales of the second operand
};

// Tensors in the order in which they are bound: a, b, then the scales of both, bias and addend where there are, last
// the result.
struct RegionGemm {
  GemmProblem problem;
  std::vector<GemmTensor> tensors;
};

// A matmul, alone or as a region with an addition of the result's shape and one activation. The error begins with
// "unsupported: " and says what BLAS libraries do not have.
Result<RegionGemm> GemmOf(const Region& region, NumericContract contract, const GemmForm& form);

}  // namespace infimum::cuda
