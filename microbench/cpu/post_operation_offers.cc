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

std::optional<Fusion> FusionOf(const Region& region, const RegionValues& values) {
  const std::vector<RegionMember>& members = region.members;
  if (members.size() < 2 || region.outputs.size() != 1) return std::nullopt;
  Fusion fusion;
  fusion.product = members[0].config;
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
  if (!IsFloatingPoint(type)) return std::nullopt;
  fusion.operands = members[0].operands;
  for (std::size_t i = 1; i < members.size(); ++i) {
    const auto* config = std::get_if<PointwiseConfig>(&members[i].config);
    if (config == nullptr || config->types.input != type || config->types.output != type) return std::nullopt;
    RegionOperand other;
    std::optional<Epilogue::Step> step = StepOf(*config, members[i].operands, static_cast<std::int64_t>(i) - 1, output,
                                                ValuesOfMember(values, i), other);
    if (!step) return std::nullopt;
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
  for (Offer& offer : FusedOffers(fusion->product, fusion->epilogue, tier, ValuesOfMember(values, 0))) {
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
