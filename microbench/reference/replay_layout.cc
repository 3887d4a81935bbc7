#include "microbench/reference/replay_layout.h"

#include <algorithm>
#include <optional>
#include <utility>

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
      if (RunsOnce(schedule_, schedule_.steps[i]) || LevelOf(i) == 1) continue;
      const Status status = AddStep(i);
      if (!status.ok()) return Within("step " + Quoted(schedule_.steps[i].name), status.error());
    }
    for (std::size_t i = 0; i < schedule_.tensors.size(); ++i) {
      if (!schedule_.tensors[i].is_output) continue;
      INFIMUM_ASSIGN_OR_RETURN(const std::size_t buffer, BufferIn(i, kRowMajorOrder, last_step_));
      layout_.outputs.push_back(buffer);
    }
    for (std::size_t factor = 0; factor < schedule_.factors.size(); ++factor) {
      const Status status = AddOtherLevel(factor);
      if (!status.ok()) return Within("factor " + Quoted(schedule_.factors[factor]), status.error());
    }
    // Of one step the reorders are in front of it already; level 1 comes behind level 0, as its steps do.
    std::ranges::stable_sort(layout_.operations, {}, &ReplayOperation::step);
    return std::move(layout_);
  }

 private:
  std::size_t LevelOf(std::size_t step) const {
    const std::optional<ReplayLevel>& level = schedule_.steps[step].level;
    return level ? level->level : 0;
  }
  bool IsOf(std::size_t step, std::size_t factor) const {
    const std::optional<ReplayLevel>& level = schedule_.steps[step].level;
    return level && level->factor == factor;
  }

  // Operations of level 1, when those of level 0 of all factors are there.
  Status AddOtherLevel(std::size_t factor) {
    const std::vector<bool> shared = SharedBuffers();
    std::vector<bool> is_written(layout_.buffers.size(), false), is_later(layout_.buffers.size(), false);
    for (const ReplayOperation& operation : layout_.operations) {
      for (const std::size_t buffer : operation.writes) {
        if (IsOf(operation.step, factor)) is_written[buffer] = true;
        if (!IsOf(operation.step, factor) && operation.step > FirstOf(factor)) is_later[buffer] = true;
      }
    }
    // What level 1 may read, and what it has to leave behind.
    const std::vector<bool> is_made = WithViews(is_written), is_missing = WithViews(is_later);
    std::vector<std::size_t> wanted;
    std::vector<std::vector<std::size_t>> there(schedule_.tensors.size());
    for (std::size_t tensor = 0; tensor < there.size(); ++tensor) {
      for (const std::size_t buffer : buffers_of_[tensor]) {
        if (!shared[buffer]) continue;
        if (is_written[buffer] && !is_later[buffer]) wanted.push_back(buffer);
        if (!is_made[buffer] && !is_missing[buffer]) there[tensor].push_back(buffer);
      }
    }
    std::swap(buffers_of_, there);
    wanted_ = std::move(wanted);
    for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
      if (!IsOf(i, factor) || LevelOf(i) == 0) continue;
      INFIMUM_RETURN_IF_ERROR(AddStep(i));
    }
    // Those that no step wrote as they are wanted.
    while (!wanted_.empty()) {
      const ReplayBuffer buffer = layout_.buffers[wanted_.front()];
      const std::size_t left = wanted_.size();
      INFIMUM_RETURN_IF_ERROR(BufferIn(buffer.tensor, buffer.order, last_step_));
      if (wanted_.size() == left) return Error{"its levels cannot end in the same layouts"};
    }
    std::swap(buffers_of_, there);
    return {};
  }

  std::size_t FirstOf(std::size_t factor) const {
    std::size_t first = 0;
    while (!IsOf(first, factor)) ++first;
    return first;
  }

  // Whether they have elements in common: one is a view of the other, or both are of a third.
  bool Overlap(std::size_t a, std::size_t b) const {
    if (layout_.MemoryOf(a) != layout_.MemoryOf(b)) return false;
    const auto count = [&](std::size_t buffer) {
      return ElementCount(schedule_.tensors[layout_.buffers[buffer].tensor].shape);
    };
    const std::int64_t of_a = layout_.OffsetOf(a), of_b = layout_.OffsetOf(b);
    return of_a < of_b + count(b) && of_b < of_a + count(a);
  }

  // By memory, the buffers that are in it.
  std::vector<std::vector<std::size_t>> ByMemory() const {
    std::vector<std::vector<std::size_t>> buffers(layout_.buffers.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) buffers[layout_.MemoryOf(i)].push_back(i);
    return buffers;
  }

  // `some`, and all buffers that have elements in common with them.
  std::vector<bool> WithViews(const std::vector<bool>& some) const {
    std::vector<bool> all = some;
    for (const std::vector<std::size_t>& together : ByMemory())
      for (const std::size_t a : together)
        for (const std::size_t b : together)
          if (some[a] && Overlap(a, b)) all[b] = true;
    return all;
  }

  // Buffers that are there at either level of all factors: those that came with the schedule, those that no factor
  // writes, and of the others those that are read outside of their factor.
  std::vector<bool> SharedBuffers() const {
    const std::size_t count = layout_.buffers.size();
    std::vector<std::optional<ReplayLevel>> writer(count);
    std::vector<bool> is_own(count, false);
    for (const ReplayOperation& operation : layout_.operations) {
      for (const std::size_t buffer : operation.writes) {
        const std::optional<ReplayLevel>& level = schedule_.steps[operation.step].level;
        if (!level) continue;
        // Level 1 may write what level 0 does; what it alone writes is its own.
        if (!writer[buffer] || level->level == 0) writer[buffer] = level;
        is_own[buffer] = true;
      }
    }
    const std::vector<std::vector<std::size_t>> by_memory = ByMemory();
    const auto read_outside = [&](std::size_t read, const std::optional<ReplayLevel>& level) {
      for (const std::size_t buffer : by_memory[layout_.MemoryOf(read)]) {
        const bool is_outside = writer[buffer] && (!level || level->factor != writer[buffer]->factor);
        if (is_outside && Overlap(buffer, read)) is_own[buffer] = false;
      }
    };
    for (const ReplayOperation& operation : layout_.operations)
      for (const std::size_t read : operation.reads) read_outside(read, schedule_.steps[operation.step].level);
    for (const std::size_t output : layout_.outputs) read_outside(output, std::nullopt);
    std::vector<bool> shared = WithViews(is_own);
    shared.flip();
    return shared;
  }

  std::size_t AddBuffer(std::size_t tensor, OrderId order) {
    const auto wanted = std::ranges::find_if(wanted_, [&](std::size_t buffer) {
      return layout_.buffers[buffer].tensor == tensor && layout_.buffers[buffer].order == order;
    });
    if (wanted != wanted_.end()) {
      const std::size_t buffer = *wanted;
      wanted_.erase(wanted);
      buffers_of_[tensor].push_back(buffer);
      return buffer;
    }
    layout_.buffers.push_back({tensor, order, {}});
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
    if (wanted.view && !step.level && AddViews(step, wanted)) return {};
    if (wanted.joined && !step.level && CanJoin(step, *wanted.joined)) return Join(number, *wanted.joined);
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

  // False where the operand has no buffer of which the results can be parts.
  bool AddViews(const ReplayStep& step, const StepOrders& wanted) {
    for (const std::size_t buffer : buffers_of_[step.operands[0]]) {
      const std::vector<StepOrders::Part> parts = wanted.view(layout_.buffers[buffer].order);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        layout_.buffers.push_back({step.outputs[i], parts[i].order, buffer, parts[i].offset});
        buffers_of_[step.outputs[i]].push_back(layout_.buffers.size() - 1);
      }
    }
    return !buffers_of_[step.outputs[0]].empty();
  }

  // Operands lie in the result with their memory, which may be that of what a transpose read: each has its own, and it
  // is in no other result.
  bool CanJoin(const ReplayStep& step, const StepOrders::Joined& joined) const {
    std::vector<std::size_t> memories;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      const std::optional<std::size_t> found = Find(step.operands[i], joined.parts[i].order);
      if (std::ranges::count(step.operands, step.operands[i]) != 1) return false;
      if (!found) continue;
      const std::size_t memory = layout_.MemoryOf(*found), tensor = layout_.buffers[memory].tensor;
      const bool is_all_of_it =
          ElementCount(schedule_.tensors[tensor].shape) == ElementCount(schedule_.tensors[step.operands[i]].shape);
      if (!is_all_of_it || schedule_.tensors[tensor].kind != ReplayTensorKind::kIntermediate) return false;
      memories.push_back(memory);
    }
    std::ranges::sort(memories);
    return std::ranges::adjacent_find(memories) == memories.end();
  }

  Status Join(std::size_t number, const StepOrders::Joined& joined) {
    const ReplayStep& step = schedule_.steps[number];
    std::vector<std::size_t> memories;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      INFIMUM_ASSIGN_OR_RETURN(const std::size_t part, BufferIn(step.operands[i], joined.parts[i].order, number));
      memories.push_back(layout_.MemoryOf(part));
    }
    const std::size_t whole = AddBuffer(step.outputs[0], joined.whole);
    for (std::size_t i = 0; i < memories.size(); ++i) {
      layout_.buffers[memories[i]].view_of = whole;
      layout_.buffers[memories[i]].offset = joined.parts[i].offset;
    }
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
        const auto count = static_cast<std::size_t>(
            std::ranges::count_if(step.operands, [&](std::size_t other) { return Find(other, order).has_value(); }));
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
  std::vector<std::size_t> wanted_;                   // that level 1 of a factor is still to write
  std::size_t last_step_ = 0;
};

}  // namespace

