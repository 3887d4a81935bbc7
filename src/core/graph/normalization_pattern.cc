// normalization: layer and RMS normalization of rows, written out as exporters did before there were operators for
// them: mean, difference, its square, mean of that, epsilon, root, quotient; scale and bias behind. A row divided by
// its norm, which is bounded from below, is one too. Rows of 16 bits may be widened before and narrowed behind.
#include <algorithm>

#include "src/core/graph/fusion_patterns.h"

namespace infimum {
namespace {

// Of the innermost of two dimensions, or of the only one.
const ReductionConfig* AsRowReduction(const LayerConfig& layer, ReductionKind kind) {
  const auto* config = std::get_if<ReductionConfig>(&layer);
  const bool is_of_rows = config != nullptr && config->kind == kind && config->input.rank() <= 2 &&
                          config->axes == std::vector{static_cast<std::int64_t>(config->input.rank()) - 1};
  return is_of_rows ? config : nullptr;
}
const ReductionConfig* AsRowMean(const LayerConfig& layer) { return AsRowReduction(layer, ReductionKind::kMean); }

class NormalizationMatch {
 public:
  explicit NormalizationMatch(const FusionSteps& steps) : steps_(steps) {}

  // From the mean of squares to both sides.
  std::optional<FusionPattern> From(const FusionStep& mean_of_squares) {
    const ReductionConfig* reduction = AsRowMean(mean_of_squares.config);
    if (reduction == nullptr) return std::nullopt;
    length_ = reduction->input.dims.back();
    rows_ = ElementCount(reduction->input) / length_;
    config_.input = Shape{{rows_, length_}};
    config_.types = {reduction->types.input, DataType::kNone, reduction->types.output};
    layers_ = {mean_of_squares.layers[0]};
    const std::optional<ValueId> deviation = SquaredIn(mean_of_squares.operands[0]);
    if (!deviation || !FindInput(*deviation)) return std::nullopt;
    std::optional<ValueId> result = Quotient(mean_of_squares.output, *deviation);
    if (!result || !IsReadByPatternAlone(*deviation)) return std::nullopt;
    Widen();
    std::vector<ValueId> operands = {input_};
    result = Narrowed(*result);
    if (const std::optional<FusionStep> scaled = WithRow(*result, PointwiseKind::kMultiply)) {
      config_.scale = true;
      operands.push_back(row_);
      result = Narrowed(Take(*scaled));
      if (const std::optional<FusionStep> shifted = WithRow(*result, PointwiseKind::kAdd)) {
        config_.bias = true;
        operands.push_back(row_);
        result = Narrowed(Take(*shifted));
      }
      config_.types.weights = steps_.graph().value(operands[1]).type;
    }
    std::ranges::sort(layers_);
    if (std::ranges::adjacent_find(layers_) != layers_.end() || !Validate(LayerConfig(config_)).ok())
      return std::nullopt;
    return FusionPattern{"normalization", {layers_, config_, std::move(operands), *result, {{"epsilon", {epsilon_}}}}};
  }

  // x / max(norm of x, a small number), which may be written out for each element.
  std::optional<FusionPattern> FromNorm(const FusionStep& norm) {
    const ReductionConfig* reduction = AsRowReduction(norm.config, ReductionKind::kL2);
    if (reduction == nullptr) return std::nullopt;
    length_ = reduction->input.dims.back();
    rows_ = ElementCount(reduction->input) / length_;
    std::optional<FusionStep> step = OnlyReader(steps_, norm.output);
    if (!step || !IsBoundedBySmall(*step)) return std::nullopt;
    layers_ = {norm.layers[0]};
    ValueId divisor = Take(*step);
    step = OnlyReader(steps_, divisor);
    const MovementConfig* expand = AsMovement(step, MovementKind::kExpand);
    if (expand != nullptr && !IsWhole(expand->outputs[0])) expand = nullptr;
    if (expand != nullptr) {
      divisor = Take(*step);
      step = OnlyReader(steps_, divisor);
    }
    const PointwiseConfig* quotient = AsPointwise(step, PointwiseKind::kDivide);
    if (quotient == nullptr || step->operands[0] != norm.operands[0] || step->operands[1] != divisor ||
        !IsWhole(quotient->inputs[0]) || (expand == nullptr && !IsPerRow(quotient->inputs[1])))
      return std::nullopt;
    Take(*step);
    std::ranges::sort(layers_);
    config_.kind = NormalizationKind::kLp;
    config_.input = Shape{{rows_, length_, 1}};
    config_.types = {reduction->types.input, DataType::kNone, quotient->types.output};
    return FusionPattern{"normalization", {layers_, config_, {norm.operands[0]}, step->output}};
  }

