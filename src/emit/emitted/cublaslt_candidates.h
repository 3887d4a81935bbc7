// From a GEMM to its benchmarks: every algorithm that cuBLASLt has for it, under the name that infimum gives it.
//
//   cublaslt/algo=21_tile=20_stages=7_splitk=1_red=0_swz=0_custom=0_inner=0_cluster=0
//   cublaslt/algo=21_.../b=transposed/acc=f16    b is stored transposed, products are added up in f16
//   cublas/gemm                                  plain cuBLAS, of a product alone
//   cusparselt/alg=2_splitk=1_mode=0_buffers=0   cuSPARSELt, of sparse weights (2:4)
//
// The calls (cublaslt_matmul.cc, cublas_gemm.cc, cusparselt_matmul.cc) and the walk over cuBLASLt's algorithms
// (cublaslt_algorithms.cc) are those of infimum's runner.
#pragma once

#include <string>
#include <vector>

#include "cublaslt_matmul.h"

namespace cublaslt {

struct Form {
  std::string suffix{};  // of the candidates' names
  std::string contract{};
  std::string sums = "f32";   // what products are added up in
  bool b_transposed = false;  // a constant may be stored either way
};

struct Layer {
  std::string text;     // the layer as infimum writes it
  std::string layouts;  // of inputs and output, for `infimum import`
  Gemm gemm;
  std::vector<Form> forms;           // of each contract the usual one first
  std::vector<Form> sparse_forms{};  // for cuSPARSELt
  double low = -1, high = 1;         // random numbers that operands are filled with
  std::vector<std::string> only{};   // candidates; empty: all that cuBLASLt offers
};

// At namespace scope of a source: `const Registration kRegistered({...});`
struct Registration {
  explicit Registration(Layer layer);
};

}  // namespace cublaslt
