// One region on random operands of its own; see layer_run.h.
#pragma once

#include <memory>

#include "infimum/microbench/backend.h"
#include "microbench/libraries/onednn/program/region_problem.h"

namespace infimum::cpu {

Result<std::unique_ptr<PreparedRun>> PrepareRegion(const Region& region, const RegionOffer& offer, std::uint64_t seed);

}  // namespace infimum::cpu