 private:
  std::optional<FusionStep> WriterOf(ValueId value) const {
    const std::optional<LayerId> writer = steps_.WriterOf(value);
    return writer ? steps_.StepOf(*writer) : std::nullopt;
  }

  ValueId Take(const FusionStep& step) {
    layers_.push_back(step.layers[0]);
    return step.output;
  }

  bool IsWhole(const Shape& shape) const { return ElementCount(shape) == rows_ * length_; }
  // One number for each row, whatever dimensions were merged.
  bool IsPerRow(const Shape& shape) const {
    return ElementCount(shape) == rows_ && (rows_ == 1 || (shape.rank() > 0 && shape.dims.back() == 1) || length_ == 1);
  }

  // What a square is of: square(d), power(d, 2), multiply(d, d).
  std::optional<ValueId> SquaredIn(ValueId squares) {
    const std::optional<FusionStep> step = WriterOf(squares);
    if (!step || steps_.Escapes(squares) || steps_.ReadersOf(squares).size() != 1) return std::nullopt;
    const bool is_square =
        AsPointwise(step, PointwiseKind::kSquare) != nullptr ||
        (AsPointwise(step, PointwiseKind::kPower) != nullptr && steps_.NumberOf(step->operands[1]) == 2.0) ||
        (AsPointwise(step, PointwiseKind::kMultiply) != nullptr && step->operands[0] == step->operands[1]);
    if (!is_square || !IsWhole(std::get<PointwiseConfig>(step->config).inputs[0])) return std::nullopt;
    layers_.push_back(step->layers[0]);
    return step->operands[0];
  }

  // A difference from the mean of what is normalized; anything else is normalized itself, by its root mean square.
  bool FindInput(ValueId deviation) {
    config_.kind = NormalizationKind::kRms;
    input_ = deviation;
    const std::optional<FusionStep> difference = WriterOf(deviation);
    const PointwiseConfig* subtract = AsPointwise(difference, PointwiseKind::kSubtract);
    if (subtract == nullptr || !IsWhole(subtract->inputs[0]) || !IsPerRow(subtract->inputs[1])) return true;
    const std::optional<FusionStep> mean = WriterOf(difference->operands[1]);
    const ReductionConfig* of = mean ? AsRowMean(mean->config) : nullptr;
    if (of == nullptr || !IsWhole(of->input) || mean->operands[0] != difference->operands[0]) return true;
    if (!OnlyReader(steps_, mean->output)) return false;
    config_.kind = NormalizationKind::kLayer;
    input_ = difference->operands[0];
    layers_.push_back(mean->layers[0]);
    layers_.push_back(difference->layers[0]);
    return true;
  }

  // 1 / value.
  bool IsInverse(const std::optional<FusionStep>& step, ValueId value) const {
    return AsPointwise(step, PointwiseKind::kReciprocal) != nullptr ||
           (AsPointwise(step, PointwiseKind::kDivide) != nullptr && step->operands[1] == value &&
            steps_.NumberOf(step->operands[0]) == 1.0);
  }

  // Epsilon, where there is one, root, and the deviation divided by it or multiplied by its inverse.
  std::optional<ValueId> Quotient(ValueId variance, ValueId deviation) {
    ValueId divisor = variance;
    std::optional<FusionStep> step = OnlyReader(steps_, divisor);
    if (AsPointwise(step, PointwiseKind::kAdd) != nullptr) {
      const std::optional<double> epsilon = steps_.NumberOf(step->operands[step->operands[0] == variance ? 1 : 0]);
      if (!epsilon) return std::nullopt;
      epsilon_ = *epsilon;
      divisor = Take(*step);
      step = OnlyReader(steps_, divisor);
    }
    const bool is_inverse_root = AsPointwise(step, PointwiseKind::kPower) != nullptr && step->operands[0] == divisor &&
                                 steps_.NumberOf(step->operands[1]) == -0.5;
    if (!is_inverse_root && AsPointwise(step, PointwiseKind::kSquareRoot) == nullptr) return std::nullopt;
    divisor = Take(*step);
    PointwiseKind kind = is_inverse_root ? PointwiseKind::kMultiply : PointwiseKind::kDivide;
    std::optional<FusionStep> quotient = OnlyReader(steps_, divisor);
    if (!is_inverse_root && IsInverse(quotient, divisor)) {
      divisor = Take(*quotient);
      kind = PointwiseKind::kMultiply;
      quotient = OnlyReader(steps_, divisor);
    }
    const PointwiseConfig* config = AsPointwise(quotient, kind);
    if (config == nullptr) return std::nullopt;
    const std::size_t whole = kind == PointwiseKind::kMultiply && quotient->operands[0] == divisor ? 1 : 0;
    if (quotient->operands[whole] != deviation || quotient->operands[1 - whole] != divisor) return std::nullopt;
    if (!IsWhole(config->inputs[whole]) || !IsPerRow(config->inputs[1 - whole])) return std::nullopt;
    return Take(*quotient);
  }

