// Scales of 8-bit products as GPU libraries know them: symmetric, without zero points; of the weights one, or one for
// each output channel.
//
//   y = saturate(round(sum of x w  *  FactorsOf(types, depth, values)[channel]))
#pragma once

#include <vector>

#include "infimum/layer/workload.h"
#include "microbench/reference/region_tensors.h"

namespace infimum::cuda {

// The workload as benchmarks have it here: with such scales for its 8-bit products, so that results of random operands
// fill the type without saturating, and the usual values for all else.
cpu::ValuedRegion BenchmarkedRegion(const Workload& workload);

// What a sum of `depth` products is multiplied by to become a result: one number, or one for each output channel.
// "unsupported: ..." for zero points.
Result<std::vector<double>> FactorsOf(const OperandTypes& types, std::int64_t depth, const cpu::LayerValues& values);

}  // namespace infimum::cuda
