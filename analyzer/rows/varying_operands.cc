#include "analyzer/rows/varying_operands.h"

#include <algorithm>

#include "infimum/graph/replay_schedule.h"

namespace infimum {
namespace {

// How many of a workload's first operands are no weights.
std::size_t CountInputs(const Workload& workload, std::size_t operands) {
  const auto* region = std::get_if<Region>(&workload);
  if (region == nullptr) return operands;
  std::size_t weights = 0;  // they count up from 0
  for (const RegionMember& member : region->members)
    for (const RegionOperand& operand : member.operands)
      if (operand.source == RegionOperand::Source::kWeight)
        weights = std::max(weights, static_cast<std::size_t>(operand.index) + 1);
  return operands - std::min(weights, operands);
}

// By operand where layers and regions list it.
std::vector<std::size_t> ListedPlaces(const Workload& workload, std::size_t operands) {
  std::vector<std::size_t> places(operands);
  for (std::size_t i = 0; i < operands; ++i) places[i] = i;
  if (const auto* region = std::get_if<Region>(&workload)) {
    const std::vector<std::size_t> by_use = PlacesByFirstUse(*region);
    for (std::size_t i = 0; i < by_use.size(); ++i)
      if (by_use[i] < operands) places[by_use[i]] = i;
  }
  return places;
}

}  // namespace

VaryingOperands VaryingOperandsOf(const Workload& workload) {
  VaryingOperands varying;
  varying.keeps_order = IsElementwise(workload);
  std::vector<Operand> operands = OperandsOf(workload);
  const std::vector<std::size_t> places = ListedPlaces(workload, operands.size());
  const std::size_t inputs = CountInputs(workload, operands.size());
  varying.reads.reserve(inputs);
  for (std::size_t k = 0; k < inputs; ++k)
    if (!operands[k].constant) varying.reads.push_back({places[k], std::move(operands[k].shape)});
  std::vector<Operand> outputs = OutputsOf(workload);
  varying.writes.reserve(outputs.size());
  for (Operand& output : outputs) varying.writes.push_back(std::move(output.shape));
  return varying;
}

}  // namespace infimum