  // Of a layer normalization nothing else may read the deviation; what an RMS normalization reads is its input.
  bool IsReadByPatternAlone(ValueId deviation) const {
    if (config_.kind == NormalizationKind::kRms) return true;
    return !steps_.Escapes(deviation) && std::ranges::all_of(steps_.ReadersOf(deviation), [&](LayerId reader) {
      return std::ranges::find(layers_, reader) != layers_.end();
    });
  }

  // Clip(x, small) or Max(x, small): what keeps a quotient finite.
  bool IsBoundedBySmall(const FusionStep& step) const {
    constexpr double kSmall = 1e-4;
    const Layer& layer = steps_.graph().layer(step.layers[0]);
    const bool bounds =
        AsPointwise(step, PointwiseKind::kClip) != nullptr || AsPointwise(step, PointwiseKind::kMaximum) != nullptr;
    return bounds && layer.inputs.size() == 2 && layer.inputs[1] &&
           steps_.NumberOf(*layer.inputs[1]).value_or(1) <= kSmall;
  }

  // What is normalized, before it was cast for this alone.
  void Widen() {
    const std::optional<FusionStep> cast = WriterOf(input_);
    const PointwiseConfig* config = AsPointwise(cast, PointwiseKind::kCast);
    const auto is_inside = [&](LayerId reader) { return std::ranges::find(layers_, reader) != layers_.end(); };
    if (config == nullptr || !IsFloatingPoint(config->types.input) || steps_.Escapes(input_) ||
        !std::ranges::all_of(steps_.ReadersOf(input_), is_inside))
      return;
    Take(*cast);
    input_ = cast->operands[0];
    config_.types.input = config->types.input;
  }
  // The result after the cast back to the type of what was widened, where that alone reads it.
  ValueId Narrowed(ValueId result) {
    const std::optional<FusionStep> cast = OnlyReader(steps_, result);
    const PointwiseConfig* config = AsPointwise(cast, PointwiseKind::kCast);
    if (config == nullptr || config->types.output != config_.types.input) return result;
    config_.types.output = config->types.output;
    return Take(*cast);
  }

  // The only reader of `value`, where it multiplies by or adds a constant row, which `row_` then is.
  std::optional<FusionStep> WithRow(ValueId value, PointwiseKind kind) {
    std::optional<FusionStep> step = OnlyReader(steps_, value);
    const PointwiseConfig* config = AsPointwise(step, kind);
    if (config == nullptr || step->operands[0] == step->operands[1]) return std::nullopt;
    const std::size_t place = step->operands[0] == value ? 1 : 0;
    const Shape& row = config->inputs[place];
    const bool is_row = ElementCount(row) == length_ && !row.dims.empty() && row.dims.back() == length_;
    if (!is_row || !steps_.IsConstant(step->operands[place]) || !IsWhole(config->inputs[1 - place]))
      return std::nullopt;
    row_ = step->operands[place];
    return step;
  }

  const FusionSteps& steps_;
  std::vector<LayerId> layers_;
  NormalizationConfig config_;
  ValueId input_;
  ValueId row_;
  std::int64_t rows_ = 0, length_ = 0;
  double epsilon_ = 0;
};

}  // namespace

std::vector<FusionPattern> FindNormalizationPatterns(const FusionSteps& steps) {
  std::vector<FusionPattern> patterns;
  for (std::size_t i = 0; i < steps.graph().layers.size(); ++i) {
    const std::optional<FusionStep> step = steps.StepOf(LayerId(i));
    if (!step || !std::holds_alternative<ReductionConfig>(step->config)) continue;
    std::optional<FusionPattern> pattern = NormalizationMatch(steps).From(*step);
    if (!pattern) pattern = NormalizationMatch(steps).FromNorm(*step);
    if (pattern) patterns.push_back(*std::move(pattern));
  }
  return patterns;
}

}  // namespace infimum
