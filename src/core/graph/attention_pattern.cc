// attention: two products with a softmax between them, as models without an Attention operator write it. Scales, masks
// and what exporters add around the softmax belong to it: a cap of the scores, a cast to f32 and back, a sink, zeros in
// place of NaN; of 8-bit floats what quantizes the weights. Keys and values may be written out for each head that
// shares them, before an Attention operator too, and keys may come transposed: in which order an operand lies in memory
// is a layout, and layouts belong to the candidate.
#include <algorithm>
#include <functional>

#include "src/core/graph/fusion_patterns.h"
#include "src/core/layer/small_float.h"

namespace infimum {
namespace {

// Between the products, on one path.
constexpr std::size_t kMostSteps = 16;
// What is added to or put in place of a score that shall not count.
constexpr double kHides = -1000;

const MatMulConfig* AsProduct(const std::optional<FusionStep>& step) {
  const auto* matmul = step ? std::get_if<MatMulConfig>(&step->config) : nullptr;
  if (matmul == nullptr || matmul->bias != MatMulBias::kNone || matmul->a.rank() != 3) return nullptr;
  return matmul;
}

const PointwiseConfig* AsPointwise(const std::optional<FusionStep>& step, PointwiseKind kind, std::size_t operands) {
  return step && step->operands.size() == operands ? AsPointwise(step, kind) : nullptr;
}

std::int64_t CountOf(std::span<const std::int64_t> dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  return count;
}

// A mask, in the dimensions in which it meets the scores, heads and all before them first.
struct Mask {
  ValueId value;
  std::vector<std::int64_t> own, whole;  // one rank
  DataType type = DataType::kNone;
  bool hides = false;  // a condition that chooses between score and minus infinity; else added
  std::optional<double> factor;
};

class Match {
 public:
  explicit Match(const FusionSteps& steps) : steps_(steps) {}

  // From the softmax to both sides.
  std::optional<FusionPattern> From(const FusionStep& softmax) {
    const auto* config = std::get_if<SoftmaxConfig>(&softmax.config);
    if (config == nullptr || config->kind != SoftmaxKind::kSoftmax || config->input.rank() != 3 ||
        config->input.dims[2] != 1)
      return std::nullopt;
    path_.layers = {softmax.layers[0]};
    has_sink_ = false;
    const ValueId logits = WithoutSink(softmax.operands[0]);
    const std::optional<FusionStep> scores = Scores(logits, kMostSteps);
    const MatMulConfig* first = AsProduct(scores);
    std::optional<ValueId> weights = Weights(softmax.output);
    if (first == nullptr || !weights || first->weights == Constness::kConstant) return std::nullopt;
    AttentionConfig attention;
    // Queries that share keys may be rows of one matrix.
    const std::vector<std::int64_t> matrices = ResultDimsOf(*scores);
    const std::int64_t rows = first->a.dims[0] * first->a.dims[1];
    attention.q = matrices.size() < 2 ? 1 : matrices[matrices.size() - 2];
    if (attention.q < 1 || first->a.dims[1] % attention.q != 0) return std::nullopt;
    attention.heads = rows / attention.q;
    attention.head = first->a.dims[2];
    attention.kv = first->b.dims[2];
    std::optional<FusionStep> result = OnlyReader(steps_, *weights);
    const bool is_turned = IsTranspose(result, attention.q, attention.kv);  // values times weights, then
    if (is_turned) {
      path_.layers.push_back(result->layers[0]);
      path_.scale.reset();
      weights = result->output;
      result = OnlyReader(steps_, *weights);
    }
    const MatMulConfig* second = AsProduct(result);
    const std::size_t place = is_turned ? 1 : 0;
    if (second == nullptr || result->operands[place] != *weights || result->operands[1 - place] == *weights)
      return std::nullopt;
    const DataType types[] = {first->types.input, first->types.weights, second->types.input, second->types.weights};
    if (std::ranges::any_of(types, IsSmallFloat) &&
        std::ranges::adjacent_find(types, std::not_equal_to()) != std::end(types))
      return std::nullopt;
    attention.types = {first->types.input, DataType::kNone, second->types.output};
    const std::int64_t value_head = is_turned ? second->a.dims[1] : second->b.dims[2];
    if (value_head != attention.head) attention.value_head = value_head;
    const Shape &shares = is_turned ? second->b : second->a, &values = is_turned ? second->a : second->b;
    const bool shapes_agree = config->input.dims[1] == attention.kv + (has_sink_ ? 1 : 0) &&
                              shares.dims[0] == first->a.dims[0] && shares.dims[1 + place] == first->a.dims[1] &&
                              shares.dims[2 - place] == attention.kv && values.dims[0] == first->b.dims[0] &&
                              values.dims[1 + place] == attention.kv;
    if (!shapes_agree) return std::nullopt;
    const Operand q = Behind(scores->operands[0], 0, 0, true);
    const Operand k = Behind(scores->operands[1], attention.kv, attention.head, true);
    const Operand v = Behind(result->operands[1 - place], attention.kv, value_head, false);
    if (k.copies != v.copies || first->b.dims[0] % k.copies != 0) return std::nullopt;
    attention.kv_heads = first->b.dims[0] / k.copies;
    for (const Operand* operand : {&q, &k, &v}) Take(*operand);
    std::vector<ValueId> operands = {q.value, k.value, v.value};
    if (!AddMasks(attention, operands)) return std::nullopt;
    path_.layers.push_back(scores->layers[0]);
    path_.layers.push_back(result->layers[0]);
    std::optional<FusionPattern> pattern = Finish(attention, std::move(operands), result->output);
    if (!pattern) return std::nullopt;
    // The first product reads its keys as it multiplies, head x kv.
    if (!k.turned) pattern->step.values["keys_transposed"] = {1};
    if (path_.scale) pattern->step.values["scale"] = {*path_.scale};
    if (path_.scale && !path_.masks.empty()) pattern->step.values["mask_scale"] = {*path_.masks[0].factor};
    return pattern;
  }

