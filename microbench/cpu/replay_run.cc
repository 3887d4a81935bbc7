#include "microbench/cpu/replay_run.h"

#include <cstring>
#include <deque>

#include "infimum/base/text.h"
#include "microbench/cpu/constant_copies.h"
#include "microbench/cpu/step_offer.h"
#include "microbench/cpu/unsigned_tensors.h"
#include "src/core/base/prepared.h"
#include "src/core/graph/memory_plan.h"

namespace infimum::cpu {
namespace {

constexpr std::size_t kBufferAlignment =
    4096;  // no two tensors share a page, so none is moved within one by another's size

class ReplayRun : public PreparedReplay {
 public:
  ReplayRun(ReplaySchedule schedule, std::uint64_t seed) : schedule_(std::move(schedule)), seed_(seed) {}

  Status Prepare(const TensorFolder* folder) {
    INFIMUM_ASSIGN_OR_RETURN(tensors_, ReplayTensors::Of(schedule_, folder, seed_));
    std::vector<StepOffer> offers(schedule_.steps.size());
    const auto prepare = [&](std::size_t i) {
      return Within("step " + Quoted(schedule_.steps[i].name), PrepareStep(schedule_.steps[i], offers[i]));
    };
    // Numbers of a step may be what an earlier one makes that runs once.
    for (std::size_t i = 0; i < offers.size(); ++i) {
      schedule_.steps[i] = tensors_.WithNumbers(schedule_.steps[i]);
      if (RunsOnce(schedule_, schedule_.steps[i])) INFIMUM_RETURN_IF_ERROR(prepare(i));
    }
    StoreUnsigned(schedule_);
    INFIMUM_RETURN_IF_ERROR(Validate(schedule_));
    for (std::size_t i = 0; i < offers.size(); ++i)
      if (!RunsOnce(schedule_, schedule_.steps[i])) INFIMUM_RETURN_IF_ERROR(prepare(i));
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<StepOrders> wanted, WantedOrders(schedule_, offers, tensors_, orders_));
    INFIMUM_ASSIGN_OR_RETURN(layout_, LayOut(schedule_, wanted, orders_));
    INFIMUM_RETURN_IF_ERROR(PlaceBuffers());
    for (const ReplayOperation& operation : layout_.operations) {
      const Status status = MakeProgram(operation, offers[operation.step]);
      if (!status.ok()) return Within("step " + Quoted(schedule_.steps[operation.step].name), status.error());
    }
    for (const std::unique_ptr<Program>& program : programs_) copies_.emplace_back(*program);
    return {};
  }

  const std::vector<ReplayPart>& parts() const override { return parts_; }
  Status Run(std::size_t part) override {
    copies_[part].Next();
    return programs_[part]->Run();
  }
  Bytes constants(std::size_t part) const override { return copies_[part].bytes(); }
  Status RotateConstants(std::size_t part, std::size_t copies) override { return copies_[part].Make(copies); }
  Bytes weights() const override { return weight_bytes_; }
  Bytes arena() const override { return Bytes{static_cast<std::int64_t>(arena_.size())}; }

  Result<ReplayResult> Check() override {
    ReplayResult result;
    result.parts = parts_;
    std::vector<bool> is_checked(parts_.size(), false);
    INFIMUM_RETURN_IF_ERROR(CheckInference('0', is_checked, result));
    // With these two each part ran once, on what its own level left.
    if (!schedule_.factors.empty()) INFIMUM_RETURN_IF_ERROR(CheckInference('1', is_checked, result));
    return result;
  }

