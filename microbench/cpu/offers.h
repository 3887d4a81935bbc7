// Everything that can run a layer: oneDNN's implementations first, in its own order of preference, then
// kernels of ours.
#pragma once

#include <vector>

#include "infimum/measurement/candidate.h"
#include "microbench/libraries/onednn/epilogue.h"
#include "microbench/libraries/onednn/program/program.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {

// Names are unique. Plain reference implementations appear only in the exhaustive tier, or where there is
// nothing else.
// Candidates that cannot honour the values are left out.
std::vector<Offer> OffersFor(const LayerConfig& config, CandidateTier tier, const LayerValues& values = {});

// A convolution or matrix product that applies an epilogue before it writes; empty for every other layer.
std::vector<Offer> FusedOffers(const LayerConfig& product, const Epilogue& epilogue, CandidateTier tier,
                               const LayerValues& values = {});

}  // namespace infimum::cpu
