// A whole model on this processor: weights prepacked, intermediates in one block of memory, steps and changes of
// layout in turn.
#pragma once

#include <memory>

#include "infimum/microbench/backend.h"

namespace infimum::cpu {

Result<std::unique_ptr<PreparedReplay>> PrepareReplay(const ReplaySchedule& schedule, const TensorFolder* folder,
                                                      std::uint64_t seed);

}  // namespace infimum::cpu
