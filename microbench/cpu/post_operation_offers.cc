// Regions that oneDNN runs as one primitive: a product, then element-wise members as its post-operations; a batch
// normalization, then ReLU.
#include <algorithm>
#include <optional>

#include "infimum/layer/pointwise.h"
#include "microbench/cpu/offers.h"
#include "microbench/libraries/onednn/layer_offers.h"
#include "microbench/libraries/onednn/program/declared_layouts.h"
#include "microbench/libraries/onednn/program/region_problem.h"

namespace infimum::cpu {
namespace {

// A product with its epilogue, and where the operands of the epilogue come from: they follow the product's
// own operands in the problem.
struct Fusion {
  LayerConfig product;
  LayerValues values;  // of the product
  Epilogue epilogue;
  std::vector<RegionOperand> operands;
};

bool Commutes(PointwiseKind kind) {
  return kind == PointwiseKind::kAdd || kind == PointwiseKind::kMultiply || kind == PointwiseKind::kMinimum ||
         kind == PointwiseKind::kMaximum;
}

// The step that a member is, or nothing where a post-operation cannot be it.
std::optional<Epilogue::Step> StepOf(const PointwiseConfig& config, const std::vector<RegionOperand>& operands,
                                     std::int64_t previous, const Shape& output, const LayerValues& values,
                                     RegionOperand& other) {
  const auto is_previous = [&](const RegionOperand& operand) {
    return operand.source == RegionOperand::Source::kMember && operand.index == previous;
  };
  if (operands.size() == 1) return is_previous(operands[0]) ? EltwiseStep(config.kind, values) : std::nullopt;
  const auto algorithm = BinaryAlgorithm(config.kind);
  if (operands.size() != 2 || !algorithm || config.types.output == DataType::kBool) return std::nullopt;
  const std::size_t chained = is_previous(operands[0]) ? 0 : 1;
  if (!is_previous(operands[chained]) || is_previous(operands[1 - chained])) return std::nullopt;
  if (chained == 1 && !Commutes(config.kind)) return std::nullopt;
  if (operands[1 - chained].source == RegionOperand::Source::kMember) return std::nullopt;
  const Shape merged = OutputShape(config);
  if (ElementCount(config.inputs[chained]) != ElementCount(output)) return std::nullopt;
  const std::optional<Shape> shape = Unmerged(config.inputs[1 - chained], merged, output);
  if (!shape) return std::nullopt;
  Epilogue::Step step;
  step.algorithm = *algorithm;
  step.binary = true;
  step.shape = *shape;
  step.type = config.types.weights != DataType::kNone && chained == 0 ? config.types.weights : config.types.input;
  step.constant = operands[1 - chained].source == RegionOperand::Source::kWeight;
  other = operands[1 - chained];
  return step;
}

bool Is8Bit(DataType type) { return type == DataType::kS8 || type == DataType::kU8; }

// Products summed for each element of the result, and its channels.
std::int64_t DepthOf(const LayerConfig& product) {
  if (const auto* convolution = std::get_if<ConvolutionConfig>(&product))
    return convolution->input.dims[1] / convolution->groups * ElementCount(convolution->kernel);
  return std::get<MatMulConfig>(product).a.dims.back();
}
std::int64_t ChannelsOf(const LayerConfig& product) {
  if (const auto* convolution = std::get_if<ConvolutionConfig>(&product)) return convolution->output_channels;
  return std::get<MatMulConfig>(product).b.dims.back();
}

// A product's result y on 8 bits and a residual r:
//
//   out scale (out - out zero) = y scale (y - y zero) + r scale (r - r zero)
//
// The library adds r as it is stored, so that the product is made in steps of r: its input's scale and out's are
// divided by r's, the zero points become one shift and y's saturation a clip. y is not rounded, which moves out by half
// of y's step: false where that is more than a step of out's, and where a bias in floating point would have to be
// scaled too.
bool MakeInStepsOfResidual(const LayerValues& sum, std::size_t chained, Fusion& fusion) {
  const OperandTypes& types = TypesOf(fusion.product);
  const ProductValues product = ProductValuesOf(types, DepthOf(fusion.product), fusion.values);
  const std::vector<Operand> operands = OperandsOf(fusion.product);
  if (!product.symmetric() || (operands.size() > 2 && !IsInteger(operands[2].type))) return false;
  if (sum.quantized() && (sum.operands.size() != 2 || !sum.output)) return false;
  const Quantization y = sum.quantized() ? sum.operands[chained] : Quantization();
  const Quantization r = sum.quantized() ? sum.operands[1 - chained] : Quantization();
  const Quantization out = sum.output.value_or(Quantization());
  if (y.scale() > 2 * out.scale()) return false;
  const double step = y.scale() / r.scale();
  Quantization weights{{}, {0}};
  for (std::int64_t c = 0; c < ChannelsOf(fusion.product); ++c) weights.scales.push_back(product.WeightScale(c));
  const auto zero = static_cast<double>(product.input_zero);
  fusion.values.operands = {{{product.input_scale / product.output_scale * step}, {zero}}, std::move(weights)};
  fusion.values.output = Quantization{{out.scale() / r.scale()}, {out.zero()}};
  const auto in_steps = [&](double element) { return static_cast<float>((element - y.zero()) * step - r.zero()); };
  if (const float shift = in_steps(static_cast<double>(product.output_zero)); shift != 0)
    fusion.epilogue.steps.push_back({dnnl::algorithm::eltwise_linear, 1, shift});
  const double least = types.output == DataType::kS8 ? -128 : 0;
  fusion.epilogue.steps.push_back({dnnl::algorithm::eltwise_clip, in_steps(least), in_steps(least + 255)});
  return true;
}

// On 8 bits a sum is the one member that a product may have behind it.
bool FusesOn8Bits(const std::vector<RegionMember>& members) {
  const auto* sum = std::get_if<PointwiseConfig>(&members[1].config);
  return members.size() == 2 && !std::holds_alternative<NormalizationConfig>(members[0].config) && sum != nullptr &&
         sum->kind == PointwiseKind::kAdd && Is8Bit(sum->types.input) && Is8Bit(sum->types.weights) &&
         Is8Bit(sum->types.output) && Is8Bit(TypesOf(members[0].config).input);
}

std::optional<Fusion> FusionOf(const Region& region, const RegionValues& values) {
  const std::vector<RegionMember>& members = region.members;
  if (members.size() < 2 || region.outputs.size() != 1) return std::nullopt;
  Fusion fusion;
  fusion.product = members[0].config;
  fusion.values = ValuesOfMember(values, 0);
  Shape output;
  if (const auto* convolution = std::get_if<ConvolutionConfig>(&fusion.product)) {
    output = OutputShape(*convolution);
  } else if (const auto* matmul = std::get_if<MatMulConfig>(&fusion.product)) {
    output = OutputShape(*matmul);
  } else if (const auto* normalization = std::get_if<NormalizationConfig>(&fusion.product);
             normalization != nullptr && normalization->kind == NormalizationKind::kBatch) {
    output = normalization->input;
  } else {
    return std::nullopt;
  }
  const DataType type = TypesOf(fusion.product).output;
  const bool is_8_bit = Is8Bit(type) && FusesOn8Bits(members);
  if (!is_8_bit && !IsFloatingPoint(type)) return std::nullopt;
  fusion.operands = members[0].operands;
  for (std::size_t i = 1; i < members.size(); ++i) {
    const auto* config = std::get_if<PointwiseConfig>(&members[i].config);
    if (config == nullptr) return std::nullopt;
    if (!is_8_bit && (config->types.input != type || config->types.output != type)) return std::nullopt;
    RegionOperand other;
    std::optional<Epilogue::Step> step = StepOf(*config, members[i].operands, static_cast<std::int64_t>(i) - 1, output,
                                                ValuesOfMember(values, i), other);
    if (!step) return std::nullopt;
    if (is_8_bit) {
      const std::size_t chained = members[i].operands[0].source == RegionOperand::Source::kMember ? 0 : 1;
      if (!MakeInStepsOfResidual(ValuesOfMember(values, i), chained, fusion)) return std::nullopt;
      std::visit([&](auto& product) { product.types.output = config->types.output; }, fusion.product);
    }
    if (step->binary) {
      if (std::holds_alternative<NormalizationConfig>(fusion.product)) return std::nullopt;
      step->operand = fusion.operands.size();
      fusion.operands.push_back(other);
    }
    fusion.epilogue.steps.push_back(*step);
  }
  return fusion;
}

// By the region's own numbers: the product's operands that vary, then those of the epilogue.
// `agrees`: whether an operand that is read twice is wanted in one order.
std::vector<OrderOf> OrdersOfInputs(const Fusion& fusion, const Offer& offer, bool& agrees) {
  std::vector<OrderOf> orders;
  std::vector<bool> is_known;
  const auto put = [&](const RegionOperand& operand, const OrderOf& order) {
    if (operand.source != RegionOperand::Source::kInput) return;
    const auto index = static_cast<std::size_t>(operand.index);
    orders.resize(std::max(orders.size(), index + 1));
    is_known.resize(orders.size(), false);
    if (is_known[index] && !SameOrder(orders[index], order)) agrees = false;
    is_known[index] = true;
    orders[index] = order;
  };
  if (offer.input_orders.empty()) return orders;
  put(fusion.operands[0], offer.input_orders[0]);
  std::size_t next = 1;
  const auto* product = std::get_if<MatMulConfig>(&fusion.product);
  if (product != nullptr && product->weights == Constness::kVariable && next < offer.input_orders.size())
    put(fusion.operands[1], offer.input_orders[next++]);
  for (const Epilogue::Step& step : fusion.epilogue.steps)
    if (step.binary && next < offer.input_orders.size()) put(fusion.operands[step.operand], offer.input_orders[next++]);
  return orders;
}

Problem FusedProblem(const Fusion& fusion, const RegionProblem& region) {
  Problem problem{fusion.product, {}, {region.members.back()[0]}};
  for (const RegionOperand& operand : fusion.operands) problem.operands.push_back(region.Find(operand));
  return problem;
}

}  // namespace

std::vector<RegionOffer> PostOperationOffers(const Region& region, CandidateTier tier, const RegionValues& values) {
  const std::optional<Fusion> fusion = FusionOf(region, values);
  if (!fusion) return {};
  std::vector<RegionOffer> offers;
  for (Offer& offer : FusedOffers(fusion->product, fusion->epilogue, tier, fusion->values)) {
    RegionOffer made;
    made.candidate = offer.candidate;
    bool agrees = true;
    const std::vector<OrderOf> orders = OrdersOfInputs(*fusion, offer, agrees);
    StateLayouts(region, orders, offer.output_order, made.candidate);
    if (!agrees) made.candidate.input_layout = "opaque";
    made.make = [fusion = *fusion, make = offer.make](const RegionProblem& problem) {
      return make(FusedProblem(fusion, problem));
    };
    // An operand in two orders at once is brought into them by copies.
    if (offer.place && agrees) {
      made.place = [fusion = *fusion, place = offer.place](const RegionProblem& problem) {
        return place(FusedProblem(fusion, problem));
      };
    }
    offers.push_back(std::move(made));
  }
  return offers;
}

}  // namespace infimum::cpu
