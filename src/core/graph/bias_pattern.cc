// product-bias: a product without a bias, then the addition of one. The sum may stand on the other side of a view.
#include <algorithm>

#include "src/core/graph/fusion_patterns.h"
#include "src/core/layer/family.h"

namespace infimum {
namespace {

// Whether `bias` has one element for each index of a dimension of `extent` that has `inner` elements behind it,
// whatever dimensions were merged: {extent} for inner == 1, {extent, 1} otherwise.
bool IsAlong(const Shape& bias, std::int64_t extent, std::int64_t inner) {
  if (ElementCount(bias) != extent) return false;
  if (extent == 1) return true;
  const auto place = static_cast<std::size_t>(std::ranges::find(bias.dims, extent) - bias.dims.begin());
  return inner == 1 ? place + 1 == bias.rank() : place + 2 == bias.rank();
}

// The operand that an addition adds to `value`: its place, where the result has the size of `value`.
std::optional<std::size_t> AddedTo(ValueId value, const FusionStep& step) {
  const auto* add = std::get_if<PointwiseConfig>(&step.config);
  if (add == nullptr || add->kind != PointwiseKind::kAdd || step.operands.size() != 2) return std::nullopt;
  if (step.operands[0] == step.operands[1]) return std::nullopt;
  const std::size_t chained = step.operands[0] == value ? 0 : 1;
  if (step.operands[chained] != value) return std::nullopt;
  if (ElementCount(add->inputs[chained]) != ElementCount(OutputShape(*add))) return std::nullopt;
  return 1 - chained;
}

// Rows of merged dimensions must end where the product's do: the innermost extent of the sum is a multiple of what
// lies behind a channel.
bool RowsAgree(const PointwiseConfig& add, std::int64_t inner) {
  const Shape sum = OutputShape(add);
  return inner == 1 || (sum.rank() > 0 && sum.dims.back() == inner);
}

std::optional<LayerConfig> WithBias(const LayerConfig& product, const PointwiseConfig& add, const Shape& bias) {
  if (const auto* matmul = std::get_if<MatMulConfig>(&product)) {
    const Shape output = OutputShape(*matmul);
    if (matmul->bias != MatMulBias::kNone || !IsAlong(bias, output.dims.back(), 1)) return std::nullopt;
    MatMulConfig with = *matmul;
    with.bias = MatMulBias::kColumn;
    return with;
  }
  if (const auto* convolution = std::get_if<ConvolutionConfig>(&product)) {
    const Shape output = OutputShape(*convolution);
    const std::int64_t inner = ElementsBetween(output, 2, output.rank());
    if (convolution->bias || !IsAlong(bias, output.dims[1], inner) || !RowsAgree(add, inner)) return std::nullopt;
    ConvolutionConfig with = *convolution;
    with.bias = true;
    return with;
  }
  return std::nullopt;
}

}  // namespace

std::optional<FusionStep> OnlyReader(const FusionSteps& steps, ValueId value) {
  if (steps.Escapes(value) || steps.ReadersOf(value).size() != 1) return std::nullopt;
  return steps.StepOf(steps.ReadersOf(value)[0]);
}

const PointwiseConfig* AsPointwise(const std::optional<FusionStep>& step, PointwiseKind kind) {
  const auto* config = step ? std::get_if<PointwiseConfig>(&step->config) : nullptr;
  return config != nullptr && config->kind == kind ? config : nullptr;
}

const MovementConfig* AsMovement(const std::optional<FusionStep>& step, MovementKind kind) {
  const auto* config = step ? std::get_if<MovementConfig>(&step->config) : nullptr;
  return config != nullptr && config->kind == kind ? config : nullptr;
}

std::vector<FusionPattern> FindBiasPatterns(const FusionSteps& steps) {
  std::vector<FusionPattern> patterns;
  for (std::size_t i = 0; i < steps.graph().layers.size(); ++i) {
    const std::optional<FusionStep> product = steps.StepOf(LayerId(i));
    if (!product || !IsFloatingPoint(TypesOf(product->config).output)) continue;
    const std::optional<FusionStep> sum = OnlyReader(steps, product->output);
    if (!sum) continue;
    const std::optional<std::size_t> bias = AddedTo(product->output, *sum);
    if (!bias || !steps.IsConstant(sum->operands[*bias])) continue;
    const auto& add = std::get<PointwiseConfig>(sum->config);
    const OperandTypes& types = TypesOf(product->config);
    if (add.types.input != types.output || add.types.output != types.output) continue;
    std::optional<LayerConfig> config = WithBias(product->config, add, add.inputs[*bias]);
    if (!config || !Validate(*config).ok()) continue;
    FusionStep step{{product->layers[0], sum->layers[0]}, *std::move(config), product->operands, sum->output};
    step.operands.insert(step.operands.begin() + 2, sum->operands[*bias]);
    patterns.push_back({"product-bias", std::move(step)});
  }
  return patterns;
}

}  // namespace infimum
