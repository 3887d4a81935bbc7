#include "infimum/layer/workload.h"

#include <algorithm>

#include "infimum/base/text.h"

namespace infimum {
namespace {

bool IsProduct(std::string_view family) {
  return family == ConvolutionConfig::kName || family == MatMulConfig::kName || family == AttentionConfig::kName ||
         family == RecurrentConfig::kName;
}

bool HasOneShape(const LayerConfig& config) {
  const auto* pointwise = std::get_if<PointwiseConfig>(&config);
  if (pointwise == nullptr || pointwise->kind == PointwiseKind::kDynamicQuantize) return false;
  return std::ranges::all_of(pointwise->inputs, [&](const Shape& input) { return input == pointwise->inputs[0]; });
}

}  // namespace

std::string Format(const Workload& workload) {
  return std::visit([](const auto& either) { return Format(either); }, workload);
}

Result<Workload> ParseWorkload(std::string_view text) {
  constexpr std::string_view kRegion[] = {"region"};
  const std::string_view word = text.substr(0, text.find(' '));
  if (word == kRegion[0]) {
    INFIMUM_ASSIGN_OR_RETURN(Region region, ParseRegion(text));
    return Workload(std::move(region));
  }
  if (const std::string hint = DidYouMean(word, kRegion); !hint.empty())
    return Error{"1: unknown layer family " + Quoted(word) + hint};
  INFIMUM_ASSIGN_OR_RETURN(LayerConfig config, ParseLayerConfig(text));
  return Workload(std::move(config));
}

Status Validate(const Workload& workload) {
  return std::visit([](const auto& either) { return Validate(either); }, workload);
}

Work WorkOf(const Workload& workload) {
  return std::visit([](const auto& either) { return WorkOf(either); }, workload);
}

std::string_view FamilyOf(const Workload& workload) {
  if (const auto* config = std::get_if<LayerConfig>(&workload)) return FamilyOf(*config);
  const std::vector<RegionMember>& members = std::get<Region>(workload).members;
  if (members.empty()) return {};
  const auto product =
      std::ranges::find_if(members, [](const RegionMember& member) { return IsProduct(FamilyOf(member.config)); });
  return FamilyOf((product == members.end() ? members.front() : *product).config);
}

bool IsElementwise(const Workload& workload) {
  if (const auto* config = std::get_if<LayerConfig>(&workload)) return HasOneShape(*config);
  const Region& region = std::get<Region>(workload);
  // A constant keeps the layout that it was given in.
  return std::ranges::all_of(region.members, [](const RegionMember& member) {
    return HasOneShape(member.config) && std::ranges::none_of(member.operands, [](const RegionOperand& operand) {
             return operand.source == RegionOperand::Source::kWeight;
           });
  });
}

bool HasConstants(const Workload& workload) {
  if (const auto* config = std::get_if<LayerConfig>(&workload)) {
    if (std::holds_alternative<NormalizationConfig>(*config)) return false;
    const std::vector<Operand> operands = OperandsOf(*config);
    return std::ranges::any_of(operands, [](const Operand& operand) { return operand.constant; });
  }
  for (const RegionMember& member : std::get<Region>(workload).members) {
    for (const RegionOperand& operand : member.operands)
      if (operand.source == RegionOperand::Source::kWeight) return true;
  }
  return false;
}

WorkloadKey KeyOf(const Workload& workload) { return {Format(workload)}; }

}  // namespace infimum
