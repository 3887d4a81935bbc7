// Scales of 8-bit products as GPU libraries know them: symmetric, without zero points, one for the whole tensor.
//
//   y = saturate(round(sum of x w  *  FactorOf(types, depth, values)))
#pragma once

#include "infimum/layer/workload.h"
#include "microbench/reference/region_tensors.h"

namespace infimum::cuda {

// The workload as benchmarks have it here: with such scales for its 8-bit products, so that results of random operands
// fill the type without saturating, and the usual values for all else.
cpu::ValuedRegion BenchmarkedRegion(const Workload& workload);

// What a sum of `depth` products is multiplied by to become a result. "unsupported: ..." for zero points and for scales
// that differ from channel to channel.
Result<double> FactorOf(const OperandTypes& types, std::int64_t depth, const cpu::LayerValues& values);

}  // namespace infimum::cuda
