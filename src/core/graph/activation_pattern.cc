// activation: element-wise layers of one variable that are an activation by another name. Exporters write GELU in half
// a dozen ways; instead of listing them, the layers are evaluated at a few points and compared with known activations.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "src/core/graph/fusion_patterns.h"

namespace infimum {
namespace {

constexpr std::size_t kMostLayers = 12;
constexpr std::size_t kPoints = 11;
using Samples = std::array<double, kPoints>;
constexpr Samples kAt = {-6.5, -3.25, -2, -1.125, -0.5, -0.1, 0.3, 0.75, 1.5, 3.125, 5.5};
// What rounding of the constants explains, relative to 1 + |x|. The tanh form of GELU differs from the erf form by 1e-4
// and more, so that among constants of 16 bits the nearest of several that are close is meant.
double CloseWith(DataType constants) {
  switch (constants) {
    case DataType::kF16:
      return 0x1p-10;
    case DataType::kBF16:
      return 0x1p-7;
    default:
      return 3e-6;
  }
}

constexpr PointwiseKind kRecognized[] = {
    PointwiseKind::kGeluErf,   PointwiseKind::kGeluTanh, PointwiseKind::kQuickGelu, PointwiseKind::kSwish,
    PointwiseKind::kHardSwish, PointwiseKind::kMish,     PointwiseKind::kSoftplus,  PointwiseKind::kSigmoid,
};

// What formulas are written with, besides Clip and HardSigmoid.
constexpr PointwiseKind kWithoutAttributes[] = {
    PointwiseKind::kAdd,        PointwiseKind::kSubtract,      PointwiseKind::kMultiply, PointwiseKind::kDivide,
    PointwiseKind::kPower,      PointwiseKind::kMinimum,       PointwiseKind::kMaximum,  PointwiseKind::kNegative,
    PointwiseKind::kReciprocal, PointwiseKind::kSquare,        PointwiseKind::kCube,     PointwiseKind::kExponential,
    PointwiseKind::kLogarithm,  PointwiseKind::kErrorFunction, PointwiseKind::kTanh,     PointwiseKind::kSigmoid,
    PointwiseKind::kSoftplus,   PointwiseKind::kRelu};

std::optional<double> AttributeOf(const Layer& layer, const char* name) {
  const auto found = layer.attributes.find(name);
  if (found == layer.attributes.end()) return std::nullopt;
  const auto* number = std::get_if<double>(&found->second);
  return number == nullptr ? std::nullopt : std::optional<double>(*number);
}

// Bounds of Clip are inputs since opset 11, attributes before.
std::optional<double> BoundOf(const FusionSteps& steps, const Layer& layer, std::size_t input, const char* name,
                              double none) {
  if (input < layer.inputs.size() && layer.inputs[input]) return steps.NumberOf(*layer.inputs[input]);
  return AttributeOf(layer, name).value_or(none);
}

// One layer at one point; nullopt for kinds whose attributes are not read here.
std::optional<double> ValueOf(const FusionSteps& steps, const FusionStep& step, double a, double b) {
  const Layer& layer = steps.graph().layer(step.layers[0]);
  const auto& config = std::get<PointwiseConfig>(step.config);
  PointwiseParameters parameters;
  switch (config.kind) {
    case PointwiseKind::kHardSigmoid:
      parameters.hard_sigmoid_alpha = AttributeOf(layer, "alpha").value_or(parameters.hard_sigmoid_alpha);
      parameters.hard_sigmoid_beta = AttributeOf(layer, "beta").value_or(parameters.hard_sigmoid_beta);
      break;
    case PointwiseKind::kClip: {
      const auto low = BoundOf(steps, layer, 1, "min", -HUGE_VAL);
      const auto high = BoundOf(steps, layer, 2, "max", HUGE_VAL);
      if (!low || !high || *low > *high) return std::nullopt;
      parameters.clip_low = *low;
      parameters.clip_high = *high;
      break;
    }
    default:
      if (std::ranges::find(kWithoutAttributes, config.kind) == std::end(kWithoutAttributes)) return std::nullopt;
  }
  return config.inputs.size() == 1 ? Evaluate(config.kind, a, parameters) : Evaluate(config.kind, a, b);
}

// Layers that compute one function of `source`, growing one by one.
class Function {
 public:
  Function(const FusionSteps& steps, ValueId source) : steps_(steps), source_(source) { known_[source] = kAt; }

