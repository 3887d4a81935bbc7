// Assumptions about layers in words, for ComputeBracket to solve again under.
//
//   free:Softmax_12          this layer alone takes nothing
//   free:op=Softmax          every Softmax takes nothing
//   floor:family=convolution convolutions run at their roofline
//   0.5x:family=matmul       products twice as fast
//   12us:Conv_0              this layer takes 12 microseconds
//   floor:all                every layer at its roofline
//
// A region that was measured keeps its time, whatever is assumed of its layers; so what a fused bound wins is a lower
// estimate where the layers are fused.
#pragma once

#include <string_view>

#include "analyzer/types/bracket.h"

namespace infimum {

// An error says what is wrong and what could stand there; layers that take no time by themselves (views, folded ones)
// are never meant.
Result<WhatIf> ParseWhatIf(std::string_view text, const ModelGraph& graph);

}  // namespace infimum
