// attention: two products with a softmax between them, as models without an Attention operator write it. Scales and
// the mask belong to it. Keys may come transposed: in which order an operand lies in memory is a layout, and layouts
// belong to the candidate.
#include <algorithm>

#include "src/core/graph/fusion_patterns.h"

namespace infimum {
namespace {

const MatMulConfig* AsProduct(const std::optional<FusionStep>& step) {
  const auto* matmul = step ? std::get_if<MatMulConfig>(&step->config) : nullptr;
  if (matmul == nullptr || matmul->bias != MatMulBias::kNone || matmul->a.rank() != 3) return nullptr;
  return matmul;
}

std::optional<FusionStep> WriterOf(const FusionSteps& steps, ValueId value) {
  const std::optional<LayerId> writer = steps.WriterOf(value);
  return writer ? steps.StepOf(*writer) : std::nullopt;
}

// The variable operand of a multiplication or division by one number, and the factor where the number is known.
struct Scaling {
  ValueId inner;
  std::optional<double> factor;
};
std::optional<Scaling> Scaled(const FusionSteps& steps, const FusionStep& step) {
  const auto* config = std::get_if<PointwiseConfig>(&step.config);
  if (config == nullptr || step.operands.size() != 2) return std::nullopt;
  const bool multiplies = config->kind == PointwiseKind::kMultiply;
  if (!multiplies && config->kind != PointwiseKind::kDivide) return std::nullopt;
  for (std::size_t i = 0; i < (multiplies ? 2u : 1u); ++i) {
    const ValueId number = step.operands[1 - i];
    if (!steps.IsConstant(number) || ElementCount(config->inputs[1 - i]) != 1 || steps.IsConstant(step.operands[i]))
      continue;
    std::optional<double> factor = steps.NumberOf(number);
    if (factor && !multiplies) factor = 1 / *factor;
    return Scaling{step.operands[i], factor};
  }
  return std::nullopt;
}

class Match {
 public:
  explicit Match(const FusionSteps& steps) : steps_(steps) {}

  // From the softmax to both sides.
  std::optional<FusionPattern> From(const FusionStep& softmax) {
    const auto* config = std::get_if<SoftmaxConfig>(&softmax.config);
    if (config == nullptr || config->kind != SoftmaxKind::kSoftmax || config->input.rank() != 3 ||
        config->input.dims[2] != 1)
      return std::nullopt;
    layers_ = {softmax.layers[0]};
    const std::optional<FusionStep> scores = Scores(softmax.operands[0]);
    const MatMulConfig* first = AsProduct(scores);
    const std::optional<FusionStep> result = OnlyReader(steps_, softmax.output);
    const MatMulConfig* second = AsProduct(result);
    if (first == nullptr || second == nullptr || result->operands[0] != softmax.output ||
        result->operands[1] == softmax.output || first->weights == Constness::kConstant)
      return std::nullopt;
    AttentionConfig attention;
    attention.types = {first->types.input, DataType::kNone, second->types.output};
    attention.heads = first->a.dims[0];
    attention.kv_heads = first->b.dims[0];
    attention.q = first->a.dims[1];
    attention.head = first->a.dims[2];
    attention.kv = first->b.dims[2];
    if (second->b.dims[2] != attention.head) attention.value_head = second->b.dims[2];
    const bool shapes_agree = config->input.dims[1] == attention.kv && second->b.dims[1] == attention.kv &&
                              second->a.dims[0] == attention.heads && second->b.dims[0] == attention.kv_heads &&
                              second->a.dims[1] == attention.q;
    if (!shapes_agree) return std::nullopt;
    const ValueId q = WithoutScale(scores->operands[0]), k = WithoutScale(scores->operands[1]);
    std::vector<ValueId> operands = {q, k, result->operands[1]};
    if (mask_) {
      // The same for all heads: merged dimensions then have one of queries times keys.
      const std::int64_t whole = attention.q * attention.kv;
      if (ElementCount(mask_shape_) != whole || mask_shape_.dims.back() != whole) return std::nullopt;
      attention.mask = AttentionMask::kFull;
      operands.push_back(*mask_);
    }
    layers_.push_back(scores->layers[0]);
    layers_.push_back(result->layers[0]);
    std::ranges::sort(layers_);
    // Keys that are the values, or a layer found twice on the way, make another shape of graph than this one.
    if (std::ranges::adjacent_find(layers_) != layers_.end()) return std::nullopt;
    if (!Validate(LayerConfig(attention)).ok()) return std::nullopt;
    FusionPattern pattern{"attention", {layers_, attention, std::move(operands), result->output}};
    // The first product reads its keys as it multiplies: head x kv.
    pattern.step.values["keys_transposed"] = {1};
    if (scale_) pattern.step.values["scale"] = {*scale_};
    if (scale_ && mask_) pattern.step.values["mask_scale"] = {mask_scale_};
    return pattern;
  }

