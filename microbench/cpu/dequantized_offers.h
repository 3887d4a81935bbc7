// Programs for layers of 8-bit tensors with scales of their own (dequantized_form.h): convert, run an offer of the f32
// form, and convert back, each over whole tensors.
#pragma once

#include <string_view>
#include <vector>

#include "microbench/libraries/onednn/program/program.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {

// kDequantized stands before the offer's name. Empty where the layer has no such form.
inline constexpr std::string_view kDequantized = "dequantized/";
std::vector<Offer> DequantizedOffers(const LayerConfig& config, CandidateTier tier, const LayerValues& values);

}  // namespace infimum::cpu
