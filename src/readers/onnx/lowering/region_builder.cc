#include "src/readers/onnx/lowering/region_builder.h"

#include <algorithm>
#include <utility>

#include "src/core/layer/reduction.h"
#include "src/readers/onnx/lowering/movement.h"
#include "src/readers/onnx/lowering/operands.h"
#include "src/readers/onnx/lowering/operator_table.h"

namespace infimum::lowering {

RegionBuilder::Source RegionBuilder::Add(LayerConfig config, const std::vector<Source>& operands) {
  RegionMember member{std::move(config), {}};
  for (const Source& source : operands) {
    if (source.is_member) {
      member.operands.push_back({RegionOperand::Source::kMember, static_cast<std::int64_t>(source.index)});
      continue;
    }
    auto found = std::find(operand_inputs_.begin(), operand_inputs_.end(), source.index);
    if (found == operand_inputs_.end()) {
      const OperandView* operand = node_.input(source.index);
      const bool constant = operand != nullptr && operand->constant;
      operand_names_.push_back(constant ? RegionOperand{RegionOperand::Source::kWeight, weights_++}
                                        : RegionOperand{RegionOperand::Source::kInput, inputs_++});
      operand_inputs_.push_back(source.index);
      found = operand_inputs_.end() - 1;
    }
    member.operands.push_back(operand_names_[static_cast<std::size_t>(found - operand_inputs_.begin())]);
  }
  members_.push_back(std::move(member));
  return {true, members_.size() - 1};
}

Result<RegionBuilder::Source> RegionBuilder::AddPointwise(PointwiseKind kind, OperandTypes types,
                                                          const std::vector<Shape>& shapes,
                                                          const std::vector<Source>& operands) {
  Shape output;
  for (const Shape& shape : shapes) {
    INFIMUM_ASSIGN_OR_RETURN(output, Broadcast(output, shape));
  }
  INFIMUM_RETURN_IF_ERROR(CheckedElementCount(output));
  return Add(Canonicalize(PointwiseConfig{kind, types, shapes}), operands);
}

Result<Lowering> RegionBuilder::Finish(const std::vector<Source>& outputs) {
  if (members_.empty()) return Error{"nothing to compute was found"};
  if (members_.size() == 1) {
    std::vector<std::size_t> inputs;
    for (const RegionOperand& operand : members_[0].operands) {
      const auto found = std::find(operand_names_.begin(), operand_names_.end(), operand);
      inputs.push_back(operand_inputs_[static_cast<std::size_t>(found - operand_names_.begin())]);
    }
    return Measurable(std::move(members_[0].config), std::move(inputs));
  }
  Region region{std::move(members_), {}};
  for (const Source& source : outputs) region.outputs.push_back(static_cast<std::int64_t>(source.index));
  region.outputs.push_back(static_cast<std::int64_t>(region.members.size()) - 1);
  std::sort(region.outputs.begin(), region.outputs.end());
  region.outputs.erase(std::unique(region.outputs.begin(), region.outputs.end()), region.outputs.end());
  return Measurable(std::move(region), std::move(operand_inputs_));
}

Result<Lowering> UnknownThatMoves(const NodeView& node, const std::vector<std::size_t>& reads,
                                  const std::vector<Written>& writes, std::string reason) {
  RegionBuilder region(node);
  std::vector<RegionBuilder::Source> leaving;
  for (const std::size_t input : reads) {
    if (!HasInput(node, input)) continue;
    INFIMUM_ASSIGN_OR_RETURN(const Shape shape, InputShape(node, input));
    INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, input));
    const DataType sum = IsFloatingPoint(type) ? type : DataType::kS64;
    leaving.push_back(
        region.Add(MakeReduction(ReductionKind::kSum, {type, DataType::kNone, sum}, Shape{{ElementCount(shape)}}, {0}),
                   {RegionBuilder::Input(input)}));
  }
  for (const Written& written : writes) leaving.push_back(region.Add(Fill(written.type, written.shape), {}));
  if (leaving.empty()) return Unknown(std::move(reason));
  leaving.pop_back();  // the last member leaves in any case
  INFIMUM_ASSIGN_OR_RETURN(Lowering lowering, region.Finish(leaving));
  lowering.status = LayerStatus::kUnknown;
  lowering.least = std::move(lowering.workload);
  lowering.workload.reset();
  lowering.reason = std::move(reason);
  return lowering;
}

}  // namespace infimum::lowering
