#include "infimum/graph/fusable_regions.h"

#include <algorithm>
#include <array>

#include "src/core/graph/fusion_patterns.h"

namespace infimum {
namespace {

// A region while it grows: steps in topological order, what they read from outside and what leaves.
class Growth {
 public:
  Growth(const FusionSteps& steps, FusionStep anchor) : steps_(steps) { Add(std::move(anchor)); }

  void Add(FusionStep step) {
    layers_.insert(layers_.end(), step.layers.begin(), step.layers.end());
    std::ranges::sort(layers_);
    members_.push_back(std::move(step));
  }

  const std::vector<LayerId>& layers() const { return layers_; }
  const std::vector<FusionStep>& members() const { return members_; }
  bool Has(LayerId layer) const { return std::ranges::binary_search(layers_, layer); }

  // Members whose value somebody outside reads, in order.
  std::vector<std::size_t> Leaving() const {
    std::vector<std::size_t> leaving;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const ValueId value = members_[i].output;
      const auto outside = [&](LayerId reader) { return !Has(reader); };
      if (steps_.Escapes(value) || std::ranges::any_of(steps_.ReadersOf(value), outside)) leaving.push_back(i);
    }
    return leaving;
  }
  // The first layer outside that reads a value from inside.
  std::optional<LayerId> NextReader() const {
    std::optional<LayerId> next;
    for (const FusionStep& member : members_)
      for (LayerId reader : steps_.ReadersOf(member.output))
        if (!Has(reader) && (!next || reader < *next)) next = reader;
    return next;
  }

  // The workload with operands numbered by first use; nullopt where two layers see an operand differently.
  std::optional<FusableRegion> Finish(std::string_view rule, const std::vector<std::size_t>& outputs) const {
    FusableRegion result;
    result.rule = rule;
    result.layers = steps_.WithInnerViews(layers_);
    Region region;
    std::map<ValueId, RegionOperand> places;
    std::int64_t inputs = 0, weights = 0;
    for (const FusionStep& step : members_) {
      result.members.push_back(step.layers);
      result.values.push_back(step.values);
      RegionMember member{step.config, {}};
      const std::vector<Operand> wanted = OperandsOf(step.config);
      for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const auto [place, is_new] = places.try_emplace(step.operands[i]);
        if (is_new) {
          const bool constant = steps_.IsConstant(step.operands[i]);
          place->second = constant ? RegionOperand{RegionOperand::Source::kWeight, weights++}
                                   : RegionOperand{RegionOperand::Source::kInput, inputs++};
          result.operands.push_back(step.operands[i]);
        }
        member.operands.push_back(place->second);
      }
      places[step.output] = {RegionOperand::Source::kMember, static_cast<std::int64_t>(region.members.size())};
      region.members.push_back(std::move(member));
    }
    for (std::size_t output : outputs) {
      region.outputs.push_back(static_cast<std::int64_t>(output));
      result.outputs.push_back(members_[output].output);
    }
    if (!Validate(region).ok()) return std::nullopt;
    result.workload = std::move(region);
    return result;
  }

 private:
  const FusionSteps& steps_;
  std::vector<FusionStep> members_;
  std::vector<LayerId> layers_;  // ascending
};

class Finder {
 public:
  explicit Finder(const ModelGraph& graph) : steps_(graph) {
    for (auto find : {FindBiasPatterns, FindActivationPatterns, FindNormalizationPatterns, FindAttentionPatterns})
      for (FusionPattern& pattern : find(steps_)) AddPattern(std::move(pattern));
  }

