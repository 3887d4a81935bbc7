#include <algorithm>
#include <cmath>

#include "microbench/reference/reference.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {
namespace {

// Integers by the formula for them, if there is one; numbers of 64 bits come as f64 here and are taken as they are.
double Unary(const PointwiseConfig& config, double x, const LayerValues& values) {
  if (IsInteger(config.types.input))
    if (const auto value = EvaluateInteger(config.kind, static_cast<std::int64_t>(x), values))
      return static_cast<double>(*value);
  return Evaluate(config.kind, x, values).value_or(x);
}

double Binary(const PointwiseConfig& config, double a, double b) {
  if (IsInteger(config.types.input))
    if (const auto value = EvaluateInteger(config.kind, static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)))
      return static_cast<double>(*value);
  return Evaluate(config.kind, a, b).value_or(a);
}

// A cast to an integer truncates; to bool asks for zero.
double Cast(DataType type, double x) {
  if (type == DataType::kBool) return x != 0;
  return IsInteger(type) ? StoreAs(type, std::trunc(x)) : x;
}

}  // namespace

std::unique_ptr<Reference> MakeFamilyReference(const PointwiseConfig& config, const LayerValues& values) {
  const Shape output = OutputShape(config);
  const OperandTypes types = config.types;
  const auto at = [=](std::size_t number, std::int64_t element, const Sources& operands) -> Expected {
    const auto operand = [&](std::size_t i) {
      return operands[i]->At(BroadcastElement(element, output, config.inputs[i]));
    };
    // Only the values: scale and zero point of a dynamic quantisation follow from all elements.
    if (config.kind == PointwiseKind::kDynamicQuantize) {
      double low = 0, high = 0;
      for (std::int64_t i = 0; i < ElementCount(output); ++i) {
        low = std::min(low, (*operands[0])[i]);
        high = std::max(high, (*operands[0])[i]);
      }
      const double scale = (high - low) / 255, zero = std::nearbyint(std::clamp(-low / scale, 0.0, 255.0));
      const double value = number == 1   ? scale
                           : number == 2 ? zero
                                         : StoreAs(DataType::kU8, std::nearbyint(operand(0).value / scale) + zero);
      return {value, std::fabs(value)};
    }
    Expected first = operand(0);
    switch (config.kind) {
      case PointwiseKind::kWhere:
        return first.value != 0 ? operand(1) : operand(2);
      case PointwiseKind::kCast:
        return {Cast(types.output, first.value), first.magnitude};
      case PointwiseKind::kQuantize: {
        const Quantization stored = OutputQuantization(config.kind, types, values);
        const double value = first.value / stored.scale();
        return {StoreAs(types.output, (IsInteger(types.output) ? std::nearbyint(value) : value) + stored.zero()),
                first.magnitude / stored.scale()};
      }
      case PointwiseKind::kDequantize: {
        const Quantization input = InputQuantization(types, values);
        const double value = (first.value - input.zero()) * input.scale();
        return {value, std::fabs(value)};
      }
      case PointwiseKind::kRequantize: {
        const Quantization input = InputQuantization(types, values);
        const Quantization stored = OutputQuantization(config.kind, types, values);
        const double value = (first.value - input.zero()) * input.scale() / stored.scale() + stored.zero();
        return {StoreAs(types.output, value), std::fabs(value)};
      }
      default:
        break;
    }
    double value = first.value, magnitude = first.magnitude;
    if (config.inputs.size() == 1) {
      value = Unary(config, value, values);
    } else {
      for (std::size_t i = 1; i < config.inputs.size(); ++i) {
        const Expected next = operand(i);
        value = Binary(config, value, next.value);
        magnitude = config.kind == PointwiseKind::kMultiply ? magnitude * next.magnitude : magnitude + next.magnitude;
      }
      if (config.kind == PointwiseKind::kMean) value /= static_cast<double>(config.inputs.size());
    }
    return {StoreAs(types.output, value), std::max(magnitude, std::fabs(value))};
  };
  const bool reads_all = config.kind == PointwiseKind::kDynamicQuantize;
  return MakeReferenceOf(reads_all ? static_cast<double>(ElementCount(output)) : 4, at);
}

}  // namespace infimum::cpu