  // An Attention operator whose keys and values are written out for each head before it.
  std::optional<FusionPattern> WithSharedHeads(const FusionStep& operation) {
    AttentionConfig attention = std::get<AttentionConfig>(operation.config);
    const std::int64_t value_head = attention.value_head == 0 ? attention.head : attention.value_head;
    const Operand k = Behind(operation.operands[1], attention.kv, attention.head, false);
    const Operand v = Behind(operation.operands[2], attention.kv, value_head, false);
    if (k.copies == 1 || k.copies != v.copies || attention.kv_heads % k.copies != 0) return std::nullopt;
    attention.kv_heads /= k.copies;
    path_.layers = {operation.layers[0]};
    for (const Operand* operand : {&k, &v})
      path_.layers.insert(path_.layers.end(), operand->layers.begin(), operand->layers.end());
    std::vector<ValueId> operands = operation.operands;
    operands[1] = k.value;
    operands[2] = v.value;
    return Finish(attention, std::move(operands), operation.output);
  }

 private:
  // Of a product, with the layers behind it that belong to the attention.
  struct Operand {
    ValueId value;
    std::vector<LayerId> layers;
    std::int64_t copies = 1;  // heads written out for each one that is there
    bool turned = false;      // kv x head behind a Transpose
    std::vector<std::optional<double>> factors;
  };
  // What was found between softmax and first product.
  struct Path {
    std::vector<LayerId> layers;
    std::vector<Mask> masks;
    // Absent where it is not known, or where an attention with masks does not say all.
    std::optional<double> scale = 1;
  };

  std::optional<FusionStep> WriterOf(ValueId value) const {
    const std::optional<LayerId> writer = steps_.WriterOf(value);
    return writer ? steps_.StepOf(*writer) : std::nullopt;
  }
  std::optional<FusionStep> OnlyWriterOf(ValueId value) const {
    return OnlyReader(steps_, value) ? WriterOf(value) : std::nullopt;
  }
  // In the dimensions that the layer sees, not those merged for its configuration.
  std::vector<std::int64_t> DimsOf(const FusionStep& step, std::size_t operand) const {
    const Layer& layer = steps_.graph().layer(step.layers[0]);
    return DimsOf(*layer.inputs[layer.operand_inputs[operand]]);
  }
  std::vector<std::int64_t> ResultDimsOf(const FusionStep& step) const {
    for (const std::optional<ValueId>& output : steps_.graph().layer(step.layers[0]).outputs)
      if (output) return DimsOf(*output);
    return {};
  }
  std::vector<std::int64_t> DimsOf(ValueId value) const {
    const std::optional<Shape>& shape = steps_.graph().value(value).shape;
    return shape ? shape->dims : std::vector<std::int64_t>();
  }
  static std::int64_t LastOf(const std::vector<std::int64_t>& dims) { return dims.empty() ? 0 : dims.back(); }