  std::vector<FusableRegion> Find() {
    for (std::size_t i = 0; i < steps_.graph().layers.size(); ++i) {
      const std::optional<FusionStep> step = StepAt(LayerId(i));
      if (!step) continue;
      const LayerConfig& config = step->config;
      if (std::holds_alternative<ConvolutionConfig>(config) || std::holds_alternative<MatMulConfig>(config)) {
        GrowEpilogue("product-epilogue", *step);
        if (std::holds_alternative<ConvolutionConfig>(config)) GrowCausalConvolution(*step);
      } else if (const auto* normalization = std::get_if<NormalizationConfig>(&config);
                 normalization != nullptr && normalization->kind == NormalizationKind::kBatch) {
        GrowEpilogue("normalization-epilogue", *step);
      } else if (normalization != nullptr || std::holds_alternative<SoftmaxConfig>(config)) {
        ProposeQuantizedRows(Growth(steps_, *step));
      } else if (std::holds_alternative<PointwiseConfig>(config)) {
        GrowChain(*step);
        GrowPrologue(*step);
        ProposeRotary(*step);
        ProposeLinearAttention(*step);
      }
    }
    ProposeSharedInputs();
    std::ranges::stable_sort(regions_, [](const FusableRegion& a, const FusableRegion& b) {
      return a.layers != b.layers ? a.layers < b.layers : Format(a.workload) < Format(b.workload);
    });
    // Not std::ranges::unique: Clang 14, which builds the fuzzers, does not compile libstdc++'s.
    const auto is_same = [](const FusableRegion& a, const FusableRegion& b) {
      return a.layers == b.layers && Format(a.workload) == Format(b.workload);
    };
    regions_.erase(std::unique(regions_.begin(), regions_.end(), is_same), regions_.end());
    return std::move(regions_);
  }

 private:
  void AddPattern(FusionPattern pattern) {
    FusableRegion region{pattern.rule,          steps_.WithInnerViews(pattern.step.layers),
                         pattern.step.config,   pattern.step.operands,
                         {pattern.step.output}, {pattern.step.layers},
                         {pattern.step.values}};
    if (!steps_.IsConvex(pattern.step.layers)) return;
    regions_.push_back(std::move(region));
    // Regions grow over what several layers say together; attention stays what it is.
    if (pattern.rule == "attention") return;
    for (LayerId layer : pattern.step.layers) patterns_.try_emplace(layer, pattern_steps_.size());
    pattern_steps_.push_back(std::move(pattern.step));
  }

  // The step that begins with this layer: what a pattern made of it, or the layer alone.
  std::optional<FusionStep> StepAt(LayerId layer) const {
    const auto pattern = patterns_.find(layer);
    if (pattern == patterns_.end()) return steps_.StepOf(layer);
    const FusionStep& step = pattern_steps_[pattern->second];
    return step.layers[0] == layer ? std::optional<FusionStep>(step) : std::nullopt;
  }

  // The next step that can follow: element-wise, on all elements of what was grown so far.
  std::optional<FusionStep> NextPointwise(const Growth& growth, std::int64_t elements) const {
    const std::optional<LayerId> reader = growth.NextReader();
    if (!reader || growth.layers().size() >= kMostFused) return std::nullopt;
    std::optional<FusionStep> step = StepAt(*reader);
    const auto* config = step ? std::get_if<PointwiseConfig>(&step->config) : nullptr;
    if (config == nullptr || ElementCount(OutputShape(*config)) != elements) return std::nullopt;
    std::vector<LayerId> with = growth.layers();
    with.insert(with.end(), step->layers.begin(), step->layers.end());
    return steps_.IsConvex(with) ? step : std::nullopt;
  }

  void Propose(std::string_view rule, const Growth& growth, const std::vector<std::size_t>& outputs) {
    if (std::optional<FusableRegion> region = growth.Finish(rule, outputs)) regions_.push_back(*std::move(region));
  }

  // Every closed prefix: with how much of the epilogue a library is fastest is for the measurements to say.
  void GrowEpilogue(std::string_view rule, const FusionStep& anchor) {
    const std::int64_t elements = ElementCount(OutputsOf(anchor.config)[0].shape);
    Growth growth(steps_, anchor);
    while (std::optional<FusionStep> next = NextPointwise(growth, elements)) {
      growth.Add(*std::move(next));
      const std::vector<std::size_t> leaving = growth.Leaving();
      if (leaving == std::vector<std::size_t>{growth.members().size() - 1}) Propose(rule, growth, leaving);
    }
  }

