// One layer or region on random operands of its own: tensors, program and reference together, which is what the harness
// times.
#pragma once

#include <memory>

#include "infimum/measurement/contract.h"
#include "infimum/microbench/backend.h"
#include "microbench/libraries/onednn/program/program.h"
#include "microbench/libraries/onednn/program/region_problem.h"
#include "microbench/reference/reference.h"

namespace infimum::cpu {

// `known` lives longer.
Result<std::unique_ptr<PreparedRun>> PrepareLayer(const LayerConfig& config, const Offer& offer, std::uint64_t seed,
                                                  KnownValues& known);
Result<std::unique_ptr<PreparedRun>> PrepareRegion(const Region& region, const RegionOffer& offer, std::uint64_t seed,
                                                   KnownValues& known);

}  // namespace infimum::cpu
