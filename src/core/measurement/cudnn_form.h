// The ways to put one workload to cuDNN's graph: how tensors lie in memory, what products are added up in, and to which
// multiple channels are filled up. Each has its own engines, and its own name among the candidates:
//
//   convolution f16, 64 channels   {channels last}, {channels last, sums in f16}, {channels first}, ...
//   convolution f16, 3 channels    also {channels last, filled up to 8}: Tensor Cores want multiples of 16 bytes
//   matmul f16                     {as they are}, {second operand transposed}, and both with sums in f16
//
//   Suffix(convolution, {channels last, sums in f16, filled up to 8}) == "/acc=f16/pad=8"
//   Suffix(matmul, {second operand transposed}) == "/b=transposed"
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "infimum/measurement/candidate.h"
#include "infimum/measurement/contract.h"

namespace infimum::cuda {

struct CudnnForm {
  bool channels_last = false;  // of tensors with channels; of a product: the second operand lies transposed
  bool half_sums = false;      // f16 products are added up in f16
  std::int64_t channel_multiple = 1;

  friend bool operator==(const CudnnForm&, const CudnnForm&) = default;
};

// Those worth a question, the likeliest first; empty where cuDNN's graph has no operation for it. `heuristic` asks for
// fewer: the library's usual form alone.
std::vector<CudnnForm> FormsOf(const Workload& workload, NumericContract contract, CandidateTier tier);

// What a candidate's algorithm says of its form beside its layouts: "" for the usual one.
std::string Suffix(const Workload& workload, const CudnnForm& form);
// Of operands and results, by the workload's first layer: "acdb", "abcd", "plain".
std::string InputLayouts(const Workload& workload, const CudnnForm& form);
std::string OutputLayout(const Workload& workload, const CudnnForm& form);

// Why an element-wise layer is not put to cuDNN's graph, where none of its operations is used for it.
std::string PointwiseRefusal(PointwiseKind kind);

// The first member of a region, or the layer.
const LayerConfig& LeadOf(const Workload& workload);

}  // namespace infimum::cuda
