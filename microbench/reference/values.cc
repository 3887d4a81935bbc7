#include "microbench/reference/values.h"

#include <algorithm>
#include <cmath>

#include "infimum/base/text.h"
#include "src/core/layer/product_scaling.h"

namespace infimum::cpu {
namespace {

struct NamedScalar {
  std::string_view name;
  double ScalarValues::*member;
};

constexpr NamedScalar kScalars[] = {
    {"epsilon", &ScalarValues::epsilon},
#define INFIMUM_PARAMETER(name, place, usual) {#name, &ScalarValues::name},
#include "src/core/layer/pointwise_kinds.def"
    {"response_alpha", &ScalarValues::response_alpha},
    {"response_beta", &ScalarValues::response_beta},
    {"response_k", &ScalarValues::response_k},
    {"nearest_shift", &ScalarValues::nearest_shift},
    {"aligned_corners", &ScalarValues::aligned_corners},
    {"border", &ScalarValues::border},
};

// "in3_scale" is {3, false, true}, "out_zero" {0, true, false}.
struct QuantizationName {
  std::size_t operand = 0;
  bool is_output = false;
  bool is_scale = false;
};

std::optional<QuantizationName> ParseQuantizationName(std::string_view name) {
  QuantizationName result;
  result.is_scale = name.ends_with("_scale");
  if (!result.is_scale && !name.ends_with("_zero")) return std::nullopt;
  name.remove_suffix(result.is_scale ? 6 : 5);
  result.is_output = name == "out";
  if (result.is_output) return result;
  if (!name.starts_with("in") || name.size() < 3 || name.size() > 5) return std::nullopt;
  for (const char digit : name.substr(2)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    result.operand = result.operand * 10 + static_cast<std::size_t>(digit - '0');
  }
  return result;
}

Status SetQuantization(const std::string& name, const QuantizationName& place, const std::vector<double>& numbers,
                       LayerValues& values) {
  if (numbers.empty()) return Error{"value " + Quoted(name) + " has no numbers"};
  for (const double number : numbers) {
    if (place.is_scale && !(number > 0 && std::isfinite(number))) {
      return Error{"value " + Quoted(name) + " has a scale that is not positive"};
    }
    if (!place.is_scale && !(std::fabs(number) <= 0x1p31)) return Error{"value " + Quoted(name) + " is out of range"};
  }
  if (!place.is_output && values.operands.size() <= place.operand) values.operands.resize(place.operand + 1);
  if (place.is_output && !values.output) values.output.emplace();
  Quantization& quantization = place.is_output ? *values.output : values.operands[place.operand];
  (place.is_scale ? quantization.scales : quantization.zeros) = numbers;
  return {};
}

Status CheckSlice(const LayerConfig& config, const LayerValues& values) {
  const auto* movement = std::get_if<MovementConfig>(&config);
  const bool pads = movement != nullptr && movement->kind == MovementKind::kPad && values.steps.empty();
  if (!pads && (movement == nullptr || movement->kind != MovementKind::kSlice))
    return Error{"only a slice has 'starts', and a pad without 'steps'"};
  const Shape& from = movement->inputs[0];
  const Shape& to = movement->outputs[0];
  const auto fits = [&](const std::vector<std::int64_t>& list) { return list.empty() || list.size() == from.rank(); };
  bool inside = from.rank() == to.rank() && fits(values.starts) && fits(values.steps);
  for (std::size_t i = 0; inside && i < from.rank(); ++i) {
    const std::int64_t start = values.starts.empty() ? 0 : values.starts[i];
    if (pads) {
      inside = start >= -to.dims[i] && start <= from.dims[i];
      continue;
    }
    const std::int64_t step = values.steps.empty() ? 1 : values.steps[i];
    inside = start >= 0 && step > 0 && step <= from.dims[i] && start + (to.dims[i] - 1) * step < from.dims[i];
  }
  return inside ? Status() : Status(Error{"value 'starts' leads out of " + Format(from)});
}

// For how many channels a product's weights may have scales; 1 for all other layers.
std::int64_t ProductChannels(const LayerConfig& config) {
  if (const auto* convolution = std::get_if<ConvolutionConfig>(&config)) return convolution->output_channels;
  if (const auto* matmul = std::get_if<MatMulConfig>(&config)) return matmul->b.dims.back();
  return 1;
}

Status CheckQuantization(const std::string& name, const Quantization& quantization, std::int64_t channels) {
  const auto fits = [&](const std::vector<double>& numbers) {
    return numbers.size() == 1 || static_cast<std::int64_t>(numbers.size()) == channels;
  };
  if (fits(quantization.scales) && fits(quantization.zeros)) return {};
  return Error{"unsupported: " + name + " has " + std::to_string(quantization.scales.size()) + " scales and " +
               std::to_string(quantization.zeros.size()) + " zero points for " + std::to_string(channels) +
               (channels == 1 ? " tensor" : " channels")};
}

}  // namespace

Result<LayerValues> LayerValuesFrom(const ReplayValues& values) {
  LayerValues result;
  for (const auto& [name, numbers] : values) {
    if (name == "starts" || name == "steps") {
      std::vector<std::int64_t>& list = name == "starts" ? result.starts : result.steps;
      for (const double number : numbers) {
        if (!(std::fabs(number) <= static_cast<double>(kMaxElements))) {
          return Error{"value " + Quoted(name) + " is out of range"};
        }
        list.push_back(static_cast<std::int64_t>(number));
      }
      continue;
    }
    if (name == "initial_h" || name == "initial_c") {
      // Kernels and reference start from nothing.
      if (std::ranges::any_of(numbers, [](double number) { return number != 0; })) {
        return Error{"unsupported: " + Quoted(name) + ", the state that a recurrent layer starts from, is not zero"};
      }
      continue;
    }
    if (const std::optional<QuantizationName> found = ParseQuantizationName(name)) {
      INFIMUM_RETURN_IF_ERROR(SetQuantization(name, *found, numbers, result));
      continue;
    }
    if (numbers.size() != 1) {
      return Error{"value " + Quoted(name) + " has " + std::to_string(numbers.size()) + " numbers, not one"};
    }
    if (name == "scale") {
      result.scale = numbers[0];
      continue;
    }
    if (name == "mask_scale") {
      result.mask_scale = numbers[0];
      continue;
    }
    if (name == "keys_transposed") {
      result.keys_transposed = numbers[0] != 0;
      continue;
    }
    const NamedScalar* found = nullptr;
    for (const NamedScalar& scalar : kScalars) {
      if (scalar.name == name) found = &scalar;
    }
    if (found == nullptr) return Error{"value " + Quoted(name) + " is not known here"};
    result.*(found->member) = numbers[0];
  }
  return result;
}

Status CheckValues(const LayerConfig& config, const LayerValues& values) {
  if (!values.starts.empty() || !values.steps.empty()) INFIMUM_RETURN_IF_ERROR(CheckSlice(config, values));
  // Others lead outside of the input.
  if (values.nearest_shift != 0 && values.nearest_shift != kUsualValues.nearest_shift)
    return Error{"its 'nearest_shift' is neither 0 nor 0.5"};
  const std::size_t operands = OperandsOf(config).size();
  if (values.operands.size() > operands) {
    return Error{"it has quantizations for " + std::to_string(values.operands.size()) + " operands of " +
                 std::to_string(operands)};
  }
  for (std::size_t i = 0; i < values.operands.size(); ++i) {
    const std::int64_t channels = i == 1 ? ProductChannels(config) : 1;
    INFIMUM_RETURN_IF_ERROR(CheckQuantization("in" + std::to_string(i), values.operands[i], channels));
  }
  return values.output ? CheckQuantization("out", *values.output, 1) : Status();
}

bool AreUsual(PointwiseKind kind, const LayerValues& values) {
  return std::ranges::all_of(ParametersOf(kind), [&](const PointwiseParameter& parameter) {
    return values.*parameter.member == kUsualValues.*parameter.member;
  });
}

Quantization InputQuantization(const OperandTypes& types, const LayerValues& values) {
  if (!values.operands.empty()) return values.operands[0];
  const bool is_sum = types.input == DataType::kS32;
  return {{kUsualValues.quantize_scale}, {is_sum ? 0 : static_cast<double>(ZeroPointOf(types.input))}};
}

Quantization OutputQuantization(PointwiseKind kind, const OperandTypes& types, const LayerValues& values) {
  if (values.output) return *values.output;
  const double scale = kind == PointwiseKind::kRequantize ? 1 : kUsualValues.quantize_scale;
  return {{scale}, {static_cast<double>(ZeroPointOf(types.output))}};
}

double ProductValues::WeightScale(std::int64_t channel) const {
  if (!scaled) return 1;
  if (weight_scales.empty())
    return product_scaling::kWeightScales[channel % std::ssize(product_scaling::kWeightScales)];
  return weight_scales[weight_scales.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
}

double ProductValues::WeightZero(std::int64_t channel) const {
  if (weight_zeros.empty()) return 0;
  return weight_zeros[weight_zeros.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
}

bool ProductValues::symmetric() const {
  return std::ranges::all_of(weight_zeros, [](double zero) { return zero == 0; });
}

ProductValues ProductValuesOf(const OperandTypes& types, std::int64_t depth, const LayerValues& own) {
  ProductValues values;
  if (!IsInteger(types.input)) return values;
  values.scaled = types.output != DataType::kS32;
  if (own.quantized()) {
    const Quantization input = own.operands.empty() ? Quantization() : own.operands[0];
    values.input_zero = static_cast<std::int64_t>(input.zero());
    if (own.operands.size() > 1) values.weight_zeros = own.operands[1].zeros;
    if (!values.scaled) return values;
    values.input_scale = input.scale();
    values.weight_scales = own.operands.size() > 1 ? own.operands[1].scales : std::vector<double>{1};
    if (own.output && IsInteger(types.output)) {
      values.output_scale = own.output->scale();
      values.output_zero = static_cast<std::int64_t>(own.output->zero());
    }
    return values;
  }
  values.input_zero = product_scaling::InputZero(types.input);
  if (!values.scaled) return values;
  values.input_scale = product_scaling::kInputScale;
  if (IsInteger(types.output)) {
    values.output_scale = product_scaling::OutputScale(depth);
    values.output_zero = product_scaling::OutputZero(types.output);
  }
  return values;
}

}  // namespace infimum::cpu
