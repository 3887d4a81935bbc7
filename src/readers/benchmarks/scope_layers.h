// What an entry of "scope" measured, in our words: its workload, candidate (without layouts, which are not in the name)
// and contract.
//
//   CUDNN_CONV_BIAS_ACTIVATION_FWD, TENSORCOREHALF <..._ALGO_IMPLICIT_PRECOMP_GEMM, CUDNN_ACTIVATION_RELU>
//     ->  region [convolution dtype=f16:f16:f16 ... bias=yes weights=const](in0,w0,w1) ; [pointwise kind=relu ...](%0)
//         cudnn-legacy/implicit_precomp_gemm/tensor_op, f16
//
// The table of all APIs is in scope.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/layer/workload.h"
#include "infimum/measurement/candidate.h"
#include "infimum/measurement/contract.h"

namespace infimum::ingest {

// The names that "scope", the benchmark program of 2019, gave its entries:
//
//   LAYER_<API>[_<shard>]_<TYPE>__BatchSize_<n>__<id>[<MODE[, MODE]>]/argument:value/.../manual_time
//
//   LAYER_CUDNN_POOLING_FWD_FLOAT32__BatchSize_1__42<CUDNN_POOLING_MAX>/input[0]:1/input[1]:64/.../manual_time
//     ->  api CUDNN_POOLING_FWD, type FLOAT32, modes {CUDNN_POOLING_MAX}, arguments {input[0]: 1, input[1]: 64, ...}
//
// The shard (a digit) and the id are random and mean nothing.

struct ScopeName {
  std::string api;
  std::string type;
  std::vector<std::string> modes;
  std::map<std::string, std::int64_t, std::less<>> arguments;
};

bool IsScopeName(std::string_view name);

// Errors name the column (from 1) and what was expected there.
Result<ScopeName> ParseScopeName(std::string_view name);

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
