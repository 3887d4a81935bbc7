#include "microbench/onednn/replay_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>

#include "infimum/base/text.h"
#include "infimum/graph/memory_plan.h"
#include "microbench/onednn/constant_copies.h"
#include "microbench/onednn/replay_layout.h"

namespace infimum::cpu {
namespace {

constexpr std::size_t kAlignment = 4096;  // no two tensors share a page, so none is moved within one by another's size

// What a layer of 8 bits may be off by, one step, in parts of its range.
constexpr double kStepOfRange = 0x1p-7;

class ReplayRun : public PreparedReplay {
 public:
  ReplayRun(ReplaySchedule schedule, std::uint64_t seed) : schedule_(std::move(schedule)), seed_(seed) {}

  Status Prepare(const TensorFolder& folder) {
    INFIMUM_RETURN_IF_ERROR(FillTensors(folder));
    std::vector<StepOffer> offers(schedule_.steps.size());
    for (std::size_t i = 0; i < offers.size(); ++i) {
      ReadValueTensors(schedule_.steps[i]);
      const Status status = PrepareStep(schedule_.steps[i], offers[i]);
      if (!status.ok()) return Within("step " + Quoted(schedule_.steps[i].name), status.error());
    }
    INFIMUM_ASSIGN_OR_RETURN(layout_, LayOut(schedule_, offers, given_));
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
    double squares = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const ReplayOperation& operation = layout_.operations[i];
      // A result left over from before must not pass.
      for (const std::size_t buffer : operation.writes) {
        std::memset(DataOf(buffer), 0xcb, layout_.buffers[buffer].bytes);
      }
      INFIMUM_RETURN_IF_ERROR(Run(i));
      if (operation.is_reorder) continue;
      INFIMUM_ASSIGN_OR_RETURN(result.parts[i].error, ErrorOf(operation));
      const ErrorMeasure measure = MeasureOf(schedule_.steps[operation.step].workload);
      const double tolerance =
          measure == ErrorMeasure::kSteps ? std::min(parts_[i].tolerance, kStepOfRange) : parts_[i].tolerance;
      squares += tolerance * tolerance;
    }
    for (const std::size_t buffer : layout_.outputs) {
      INFIMUM_ASSIGN_OR_RETURN(ReplayOutput output, Compared(buffer));
      // Both that run and what it is compared with may be off by what each layer's contract allows.
      output.tolerance = 2 * std::sqrt(squares);
      result.outputs.push_back(std::move(output));
    }
    return result;
  }

 private:
  // Inputs and weights as they came, and what outputs should be.
  Status FillTensors(const TensorFolder& folder) {
    std::vector<bool> made(schedule_.tensors.size(), false);
    for (const ReplayStep& step : schedule_.steps) {
      for (const std::size_t output : step.outputs) made[output] = true;
    }
    given_.resize(schedule_.tensors.size());
    expected_.resize(schedule_.tensors.size());
    for (std::size_t i = 0; i < given_.size(); ++i) {
      const ReplayTensor& tensor = schedule_.tensors[i];
      if (tensor.kind != ReplayTensorKind::kIntermediate) {
        INFIMUM_ASSIGN_OR_RETURN(given_[i], HostTensor::Make(tensor.shape, tensor.type));
        if (tensor.fill) {
          for (std::int64_t k = 0; k < given_[i].count(); ++k) given_[i].Set(k, *tensor.fill);
        } else if (!made[i]) {
          INFIMUM_RETURN_IF_ERROR(folder.Read(tensor.name, tensor.type, tensor.shape, given_[i].data()));
        }
      }
      if (tensor.is_output) {
        INFIMUM_ASSIGN_OR_RETURN(expected_[i], HostTensor::Make(tensor.shape, tensor.type));
        INFIMUM_RETURN_IF_ERROR(folder.Read(tensor.name, tensor.type, tensor.shape, expected_[i].data()));
      }
    }
    return {};
  }

  // Values that lie in weights become numbers like all others.
  void ReadValueTensors(ReplayStep& step) const {
    for (std::size_t i = 0; i < step.value_tensors.size(); ++i) {
      for (const auto& [name, tensor] : step.value_tensors[i]) {
        std::vector<double>& numbers = step.values[i][name];
        for (std::int64_t k = 0; k < given_[tensor].count(); ++k) numbers.push_back(given_[tensor].Get(k));
      }
    }
    step.value_tensors.clear();
  }

