// The buffers of a replay, the layout of each, and what runs on them: steps, and reorders where a reader wants another
// layout than the tensor has.
//
//   conv1 (writes nChw16c)  relu (any layout)  conv2 (reads nChw16c)   ->  three operations on one layout
//   conv1 (writes nChw16c)  mean (row-major)                          ->  conv1, reorder, mean
//
// Greedy, in the order of the steps: a tensor has the layout that its producer writes; a copy in another layout is made
// once, before its first reader, and serves all later ones.
//
// Of a schedule with factors: the layouts are those of level 0. What runs at level 1 starts from the buffers that are
// there at either level of the factors before it, and ends in those that readers outside of the factor have: where its
// steps want others, the reorders are its own. So any combination of levels is a program, and the operations of both
// levels stand one behind the other in one list, of which an inference leaves out what does not run.
//
// A transpose or split may be a view: no operation, its results other names for each buffer that its operand has by
// then, or for parts of it. A concatenation likewise: its operands are written where its result has them, those in
// other layouts by the reorder
//
//   conv1 (writes nChw8c)  conv2 (writes nhwc)  concat  ->  conv1, conv2, reorder: the first and last are parts of one
//
// and it runs as any other step where an operand was given, or lies in another concatenation's result already. Neither
// is a view where it runs at one level alone.
//
// A layout is a number here, the same for the same layout of one tensor; the runner knows what it means.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "infimum/graph/replay_schedule.h"
#include "src/core/graph/memory_plan.h"

namespace infimum::cpu {

using OrderId = std::size_t;
inline constexpr OrderId kRowMajorOrder = 0;

class ReplayOrders {
 public:
  virtual ~ReplayOrders() = default;
  // Without gaps: an element-wise step may go over memory in that order.
  virtual bool IsDense(OrderId order) const = 0;
  // Whether one copy leads from the one to the other; from and to row-major it always does.
  virtual bool HasReorder(OrderId from, OrderId to) const = 0;
};

// The orders that a step wants; of one that runs once nothing.
struct StepOrders {
  bool any_order = false;  // whichever, if it is that of all its tensors
  std::vector<OrderId> reads, writes;
  struct Part {
    OrderId order = kRowMajorOrder;
    std::int64_t offset = 0;  // where it begins in the memory of which it is a part, in elements
  };
  // Of a step that is a view where it can be: its results in the memory of its operand in that order; empty where they
  // cannot be there.
  std::function<std::vector<Part>(OrderId)> view = {};
  // Of a concatenation that is one: the order of its result, and its operands in that.
  struct Joined {
    OrderId whole = kRowMajorOrder;
    std::vector<Part> parts;
  };
  std::optional<Joined> joined = {};
};

struct ReplayBuffer {
  std::size_t tensor = 0;  // of the schedule
  OrderId order = kRowMajorOrder;
  std::optional<std::size_t> view_of = {};  // a buffer in whose memory it lies, maybe a view itself
  std::int64_t offset = 0;                  // where it begins there, in elements
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

  // The buffer that is no view in whose memory one lies, and where it begins there, in elements.
  std::size_t MemoryOf(std::size_t buffer) const;
  std::int64_t OffsetOf(std::size_t buffer) const;
  // Whether a buffer is an input or weight as it came, and not a copy in another order.
  bool IsGiven(const ReplaySchedule& schedule, std::size_t buffer) const {
    return schedule.tensors[buffers[buffer].tensor].kind != ReplayTensorKind::kIntermediate &&
           buffers[buffer].order == kRowMajorOrder;
  }
};

// `orders`: one for each step. Outputs of the model end row-major.
Result<ReplayLayout> LayOut(const ReplaySchedule& schedule, const std::vector<StepOrders>& orders,
                            const ReplayOrders& known);

// From which operation to which each buffer is needed, those of outputs to the end; `bytes` by buffer. A buffer is
// needed as long as its views, which need nothing.
std::vector<BufferLife> LivesOf(const ReplayLayout& layout, const std::vector<std::size_t>& bytes);

}  // namespace infimum::cpu
