// Everything that can run a layer: oneDNN's implementations first, in its own order of preference, then
// kernels of ours.
#pragma once

#include <string_view>
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

// What OffersFor() puts together beside the lists of libraries and kernels.

// Layers of 8-bit tensors with scales of their own (dequantized_form.h): convert, run an offer of the f32 form, and
// convert back, each over whole tensors. kDequantized stands before the offer's name. Empty where the layer has no such
// form.
inline constexpr std::string_view kDequantized = "dequantized/";
std::vector<Offer> DequantizedOffers(const LayerConfig& config, CandidateTier tier, const LayerValues& values);

// Products whose weights have scales for each block, as f32 products of what they are, made once: as-f32/ and the name
// of such an offer. Empty for other products and for weights that change from run to run.
inline constexpr std::string_view kOnceDequantized = "as-f32/";
std::vector<Offer> OnceDequantizedOffers(const MatMulConfig& config);

// An LSTM over one sequence, infimum/lstm-rows:avx2. Empty for other cells, types and batches, and for weights that
// change from run to run.
std::vector<Offer> LstmKernelOffers(const RecurrentConfig& config);

}  // namespace infimum::cpu