  // Products of one input by weights of their own, such as queries, keys and values, of one type, all with or without a
  // bias: what a library may run as one product by all weights.
  void ProposeSharedInputs() {
    std::map<ValueId, std::vector<FusionStep>> products;
    for (std::size_t i = 0; i < steps_.graph().layers.size(); ++i) {
      std::optional<FusionStep> step = StepAt(LayerId(i));
      const auto* matmul = step ? std::get_if<MatMulConfig>(&step->config) : nullptr;
      if (matmul == nullptr || matmul->weights != Constness::kConstant || matmul->bias == MatMulBias::kFull) continue;
      std::vector<FusionStep>& same = products[step->operands[0]];
      const auto* first = same.empty() ? matmul : std::get_if<MatMulConfig>(&same[0].config);
      if (matmul->a == first->a && matmul->types == first->types && matmul->bias == first->bias)
        same.push_back(*std::move(step));
    }
    for (const auto& [input, same] : products) {
      if (same.size() < 2) continue;
      Growth growth(steps_, same[0]);
      for (std::size_t i = 1; i < same.size(); ++i)
        if (growth.layers().size() + same[i].layers.size() <= kMostFused) growth.Add(same[i]);
      if (!steps_.IsConvex(growth.layers())) continue;
      Propose("shared-input", growth, growth.Leaving());
      ProposeJoined(growth.members());
    }
  }

  // Whether what it multiplies is the transpose of what it reads.
  bool ReadsTurned(const FusionStep& step) const {
    return std::ranges::any_of(step.layers, [&](LayerId id) {
      const auto& attributes = steps_.graph().layer(id).attributes;
      return std::ranges::any_of(std::array{"transA", "transBatchA"}, [&](const char* name) {
        const auto found = attributes.find(name);
        return found != attributes.end() && found->second != AttributeValue(std::int64_t{0});
      });
    });
  }

  // One product by all their weights side by side, whose result holds theirs as columns: what frameworks make of them
  // that join weights. Its readers step over the others' columns. Results of 8 bits have a scale each.
  void ProposeJoined(std::span<const FusionStep> products) {
    MatMulConfig joined = std::get<MatMulConfig>(products[0].config);
    FusableRegion region{"joined-product", {}, joined, products[0].operands, {}, {{}}, {{}}};
    std::int64_t columns = 0;
    for (const FusionStep& step : products) {
      const auto& config = std::get<MatMulConfig>(step.config);
      const std::int64_t depth = config.b.dims[config.b.rank() - 2];
      const bool is_one_matrix = ElementCount(config.b) == depth * config.b.dims.back();
      if (!is_one_matrix || BitsPerElement(config.types.output) <= 8 || ReadsTurned(step) != ReadsTurned(products[0]) ||
          config.scales != joined.scales || config.activations != joined.activations ||
          config.sparsity != joined.sparsity || (config.scales.any() && config.scales.columns != 1))
        return;
      columns += config.b.dims.back();
      region.layers.insert(region.layers.end(), step.layers.begin(), step.layers.end());
      region.outputs.push_back(step.output);
    }
    joined.b.dims.back() = columns;
    if (!Validate(LayerConfig(joined)).ok()) return;
    std::ranges::sort(region.layers);
    region.members = {region.layers};
    region.layers = steps_.WithInnerViews(region.layers);
    region.workload = LayerConfig(joined);
    regions_.push_back(std::move(region));
  }

