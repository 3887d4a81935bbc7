// LSTM, GRU and plain recurrent layers through oneDNN: gates in its order, both biases added up before.
#pragma once

#include <vector>

#include "microbench/libraries/onednn/program/program.h"
#include "src/core/layer/recurrent.h"

namespace infimum::cpu {

std::vector<Offer> RecurrentOffers(const RecurrentConfig& config);

}  // namespace infimum::cpu