 private:
  // One inference with all factors at a level; parts that were not checked before are.
  Status CheckInference(char level, std::vector<bool>& is_checked, ReplayResult& result) {
    const std::string levels(schedule_.factors.size(), level);
    // What only the other level makes must not be there.
    if (!levels.empty()) std::memset(arena_.data(), 0xcb, arena_.size());
    OutputTolerance tolerance;
    const auto run = [&]() -> Status {
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        const ReplayOperation& operation = layout_.operations[i];
        const ReplayStep& step = schedule_.steps[operation.step];
        if (!RunsAt(step.level, levels)) continue;
        // A result left over from before must not pass.
        for (const std::size_t buffer : operation.writes) std::memset(DataOf(buffer), 0xcb, BytesOf(buffer));
        INFIMUM_RETURN_IF_ERROR(Run(i));
        if (operation.is_reorder) continue;
        if (!is_checked[i]) {
          INFIMUM_ASSIGN_OR_RETURN(result.parts[i].error, ErrorOf(operation));
          is_checked[i] = true;
        }
        tolerance.Add(step, parts_[i].tolerance);
      }
      return {};
    };
    INFIMUM_RETURN_IF_ERROR(run());
    if (!tensors_.are_expected()) {
      for (const std::size_t buffer : layout_.outputs) {
        INFIMUM_ASSIGN_OR_RETURN(const HostTensor left, RowMajor(buffer, Whole(buffer)));
        INFIMUM_RETURN_IF_ERROR(tensors_.Expect(layout_.buffers[buffer].tensor, left));
      }
      tolerance = OutputTolerance();
      INFIMUM_RETURN_IF_ERROR(run());
    }
    for (const std::size_t buffer : layout_.outputs) {
      const std::size_t tensor = layout_.buffers[buffer].tensor;
      INFIMUM_ASSIGN_OR_RETURN(const HostTensor found, RowMajor(buffer, Whole(buffer)));
      ReplayOutput output = tensors_.Compared(tensor, found);
      output.tolerance = tolerance.value();
      result.outputs.push_back(std::move(output));
    }
    return {};
  }