  // x * cosines + (x's halves swapped, one of them negated) * sines: two products and a sum of elements, as which the
  // operator RotaryEmbedding is seen too.
  void ProposeRotary(const FusionStep& sum) {
    const auto product = [&](ValueId value) {
      std::optional<FusionStep> step = steps_.WriterOf(value) ? StepAt(*steps_.WriterOf(value)) : std::nullopt;
      const bool is_product = AsPointwise(step, PointwiseKind::kMultiply) != nullptr;
      return is_product && OnlyReader(steps_, value) ? step : std::nullopt;
    };
    if (std::get<PointwiseConfig>(sum.config).kind != PointwiseKind::kAdd || sum.operands.size() != 2 ||
        sum.operands[0] == sum.operands[1])
      return;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const std::optional<FusionStep> plain = product(sum.operands[1 - i]);
      std::optional<FusionStep> turned = product(sum.operands[i]);
      if (!plain || !turned) continue;
      for (ValueId& operand : turned->operands) {
        const std::optional<FusionStep> halves = SwappedHalves(operand);
        if (!halves || std::ranges::find(plain->operands, halves->operands[0]) == plain->operands.end()) continue;
        operand = halves->operands[0];
        turned->layers.insert(turned->layers.begin(), halves->layers.begin(), halves->layers.end());
        Growth growth(steps_, *plain);
        growth.Add(*turned);
        growth.Add(sum);
        if (growth.Leaving() == std::vector<std::size_t>{2} && steps_.IsConvex(growth.layers()))
          Propose("rotary", growth, {2});
        return;
      }
    }
  }

  // The layers that write a value's second half, negated, before its first one; the value is their operand.
  std::optional<FusionStep> SwappedHalves(ValueId value) const {
    const auto written = [&](ValueId by) {
      return OnlyReader(steps_, by) && steps_.WriterOf(by) ? steps_.StepOf(*steps_.WriterOf(by)) : std::nullopt;
    };
    const std::optional<FusionStep> joined = written(value);
    const MovementConfig* concat = AsMovement(joined, MovementKind::kConcat);
    if (concat == nullptr || concat->inputs.size() != 2 || concat->inputs[0].dims.back() != 1) return std::nullopt;
    const std::optional<FusionStep> negative = written(joined->operands[0]), first = written(joined->operands[1]);
    if (AsPointwise(negative, PointwiseKind::kNegative) == nullptr) return std::nullopt;
    const std::optional<FusionStep> second = written(negative->operands[0]);
    for (const auto* half : {&first, &second}) {
      const MovementConfig* slice = AsMovement(*half, MovementKind::kSlice);
      if (slice == nullptr || (*half)->operands[0] != first->operands[0] ||
          StartsAtZero(steps_, **half) != (half == &first) ||
          ElementCount(slice->inputs[0]) != 2 * ElementCount(slice->outputs[0]) ||
          slice->inputs[0].dims.back() != 2 * slice->outputs[0].dims.back())
        return std::nullopt;
    }
    FusionStep halves = *first;
    halves.layers = {first->layers[0], second->layers[0], negative->layers[0], joined->layers[0]};
    return halves;
  }

  // A convolution of each channel along the positions: with the state before it joined, of which the last positions are
  // the next state, and the positions of its result that are wanted cut out. Every closed prefix of what follows.
  void GrowCausalConvolution(const FusionStep& product) {
    const auto& convolution = std::get<ConvolutionConfig>(product.config);
    if (convolution.transposed || convolution.kernel.rank() != 1 || convolution.groups < 2 ||
        convolution.groups != convolution.output_channels || convolution.groups != convolution.input.dims[1])
      return;
    const auto movement = [&](std::optional<LayerId> layer, MovementKind kind) {
      std::optional<FusionStep> step = layer ? StepAt(*layer) : std::nullopt;
      return AsMovement(step, kind) != nullptr ? step : std::nullopt;
    };
    std::vector<FusionStep> members{product};
    std::size_t states = 0;
    if (std::optional<FusionStep> joined = movement(steps_.WriterOf(product.operands[0]), MovementKind::kConcat);
        joined && std::get<MovementConfig>(joined->config).inputs.size() == 2 &&
        std::get<MovementConfig>(joined->config).inputs[0].dims.back() == 1 && !steps_.Escapes(joined->output)) {
      bool is_state = true;
      for (LayerId reader : steps_.ReadersOf(joined->output)) {
        if (reader == product.layers[0]) continue;
        std::optional<FusionStep> state = movement(reader, MovementKind::kSlice);
        is_state = is_state && state && ++states == 1;
        if (is_state) members.push_back(*std::move(state));
      }
      if (!is_state) return;
      members.push_back(*std::move(joined));
    }
    const std::optional<FusionStep> cut = OnlyReader(steps_, product.output);
    const bool is_cut = cut && movement(cut->layers[0], MovementKind::kSlice);
    if (is_cut) members.push_back(*cut);
    if (members.size() == 1) return;  // an epilogue of a product is enough
    Growth growth = GrowthOf(std::move(members));
    const std::int64_t elements = ElementCount(OutputsOf(is_cut ? cut->config : product.config)[0].shape);
    for (std::optional<FusionStep> next; steps_.IsConvex(growth.layers()); growth.Add(*std::move(next))) {
      const std::vector<std::size_t> leaving = growth.Leaving();
      if (leaving.size() == 1 + states && leaving.back() + 1 == growth.members().size())
        Propose("causal-convolution", growth, leaving);
      next = NextPointwise(growth, elements);
      if (!next) return;
    }
  }

  // A step of linear attention: state' = state * decay + outer product, of which the delta rule takes what the state
  // knows already, and what a query reads of it. `sum` is state'.
  void ProposeLinearAttention(const FusionStep& sum) {
    const auto& add = std::get<PointwiseConfig>(sum.config);
    const std::int64_t elements = ElementCount(OutputShape(add));
    if (add.kind != PointwiseKind::kAdd || sum.operands.size() != 2) return;
    // A product of as many elements as the state.
    const auto product = [&](const FusionStep& step) {
      const auto* config = std::get_if<PointwiseConfig>(&step.config);
      return config != nullptr && config->kind == PointwiseKind::kMultiply &&
                     ElementCount(OutputShape(*config)) == elements
                 ? config
                 : nullptr;
    };
    for (ValueId operand : sum.operands) {
      const std::optional<LayerId> writer = steps_.WriterOf(operand);
      const std::optional<FusionStep> decayed = writer ? StepAt(*writer) : std::nullopt;
      const PointwiseConfig* decay = decayed ? product(*decayed) : nullptr;
      if (decay == nullptr) continue;
      for (std::size_t i = 0; i < decayed->operands.size(); ++i) {
        const ValueId state = decayed->operands[i];
        if (ElementCount(decay->inputs[i]) != elements || steps_.IsConstant(state)) continue;
        std::optional<std::vector<FusionStep>> members = StepOfState(*decayed, sum, state, elements);
        if (!members) continue;
        // Keys and values, smaller than the state each, are multiplied to its size.
        const bool has_outer = std::ranges::any_of(*members, [&](const FusionStep& step) {
          const PointwiseConfig* outer = product(step);
          return outer != nullptr &&
                 std::ranges::all_of(outer->inputs, [&](const Shape& input) { return ElementCount(input) < elements; });
        });
        if (!has_outer) continue;
        // The new state, also in the type that it is kept in, may go on elsewhere; one reader contracts it with a
        // query.
        std::vector<ValueId> kept{sum.output};
        std::optional<FusionStep> read;
        for (std::size_t of = 0; of < kept.size(); ++of) {
          for (LayerId reader : steps_.ReadersOf(kept[of])) {
            std::optional<FusionStep> step = StepAt(reader);
            if (!step) continue;
            const auto* cast = std::get_if<PointwiseConfig>(&step->config);
            if (of == 0 && kept.size() == 1 && cast != nullptr && cast->kind == PointwiseKind::kCast) {
              kept.push_back(step->output);
              members->push_back(*std::move(step));
            } else if (product(*step) != nullptr || std::holds_alternative<MatMulConfig>(step->config)) {
              if (read) return;
              read = std::move(step);
            }
          }
        }
        if (!read) return;
        if (product(*read) != nullptr) {
          members->push_back(*read);
          read = OnlyReader(steps_, read->output);
          const auto* total = read ? std::get_if<ReductionConfig>(&read->config) : nullptr;
          if (total == nullptr || total->kind != ReductionKind::kSum) return;
        }
        if (ElementCount(OutputsOf(read->config)[0].shape) >= elements) continue;
        const ValueId result = read->output;
        members->push_back(*std::move(read));
        const Growth growth = GrowthOf(*std::move(members));
        const std::vector<std::size_t> leaving = growth.Leaving();
        const auto leaves = [&](ValueId value) {
          return std::ranges::any_of(leaving,
                                     [&](std::size_t member) { return growth.members()[member].output == value; });
        };
        if (growth.layers().size() > kMostFused || leaving.size() != 2 || leaving[1] + 1 != growth.members().size() ||
            !leaves(result) || std::ranges::none_of(kept, leaves) || !steps_.IsConvex(growth.layers()))
          continue;
        Propose("linear-attention", growth, leaving);
        return;
      }
    }
  }

  // What is between the decayed state and the sum, and the element-wise layers of the state's size that only they read;
  // nullopt where other layers are between.
  std::optional<std::vector<FusionStep>> StepOfState(const FusionStep& decayed, const FusionStep& sum, ValueId state,
                                                     std::int64_t elements) const {
    constexpr std::size_t kMostBetween = 64;
    const std::size_t first = decayed.layers.back().index(), last = sum.layers.front().index();
    if (last - first > kMostBetween) return std::nullopt;
    std::vector<FusionStep> after{decayed};  // what depends on the decayed state
    const auto reads = [](const FusionStep& reader, const FusionStep& written) {
      return std::ranges::find(reader.operands, written.output) != reader.operands.end();
    };
    for (std::size_t i = first + 1; i < last; ++i)
      if (std::optional<FusionStep> step = StepAt(LayerId(i)))
        if (std::ranges::any_of(after, [&](const FusionStep& before) { return reads(*step, before); }))
          after.push_back(*std::move(step));
    std::vector<FusionStep> members{sum};
    for (std::size_t i = after.size(); i-- > 0;) {
      if (std::ranges::none_of(members, [&](const FusionStep& member) { return reads(member, after[i]); })) continue;
      const LayerConfig& config = after[i].config;
      if (!std::holds_alternative<PointwiseConfig>(config) && !std::holds_alternative<ReductionConfig>(config) &&
          !std::holds_alternative<MatMulConfig>(config))
        return std::nullopt;
      members.push_back(std::move(after[i]));
    }
    for (std::size_t i = 0; i < members.size() && members.size() < kMostFused; ++i) {
      for (std::size_t j = 0; j < members[i].operands.size(); ++j) {
        const ValueId operand = members[i].operands[j];
        const std::optional<LayerId> writer = steps_.WriterOf(operand);
        const std::optional<FusionStep> step = writer && OnlyReader(steps_, operand) ? StepAt(*writer) : std::nullopt;
        const auto* config = step ? std::get_if<PointwiseConfig>(&step->config) : nullptr;
        if (operand == state && config != nullptr && config->kind != PointwiseKind::kCast) continue;
        const bool is_new = std::ranges::none_of(
            members, [&](const FusionStep& member) { return step && member.layers == step->layers; });
        if (config != nullptr && is_new && ElementCount(OutputShape(*config)) == elements) members.push_back(*step);
      }
    }
    return members;
  }

  // In topological order.
  Growth GrowthOf(std::vector<FusionStep> members) const {
    std::ranges::sort(members, {}, [](const FusionStep& step) { return step.layers.back(); });
    Growth growth(steps_, members[0]);
    for (std::size_t i = 1; i < members.size(); ++i) growth.Add(std::move(members[i]));
    return growth;
  }

  // The longest chain from each element-wise layer: of n in a row n - 1 regions, so that a product's epilogue may take
  // the first ones.
  void GrowChain(const FusionStep& first) {
    const std::int64_t elements = ElementCount(OutputsOf(first.config)[0].shape);
    Growth growth(steps_, first);
    std::optional<FusableRegion> longest;
    while (std::optional<FusionStep> next = NextPointwise(growth, elements)) {
      growth.Add(*std::move(next));
      const std::vector<std::size_t> leaving = growth.Leaving();
      if (leaving == std::vector<std::size_t>{growth.members().size() - 1})
        longest = growth.Finish("elementwise-chain", leaving);
    }
    if (longest) regions_.push_back(*std::move(longest));
  }

  // Element-wise layers and the normalization or softmax that reads what they make; a sum may go on as the residual.
  void GrowPrologue(const FusionStep& first) {
    const std::int64_t elements = ElementCount(OutputsOf(first.config)[0].shape);
    Growth growth(steps_, first);
    ProposePrologue(growth);
    while (std::optional<FusionStep> next = NextPointwise(growth, elements)) {
      growth.Add(*std::move(next));
      ProposePrologue(growth);
    }
  }

  void ProposePrologue(const Growth& prologue) {
    const ValueId read = prologue.members().back().output;
    for (LayerId reader : steps_.ReadersOf(read)) {
      std::optional<FusionStep> step = StepAt(reader);
      if (!step || step->operands[0] != read) continue;
      const bool is_normalization = std::holds_alternative<NormalizationConfig>(step->config);
      if (!is_normalization && !std::holds_alternative<SoftmaxConfig>(step->config)) continue;
      Growth growth = prologue;
      growth.Add(*std::move(step));
      if (!steps_.IsConvex(growth.layers())) continue;
      const std::size_t last = growth.members().size() - 1;
      const std::vector<std::size_t> outputs = growth.Leaving();
      if (outputs.empty() || outputs.back() != last) continue;
      // What goes on beside the result is what was normalized.
      const bool is_residual = is_normalization && outputs.size() == 2 && outputs[0] + 1 == last;
      if (outputs.size() == 1 || is_residual)
        Propose(is_normalization ? "normalization-prologue" : "softmax-prologue", growth, outputs);
      ProposeQuantizedRows(growth);
    }
  }

  // A normalization or softmax, perhaps with what makes its elements, and the QuantizeLinear that reads it: a quantized
  // model has one before its products. The result, and the residual before it, may go on beside.
  void ProposeQuantizedRows(const Growth& rows) {
    const ValueId read = rows.members().back().output;
    for (LayerId reader : steps_.ReadersOf(read)) {
      std::optional<FusionStep> step = StepAt(reader);
      if (AsPointwise(step, PointwiseKind::kQuantize) == nullptr || step->operands[0] != read) continue;
      Growth growth = rows;
      growth.Add(*std::move(step));
      const std::size_t last = growth.members().size() - 1;
      const std::vector<std::size_t> outputs = growth.Leaving();
      const bool are_rows = std::ranges::all_of(outputs, [last](std::size_t output) { return output + 3 > last; });
      if (steps_.IsConvex(growth.layers()) && !outputs.empty() && outputs.back() == last && are_rows)
        Propose("quantized-rows", growth, outputs);
    }
  }

  FusionSteps steps_;
  std::vector<FusionStep> pattern_steps_;
  std::map<LayerId, std::size_t> patterns_;  // by layer, the place in pattern_steps_
  std::vector<FusableRegion> regions_;
};

}  // namespace