  // The variable operand of a multiplication or division by a constant, one number or one for each head, and the factor
  // where it is one known number.
  struct Scaling {
    ValueId inner;
    std::optional<double> factor;
  };
  std::optional<Scaling> Scaled(const FusionStep& step) const {
    const auto* config = std::get_if<PointwiseConfig>(&step.config);
    if (config == nullptr || step.operands.size() != 2) return std::nullopt;
    const bool multiplies = config->kind == PointwiseKind::kMultiply;
    if (!multiplies && config->kind != PointwiseKind::kDivide) return std::nullopt;
    for (std::size_t i = 0; i < (multiplies ? 2u : 1u); ++i) {
      const ValueId number = step.operands[1 - i];
      const std::vector<std::int64_t> dims = DimsOf(step, 1 - i);
      const bool by_head = dims.size() >= 3 && dims.back() == 1 && dims[dims.size() - 2] == 1;
      if (!steps_.IsConstant(number) || steps_.IsConstant(step.operands[i]) || (CountOf(dims) != 1 && !by_head))
        continue;
      std::optional<double> factor = steps_.NumberOf(number);
      if (factor && !multiplies) factor = 1 / *factor;
      return Scaling{step.operands[i], factor};
    }
    return std::nullopt;
  }

  void Multiply(std::optional<double> factor) {
    if (!factor) path_.scale.reset();
    if (path_.scale) *path_.scale *= *factor;
  }

  // Back from the softmax through scales, casts and masks to the product of queries and keys. Of a sum of two computed
  // matrices the one that leads to a product is the scores.
  std::optional<FusionStep> Scores(ValueId value, std::size_t left) {
    const std::optional<FusionStep> step = left == 0 ? std::nullopt : OnlyWriterOf(value);
    if (!step || std::holds_alternative<MatMulConfig>(step->config)) return step;
    path_.layers.push_back(step->layers[0]);
    if (const std::optional<Scaling> scaling = Scaled(*step)) {
      Multiply(scaling->factor);
      return Scores(scaling->inner, left - 1);
    }
    if (const PointwiseConfig* cast = AsPointwise(step, PointwiseKind::kCast, 1)) {
      return IsFloatingPoint(cast->types.input) ? Scores(step->operands[0], left - 1) : std::nullopt;
    }
    if (AsPointwise(step, PointwiseKind::kTanh, 1) != nullptr) {  // soft-capping
      path_.scale.reset();
      return Scores(step->operands[0], left - 1);
    }
    if (AsPointwise(step, PointwiseKind::kMaximum, 2) != nullptr) {  // no score below the least number
      const std::size_t number = steps_.IsConstant(step->operands[0]) ? 0 : 1;
      return steps_.NumberOf(step->operands[number]).value_or(0) < kHides ? Scores(step->operands[1 - number], left - 1)
                                                                          : std::nullopt;
    }
    if (AsPointwise(step, PointwiseKind::kSubtract, 2) != nullptr)
      return AddMask(*step, 0, 1) ? Scores(step->operands[0], left - 1) : std::nullopt;
    const bool adds = AsPointwise(step, PointwiseKind::kAdd, 2) != nullptr;
    if (!adds && AsPointwise(step, PointwiseKind::kWhere, 3) == nullptr) return std::nullopt;
    for (std::size_t i = adds ? 0 : 1; i < step->operands.size(); ++i) {
      const std::size_t other = adds ? 1 - i : 3 - i, mask = adds ? other : 0;
      if (step->operands[i] == step->operands[other] || steps_.IsConstant(step->operands[i])) continue;
      if (!adds && !(steps_.NumberOf(step->operands[other]).value_or(0) < kHides)) continue;
      const Path before = path_;
      if (AddMask(*step, i, mask)) {
        if (const std::optional<FusionStep> scores = Scores(step->operands[i], left - 1)) return scores;
      }
      path_ = before;
    }
    return std::nullopt;
  }

