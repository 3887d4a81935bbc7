// An element-wise program under construction, apart from the memory that it runs on: the operands' steps over common
// dimensions, and the steps of the program.
//
//   PointwiseProgram program({16, 200}, Arithmetic::kF32);
//   Place x = program.AddOperand(Element::kF32, BroadcastSteps(Shape{{16, 200}}, program.dims()));
//   Place b = program.AddOperand(Element::kF32, BroadcastSteps(Shape{{16, 1}}, program.dims()));
//   program.AddStep(StepKind::kAdd, x, b);
//   program.AddOutput(Element::kF32);                  of the last step
//   program.MakeCalls(8, {px, pb}, {py})
#pragma once

#include "microbench/kernels/cuda/call_building.h"

namespace infimum::cuda {

class PointwiseProgram {
 public:
  using Place = PointwiseCall::Place;

  PointwiseProgram(std::vector<std::int64_t> dims, Arithmetic arithmetic)
      : iteration_{std::move(dims), {}}, arithmetic_(arithmetic) {}

  const std::vector<std::int64_t>& dims() const { return iteration_.dims; }
  Arithmetic arithmetic() const { return arithmetic_; }

  // What does not fit makes the program invalid, which ok() tells.
  Place AddOperand(Element element, std::vector<std::int64_t> steps);
  void AddStep(StepKind kind, Place first, Place second = PointwiseCall::kAccumulator,
               Place third = PointwiseCall::kAccumulator, std::vector<double> parameters = {});
  // Keeps the last step's result for later ones.
  Place SaveResult();
  // Of the last step; the next one sees the result as it is stored if `rounds`.
  void AddOutput(Element element);
  void RoundResult(Element element);

  // Joins dimensions and checks limits; nothing may be added afterwards. False: too many operands, steps, results or
  // dimensions, or 2^31 elements where positions must be computed.
  bool Finish();

  // Widths that kernels have for it when buffers are aligned, widest first; never empty.
  std::vector<int> Widths() const;

  // One call, or two where the last elements are no whole width. Narrower than `width` where addresses ask for it.
  std::vector<KernelCall> MakeCalls(int width, const std::vector<const void*>& operands,
                                    const std::vector<void*>& outputs) const;

 private:
  bool Fits(const PointwiseCall& call, int width) const;

  Iteration iteration_;
  Arithmetic arithmetic_;
  PointwiseCall call_;
  bool ok_ = true;
};

}  // namespace infimum::cuda
