#include "microbench/onednn/replay_layout.h"

#include <algorithm>
#include <deque>

#include "infimum/base/text.h"

namespace infimum::cpu {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

class LayoutBuilder {
 public:
  LayoutBuilder(const ReplaySchedule& schedule, const std::vector<StepOffer>& offers,
                const std::vector<HostTensor>& weights)
      : schedule_(schedule), offers_(offers), weights_(weights), buffers_of_(schedule.tensors.size()) {}

  Result<ReplayLayout> Build() {
    for (std::size_t i = 0; i < schedule_.tensors.size(); ++i) {
      if (schedule_.tensors[i].kind != ReplayTensorKind::kIntermediate) AddBuffer(i, nullptr);
    }
    for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
      if (RunsOnce(schedule_, schedule_.steps[i])) continue;
      const Status status = AddStep(i);
      if (!status.ok()) return Within("step " + Quoted(schedule_.steps[i].name), status.error());
    }
    for (std::size_t i = 0; i < schedule_.tensors.size(); ++i) {
      if (!schedule_.tensors[i].is_output) continue;
      INFIMUM_ASSIGN_OR_RETURN(const std::size_t buffer, BufferIn(i, nullptr, last_step_));
      layout_.outputs.push_back(buffer);
    }
    return std::move(layout_);
  }

 private:
  std::size_t AddBuffer(std::size_t tensor, OrderOf order) {
    const ReplayTensor& described = schedule_.tensors[tensor];
    const std::size_t bytes =
        order != nullptr
            ? order->BytesOf(described.type)
            : static_cast<std::size_t>(ElementCount(described.shape) * BytesPerElement(BufferType(described.type)));
    layout_.buffers.push_back({tensor, std::move(order), bytes});
    buffers_of_[tensor].push_back(layout_.buffers.size() - 1);
    return layout_.buffers.size() - 1;
  }

  std::size_t Find(std::size_t tensor, const OrderOf& order) const {
    for (const std::size_t buffer : buffers_of_[tensor]) {
      if (SameOrder(layout_.buffers[buffer].order, order)) return buffer;
    }
    return kNowhere;
  }

  // The tensor in that order, through a change of layout (or two) where it is not there yet.
  Result<std::size_t> BufferIn(std::size_t tensor, const OrderOf& order, std::size_t step) {
    const std::size_t found = Find(tensor, order);
    if (found != kNowhere) return found;
    if (buffers_of_[tensor].empty()) return Error{"a tensor is read before it is made"};
    std::size_t from = buffers_of_[tensor].front();
    if (!HasReorder(layout_.buffers[from].order, order)) {
      INFIMUM_ASSIGN_OR_RETURN(from, BufferIn(tensor, nullptr, step));
    }
    const std::size_t to = AddBuffer(tensor, order);
    layout_.operations.push_back({step, true, {from}, {to}});
    return to;
  }

  // Tensors that have shapes and types but, weights apart, no memory: to ask for placements.
  Result<std::deque<HostTensor>> Described(const std::vector<std::size_t>& tensors,
                                           const std::vector<Operand>& seen_as) const {
    std::deque<HostTensor> described;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor,
                               HostTensor::Over(weights_[tensors[i]].data(), seen_as[i].shape, seen_as[i].type));
      described.push_back(std::move(tensor));
    }
    return described;
  }

  Status AddStep(std::size_t number) {
    const ReplayStep& step = schedule_.steps[number];
    const StepOffer& offer = offers_[number];
    last_step_ = number;
    std::vector<OrderOf> reads(step.operands.size()), writes(step.outputs.size());
    if (offer.any_order) {
      const OrderOf common = CommonOrder(step);
      std::fill(reads.begin(), reads.end(), common);
      std::fill(writes.begin(), writes.end(), common);
    } else {
      INFIMUM_ASSIGN_OR_RETURN(std::deque<HostTensor> operands, Described(step.operands, OperandsOf(step.workload)));
      INFIMUM_ASSIGN_OR_RETURN(std::deque<HostTensor> outputs, Described(step.outputs, OutputsOf(step.workload)));
      Operands operand_pointers;
      Outputs output_pointers;
      for (const HostTensor& operand : operands) operand_pointers.push_back(&operand);
      for (HostTensor& output : outputs) output_pointers.push_back(&output);
      INFIMUM_ASSIGN_OR_RETURN(const std::vector<Placement> placements, offer.place(operand_pointers, output_pointers));
      for (const Placement& placement : placements) {
        for (std::size_t i = 0; i < reads.size(); ++i) {
          if (operand_pointers[i] == placement.tensor) reads[i] = placement.order;
        }
        for (std::size_t i = 0; i < writes.size(); ++i) {
          if (output_pointers[i] == placement.tensor) writes[i] = placement.order;
        }
      }
    }
    ReplayOperation operation{number, false, {}, {}};
    for (std::size_t i = 0; i < reads.size(); ++i) {
      INFIMUM_ASSIGN_OR_RETURN(const std::size_t buffer, BufferIn(step.operands[i], reads[i], number));
      operation.reads.push_back(buffer);
    }
    for (std::size_t i = 0; i < writes.size(); ++i) operation.writes.push_back(AddBuffer(step.outputs[i], writes[i]));
    layout_.operations.push_back(std::move(operation));
    return {};
  }

  // For an element-wise step: the dense order in which the most of its operands lie already.
  OrderOf CommonOrder(const ReplayStep& step) const {
    OrderOf best;
    std::size_t best_count = 0;
    for (const std::size_t operand : step.operands) {
      for (const std::size_t buffer : buffers_of_[operand]) {
        const OrderOf& order = layout_.buffers[buffer].order;
        if (order != nullptr && !order->dense()) continue;
        const auto count =
            static_cast<std::size_t>(std::count_if(step.operands.begin(), step.operands.end(),
                                                   [&](std::size_t other) { return Find(other, order) != kNowhere; }));
        if (count <= best_count) continue;
        best = order;
        best_count = count;
      }
    }
    return best;
  }

  const ReplaySchedule& schedule_;
  const std::vector<StepOffer>& offers_;
  const std::vector<HostTensor>& weights_;
  ReplayLayout layout_;
  std::vector<std::vector<std::size_t>> buffers_of_;  // of each tensor, the first as its producer wrote it
  std::size_t last_step_ = 0;
};

}  // namespace

Result<ReplayLayout> LayOut(const ReplaySchedule& schedule, const std::vector<StepOffer>& offers,
                            const std::vector<HostTensor>& weights) {
  return LayoutBuilder(schedule, offers, weights).Build();
}

}  // namespace infimum::cpu
