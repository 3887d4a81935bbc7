// Which buffers a replay has, in which order of memory each lies, and what runs on them: steps, and changes of layout
// where a reader wants another order than the tensor lies in.
//
//   conv1 (writes nChw16c)  relu (any order)  conv2 (reads nChw16c)   ->  three operations on one layout
//   conv1 (writes nChw16c)  mean (row-major)                          ->  conv1, reorder, mean
//
// Greedy, in the order of the steps: a tensor lies as its producer writes it; a copy in another order is made once,
// before its first reader, and serves all later ones.
#pragma once

#include <vector>

#include "infimum/graph/replay_schedule.h"
#include "microbench/onednn/memory_order.h"
#include "microbench/onednn/step_offer.h"

namespace infimum::cpu {

struct ReplayBuffer {
  std::size_t tensor = 0;  // of the schedule
  OrderOf order;
  std::size_t bytes = 0;
};

struct ReplayOperation {
  std::size_t step = 0;  // that it is, or that a change of layout is for
  bool is_reorder = false;
  std::vector<std::size_t> reads;  // buffers; of a step as its operands
  std::vector<std::size_t> writes;
};

struct ReplayLayout {
  // The first buffers are the tensors that are there from the start (inputs and weights), row-major.
  std::vector<ReplayBuffer> buffers;
  std::vector<ReplayOperation> operations;
  std::vector<std::size_t> outputs;  // for each tensor that is an output, its row-major buffer
};

// `offers`: one for each step, those that run once left empty. `weights`: the data of every weight, since constants
// may decide a layout. Outputs of the model end row-major.
Result<ReplayLayout> LayOut(const ReplaySchedule& schedule, const std::vector<StepOffer>& offers,
                            const std::vector<HostTensor>& weights);

}  // namespace infimum::cpu
