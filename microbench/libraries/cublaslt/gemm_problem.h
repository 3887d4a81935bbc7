// A matrix product with what follows it, as the BLAS libraries of a GPU take it, and how a workload becomes one.
//
//   [matmul a=1x128x768 b=1x768x3072 bias=column] ; [pointwise kind=relu]
//     rows 128, columns 3072, depth 768, batch 1, bias in the epilogue, then relu
//
// Tensors are row-major; the libraries think in columns, so that D = A B is asked for as D^T = B^T A^T: what they call
// A is our second operand, m is our columns, n our rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "infimum/measurement/contract.h"
#include "microbench/gpu/device/gpu_program.h"
#include "microbench/reference/region_tensors.h"

namespace infimum::cuda {

enum class GemmSums { kF32, kTf32, kF16, kF64, kS32 };
enum class GemmActivation { kNone, kRelu, kGeluTanh };

struct GemmProblem {
  std::int64_t rows = 1, columns = 1, depth = 1, batch = 1;
  DataType a = DataType::kF32, b = DataType::kF32, output = DataType::kF32;
  // Elements from one matrix of the batch to the next; 0: the same for all.
  std::int64_t a_stride = 0, b_stride = 0;
  bool b_transposed = false;  // it lies columns x depth
  GemmSums sums = GemmSums::kF32;
  GemmActivation activation = GemmActivation::kNone;
  bool bias = false;    // one for each column
  bool addend = false;  // of the result's shape, added to the product
  double factor = 1;    // of the product

  friend bool operator==(const GemmProblem&, const GemmProblem&) = default;
};

// The same for equal problems, apart for others: what recordings are found by.
std::string Format(const GemmProblem& problem);

// The ways to put one product: how the second operand lies, what is added up in.
struct GemmForm {
  bool b_transposed = false;
  bool half_sums = false;
  friend bool operator==(const GemmForm&, const GemmForm&) = default;
};
std::vector<GemmForm> GemmFormsOf(const Region& region, NumericContract contract, CandidateTier tier);
// "/b=transposed/acc=f16", after an algorithm's name.
std::string Suffix(const GemmForm& form);

// A problem and the region's tensors that it is on, in the order in which they are bound: a, b, then bias and addend
// where there are, last the result.
struct BoundGemm {
  GemmProblem problem;
  std::vector<GpuBinding> bindings;
};

// A matmul, alone or as a region with an addition of the result's shape and one activation. An error that starts with
// "unsupported: " says what BLAS cannot.
Result<BoundGemm> GemmOf(const cpu::ValuedRegion& workload, NumericContract contract, const GemmForm& form);

}  // namespace infimum::cuda
