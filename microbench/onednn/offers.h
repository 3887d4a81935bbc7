// Everything that can run a layer: oneDNN's implementations first, in its own order of preference, then
// kernels of ours.
#pragma once

#include <vector>

#include "infimum/measurement/candidate.h"
#include "microbench/onednn/program.h"

namespace infimum::cpu {

// Names are unique. Plain reference implementations appear only in the exhaustive tier, or where there is
// nothing else.
std::vector<Offer> OffersFor(const LayerConfig& config, CandidateTier tier);

}  // namespace infimum::cpu