const std::vector<FusionRule>& FusionRules() {
  static const std::vector<FusionRule> rules = {
      {"product-bias", "a convolution or matrix product and the bias added to it"},
      {"product-epilogue", "a convolution or matrix product and element-wise layers on its result, residuals included"},
      {"normalization-epilogue", "a batch normalization and element-wise layers on its result"},
      {"elementwise-chain", "element-wise layers on the same elements"},
      {"activation", "element-wise layers that are one activation, such as GELU"},
      {"normalization", "a layer or RMS normalization written out in means, roots and quotients"},
      {"normalization-prologue", "element-wise layers, such as a residual sum, and the normalization that reads them"},
      {"softmax-prologue", "element-wise layers, such as scale and mask, and the softmax that reads them"},
      {"quantized-rows", "a normalization or softmax, what makes its elements, and the QuantizeLinear that reads it"},
      {"rotary", "elements turned by the angle of their position, halves swapped and negated"},
      {"causal-convolution",
       "a convolution of each channel with the state before it, its next state, and an activation"},
      {"linear-attention", "a state's decay, the outer product added to it, and what a query reads of it"},
      {"shared-input", "matrix products of one input by weights of their own, such as queries, keys and values"},
      {"joined-product", "such products as one, by their weights side by side"},
      {"attention", "queries times keys, scale, mask, softmax, times values"},
  };
  return rules;
}

std::vector<FusableRegion> FindFusableRegions(const ModelGraph& graph) { return Finder(graph).Find(); }

}  // namespace infimum