Result<ReplayLayout> LayOut(const ReplaySchedule& schedule, const std::vector<StepOrders>& orders,
                            const ReplayOrders& known) {
  return LayoutBuilder(schedule, orders, known).Build();
}

std::size_t ReplayLayout::MemoryOf(std::size_t buffer) const {
  while (buffers[buffer].view_of) buffer = *buffers[buffer].view_of;
  return buffer;
}

std::int64_t ReplayLayout::OffsetOf(std::size_t buffer) const {
  std::int64_t offset = 0;
  for (std::optional<std::size_t> at = buffer; at; at = buffers[*at].view_of) offset += buffers[*at].offset;
  return offset;
}

std::vector<BufferLife> LivesOf(const ReplayLayout& layout, const std::vector<std::size_t>& bytes) {
  const std::size_t end = layout.operations.size();
  std::vector<BufferLife> lives(layout.buffers.size());
  for (std::size_t i = 0; i < lives.size(); ++i) lives[i] = {layout.buffers[i].view_of ? 0 : bytes[i], end, 0};
  for (std::size_t i = 0; i < end; ++i) {
    for (const auto* list : {&layout.operations[i].reads, &layout.operations[i].writes}) {
      for (const std::size_t buffer : *list) {
        BufferLife& life = lives[layout.MemoryOf(buffer)];
        life.first = std::min(life.first, i);
        life.last = std::max(life.last, i);
      }
    }
  }
  for (const std::size_t output : layout.outputs) lives[layout.MemoryOf(output)].last = end;
  return lives;
}

}  // namespace infimum::cpu