  // Finds what runs a step; one that makes a weight runs now.
  Status PrepareStep(const ReplayStep& step, StepOffer& offer) {
    INFIMUM_ASSIGN_OR_RETURN(offer, FindStepOffer(step));
    if (!RunsOnce(schedule_, step)) return {};
    StepTensors seen;
    INFIMUM_RETURN_IF_ERROR(seen.Take(
        step.workload, [&](std::size_t i, const Operand& as) { return tensors_.View(step.operands[i], as); },
        [&](std::size_t i, const Operand& as) { return tensors_.View(step.outputs[i], as); }));
    INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, offer.make(seen.operands, seen.outputs));
    return program->Run();
  }

  // Intermediates share a block as long as their lives allow; inputs and weights stay where they are.
  Status PlaceBuffers() {
    std::vector<std::size_t> bytes;
    for (std::size_t i = 0; i < layout_.buffers.size(); ++i) bytes.push_back(BytesOf(i) + 64);
    const std::vector<BufferLife> lives = LivesOf(layout_, bytes);
    std::vector<BufferLife> planned;
    std::vector<std::size_t> place(lives.size(), lives.size());
    for (std::size_t i = 0; i < lives.size(); ++i) {
      if (layout_.IsGiven(schedule_, i) || layout_.buffers[i].view_of) continue;
      place[i] = planned.size();
      planned.push_back(lives[i]);
    }
    const MemoryPlan plan = PlanMemory(planned, kBufferAlignment);
    INFIMUM_ASSIGN_OR_RETURN(arena_, AlignedBuffer::Make(plan.bytes));
    data_.resize(lives.size());
    for (std::size_t i = 0; i < lives.size(); ++i) {
      const std::size_t memory = layout_.MemoryOf(i), tensor = layout_.buffers[memory].tensor;
      char* const begin = layout_.IsGiven(schedule_, memory)
                              ? static_cast<char*>(tensors_.given(tensor).data())
                              : static_cast<char*>(arena_.data()) + plan.offsets[place[memory]];
      data_[i] = begin + layout_.OffsetOf(i) * BytesPerElement(BufferType(schedule_.tensors[tensor].type));
    }
    return {};
  }

  const OrderOf& OrderOfBuffer(std::size_t buffer) const { return orders_.OrderAt(layout_.buffers[buffer].order); }
  std::size_t BytesOf(std::size_t buffer) const {
    const ReplayTensor& tensor = schedule_.tensors[layout_.buffers[buffer].tensor];
    const OrderOf& order = OrderOfBuffer(buffer);
    if (order != nullptr) return order->BytesOf(tensor.type);
    return static_cast<std::size_t>(ElementCount(tensor.shape) * BytesPerElement(BufferType(tensor.type)));
  }
  void* DataOf(std::size_t buffer) const { return data_[buffer]; }

  // A buffer as an operand of this shape. Where any order serves, the kernel goes over memory as it lies.
  Result<HostTensor*> See(std::size_t buffer, const Operand& as, bool as_it_lies) {
    INFIMUM_ASSIGN_OR_RETURN(HostTensor view, HostTensor::Over(DataOf(buffer), as.shape, as.type,
                                                               as_it_lies ? nullptr : OrderOfBuffer(buffer)));
    return &views_.emplace_back(std::move(view));
  }

  Operand Whole(std::size_t buffer) const {
    const ReplayTensor& tensor = schedule_.tensors[layout_.buffers[buffer].tensor];
    return {tensor.shape, tensor.type, false};
  }

  Status MakeProgram(const ReplayOperation& operation, const StepOffer& offer) {
    const ReplayStep& step = schedule_.steps[operation.step];
    ReplayPart part;
    part.step = operation.step;
    part.is_reorder = operation.is_reorder;
    if (operation.is_reorder) {
      part.name = "reorder of " + schedule_.tensors[layout_.buffers[operation.reads[0]].tensor].name;
      INFIMUM_ASSIGN_OR_RETURN(const HostTensor* from, See(operation.reads[0], Whole(operation.reads[0]), false));
      INFIMUM_ASSIGN_OR_RETURN(const HostTensor* to, See(operation.writes[0], Whole(operation.writes[0]), false));
      part.candidate = IsReorderOfLibrary(*from, *to) ? "onednn/reorder" : "infimum/reorder";
      INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Program> program, MakeReorder(*from, *to));
      programs_.push_back(std::move(program));
      parts_.push_back(std::move(part));
      return {};
    }
    part.name = step.name;
    part.candidate = offer.candidate;
    part.tolerance = StepTolerance(step, NativeContract(step.workload));
    Operands operands;
    Outputs outputs;
    const std::vector<Operand> reads = OperandsOf(step.workload), writes = OutputsOf(step.workload);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      INFIMUM_ASSIGN_OR_RETURN(HostTensor* const view, See(operation.reads[i], reads[i], offer.any_order));
      operands.push_back(view);
      if (schedule_.tensors[step.operands[i]].kind == ReplayTensorKind::kWeight &&
          !(step.level && step.level->level == 1)) {
        weight_bytes_ += Bytes{static_cast<std::int64_t>(view->bytes())};
      }
    }
    for (std::size_t i = 0; i < writes.size(); ++i) {
      INFIMUM_ASSIGN_OR_RETURN(HostTensor* const view, See(operation.writes[i], writes[i], offer.any_order));
      outputs.push_back(view);
    }
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Program> program, offer.make(operands, outputs));
    programs_.push_back(std::move(program));
    parts_.push_back(std::move(part));
    return {};
  }

  // A buffer's elements in row-major order, seen as an operand: itself, or a copy.
  Result<HostTensor> RowMajor(std::size_t buffer, const Operand& as) {
    if (OrderOfBuffer(buffer) == nullptr) return HostTensor::Over(DataOf(buffer), as.shape, as.type);
    INFIMUM_ASSIGN_OR_RETURN(HostTensor copy, HostTensor::Make(as.shape, as.type));
    const Operand whole = Whole(buffer);
    INFIMUM_ASSIGN_OR_RETURN(const HostTensor from,
                             HostTensor::Over(DataOf(buffer), whole.shape, whole.type, OrderOfBuffer(buffer)));
    INFIMUM_ASSIGN_OR_RETURN(const HostTensor to, HostTensor::Over(copy.data(), whole.shape, whole.type));
    INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Program> reorder, MakeReorder(from, to));
    INFIMUM_RETURN_IF_ERROR(reorder->Run());
    return copy;
  }

  Result<std::optional<double>> ErrorOf(const ReplayOperation& operation) {
    const ReplayStep& step = schedule_.steps[operation.step];
    StepTensors seen;
    INFIMUM_RETURN_IF_ERROR(seen.Take(
        step.workload, [&](std::size_t i, const Operand& as) { return RowMajor(operation.reads[i], as); },
        [&](std::size_t i, const Operand& as) { return RowMajor(operation.writes[i], as); }));
    return StepError(step, seen.operands, seen.outputs, seed_);
  }

  ReplaySchedule schedule_;
  std::uint64_t seed_;
  ReplayTensors tensors_;
  OrderTable orders_;
  ReplayLayout layout_;
  AlignedBuffer arena_;
  std::vector<void*> data_;       // of the layout's buffers
  std::deque<HostTensor> views_;  // stable addresses: programs keep them
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<ConstantCopies> copies_;  // of each program's constants
  std::vector<ReplayPart> parts_;
  Bytes weight_bytes_;
};

}  // namespace

Result<std::unique_ptr<PreparedReplay>> PrepareReplay(const ReplaySchedule& schedule, const TensorFolder* folder,
                                                      std::uint64_t seed) {
  INFIMUM_RETURN_IF_ERROR(Validate(schedule));
  return Prepared<PreparedReplay>(std::make_unique<ReplayRun>(schedule, seed), folder);
}

}  // namespace infimum::cpu
