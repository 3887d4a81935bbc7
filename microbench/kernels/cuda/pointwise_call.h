// Element-wise work as a short program, the same for all elements: each operand is read once, each result written once,
// and what is between stays in registers.
//
//   relu(a + b)      {kAdd, a, b}  {kRelu, accumulator}                     output of step 1
//   x * sigmoid(x)   {kIdentity, x} save 0  {kSigmoid, accumulator}  {kMultiply, slot 0, accumulator}
//
// A thread takes `width` neighbouring elements of the result through all steps before its next ones, so that choosing
// what a step does costs little.
#pragma once

#include "microbench/kernels/cuda/element.h"
#include "microbench/kernels/cuda/index_math.h"

namespace infimum::cuda {

// In what a program computes. s64 has all integers exactly, with results that saturate when they are stored; u64 is
// taken as its bits.
enum class Arithmetic : std::uint8_t { kF32, kF64, kS64 };

// function(float()), function(double()) or function(std::int64_t()).
template <class Function>
inline void WithArithmetic(Arithmetic arithmetic, const Function& function) {
  switch (arithmetic) {
    case Arithmetic::kF32:
      return function(float{});
    case Arithmetic::kF64:
      return function(double{});
    default:
      return function(std::int64_t{});
  }
}

// The kinds of infimum::PointwiseKind, which device code does not see, by the same values; and steps that are no kind.
// A step has up to three parameters a, b, c: those of the kind's formula, or as said here.
enum class StepKind : std::uint8_t {
#define INFIMUM_POINTWISE(kind, ...) kind,
#include "src/core/layer/pointwise_kinds.def"
  // kQuantize is round(x / a) + b; kDequantize (x - a) * b; kRequantize (x - a) * b + c; kDynamicQuantize has x with
  // the smallest and the largest of all elements, scale = (largest - smallest) / 255.
  kTruncate,
  kMultiplyAdd,  // a x + b
  kInverseRoot,  // 1 / sqrt(x + a)
};

struct PointwiseCall {
  static constexpr int kMostOperands = 8;
  static constexpr int kMostOutputs = 4;
  static constexpr int kMostSteps = 16;
  static constexpr int kMostSlots = 4;

  // Where a step takes a number from: the result of the step before, an operand, or what an earlier step saved.
  using Place = std::uint8_t;
  static constexpr Place kAccumulator = 0;
  INFIMUM_HOST_DEVICE static constexpr Place OperandPlace(int number) { return static_cast<Place>(1 + number); }
  INFIMUM_HOST_DEVICE static constexpr Place SlotPlace(int number) { return static_cast<Place>(32 + number); }

  // How `width` neighbouring elements of the result find theirs in an operand.
  enum class Access : std::uint8_t {
    kVector,   // neighbours too, at a multiple of their size together (at most 16 bytes)
    kOne,      // all the same one
    kStrided,  // with a step
  };

  struct Operand {
    const void* data = nullptr;
    Element element = Element::kF32;
    Access access = Access::kVector;
    Steps steps;
  };
  struct Output {
    void* data = nullptr;  // without gaps, aligned as a vector access
    Element element = Element::kF32;
  };
  struct Step {
    StepKind kind = StepKind::kIdentity;
    Place first = kAccumulator, second = kAccumulator, third = kAccumulator;
    std::int8_t save = -1;    // the slot that keeps the result
    std::int8_t output = -1;  // the output that it is written to
    // What the result becomes before the next step sees it, as if it had been stored in between; kNone: as it is.
    Element rounded = Element::kNone;
    float f32[3] = {};
    double f64[3] = {};
  };

  Arithmetic arithmetic = Arithmetic::kF32;
  int width = 4;  // elements a thread takes at a time: 1, 2 (f64), 4 or 8 (f32); divides the innermost dimension
  int operands = 0;
  int outputs = 1;
  int steps = 0;
  std::int64_t count = 0;  // elements of each output
  Box box;                 // rank 1 where every operand is whole or one element: then count may pass 2^31
  Operand operand[kMostOperands];
  Output output[kMostOutputs];
  Step step[kMostSteps];
};

// The addresses of a call: all of it that differs from one launch of a compiled program to another.
struct PointwiseData {
  const void* operand[PointwiseCall::kMostOperands] = {};
  void* output[PointwiseCall::kMostOutputs] = {};
};
inline PointwiseData DataOf(const PointwiseCall& call) {
  PointwiseData data;
  for (int i = 0; i < call.operands; ++i) data.operand[i] = call.operand[i].data;
  for (int i = 0; i < call.outputs; ++i) data.output[i] = call.output[i].data;
  return data;
}

}  // namespace infimum::cuda
