#include "microbench/kernels/cuda/pointwise_steps.h"

namespace infimum::cuda {
namespace {

// A kind that is one step for one operand, or one step for each operand after the first.
std::optional<StepKind> PlainKind(PointwiseKind kind) {
  switch (kind) {
    case PointwiseKind::kAdd:
    case PointwiseKind::kMean:
      return StepKind::kAdd;
    case PointwiseKind::kSubtract:
      return StepKind::kSubtract;
    case PointwiseKind::kMultiply:
      return StepKind::kMultiply;
    case PointwiseKind::kDivide:
      return StepKind::kDivide;
    case PointwiseKind::kPower:
      return StepKind::kPower;
    case PointwiseKind::kModulo:
      return StepKind::kModulo;
    case PointwiseKind::kMinimum:
      return StepKind::kMinimum;
    case PointwiseKind::kMaximum:
      return StepKind::kMaximum;
    case PointwiseKind::kPRelu:
      return StepKind::kPRelu;
    case PointwiseKind::kBitShift:
      return StepKind::kBitShift;
    case PointwiseKind::kAnd:
      return StepKind::kAnd;
    case PointwiseKind::kOr:
      return StepKind::kOr;
    case PointwiseKind::kXor:
      return StepKind::kXor;
    case PointwiseKind::kBitwiseAnd:
      return StepKind::kBitwiseAnd;
    case PointwiseKind::kBitwiseOr:
      return StepKind::kBitwiseOr;
    case PointwiseKind::kBitwiseXor:
      return StepKind::kBitwiseXor;
    case PointwiseKind::kEqual:
      return StepKind::kEqual;
    case PointwiseKind::kGreater:
      return StepKind::kGreater;
    case PointwiseKind::kGreaterOrEqual:
      return StepKind::kGreaterOrEqual;
    case PointwiseKind::kLess:
      return StepKind::kLess;
    case PointwiseKind::kLessOrEqual:
      return StepKind::kLessOrEqual;
    case PointwiseKind::kNot:
      return StepKind::kNot;
    case PointwiseKind::kBitwiseNot:
      return StepKind::kBitwiseNot;
    case PointwiseKind::kIsNaN:
      return StepKind::kIsNaN;
    case PointwiseKind::kIsInf:
      return StepKind::kIsInf;
    case PointwiseKind::kIdentity:
      return StepKind::kIdentity;
    case PointwiseKind::kAbsolute:
      return StepKind::kAbsolute;
    case PointwiseKind::kNegative:
      return StepKind::kNegative;
    case PointwiseKind::kSign:
      return StepKind::kSign;
    case PointwiseKind::kCeil:
      return StepKind::kCeil;
    case PointwiseKind::kFloor:
      return StepKind::kFloor;
    case PointwiseKind::kRound:
      return StepKind::kRound;
    case PointwiseKind::kReciprocal:
      return StepKind::kReciprocal;
    case PointwiseKind::kSquareRoot:
      return StepKind::kSquareRoot;
    case PointwiseKind::kSquare:
      return StepKind::kSquare;
    case PointwiseKind::kCube:
      return StepKind::kCube;
    case PointwiseKind::kExponential:
      return StepKind::kExponential;
    case PointwiseKind::kLogarithm:
      return StepKind::kLogarithm;
    case PointwiseKind::kErrorFunction:
      return StepKind::kErrorFunction;
    case PointwiseKind::kClip:
      return StepKind::kClip;
    case PointwiseKind::kSine:
      return StepKind::kSine;
    case PointwiseKind::kCosine:
      return StepKind::kCosine;
    case PointwiseKind::kTangent:
      return StepKind::kTangent;
    case PointwiseKind::kArcSine:
      return StepKind::kArcSine;
    case PointwiseKind::kArcCosine:
      return StepKind::kArcCosine;
    case PointwiseKind::kArcTangent:
      return StepKind::kArcTangent;
    case PointwiseKind::kHyperbolicSine:
      return StepKind::kHyperbolicSine;
    case PointwiseKind::kHyperbolicCosine:
      return StepKind::kHyperbolicCosine;
    case PointwiseKind::kArcHyperbolicSine:
      return StepKind::kArcHyperbolicSine;
    case PointwiseKind::kArcHyperbolicCosine:
      return StepKind::kArcHyperbolicCosine;
    case PointwiseKind::kArcHyperbolicTangent:
      return StepKind::kArcHyperbolicTangent;
    case PointwiseKind::kRelu:
      return StepKind::kRelu;
    case PointwiseKind::kLeakyRelu:
      return StepKind::kLeakyRelu;
    case PointwiseKind::kElu:
      return StepKind::kElu;
    case PointwiseKind::kCelu:
      return StepKind::kCelu;
    case PointwiseKind::kSelu:
      return StepKind::kSelu;
    case PointwiseKind::kThresholdedRelu:
      return StepKind::kThresholdedRelu;
    case PointwiseKind::kSigmoid:
      return StepKind::kSigmoid;
    case PointwiseKind::kHardSigmoid:
      return StepKind::kHardSigmoid;
    case PointwiseKind::kTanh:
      return StepKind::kTanh;
    case PointwiseKind::kHardSwish:
      return StepKind::kHardSwish;
    case PointwiseKind::kSwish:
      return StepKind::kSwish;
    case PointwiseKind::kGeluErf:
      return StepKind::kGeluErf;
    case PointwiseKind::kGeluTanh:
      return StepKind::kGeluTanh;
    case PointwiseKind::kQuickGelu:
      return StepKind::kQuickGelu;
    case PointwiseKind::kSoftplus:
      return StepKind::kSoftplus;
    case PointwiseKind::kSoftsign:
      return StepKind::kSoftsign;
    case PointwiseKind::kMish:
      return StepKind::kMish;
    case PointwiseKind::kShrink:
      return StepKind::kShrink;
    default:
      return std::nullopt;
  }
}

std::vector<double> ParametersOf(PointwiseKind kind, const cpu::LayerValues& values) {
  switch (kind) {
    case PointwiseKind::kClip:
      return {values.clip_low, values.clip_high};
    case PointwiseKind::kLeakyRelu:
      return {values.leaky_slope};
    case PointwiseKind::kElu:
    case PointwiseKind::kCelu:
      return {values.elu_alpha};
    case PointwiseKind::kSelu:
      return {values.selu_alpha, values.selu_gamma};
    case PointwiseKind::kThresholdedRelu:
      return {values.threshold};
    case PointwiseKind::kHardSigmoid:
      return {values.hard_sigmoid_alpha, values.hard_sigmoid_beta};
    case PointwiseKind::kShrink:
      return {values.shrink_lambda};
    case PointwiseKind::kQuickGelu:
      return {values.quick_gelu_alpha};
    default:
      return {};
  }
}

// What Apply() knows for integers. Those of 64 bits without sign are taken as their bits: only what does not ask which
// of two is larger.
bool IsKnownForIntegers(StepKind kind, DataType type) {
  const bool is_u64 = type == DataType::kU64;
  switch (kind) {
    case StepKind::kIdentity:
    case StepKind::kAdd:
    case StepKind::kSubtract:
    case StepKind::kMultiply:
    case StepKind::kBitShift:
    case StepKind::kAnd:
    case StepKind::kOr:
    case StepKind::kXor:
    case StepKind::kBitwiseAnd:
    case StepKind::kBitwiseOr:
    case StepKind::kBitwiseXor:
    case StepKind::kEqual:
    case StepKind::kWhere:
    case StepKind::kNot:
    case StepKind::kCeil:
    case StepKind::kFloor:
    case StepKind::kRound:
    case StepKind::kTruncate:
    case StepKind::kSquare:
    case StepKind::kCube:
      return true;
    case StepKind::kDivide:
    case StepKind::kPower:
    case StepKind::kModulo:
    case StepKind::kMinimum:
    case StepKind::kMaximum:
    case StepKind::kPRelu:
    case StepKind::kGreater:
    case StepKind::kGreaterOrEqual:
    case StepKind::kLess:
    case StepKind::kLessOrEqual:
    case StepKind::kBitwiseNot:
    case StepKind::kAbsolute:
    case StepKind::kNegative:
    case StepKind::kSign:
    case StepKind::kRelu:
      return !is_u64;
    default:
      return false;
  }
}

bool ReadsQuantized(PointwiseKind kind) {
  return kind == PointwiseKind::kDequantize || kind == PointwiseKind::kRequantize;
}

}  // namespace

std::optional<Arithmetic> ArithmeticOf(const PointwiseConfig& config, const cpu::LayerValues& values) {
  const DataType type = config.types.input;
  const bool converts = config.kind == PointwiseKind::kQuantize || ReadsQuantized(config.kind);
  // With scales of its own any other layer computes with what its elements stand for: not known here.
  if (values.quantized() && !converts) return std::nullopt;
  if (ReadsQuantized(config.kind)) {
    if (!IsInteger(type)) return std::nullopt;
    const bool is_long = BitsPerElement(type) > 32 || type == DataType::kU32;
    return config.types.output == DataType::kF64 || is_long ? Arithmetic::kF64 : Arithmetic::kF32;
  }
  if (const std::optional<Arithmetic> real = RealArithmetic(type)) return real;
  if (type == DataType::kBool) return Arithmetic::kF32;
  if (!IsInteger(type) || ElementOf(type) == Element::kNone) return std::nullopt;
  // As a number, not as bits.
  if (config.kind == PointwiseKind::kCast && type == DataType::kU64) return Arithmetic::kF64;
  return Arithmetic::kS64;
}

bool AddLayer(const PointwiseConfig& config, const cpu::LayerValues& values,
              const std::vector<PointwiseProgram::Place>& places, PointwiseProgram& program) {
  const DataType type = config.types.input, out = config.types.output;
  switch (config.kind) {
    case PointwiseKind::kWhere:
      program.AddStep(StepKind::kWhere, places[0], places[1], places[2]);
      return true;
    case PointwiseKind::kCast:
      // Casts to integers cut off; storing would round.
      program.AddStep(IsInteger(out) ? StepKind::kTruncate : StepKind::kIdentity, places[0]);
      return true;
    case PointwiseKind::kQuantize: {
      const cpu::Quantization to = cpu::OutputQuantization(config.kind, config.types, values);
      if (program.arithmetic() == Arithmetic::kS64) return false;
      program.AddStep(StepKind::kQuantize, places[0], 0, 0, {to.scale(), to.zero()});
      return true;
    }
    case PointwiseKind::kDequantize: {
      const cpu::Quantization from = cpu::InputQuantization(config.types, values);
      program.AddStep(StepKind::kDequantize, places[0], 0, 0, {from.zero(), from.scale()});
      return true;
    }
    case PointwiseKind::kRequantize: {
      const cpu::Quantization from = cpu::InputQuantization(config.types, values);
      const cpu::Quantization to = cpu::OutputQuantization(config.kind, config.types, values);
      program.AddStep(StepKind::kRequantize, places[0], 0, 0, {from.zero(), from.scale() / to.scale(), to.zero()});
      return true;
    }
    default:
      break;
  }
  const std::optional<StepKind> kind = PlainKind(config.kind);
  if (!kind) return false;
  const bool integers = program.arithmetic() == Arithmetic::kS64;
  const bool is_clip = *kind == StepKind::kClip;
  // Bounds of integers are numbers; a fraction would be cut off.
  const bool whole_bounds = is_clip &&
                            values.clip_low == static_cast<double>(static_cast<std::int64_t>(values.clip_low)) &&
                            values.clip_high == static_cast<double>(static_cast<std::int64_t>(values.clip_high));
  if (integers && !IsKnownForIntegers(*kind, type) && !(whole_bounds && type != DataType::kU64)) return false;
  if (IsInteger(type) && (config.kind == PointwiseKind::kMean || !integers)) return false;
  const bool is_bitwise = *kind == StepKind::kBitShift || *kind == StepKind::kBitwiseAnd ||
                          *kind == StepKind::kBitwiseOr || *kind == StepKind::kBitwiseXor ||
                          *kind == StepKind::kBitwiseNot;
  if (is_bitwise && !integers) return false;
  if (places.size() == 1) {
    program.AddStep(*kind, places[0], 0, 0, ParametersOf(config.kind, values));
  }
  for (std::size_t i = 1; i < places.size(); ++i) {
    program.AddStep(*kind, i == 1 ? places[0] : PointwiseCall::kAccumulator, places[i]);
  }
  if (config.kind == PointwiseKind::kMean) {
    program.AddStep(StepKind::kMultiplyAdd, PointwiseCall::kAccumulator, 0, 0,
                    {1 / static_cast<double>(places.size()), 0});
  }
  return true;
}

}  // namespace infimum::cuda
