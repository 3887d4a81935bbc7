// One region on random operands of its own; see layer_run.h.
#pragma once

#include <memory>

#include "infimum/microbench/backend.h"
#include "microbench/onednn/region_problem.h"

namespace infimum::cpu {

// The largest error of a region's outputs against the f64 reference on its inputs and weights, in the contract's
// measure; nullopt where a member has no reference.
Result<std::optional<double>> RegionError(const RegionProblem& problem, std::uint64_t seed);

Result<std::unique_ptr<PreparedRun>> PrepareRegion(const Region& region, const RegionOffer& offer, std::uint64_t seed);

}  // namespace infimum::cpu