  bool AddMask(const FusionStep& step, std::size_t scores, std::size_t place) {
    Mask mask;
    mask.value = step.operands[place];
    mask.own = DimsOf(step, place);
    mask.whole = ResultDimsOf(step);
    if (DimsOf(step, scores) != mask.whole || mask.own.size() > mask.whole.size()) return false;
    mask.own.insert(mask.own.begin(), mask.whole.size() - mask.own.size(), 1);
    mask.type = steps_.graph().value(mask.value).type;
    mask.hides = step.operands.size() == 3;
    // What stands between softmax and mask is the mask's factor too.
    if (!mask.hides) mask.factor = path_.scale;
    const auto* pointwise = std::get_if<PointwiseConfig>(&step.config);
    if (mask.factor && pointwise->kind == PointwiseKind::kSubtract) *mask.factor = -*mask.factor;
    if (mask.hides) path_.scale.reset();
    path_.masks.push_back(std::move(mask));
    return true;
  }

  // A logit for each row behind its scores, from which the largest may be taken first.
  ValueId WithoutSink(ValueId logits) {
    ValueId joined = logits;
    std::vector<LayerId> layers;
    const std::optional<FusionStep> difference = OnlyWriterOf(logits);
    if (AsPointwise(difference, PointwiseKind::kSubtract, 2) != nullptr) {
      joined = difference->operands[0];
      const std::optional<FusionStep> largest = OnlyWriterOf(difference->operands[1]);
      const auto* reduction = largest ? std::get_if<ReductionConfig>(&largest->config) : nullptr;
      const std::vector<LayerId> both = {largest ? largest->layers[0] : LayerId(), difference->layers[0]};
      if (reduction == nullptr || reduction->kind != ReductionKind::kMax || largest->operands[0] != joined ||
          steps_.Escapes(joined) || !std::ranges::equal(steps_.ReadersOf(joined), both))
        return logits;
      layers = both;
    } else if (!OnlyReader(steps_, joined)) {
      return logits;
    }
    const std::optional<FusionStep> step = WriterOf(joined);
    const MovementConfig* concat = AsMovement(step, MovementKind::kConcat);
    if (concat == nullptr || step->operands.size() != 2 || LastOf(DimsOf(*step, 1)) != 1 ||
        LastOf(ResultDimsOf(*step)) != LastOf(DimsOf(*step, 0)) + 1)
      return logits;
    if (const std::optional<FusionStep> written = OnlyWriterOf(step->operands[1]);
        AsMovement(written, MovementKind::kExpand) != nullptr)
      layers.push_back(written->layers[0]);
    layers.push_back(step->layers[0]);
    path_.layers.insert(path_.layers.end(), layers.begin(), layers.end());
    path_.scale.reset();
    has_sink_ = true;
    return step->operands[0];
  }

  // From what the softmax writes to what the second product reads: back from f32, without the sink, zeros for rows of
  // which no score counts.
  std::optional<ValueId> Weights(ValueId value) {
    bool has_sink = has_sink_;
    for (std::size_t i = 0; i < kMostSteps; ++i) {
      if (steps_.Escapes(value)) return std::nullopt;
      const std::span<const LayerId> readers = steps_.ReadersOf(value);
      if (readers.size() == 2) {
        const std::optional<FusionStep> test = steps_.StepOf(readers[0]), guard = steps_.StepOf(readers[1]);
        const bool is_guard = AsPointwise(test, PointwiseKind::kIsNaN, 1) != nullptr &&
                              AsPointwise(guard, PointwiseKind::kWhere, 3) != nullptr &&
                              OnlyReader(steps_, test->output) && guard->operands[0] == test->output &&
                              guard->operands[2] == value && steps_.NumberOf(guard->operands[1]) == 0.0;
        if (!is_guard) return std::nullopt;
        path_.layers.push_back(test->layers[0]);
        path_.layers.push_back(guard->layers[0]);
        value = guard->output;
        continue;
      }
      const std::optional<FusionStep> reader = OnlyReader(steps_, value);
      const PointwiseConfig* cast = AsPointwise(reader, PointwiseKind::kCast, 1);
      const std::optional<Scaling> scaling = reader ? Scaled(*reader) : std::nullopt;
      // Of 8-bit floats the weights are, too; their scales are no value of the attention.
      const PointwiseConfig* quantize = AsPointwise(reader, PointwiseKind::kQuantize, 1);
      const bool is_float8 = quantize != nullptr && IsFloat8(quantize->types.output);
      if (is_float8) path_.scale.reset();
      const bool is_cut = has_sink && AsMovement(reader, MovementKind::kSlice) != nullptr &&
                          StartsAtZero(steps_, *reader) &&
                          LastOf(ResultDimsOf(*reader)) + 1 == LastOf(DimsOf(*reader, 0));
      if (is_cut) {
        has_sink = false;
      } else if (!is_float8 && !(cast != nullptr && IsFloatingPoint(cast->types.output)) &&
                 !(scaling && scaling->factor == 1.0)) {
        break;
      }
      path_.layers.push_back(reader->layers[0]);
      value = reader->output;
    }
    return has_sink ? std::nullopt : std::optional(value);
  }

