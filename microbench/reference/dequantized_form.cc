#include "microbench/reference/dequantized_form.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace infimum::cpu {
namespace {

bool IsConversion(const LayerConfig& config) {
  const auto* pointwise = std::get_if<PointwiseConfig>(&config);
  if (pointwise == nullptr) return false;
  switch (pointwise->kind) {
    case PointwiseKind::kCast:
    case PointwiseKind::kQuantize:
    case PointwiseKind::kDequantize:
    case PointwiseKind::kDynamicQuantize:
    case PointwiseKind::kRequantize:
      return true;
    default:
      return false;
  }
}

bool MovesUnchanged(const LayerConfig& config, const LayerValues& values) {
  return std::holds_alternative<MovementConfig>(config) && values.output &&
         std::ranges::all_of(values.operands, [&](const Quantization& operand) { return operand == *values.output; });
}

// Elements of an 8-bit operand, dequantized.
class DequantizedSource : public Source {
 public:
  DequantizedSource(const Source& inner, const Quantization& quantization)
      : inner_(inner), quantization_(quantization) {}
  Expected At(std::int64_t element) const override {
    const double value = (inner_[element] - quantization_.zero()) * quantization_.scale();
    return {value, std::fabs(value)};
  }

 private:
  const Source& inner_;
  const Quantization& quantization_;
};

}  // namespace

bool IsNarrow(DataType type) { return IsInteger(type) && BitsPerElement(type) <= 16; }

LayerValues WithoutQuantization(LayerValues values) {
  values.operands.clear();
  values.output.reset();
  return values;
}

std::optional<LayerConfig> DequantizedForm(const LayerConfig& config, const LayerValues& values) {
  if (!values.quantized() || IsConversion(config) || MovesUnchanged(config, values)) return std::nullopt;
  if (std::holds_alternative<ConvolutionConfig>(config) || std::holds_alternative<MatMulConfig>(config)) {
    return std::nullopt;
  }
  LayerConfig form = config;
  std::visit(
      [](auto& layer) {
        for (DataType* type : {&layer.types.input, &layer.types.weights, &layer.types.output}) {
          if (IsNarrow(*type)) *type = DataType::kF32;
        }
      },
      form);
  return form;
}

std::unique_ptr<Reference> MakeDequantizedReference(const LayerConfig& config, const LayerValues& values) {
  const std::optional<LayerConfig> form = DequantizedForm(config, values);
  if (!form) return nullptr;
  std::shared_ptr<Reference> inner = MakeReference(*form, WithoutQuantization(values));
  if (inner == nullptr) return nullptr;
  const DataType type = TypesOf(config).output;
  const double cost = inner->cost();
  return MakeReferenceOf(cost, [=](std::size_t output, std::int64_t element, const Sources& operands) -> Expected {
    std::deque<DequantizedSource> dequantized;
    Sources sources;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const bool has_scale = i < values.operands.size();
      sources.push_back(has_scale ? &dequantized.emplace_back(*operands[i], values.operands[i]) : operands[i]);
    }
    Expected expected = inner->At(output, element, sources);
    if (!values.output || !IsNarrow(type)) return expected;
    const double scale = values.output->scale();
    return {StoreAs(type, std::nearbyint(expected.value / scale) + values.output->zero()), expected.magnitude / scale};
  });
}

}  // namespace infimum::cpu
