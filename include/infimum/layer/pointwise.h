// Element-wise operators with NumPy broadcasting: activations, arithmetic, comparison, Where, Cast,
// QuantizeLinear.
//
//   pointwise kind=relu dtype=f32:-:f32 in=802816
//   pointwise kind=add dtype=f32:f32:f32 in=128x768,768
//   pointwise kind=where dtype=f32:bool:f32 in=12x128x128,12x128x128,1
//
// Canonicalize() merges neighbouring dimensions over which every operand is whole or every operand is
// broadcast, so that equal costs have equal texts; leading ones are dropped.
// dtype=in:second:out. `where` names its condition's type second; a comparison's output is bool.
// Operands: `in`, in order (a `where`: condition, x, y).
#pragma once

#include <string_view>
#include <vector>

#include "infimum/layer/data_type.h"
#include "infimum/layer/shape.h"
#include "src/core/layer/work.h"

namespace infimum {

enum class PointwiseKind {
  // arithmetic on two or more operands
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kPower,
  kModulo,
  kMinimum,
  kMaximum,
  kMean,
  kPRelu,
  kBitShift,
  // logic and comparison
  kAnd,
  kOr,
  kXor,
  kNot,
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
  kBitwiseNot,
  kEqual,
  kGreater,
  kGreaterOrEqual,
  kLess,
  kLessOrEqual,
  kIsNaN,
  kIsInf,
  kWhere,
  // one operand
  kIdentity,
  kAbsolute,
  kNegative,
  kSign,
  kCeil,
  kFloor,
  kRound,
  kReciprocal,
  kSquareRoot,
  kSquare,
  kCube,
  kExponential,
  kLogarithm,
  kErrorFunction,
  kClip,
  kCast,
  kSine,
  kCosine,
  kTangent,
  kArcSine,
  kArcCosine,
  kArcTangent,
  kHyperbolicSine,
  kHyperbolicCosine,
  kArcHyperbolicSine,
  kArcHyperbolicCosine,
  kArcHyperbolicTangent,
  kRelu,
  kLeakyRelu,
  kElu,
  kCelu,
  kSelu,
  kThresholdedRelu,
  kSigmoid,
  kHardSigmoid,
  kTanh,
  kHardSwish,
  kSwish,
  kGeluErf,
  kGeluTanh,
  kQuickGelu,
  kSoftplus,
  kSoftsign,
  kMish,
  kShrink,
  // quantisation: scale and zero point are values
  kQuantize,
  kDequantize,
  kDynamicQuantize,
  kRequantize,
};

struct PointwiseConfig {
  PointwiseKind kind = PointwiseKind::kRelu;
  OperandTypes types;
  std::vector<Shape> inputs;

  static constexpr std::string_view kName = "pointwise";
  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("kind", self.kind);
    visit("dtype", self.types);
    visit("in", self.inputs);
  }
  friend bool operator==(const PointwiseConfig&, const PointwiseConfig&) = default;
};

// How many operands a kind takes: {1, 1}, {2, 2}, {3, 3}, or {1, 64} for the variadic ones.
struct OperandRange {
  int least;
  int most;
};
OperandRange OperandsOf(PointwiseKind kind);

// The broadcast of all inputs.
Shape OutputShape(const PointwiseConfig& config);

// The merged form of `config` described above; equal costs become equal texts.
PointwiseConfig Canonicalize(PointwiseConfig config);

// Nominal operations for each output element, the same for each implementation: one for a comparison,
// a conversion or an arithmetic operation, and fixed small numbers for transcendental functions (the
// table in pointwise.cc). conventional = direct; provable = 0 for what only moves or converts and one
// for each output element otherwise.
Work WorkOf(const PointwiseConfig& config);
Status Validate(const PointwiseConfig& config);

}  // namespace infimum
