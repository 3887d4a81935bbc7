// cuDNN's graph as candidates of a workload, over all the ways to put it (cudnn_form.h).
//
//   CudnnCandidates(convolution f16, kF16, kEngine, h200)
//     cudnn-graph/eng45_k2=5_k5=4_k14=4          in=acdb out=acdb  the library's choice   tensor-core
//     cudnn-graph/eng22_k2=5_k13=1_k14=3...      in=acdb out=acdb                         tensor-core
//     cudnn-graph/eng62_k2=5.../acc=f16          in=acdb out=acdb                         tensor-core
//
// `heuristic`: what cuDNN would choose for the usual form, and its next best; `engine`: of each engine its best
// setting, as cuDNN's own order has it, or its own where that order leaves it out; `exhaustive`: every setting, at most
// kMostOfAForm for each form. In f32 GEMMs an engine of the Tensor Cores keeps 10 bits of an operand's mantissa: it
// counts under tf32, every other one under strict-f32.
#pragma once

#include <functional>

#include "microbench/gpu/device/gpu_properties.h"
#include "microbench/libraries/cudnn/cudnn_graph.h"
#include "src/core/results/candidate_list.h"

namespace infimum::cuda {

inline constexpr std::size_t kMostOfAForm = 1000;
inline constexpr std::string_view kCudnnGraph = "cudnn-graph";  // the candidates' library

// The device in question: one that need not be here, by its properties, or the one that is.
struct CudnnTarget {
  std::string device;
  std::function<Result<CudnnGraph>(const cpu::ValuedRegion&, const CudnnForm&)> build;

  static CudnnTarget Of(const GpuProperties& gpu);
  static CudnnTarget Of(std::string device, std::shared_ptr<CudnnHandle> handle);
};

// Lists without the library's name and version; `refusal` has cuDNN's words for the forms that it does not take, and
// says where a form has more settings than are listed.
Result<CandidateList> CudnnCandidates(const Workload& workload, NumericContract contract, CandidateTier tier,
                                      const CudnnTarget& target, std::size_t most_of_a_form = kMostOfAForm);

// The form and the plan that a candidate of such a list names; nullopt where it names none of this workload.
struct CudnnChoice {
  CudnnForm form;
  std::string plan;
};
std::optional<CudnnChoice> FindChoice(const Workload& workload, NumericContract contract, const Candidate& candidate);

}  // namespace infimum::cuda
