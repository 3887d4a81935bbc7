// An LSTM over one sequence (batch 1) as we would write it: all inputs projected by one matrix product, then
// for each step the recurrent weights times the state, read in the order in which they lie. Those weights are
// read once a step, so the layer is as fast as the cache that holds them.
//
//   infimum/lstm-rows:avx2
#pragma once

#include <vector>

#include "microbench/libraries/onednn/program/program.h"
#include "src/core/layer/recurrent.h"

namespace infimum::cpu {

// Empty for other cells, types and batches, and for weights that change from run to run.
std::vector<Offer> LstmKernelOffers(const RecurrentConfig& config);

}  // namespace infimum::cpu
