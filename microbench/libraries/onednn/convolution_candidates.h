// Convolutions through oneDNN: forward and transposed, grouped, dilated, in one to three dimensions.
// Every implementation, with layouts free, with the channels last, and in the model's own order.
#pragma once

#include <vector>

#include "microbench/libraries/onednn/epilogue.h"
#include "microbench/libraries/onednn/program/program.h"
#include "microbench/reference/values.h"
#include "src/core/layer/convolution.h"

namespace infimum::cpu {

std::vector<Offer> ConvolutionOffers(const ConvolutionConfig& config, const LayerValues& values = {},
                                     const Epilogue& epilogue = {});

}  // namespace infimum::cpu
