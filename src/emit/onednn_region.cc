// Regions that oneDNN runs as one primitive: a product, then element-wise members as its post-operations.
#include <algorithm>

#include "infimum/layer/pointwise.h"
#include "src/emit/onednn_attributes.h"
#include "src/emit/onednn_source.h"
#include "src/emit/onednn_types.h"

namespace infimum::emit {
namespace {

using Source = RegionOperand::Source;

constexpr const char* kNotOnePrimitive =
    "oneDNN runs only a product and element-wise layers behind it as one primitive; this region is a oneDNN Graph "
    "partition, or kernels of infimum's own or layer after layer, which are not emitted";

bool Commutes(PointwiseKind kind) {
  return kind == PointwiseKind::kAdd || kind == PointwiseKind::kMultiply || kind == PointwiseKind::kMinimum ||
         kind == PointwiseKind::kMaximum;
}

// The step that a member is, or nothing where a post-operation cannot be it.
std::optional<PostOperation> StepOf(const PointwiseConfig& config, const std::vector<RegionOperand>& operands,
                                    std::int64_t previous, const Shape& output) {
  const auto is_previous = [&](const RegionOperand& operand) {
    return operand.source == Source::kMember && operand.index == previous;
  };
  if (operands.size() == 1) return is_previous(operands[0]) ? EltwiseOf(config.kind) : std::nullopt;
  const std::optional<std::string> algorithm = BinaryOf(config.kind);
  if (operands.size() != 2 || !algorithm || config.types.output == DataType::kBool) return std::nullopt;
  const std::size_t chained = is_previous(operands[0]) ? 0 : 1;
  const RegionOperand& other = operands[1 - chained];
  if (!is_previous(operands[chained]) || other.source == Source::kMember) return std::nullopt;
  if (chained == 1 && !Commutes(config.kind)) return std::nullopt;
  if (ElementCount(config.inputs[chained]) != ElementCount(output)) return std::nullopt;
  const std::optional<Shape> shape = Unmerged(config.inputs[1 - chained], OutputShape(config), output);
  if (!shape) return std::nullopt;
  PostOperation step;
  step.algorithm = *algorithm;
  step.binary = true;
  step.shape = *shape;
  step.type = config.types.weights != DataType::kNone && chained == 0 ? config.types.weights : config.types.input;
  step.constant = other.source == Source::kWeight;
  return step;
}

}  // namespace

Result<OneDnnSource> DescribeRegion(const Region& region) {
  const std::vector<RegionMember>& members = region.members;
  const auto* convolution = std::get_if<ConvolutionConfig>(&members[0].config);
  const auto* matmul = std::get_if<MatMulConfig>(&members[0].config);
  if (members.size() < 2 || (convolution == nullptr && matmul == nullptr)) return Error{kNotOnePrimitive};
  if (region.outputs.size() != 1)
    return Error{"a result within it is wanted too, which no post-operation writes; it runs layer after layer"};
  const DataType type = TypesOf(members[0].config).output;
  if (!IsFloatingPoint(type))
    return Error{"behind a product of integers it runs layer after layer, which is not emitted"};
  const Shape output = convolution != nullptr ? OutputShape(*convolution) : OutputShape(*matmul);
  std::vector<PostOperation> steps;
  for (std::size_t i = 1; i < members.size(); ++i) {
    const auto* config = std::get_if<PointwiseConfig>(&members[i].config);
    if (config == nullptr) return Error{kNotOnePrimitive};
    std::optional<PostOperation> step;
    if (config->types.input == type && config->types.output == type)
      step = StepOf(*config, members[i].operands, static_cast<std::int64_t>(i) - 1, output);
    if (!step)
      return Error{"no post-operation of oneDNN is its member " + std::to_string(i) +
                   "; it runs layer after layer, or " + "as a oneDNN Graph partition"};
    if (step->binary) INFIMUM_RETURN_IF_ERROR(CheckTypes({step->type}));
    steps.push_back(std::move(*step));
  }
  return convolution != nullptr ? DescribeConvolution(*convolution, steps) : DescribeMatMul(*matmul, steps);
}

}  // namespace infimum::emit
