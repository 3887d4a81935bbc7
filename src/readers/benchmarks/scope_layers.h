// What an entry of "scope" measured, in our words: its workload, candidate (without layouts, which are not in the name)
// and contract.
//
//   CUDNN_CONV_BIAS_ACTIVATION_FWD, TENSORCOREHALF <..._ALGO_IMPLICIT_PRECOMP_GEMM, CUDNN_ACTIVATION_RELU>
//     ->  region [convolution dtype=f16:f16:f16 ... bias=yes weights=const](in0,w0,w1) ; [pointwise kind=relu ...](%0)
//         cudnn-legacy/implicit_precomp_gemm/tensor_op, f16
//
// The table of all APIs stands in README.md.
#pragma once

#include <string>
#include <variant>

#include "infimum/layer/workload.h"
#include "infimum/measurement/candidate.h"
#include "infimum/measurement/contract.h"
#include "src/readers/benchmarks/scope_names.h"

namespace infimum::ingest {

struct ScopeLayer {
  Workload workload;
  Candidate candidate;
  NumericContract contract = NumericContract::kStrictF32;
};

// What the vocabulary has no words for.
struct UnexpressedLayer {
  std::string reason;
};

// An error where the name lacks what its API needs.
Result<std::variant<ScopeLayer, UnexpressedLayer>> LayerOf(const ScopeName& name);

// What CUDNN_ADD_TENSOR does with beta = 0, which is not in the name: c := a, the bias written out to the tensor's
// shape.
Result<Workload> WrittenOutBias(const ScopeName& name);

}  // namespace infimum::ingest