 private:
  // Back from the softmax through scale and mask to the product of queries and keys.
  std::optional<FusionStep> Scores(ValueId value) {
    for (int i = 0; i < 4; ++i) {
      if (steps_.Escapes(value) || steps_.ReadersOf(value).size() != 1) return std::nullopt;
      const std::optional<FusionStep> step = WriterOf(steps_, value);
      if (!step) return std::nullopt;
      if (std::holds_alternative<MatMulConfig>(step->config)) return step;
      if (const std::optional<Scaling> scaling = Scaled(steps_, *step)) {
        Multiply(*scaling);
        value = scaling->inner;
      } else if (!mask_ && IsAddition(*step)) {
        // What the product writes is the sum's first operand or its second; the other is the mask.
        const auto& add = std::get<PointwiseConfig>(step->config);
        const bool first_is_whole = ElementCount(add.inputs[0]) == ElementCount(OutputShape(add));
        const std::size_t chained = first_is_whole && !steps_.IsConstant(step->operands[0]) ? 0 : 1;
        if (ElementCount(add.inputs[chained]) != ElementCount(OutputShape(add))) return std::nullopt;
        mask_ = step->operands[1 - chained];
        mask_shape_ = add.inputs[1 - chained];
        value = step->operands[chained];
      } else {
        return std::nullopt;
      }
      layers_.push_back(step->layers[0]);
    }
    return std::nullopt;
  }

  bool IsAddition(const FusionStep& step) const {
    const auto* config = std::get_if<PointwiseConfig>(&step.config);
    return config != nullptr && config->kind == PointwiseKind::kAdd && step.operands.size() == 2 &&
           step.operands[0] != step.operands[1];
  }

  // Queries and keys are often scaled before their product, each by the root of the scale.
  ValueId WithoutScale(ValueId value) {
    if (steps_.Escapes(value) || steps_.ReadersOf(value).size() != 1) return value;
    const std::optional<FusionStep> step = WriterOf(steps_, value);
    const std::optional<Scaling> scaling = step ? Scaled(steps_, *step) : std::nullopt;
    if (!scaling) return value;
    layers_.push_back(step->layers[0]);
    Multiply(*scaling);
    return scaling->inner;
  }

  // A factor found between softmax and mask is the mask's too.
  void Multiply(const Scaling& scaling) {
    if (!scaling.factor) scale_.reset();
    if (!scale_) return;
    *scale_ *= *scaling.factor;
    if (!mask_) mask_scale_ = *scale_;
  }

  const FusionSteps& steps_;
  std::vector<LayerId> layers_;
  std::optional<ValueId> mask_;
  Shape mask_shape_;
  std::optional<double> scale_ = 1;  // absent when a factor is not known
  double mask_scale_ = 1;
};

}  // namespace

std::vector<FusionPattern> FindAttentionPatterns(const FusionSteps& steps) {
  std::vector<FusionPattern> patterns;
  for (std::size_t i = 0; i < steps.graph().layers.size(); ++i) {
    const std::optional<FusionStep> softmax = steps.StepOf(LayerId(i));
    if (!softmax || !std::holds_alternative<SoftmaxConfig>(softmax->config)) continue;
    if (std::optional<FusionPattern> pattern = Match(steps).From(*softmax)) patterns.push_back(*std::move(pattern));
  }
  return patterns;
}

}  // namespace infimum