  // Back from what a product or an attention reads, rows x columns of each head. Factors and a Transpose of these
  // matrices are taken from what makes scores.
  Operand Behind(ValueId value, std::int64_t rows, std::int64_t columns, bool is_scored) const {
    Operand operand{value, {}, 1, false, {}};
    while (const std::optional<FusionStep> step = OnlyWriterOf(operand.value)) {
      if (const std::optional<Scaling> scaling = Scaled(*step); scaling && is_scored) {
        operand.factors.push_back(scaling->factor);
        operand.value = scaling->inner;
      } else if (is_scored && !operand.turned && IsTranspose(step, rows, columns)) {
        operand.turned = true;
        operand.value = step->operands[0];
      } else if (const std::int64_t copies = CopiesOf(step, rows * columns); operand.copies == 1 && copies > 1) {
        operand.copies = copies;
        operand.value = step->operands[0];
      } else {
        break;
      }
      operand.layers.push_back(step->layers[0]);
    }
    return operand;
  }

  // Of matrices of rows x columns, however many.
  static bool IsTranspose(const std::optional<FusionStep>& step, std::int64_t rows, std::int64_t columns) {
    const MovementConfig* config = AsMovement(step, MovementKind::kTranspose);
    if (config == nullptr) return false;
    const std::vector<std::int64_t>&order = config->permutation, &dims = config->inputs[0].dims;
    const bool swaps = order == std::vector<std::int64_t>{1, 0} || order == std::vector<std::int64_t>{0, 2, 1};
    return swaps && dims.size() == order.size() && dims[dims.size() - 2] == rows && dims.back() == columns;
  }

  // How often each matrix is written by an Expand, one copy behind the other; 0 for anything else.
  std::int64_t CopiesOf(const std::optional<FusionStep>& step, std::int64_t matrix) const {
    if (AsMovement(step, MovementKind::kExpand) == nullptr) return 0;
    std::vector<std::int64_t> from = DimsOf(*step, 0);
    const std::vector<std::int64_t> to = ResultDimsOf(*step);
    from.insert(from.begin(), to.size() - std::min(from.size(), to.size()), 1);
    const auto [before, after] = std::ranges::mismatch(from, to);
    const std::size_t place = static_cast<std::size_t>(after - to.begin());
    if (after == to.end() || !std::equal(before + 1, from.end(), after + 1)) return 0;
    return CountOf(std::span(to).subspan(place + 1)) == matrix ? *after : 0;
  }

  void Take(const Operand& operand) {
    path_.layers.insert(path_.layers.end(), operand.layers.begin(), operand.layers.end());
    for (const std::optional<double>& factor : operand.factors) Multiply(factor);
  }

