// Element-wise layers through oneDNN's eltwise and binary primitives, and the same as steps of an
// epilogue.
#pragma once

#include <optional>
#include <vector>

#include "infimum/layer/pointwise.h"
#include "microbench/libraries/onednn/epilogue.h"
#include "microbench/libraries/onednn/program/program.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {

// One operand: the eltwise algorithm with its parameters; nullopt where oneDNN has none.
std::optional<Epilogue::Step> EltwiseStep(PointwiseKind kind, const LayerValues& values);

// Two operands: oneDNN's binary algorithm.
std::optional<dnnl::algorithm> BinaryAlgorithm(PointwiseKind kind);

std::vector<Offer> PointwiseLibraryOffers(const PointwiseConfig& config, const LayerValues& values);

}  // namespace infimum::cpu
