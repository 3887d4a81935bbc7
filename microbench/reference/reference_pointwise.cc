#include <algorithm>
#include <cmath>

#include "microbench/reference/reference.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {
namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double GeluTanh(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

// Truncating for integers, as ONNX's Div; Mod takes the divisor's sign.
double Divide(double a, double b, bool integers) { return integers ? std::trunc(a / b) : a / b; }

double Modulo(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

double Unary(PointwiseKind kind, double x, const LayerValues& values) {
  switch (kind) {
    case PointwiseKind::kAbsolute:
      return std::fabs(x);
    case PointwiseKind::kNegative:
      return -x;
    case PointwiseKind::kSign:
      return x > 0 ? 1 : x < 0 ? -1 : 0;
    case PointwiseKind::kCeil:
      return std::ceil(x);
    case PointwiseKind::kFloor:
      return std::floor(x);
    case PointwiseKind::kRound:
      return std::nearbyint(x);
    case PointwiseKind::kReciprocal:
      return 1 / x;
    case PointwiseKind::kSquareRoot:
      return std::sqrt(x);
    case PointwiseKind::kSquare:
      return x * x;
    case PointwiseKind::kCube:
      return x * x * x;
    case PointwiseKind::kExponential:
      return std::exp(x);
    case PointwiseKind::kLogarithm:
      return std::log(x);
    case PointwiseKind::kErrorFunction:
      return std::erf(x);
    case PointwiseKind::kClip:
      return std::min(std::max(x, values.clip_low), values.clip_high);
    case PointwiseKind::kSine:
      return std::sin(x);
    case PointwiseKind::kCosine:
      return std::cos(x);
    case PointwiseKind::kTangent:
      return std::tan(x);
    case PointwiseKind::kArcSine:
      return std::asin(x);
    case PointwiseKind::kArcCosine:
      return std::acos(x);
    case PointwiseKind::kArcTangent:
      return std::atan(x);
    case PointwiseKind::kHyperbolicSine:
      return std::sinh(x);
    case PointwiseKind::kHyperbolicCosine:
      return std::cosh(x);
    case PointwiseKind::kArcHyperbolicSine:
      return std::asinh(x);
    case PointwiseKind::kArcHyperbolicCosine:
      return std::acosh(x);
    case PointwiseKind::kArcHyperbolicTangent:
      return std::atanh(x);
    case PointwiseKind::kRelu:
      return std::max(x, 0.0);
    case PointwiseKind::kLeakyRelu:
      return x < 0 ? values.leaky_slope * x : x;
    case PointwiseKind::kElu:
      return x < 0 ? values.elu_alpha * std::expm1(x) : x;
    case PointwiseKind::kCelu:
      return x < 0 ? values.elu_alpha * std::expm1(x / values.elu_alpha) : x;
    case PointwiseKind::kSelu:
      return values.selu_gamma * (x > 0 ? x : values.selu_alpha * std::expm1(x));
    case PointwiseKind::kThresholdedRelu:
      return x > values.threshold ? x : 0;
    case PointwiseKind::kSigmoid:
      return Sigmoid(x);
    case PointwiseKind::kHardSigmoid:
      return std::clamp(values.hard_sigmoid_alpha * x + values.hard_sigmoid_beta, 0.0, 1.0);
    case PointwiseKind::kTanh:
      return std::tanh(x);
    case PointwiseKind::kHardSwish:
      return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
    case PointwiseKind::kSwish:
      return x * Sigmoid(x);
    case PointwiseKind::kGeluErf:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case PointwiseKind::kGeluTanh:
      return GeluTanh(x);
    case PointwiseKind::kQuickGelu:
      return x * Sigmoid(values.quick_gelu_alpha * x);
    case PointwiseKind::kSoftplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
    case PointwiseKind::kSoftsign:
      return x / (1 + std::fabs(x));
    case PointwiseKind::kMish:
      return x * std::tanh(std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))));
    case PointwiseKind::kShrink:
      return x < -values.shrink_lambda ? x : x > values.shrink_lambda ? x : 0;
    case PointwiseKind::kNot:
      return x == 0;
    case PointwiseKind::kBitwiseNot:
      return static_cast<double>(~static_cast<std::int64_t>(x));
    case PointwiseKind::kIsNaN:
      return std::isnan(x);
    case PointwiseKind::kIsInf:
      return std::isinf(x);
    default:
      return x;  // identity and cast; storing rounds
  }
}

double Binary(PointwiseKind kind, double a, double b, bool integers) {
  const auto bits = [](double x) { return static_cast<std::int64_t>(x); };
  switch (kind) {
    case PointwiseKind::kAdd:
      return a + b;
    case PointwiseKind::kSubtract:
      return a - b;
    case PointwiseKind::kMultiply:
      return a * b;
    case PointwiseKind::kDivide:
      return Divide(a, b, integers);
    case PointwiseKind::kPower:
      return std::pow(a, b);
    case PointwiseKind::kModulo:
      return Modulo(a, b);
    case PointwiseKind::kMinimum:
      return std::min(a, b);
    case PointwiseKind::kMaximum:
      return std::max(a, b);
    case PointwiseKind::kMean:
      return a + b;
    case PointwiseKind::kPRelu:
      return a < 0 ? a * b : a;
    case PointwiseKind::kBitShift:
      return static_cast<double>(bits(a) << bits(b));
    case PointwiseKind::kAnd:
      return a != 0 && b != 0;
    case PointwiseKind::kOr:
      return a != 0 || b != 0;
    case PointwiseKind::kXor:
      return (a != 0) != (b != 0);
    case PointwiseKind::kBitwiseAnd:
      return static_cast<double>(bits(a) & bits(b));
    case PointwiseKind::kBitwiseOr:
      return static_cast<double>(bits(a) | bits(b));
    case PointwiseKind::kBitwiseXor:
      return static_cast<double>(bits(a) ^ bits(b));
    case PointwiseKind::kEqual:
      return a == b;
    case PointwiseKind::kGreater:
      return a > b;
    case PointwiseKind::kGreaterOrEqual:
      return a >= b;
    case PointwiseKind::kLess:
      return a < b;
    case PointwiseKind::kLessOrEqual:
      return a <= b;
    default:
      return a;
  }
}

// A cast to an integer truncates; to bool asks for zero.
double Cast(DataType type, double x) {
  if (type == DataType::kBool) return x != 0;
  return IsInteger(type) ? StoreAs(type, std::trunc(x)) : x;
}

}  // namespace

std::unique_ptr<Reference> MakePointwiseReference(const PointwiseConfig& config, const LayerValues& values) {
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
        return {StoreAs(types.output, std::nearbyint(first.value / stored.scale()) + stored.zero()),
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
      value = Unary(config.kind, value, values);
    } else {
      for (std::size_t i = 1; i < config.inputs.size(); ++i) {
        const Expected next = operand(i);
        value = Binary(config.kind, value, next.value, IsInteger(types.input));
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
