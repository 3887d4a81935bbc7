#include "microbench/reference/replay_layout.h"

#include <algorithm>
#include <optional>

#include "infimum/base/text.h"

namespace infimum::cpu {
namespace {

class LayoutBuilder {
 public:
  LayoutBuilder(const ReplaySchedule& schedule, const std::vector<StepOrders>& orders, const ReplayOrders& known)
      : schedule_(schedule), orders_(orders), known_(known), buffers_of_(schedule.tensors.size()) {}

  Result<ReplayLayout> Build() {
    for (std::size_t i = 0; i < schedule_.tensors.size(); ++i) {
      if (schedule_.tensors[i].kind != ReplayTensorKind::kIntermediate) AddBuffer(i, kRowMajorOrder);
    }
    for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
      if (RunsOnce(schedule_, schedule_.steps[i])) continue;
      const Status status = AddStep(i);
      if (!status.ok()) return Within("step " + Quoted(schedule_.steps[i].name), status.error());
    }
    for (std::size_t i = 0; i < schedule_.tensors.size(); ++i) {
      if (!schedule_.tensors[i].is_output) continue;
      INFIMUM_ASSIGN_OR_RETURN(const std::size_t buffer, BufferIn(i, kRowMajorOrder, last_step_));
      layout_.outputs.push_back(buffer);
    }
    return std::move(layout_);
  }

 private:
  std::size_t AddBuffer(std::size_t tensor, OrderId order) {
    layout_.buffers.push_back({tensor, order});
    buffers_of_[tensor].push_back(layout_.buffers.size() - 1);
    return layout_.buffers.size() - 1;
  }

  std::optional<std::size_t> Find(std::size_t tensor, OrderId order) const {
    for (const std::size_t buffer : buffers_of_[tensor]) {
      if (layout_.buffers[buffer].order == order) return buffer;
    }
    return std::nullopt;
  }

  // The tensor in that order, through a change of layout (or two) where it is not there yet.
  Result<std::size_t> BufferIn(std::size_t tensor, OrderId order, std::size_t step) {
    if (const std::optional<std::size_t> found = Find(tensor, order)) return *found;
    if (buffers_of_[tensor].empty()) return Error{"a tensor is read before it is made"};
    std::size_t from = buffers_of_[tensor].front();
    if (!known_.HasReorder(layout_.buffers[from].order, order)) {
      INFIMUM_ASSIGN_OR_RETURN(from, BufferIn(tensor, kRowMajorOrder, step));
    }
    const std::size_t to = AddBuffer(tensor, order);
    layout_.operations.push_back({step, true, {from}, {to}});
    return to;
  }

  Status AddStep(std::size_t number) {
    const ReplayStep& step = schedule_.steps[number];
    last_step_ = number;
    StepOrders wanted = orders_[number];
    if (wanted.any_order) {
      const OrderId common = CommonOrder(step);
      wanted.reads.assign(step.operands.size(), common);
      wanted.writes.assign(step.outputs.size(), common);
    }
    ReplayOperation operation{number, false, {}, {}};
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      INFIMUM_ASSIGN_OR_RETURN(const std::size_t buffer, BufferIn(step.operands[i], wanted.reads[i], number));
      operation.reads.push_back(buffer);
    }
    for (std::size_t i = 0; i < step.outputs.size(); ++i)
      operation.writes.push_back(AddBuffer(step.outputs[i], wanted.writes[i]));
    layout_.operations.push_back(std::move(operation));
    return {};
  }

  // For an element-wise step: the dense layout that most of its operands have already.
  OrderId CommonOrder(const ReplayStep& step) const {
    OrderId best = kRowMajorOrder;
    std::size_t best_count = 0;
    for (const std::size_t operand : step.operands) {
      for (const std::size_t buffer : buffers_of_[operand]) {
        const OrderId order = layout_.buffers[buffer].order;
        if (!known_.IsDense(order)) continue;
        const auto count =
            static_cast<std::size_t>(std::count_if(step.operands.begin(), step.operands.end(),
                                                   [&](std::size_t other) { return Find(other, order).has_value(); }));
        if (count <= best_count) continue;
        best = order;
        best_count = count;
      }
    }
    return best;
  }

  const ReplaySchedule& schedule_;
  const std::vector<StepOrders>& orders_;
  const ReplayOrders& known_;
  ReplayLayout layout_;
  std::vector<std::vector<std::size_t>> buffers_of_;  // of each tensor, the first as its producer wrote it
  std::size_t last_step_ = 0;
};

}  // namespace

Result<ReplayLayout> LayOut(const ReplaySchedule& schedule, const std::vector<StepOrders>& orders,
                            const ReplayOrders& known) {
  return LayoutBuilder(schedule, orders, known).Build();
}

std::vector<BufferLife> LivesOf(const ReplayLayout& layout, const std::vector<std::size_t>& bytes) {
  const std::size_t end = layout.operations.size();
  std::vector<BufferLife> lives(layout.buffers.size());
  for (std::size_t i = 0; i < lives.size(); ++i) lives[i] = {bytes[i], end, 0};
  for (std::size_t i = 0; i < end; ++i) {
    for (const auto* list : {&layout.operations[i].reads, &layout.operations[i].writes}) {
      for (const std::size_t buffer : *list) {
        lives[buffer].first = std::min(lives[buffer].first, i);
        lives[buffer].last = std::max(lives[buffer].last, i);
      }
    }
  }
  for (const std::size_t output : layout.outputs) lives[output].last = end;
  return lives;
}

}  // namespace infimum::cpu