  // The masks as operands, and how many of all heads are a batch's.
  bool AddMasks(AttentionConfig& attention, std::vector<ValueId>& operands) {
    // One number for all scores of a row changes no weight, unless a sink stands beside them.
    if (!has_sink_ && attention.kv > 1)
      std::erase_if(path_.masks, [](const Mask& mask) { return mask.factor && LastOf(mask.own) == 1; });
    // Beside an added mask one that hides is a value, as padding is.
    if (std::ranges::any_of(path_.masks, [](const Mask& mask) { return !mask.hides; }))
      std::erase_if(path_.masks, [](const Mask& mask) { return mask.hides; });
    const std::int64_t all = attention.heads;
    for (const Mask& mask : path_.masks) {
      const std::size_t lead = mask.whole.size() < 2 ? 0 : mask.whole.size() - 2;
      const bool is_matrix = mask.whole.size() >= 2 && mask.whole[lead] == attention.q &&
                             mask.whole[lead + 1] == attention.kv && mask.own[lead + 1] == attention.kv;
      if (!is_matrix || mask.type != path_.masks[0].type || mask.factor != path_.masks[0].factor) return false;
      const std::int64_t own = CountOf(std::span(mask.own).first(lead));
      if (CountOf(std::span(mask.whole).first(lead)) != all) return false;
      if (own != 1 && own != all) attention.batch = all / mask.whole[lead - 1];
    }
    attention.heads = all / attention.batch;
    if (attention.kv_heads % attention.batch != 0) return false;
    attention.kv_heads /= attention.batch;
    for (const Mask& mask : path_.masks) {
      const std::size_t lead = mask.whole.size() - 2;
      Shape shape{{1, 1, mask.own[lead], attention.kv}};
      const std::int64_t own = CountOf(std::span(mask.own).first(lead));
      if (own == all) {
        shape.dims[0] = attention.batch;
        shape.dims[1] = attention.heads;
      } else if (own != 1) {
        // What repeats over the batch has ones first, then all.
        const auto batches = std::span(mask.own).first(lead - 1);
        std::size_t ones = 0;
        while (ones < batches.size() && batches[ones] == 1) ++ones;
        if (mask.whole[lead - 1] != attention.heads ||
            !std::ranges::equal(batches.subspan(ones), std::span(mask.whole).subspan(ones, batches.size() - ones)))
          return false;
        shape.dims[0] = CountOf(batches);
        shape.dims[1] = mask.own[lead - 1];
      }
      attention.masks.push_back(std::move(shape));
      operands.push_back(mask.value);
    }
    if (path_.masks.empty()) return true;
    attention.mask = AttentionMask::kFull;
    if (path_.masks[0].type != attention.types.input) attention.types.weights = path_.masks[0].type;
    return true;
  }

  std::optional<FusionPattern> Finish(AttentionConfig attention, std::vector<ValueId> operands, ValueId output) {
    std::ranges::sort(path_.layers);
    // Keys that are the values, or a layer found twice on the way, make another shape of graph than this one.
    if (std::ranges::adjacent_find(path_.layers) != path_.layers.end()) return std::nullopt;
    attention = Canonicalize(std::move(attention));
    if (!Validate(LayerConfig(attention)).ok()) return std::nullopt;
    return FusionPattern{"attention", {path_.layers, std::move(attention), std::move(operands), output}};
  }

  const FusionSteps& steps_;
  Path path_;
  bool has_sink_ = false;
};

}  // namespace

bool StartsAtZero(const FusionSteps& steps, const FusionStep& slice) {
  const Layer& layer = steps.graph().layer(slice.layers[0]);
  if (layer.inputs.size() < 2 || !layer.inputs[1]) return false;
  const std::optional<Tensor>& starts = steps.graph().value(*layer.inputs[1]).constant;
  return IntegersOf(starts ? &*starts : nullptr) == std::vector<std::int64_t>{0};
}

std::vector<FusionPattern> FindAttentionPatterns(const FusionSteps& steps) {
  std::vector<FusionPattern> patterns;
  for (std::size_t i = 0; i < steps.graph().layers.size(); ++i) {
    const std::optional<FusionStep> step = steps.StepOf(LayerId(i));
    std::optional<FusionPattern> pattern;
    if (step && std::holds_alternative<SoftmaxConfig>(step->config)) pattern = Match(steps).From(*step);
    if (step && std::holds_alternative<AttentionConfig>(step->config)) pattern = Match(steps).WithSharedHeads(*step);
    if (pattern) patterns.push_back(*std::move(pattern));
  }
  return patterns;
}

}  // namespace infimum