  // Finds what runs a step; one that makes a weight runs now.
  Status PrepareStep(const ReplayStep& step, StepOffer& offer) {
    INFIMUM_ASSIGN_OR_RETURN(offer, FindStepOffer(step));
    if (!RunsOnce(schedule_, step)) return {};
    std::deque<HostTensor> seen;
    Operands operands;
    Outputs outputs;
    INFIMUM_RETURN_IF_ERROR(SeeGiven(step.operands, OperandsOf(step.workload), seen, operands));
    INFIMUM_RETURN_IF_ERROR(SeeGiven(step.outputs, OutputsOf(step.workload), seen, outputs));
    INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, offer.make(operands, outputs));
    return program->Run();
  }

  template <class Pointers>
  Status SeeGiven(const std::vector<std::size_t>& tensors, const std::vector<Operand>& as, std::deque<HostTensor>& seen,
                  Pointers& pointers) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      INFIMUM_ASSIGN_OR_RETURN(HostTensor view, HostTensor::Over(given_[tensors[i]].data(), as[i].shape, as[i].type));
      pointers.push_back(&seen.emplace_back(std::move(view)));
    }
    return {};
  }

  // Intermediates share a block as long as their lives allow; inputs and weights stay where they are.
  Status PlaceBuffers() {
    const std::size_t end = layout_.operations.size();
    std::vector<BufferLife> lives(layout_.buffers.size());
    for (std::size_t i = 0; i < lives.size(); ++i) lives[i] = {layout_.buffers[i].bytes + 64, end, 0};
    for (std::size_t i = 0; i < end; ++i) {
      for (const auto* list : {&layout_.operations[i].reads, &layout_.operations[i].writes}) {
        for (const std::size_t buffer : *list) {
          lives[buffer].first = std::min(lives[buffer].first, i);
          lives[buffer].last = std::max(lives[buffer].last, i);
        }
      }
    }
    for (const std::size_t output : layout_.outputs) lives[output].last = end;
    std::vector<BufferLife> planned;
    std::vector<std::size_t> place(lives.size(), lives.size());
    for (std::size_t i = 0; i < lives.size(); ++i) {
      if (IsGiven(i)) continue;
      place[i] = planned.size();
      planned.push_back(lives[i]);
    }
    const MemoryPlan plan = PlanMemory(planned, kAlignment);
    INFIMUM_ASSIGN_OR_RETURN(arena_, AlignedBuffer::Make(plan.bytes));
    data_.resize(lives.size());
    for (std::size_t i = 0; i < lives.size(); ++i) {
      data_[i] = IsGiven(i) ? given_[layout_.buffers[i].tensor].data()
                            : static_cast<char*>(arena_.data()) + plan.offsets[place[i]];
    }
    return {};
  }

  bool IsGiven(std::size_t buffer) const {
    return schedule_.tensors[layout_.buffers[buffer].tensor].kind != ReplayTensorKind::kIntermediate &&
           layout_.buffers[buffer].order == nullptr;
  }
  void* DataOf(std::size_t buffer) const { return data_[buffer]; }

  // A buffer as an operand of this shape. Where any order serves, the kernel goes over memory as it lies.
  Result<HostTensor*> See(std::size_t buffer, const Operand& as, bool as_it_lies) {
    INFIMUM_ASSIGN_OR_RETURN(HostTensor view, HostTensor::Over(DataOf(buffer), as.shape, as.type,
                                                               as_it_lies ? nullptr : layout_.buffers[buffer].order));
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
      part.candidate = "onednn/reorder";
      INFIMUM_ASSIGN_OR_RETURN(const HostTensor* from, See(operation.reads[0], Whole(operation.reads[0]), false));
      INFIMUM_ASSIGN_OR_RETURN(const HostTensor* to, See(operation.writes[0], Whole(operation.writes[0]), false));
      INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Program> program, MakeReorder(*from, *to));
      programs_.push_back(std::move(program));
      parts_.push_back(std::move(part));
      return {};
    }
    part.name = step.name;
    part.candidate = offer.candidate;
    part.tolerance = Tolerance(NativeContract(step.workload), step.workload);
    Operands operands;
    Outputs outputs;
    const std::vector<Operand> reads = OperandsOf(step.workload), writes = OutputsOf(step.workload);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      INFIMUM_ASSIGN_OR_RETURN(HostTensor* const view, See(operation.reads[i], reads[i], offer.any_order));
      operands.push_back(view);
      if (schedule_.tensors[step.operands[i]].kind == ReplayTensorKind::kWeight) {
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
    if (layout_.buffers[buffer].order == nullptr) return HostTensor::Over(DataOf(buffer), as.shape, as.type);
    INFIMUM_ASSIGN_OR_RETURN(HostTensor copy, HostTensor::Make(as.shape, as.type));
    const Operand whole = Whole(buffer);
    INFIMUM_ASSIGN_OR_RETURN(const HostTensor from,
                             HostTensor::Over(DataOf(buffer), whole.shape, whole.type, layout_.buffers[buffer].order));
    INFIMUM_ASSIGN_OR_RETURN(const HostTensor to, HostTensor::Over(copy.data(), whole.shape, whole.type));
    INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Program> reorder, MakeReorder(from, to));
    INFIMUM_RETURN_IF_ERROR(reorder->Run());
    return copy;
  }

  Result<std::optional<double>> ErrorOf(const ReplayOperation& operation) {
    const ReplayStep& step = schedule_.steps[operation.step];
    const std::vector<Operand> reads = OperandsOf(step.workload), writes = OutputsOf(step.workload);
    std::deque<HostTensor> tensors;
    Operands operands;
    Outputs outputs;
    for (std::size_t i = 0; i < reads.size(); ++i) {
      INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor, RowMajor(operation.reads[i], reads[i]));
      operands.push_back(&tensors.emplace_back(std::move(tensor)));
    }
    for (std::size_t i = 0; i < writes.size(); ++i) {
      INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor, RowMajor(operation.writes[i], writes[i]));
      outputs.push_back(&tensors.emplace_back(std::move(tensor)));
    }
    return StepError(step, operands, outputs, seed_);
  }

  // Over all elements of an output: the largest difference, in parts of the largest that is expected.
  Result<ReplayOutput> Compared(std::size_t buffer) {
    const std::size_t tensor = layout_.buffers[buffer].tensor;
    INFIMUM_ASSIGN_OR_RETURN(const HostTensor found, RowMajor(buffer, Whole(buffer)));
    const HostTensor& expected = expected_[tensor];
    double largest = 0, difference = 0;
    for (std::int64_t i = 0; i < expected.count(); ++i) {
      const double wanted = expected.Get(i), value = found.Get(i);
      if (value == wanted || (std::isnan(value) && std::isnan(wanted))) continue;
      const double distance = std::fabs(value - wanted);
      difference = std::isnan(distance) ? INFINITY : std::max(difference, distance);
    }
    for (std::int64_t i = 0; i < expected.count(); ++i) {
      if (std::isfinite(expected.Get(i))) largest = std::max(largest, std::fabs(expected.Get(i)));
    }
    ReplayOutput output;
    output.name = schedule_.tensors[tensor].name;
    output.error = difference == 0 ? 0 : difference / std::max(largest, 1e-30);
    return output;
  }

  ReplaySchedule schedule_;
  std::uint64_t seed_;
  std::vector<HostTensor> given_;     // by tensor; of inputs and weights
  std::vector<HostTensor> expected_;  // by tensor; of outputs
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

Result<std::unique_ptr<PreparedReplay>> PrepareReplay(const ReplaySchedule& schedule, const TensorFolder& folder,
                                                      std::uint64_t seed) {
  INFIMUM_RETURN_IF_ERROR(Validate(schedule));
  auto replay = std::make_unique<ReplayRun>(schedule, seed);
  INFIMUM_RETURN_IF_ERROR(replay->Prepare(folder));
  return std::unique_ptr<PreparedReplay>(std::move(replay));
}

}  // namespace infimum::cpu