  // Adds the layer and what it needs before it; false where that is no function of the source alone.
  bool Add(LayerId id) {
    if (std::ranges::binary_search(layers_, id)) return true;
    if (layers_.size() == kMostLayers) return false;
    const std::optional<FusionStep> step = steps_.StepOf(id);
    if (!step || step->operands.empty() || step->operands.size() > 2) return false;
    const auto* config = std::get_if<PointwiseConfig>(&step->config);
    if (config == nullptr || config->types.output != config->types.input) return false;
    std::array<const Samples*, 2> operands{};
    std::array<Samples, 2> constants;
    for (std::size_t i = 0; i < step->operands.size(); ++i) {
      const ValueId operand = step->operands[i];
      if (steps_.IsConstant(operand)) {
        const std::optional<double> number = steps_.NumberOf(operand);
        if (!number) return false;
        close_ = std::max(close_, CloseWith(steps_.graph().value(operand).constant->type));
        constants[i].fill(*number);
        operands[i] = &constants[i];
        continue;
      }
      if (!known_.contains(operand)) {
        const std::optional<LayerId> writer = steps_.WriterOf(operand);
        if (!writer || *writer >= id || !Add(*writer)) return false;
      }
      if (ElementCount(config->inputs[i]) != ElementCount(OutputShape(*config))) return false;
      operands[i] = &known_.at(operand);
    }
    Samples results;
    for (std::size_t point = 0; point < kPoints; ++point) {
      const auto result = ValueOf(steps_, *step, (*operands[0])[point], operands[1] ? (*operands[1])[point] : 0);
      if (!result) return false;
      results[point] = *result;
    }
    known_[step->output] = results;
    layers_.insert(std::ranges::lower_bound(layers_, id), id);
    last_ = *step;
    return true;
  }

  const std::vector<LayerId>& layers() const { return layers_; }
  // The layer added last; what it computes is what the function does.
  const FusionStep& last() const { return *last_; }

  // The next layer that reads a value from inside which is not the result; or the result's only reader.
  std::optional<LayerId> Next() const {
    std::optional<LayerId> next;
    for (LayerId layer : layers_) {
      for (LayerId reader : steps_.ReadersOf(steps_.StepOf(layer)->output)) {
        if (std::ranges::binary_search(layers_, reader)) continue;
        if (!next || reader < *next) next = reader;
      }
    }
    return next;
  }
  // Whether only the last value leaves.
  bool IsClosed() const {
    return std::ranges::all_of(layers_, [&](LayerId layer) {
      const ValueId value = steps_.StepOf(layer)->output;
      if (value == last_->output) return true;
      return !steps_.Escapes(value) && std::ranges::all_of(steps_.ReadersOf(value), [&](LayerId reader) {
        return std::ranges::binary_search(layers_, reader);
      });
    });
  }
  std::optional<PointwiseKind> Recognized() const {
    const Samples& values = known_.at(last_->output);
    std::optional<PointwiseKind> nearest;
    double least = close_;
    for (const PointwiseKind kind : kRecognized) {
      double distance = 0;
      for (std::size_t i = 0; i < kPoints; ++i)
        distance = std::max(distance, std::abs(values[i] - *Evaluate(kind, kAt[i])) / (1 + std::abs(kAt[i])));
      // A NaN is not close.
      if (std::ranges::any_of(values, [](double value) { return std::isnan(value); }) || distance > least) continue;
      least = distance;
      nearest = kind;
    }
    return nearest;
  }

 private:
  const FusionSteps& steps_;
  ValueId source_;
  std::map<ValueId, Samples> known_;
  std::vector<LayerId> layers_;  // ascending
  std::optional<FusionStep> last_;
  double close_ = CloseWith(DataType::kF32);  // by the coarsest constant
};

// The longest recognized function of `source` that begins with `first`.
std::optional<FusionPattern> Recognize(const FusionSteps& steps, ValueId source, LayerId first) {
  Function function(steps, source);
  std::optional<FusionPattern> best;
  for (std::optional<LayerId> next = first; next; next = function.Next()) {
    if (!function.Add(*next)) break;
    if (function.layers().size() < 2 || !function.IsClosed()) continue;
    const std::optional<PointwiseKind> kind = function.Recognized();
    if (!kind) continue;
    const auto& last = std::get<PointwiseConfig>(function.last().config);
    const std::int64_t elements = ElementCount(OutputShape(last));
    PointwiseConfig config{*kind, {last.types.output, DataType::kNone, last.types.output}, {Shape{{elements}}}};
    best = FusionPattern{"activation",
                         {function.layers(), Canonicalize(std::move(config)), {source}, function.last().output}};
  }
  return best;
}

}  // namespace

std::vector<FusionPattern> FindActivationPatterns(const FusionSteps& steps) {
  std::vector<FusionPattern> patterns;
  std::vector<bool> taken(steps.graph().layers.size(), false);
  for (std::size_t i = 0; i < steps.graph().layers.size(); ++i) {
    if (taken[i]) continue;
    const std::optional<FusionStep> first = steps.StepOf(LayerId(i));
    if (!first || !std::holds_alternative<PointwiseConfig>(first->config)) continue;
    for (ValueId source : first->operands) {
      if (steps.IsConstant(source)) continue;
      std::optional<FusionPattern> pattern = Recognize(steps, source, LayerId(i));
      if (!pattern) continue;
      if (std::ranges::any_of(pattern->step.layers, [&](LayerId layer) { return taken[layer.index()]; })) continue;
      for (LayerId layer : pattern->step.layers) taken[layer.index()] = true;
      patterns.push_back(*std::move(pattern));
      break;
    }
  }
  return patterns;
}

}  // namespace infimum
