#include "microbench/kernels/cuda/pointwise_steps.h"

#include <algorithm>
#include <cmath>

namespace infimum::cuda {
namespace {

StepKind StepOf(PointwiseKind kind) { return static_cast<StepKind>(kind); }

std::vector<double> ParameterValues(PointwiseKind kind, const cpu::LayerValues& values) {
  std::vector<double> numbers;
  for (const PointwiseParameter& parameter : ParametersOf(kind)) numbers.push_back(values.*parameter.member);
  return numbers;
}

// Integers of 64 bits without sign are taken as their bits: only what does not ask which of two is larger.
bool ComputesInIntegers(PointwiseKind kind, DataType type, const cpu::LayerValues& values) {
  if (kind == PointwiseKind::kMean) return false;
  if (type == DataType::kU64) {
    const auto any = [=](auto... kinds) { return (... || (kind == kinds)); };
    using K = PointwiseKind;
    return any(K::kIdentity, K::kAdd, K::kSubtract, K::kMultiply, K::kBitShift, K::kAnd, K::kOr, K::kXor, K::kNot,
               K::kBitwiseAnd, K::kBitwiseOr, K::kBitwiseXor, K::kEqual, K::kCeil, K::kFloor, K::kRound, K::kSquare,
               K::kCube);
  }
  // Bounds of integers are numbers; a fraction would be cut off.
  const auto is_whole = [&](const PointwiseParameter& parameter) {
    return values.*parameter.member == std::trunc(values.*parameter.member);
  };
  return HasIntegerFormula(kind) && std::ranges::all_of(ParametersOf(kind), is_whole);
}

bool HasRealFormula(PointwiseKind kind) { return Evaluate(kind, 1).has_value() || Evaluate(kind, 1, 1).has_value(); }

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
    const bool is_small = ElementOf(type) == Element::kF8E4M3 || ElementOf(type) == Element::kF8E5M2;
    if (is_small && config.kind == PointwiseKind::kDequantize) return Arithmetic::kF32;
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
      // Storing rounds to an 8-bit float, between which there are others than whole numbers.
      if (!IsInteger(out)) {
        program.AddStep(StepKind::kMultiplyAdd, places[0], 0, 0, {1 / to.scale(), 0});
        return true;
      }
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
  const bool integers = program.arithmetic() == Arithmetic::kS64;
  if (integers ? !ComputesInIntegers(config.kind, type, values) : IsInteger(type) || !HasRealFormula(config.kind)) {
    return false;
  }
  if (places.size() == 1) {
    // A variadic kind of one operand is that operand.
    const bool is_variadic = OperandsOf(config.kind).most > 1;
    program.AddStep(is_variadic ? StepKind::kIdentity : StepOf(config.kind), places[0], 0, 0,
                    ParameterValues(config.kind, values));
  }
  for (std::size_t i = 1; i < places.size(); ++i) {
    program.AddStep(StepOf(config.kind), i == 1 ? places[0] : PointwiseCall::kAccumulator, places[i]);
  }
  if (config.kind == PointwiseKind::kMean) {
    program.AddStep(StepKind::kMultiplyAdd, PointwiseCall::kAccumulator, 0, 0,
                    {1 / static_cast<double>(places.size()), 0});
  }
  return true;
}

}  // namespace infimum::cuda
