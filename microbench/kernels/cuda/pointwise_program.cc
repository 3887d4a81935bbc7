#include "microbench/kernels/cuda/pointwise_program.h"

#include "microbench/kernels/cuda/pointwise_body.h"

namespace infimum::cuda {

PointwiseProgram::Place PointwiseProgram::AddOperand(Element element, std::vector<std::int64_t> steps) {
  if (call_.operands == PointwiseCall::kMostOperands || element == Element::kNone) {
    ok_ = false;
    return PointwiseCall::kAccumulator;
  }
  call_.operand[call_.operands].element = element;
  iteration_.steps.push_back(std::move(steps));
  return PointwiseCall::OperandPlace(call_.operands++);
}

void PointwiseProgram::AddStep(StepKind kind, Place first, Place second, Place third, std::vector<double> parameters) {
  if (call_.steps == PointwiseCall::kMostSteps) {
    ok_ = false;
    return;
  }
  PointwiseCall::Step& step = call_.step[call_.steps++];
  step.kind = kind;
  step.first = first;
  step.second = second;
  step.third = third;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    step.f64[i] = parameters[i];
    step.f32[i] = static_cast<float>(parameters[i]);
  }
}

PointwiseProgram::Place PointwiseProgram::SaveResult() {
  int slot = 0;
  for (int s = 0; s < call_.steps; ++s) slot = std::max(slot, call_.step[s].save + 1);
  if (slot == PointwiseCall::kMostSlots || call_.steps == 0) {
    ok_ = false;
    return PointwiseCall::kAccumulator;
  }
  call_.step[call_.steps - 1].save = static_cast<std::int8_t>(slot);
  return PointwiseCall::SlotPlace(slot);
}

void PointwiseProgram::AddOutput(Element element) {
  int output = 0;
  for (int s = 0; s < call_.steps; ++s) output = std::max(output, call_.step[s].output + 1);
  if (output == PointwiseCall::kMostOutputs || call_.steps == 0 || element == Element::kNone) {
    ok_ = false;
    return;
  }
  call_.step[call_.steps - 1].output = static_cast<std::int8_t>(output);
  call_.output[output].element = element;
  call_.outputs = output + 1;
}

void PointwiseProgram::RoundResult(Element element) {
  if (call_.steps > 0) call_.step[call_.steps - 1].rounded = element;
}

bool PointwiseProgram::Finish() {
  if (!ok_ || call_.steps == 0) return false;
  call_.arithmetic = arithmetic_;
  call_.count = iteration_.count();
  iteration_.Merge();
  const bool is_flat = iteration_.dims.size() <= 1;
  for (int i = 0; i < call_.operands; ++i) {
    const std::optional<Steps> steps = StepsOf(iteration_.steps[static_cast<std::size_t>(i)]);
    if (!steps) return false;
    call_.operand[i].steps = *steps;
  }
  if (is_flat) {
    call_.box.rank = 1;
    return true;
  }
  const std::optional<Box> box = BoxOf(iteration_.dims);
  if (!box) return false;
  call_.box = *box;
  return true;
}

bool PointwiseProgram::Fits(const PointwiseCall& call, int width) const {
  PointwiseCall wide = call;
  wide.width = width;
  if (!WithPointwiseThread(wide, [](auto) {})) return false;
  const std::int64_t inner = iteration_.dims.empty() ? 1 : iteration_.dims.back();
  // Flat ones leave a rest to another call.
  if (iteration_.dims.size() > 1 ? inner % width != 0 : inner < width) return false;
  for (int i = 0; i < call.outputs; ++i) {
    if (!IsAligned(call.output[i].data, PackAlignment(call.output[i].element, width))) return false;
  }
  return true;
}

std::vector<int> PointwiseProgram::Widths() const {
  std::vector<int> widths;
  for (int width : {8, 4, 2, 1}) {
    if (Fits(call_, width) && (width > 1 || widths.empty())) widths.push_back(width);
  }
  return widths;
}

std::vector<KernelCall> PointwiseProgram::MakeCalls(int width, const std::vector<const void*>& operands,
                                                    const std::vector<void*>& outputs) const {
  PointwiseCall call = call_;
  for (int i = 0; i < call.operands; ++i) call.operand[i].data = operands[static_cast<std::size_t>(i)];
  for (int i = 0; i < call.outputs; ++i) call.output[i].data = outputs[static_cast<std::size_t>(i)];
  while (width > 1 && !Fits(call, width)) width /= 2;
  call.width = width;
  for (int i = 0; i < call.operands; ++i) {
    PointwiseCall::Operand& operand = call.operand[i];
    const std::int64_t alignment = PackAlignment(operand.element, width);
    const std::int64_t elements = alignment / BytesOf(operand.element);
    bool is_vector = operand.steps.at[0] == 1 && IsAligned(operand.data, alignment);
    for (int d = 1; d < call.box.rank; ++d) is_vector = is_vector && operand.steps.at[d] % elements == 0;
    operand.access = operand.steps.at[0] == 0 ? PointwiseCall::Access::kOne
                     : is_vector              ? PointwiseCall::Access::kVector
                                              : PointwiseCall::Access::kStrided;
  }
  if (call.count == 0) return {};
  const std::int64_t rest = call.count % width;
  if (rest == 0) return {call};
  PointwiseCall tail = call;
  const std::int64_t whole = call.count - rest;
  call.count = whole;
  tail.count = rest;
  tail.width = 1;
  for (int i = 0; i < call.operands; ++i) {
    PointwiseCall::Operand& operand = tail.operand[i];
    operand.data = static_cast<const char*>(operand.data) + whole * operand.steps.at[0] * BytesOf(operand.element);
    if (operand.access == PointwiseCall::Access::kVector) operand.access = PointwiseCall::Access::kStrided;
  }
  for (int i = 0; i < call.outputs; ++i) {
    PointwiseCall::Output& output = tail.output[i];
    output.data = static_cast<char*>(output.data) + whole * BytesOf(output.element);
  }
  return {call, tail};
}

}  // namespace infimum::cuda
