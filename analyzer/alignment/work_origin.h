// Who started what: for each call of a timeline the operator around it, for each piece of device work the call that
// started it.
//
//   aten::linear > aten::addmm > cudaLaunchKernel (correlation 77) -> gemm (correlation 77)
//   origin of gemm: call cudaLaunchKernel, operation aten::addmm, outermost aten::linear
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "infimum/graph/timeline.h"

namespace infimum {

inline constexpr std::uint32_t kNoCall = 0xffffffff;

// For each host call the innermost operator of its thread that was running when it began; kNoCall where there is none.
// `timeline` is sorted.
std::vector<std::uint32_t> EnclosingOperators(const Timeline& timeline);

// The same of calls that count, whatever they are.
std::vector<std::uint32_t> EnclosingCalls(const Timeline& timeline, const std::function<bool(const HostCall&)>& counts);

struct WorkOrigin {
  std::uint32_t call = kNoCall;       // the runtime call that started it, by correlation
  std::uint32_t operation = kNoCall;  // the innermost operator around that call; without a call the one that the
                                      // external id names
  std::uint32_t outermost = kNoCall;
};

// As long as timeline.device_work. Work of a CUDA graph has the call that launched the graph.
std::vector<WorkOrigin> OriginsOfWork(const Timeline& timeline);

}  // namespace infimum
