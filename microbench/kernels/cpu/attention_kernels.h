// Attention composed of two products and a softmax between them, which keeps one head's scores in the
// cache: what a framework without a fused kernel can do at best.
#pragma once

#include <vector>

#include "microbench/libraries/onednn/program/program.h"
#include "microbench/reference/values.h"
#include "src/core/layer/attention.h"

namespace infimum::cpu {

// infimum/attention-heads runs head after head, infimum/attention-batched all heads at once.
std::vector<Offer> AttentionOffers(const AttentionConfig& config, const LayerValues& values);

}  // namespace infimum::cpu
