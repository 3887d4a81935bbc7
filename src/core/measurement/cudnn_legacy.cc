#include "src/core/measurement/cudnn_legacy.h"

#include <utility>

#include "src/core/measurement/cudnn_shapes.h"

namespace infimum::cuda {
namespace {

using cudnn::Layout;
using cudnn::Operation;

// How a call sees an operand or the result.
struct View {
  Shape shape;
  Layout layout = Layout::kRowMajor;
};

// As the layer's text has it.
template <class Enum>
std::string NameOf(Enum value) {
  for (const NamedValue<Enum>& row : NamesOf(value))
    if (row.value == value) return std::string(row.name);
  return "";
}

struct CallOf {
  const CudnnValues& values;
  Operation operation{};
  std::vector<View> operands{};  // in the layer's order
  View result{};

  // False where cuDNN has no such call.
  bool operator()(const SoftmaxConfig& config) {
    if (config.kind != SoftmaxKind::kSoftmax && config.kind != SoftmaxKind::kLogSoftmax) return false;
    operation.call = "softmax";
    operation.mode = NameOf(config.kind);
    // Outer x axis x inner as images x channels x pixels.
    Shape shape{{1, 1, 1, 1}};
    const auto axis = static_cast<std::size_t>(config.axis);
    for (std::size_t i = 0; i < config.input.rank(); ++i)
      shape.dims[i < axis ? 0 : i == axis ? 1 : 2] *= config.input.dims[i];
    result = {shape};
    operands = {result};
    return true;
  }

  bool operator()(const NormalizationConfig& config) {
    if (config.axis != 1 || config.input.rank() < 3) return false;
    if (config.kind == NormalizationKind::kLocalResponse) {
      operation.call = "lrn";
      operation.window = {config.size};
      operation.lrn_alpha = static_cast<float>(values.response_alpha);
      operation.lrn_beta = static_cast<float>(values.response_beta);
      operation.lrn_k = static_cast<float>(values.response_k);
      result = {WithTwoSpatial(config.input)};  // it takes no other layout
      operands = {result};
      return true;
    }
    if (config.kind != NormalizationKind::kBatch || !config.scale || !config.bias) return false;
    operation.call = "batchnorm";
    operation.number = static_cast<float>(values.epsilon);
    result = {WithTwoSpatial(config.input), Layout::kChannels};
    Shape channels{std::vector<std::int64_t>(result.shape.rank(), 1)};
    channels.dims[1] = config.input.dims[1];
    operands = {result, {channels}, {channels}, {channels}, {channels}};  // scale, bias, mean, variance
    return true;
  }

  bool operator()(const RecurrentConfig& config) {
    // The reset before the product is no cell of cuDNN's.
    if (config.kind == RecurrentKind::kGru) return false;
    operation.call = "rnn";
    operation.mode = NameOf(config.kind);
    for (const Operand& operand : OperandsOfFamily(config)) operands.push_back({operand.shape});
    result = {OutputsOfFamily(config)[0].shape};
    return true;
  }

  template <class Config>
  bool operator()(const Config&) {
    return false;
  }
};

}  // namespace

Result<CudnnOperations> CudnnLegacyOf(const Region& region, const std::vector<CudnnValues>& values) {
  const RegionMember& member = region.members.front();
  if (std::holds_alternative<ConvolutionConfig>(member.config) || std::holds_alternative<PoolingConfig>(member.config))
    return CudnnOperationsOf(region, values);
  const CudnnValues usual;
  CallOf call{values.empty() ? usual : values.front()};
  if (region.members.size() != 1 || !std::visit(call, member.config))
    return Error{"unsupported: cuDNN has no older call for this"};
  CudnnOperations made;
  const std::vector<Operand> operands = OperandsOf(member.config);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    cudnn::Tensor tensor;
    tensor.name = "in" + std::to_string(i);
    tensor.type = Name(operands[i].type);
    tensor.dims = call.operands[i].shape.dims;
    tensor.layout = call.operands[i].layout;
    call.operation.operands.push_back(tensor.name);
    made.graph.tensors.push_back(std::move(tensor));
    made.tensors.push_back({member.operands[i], operands[i].type, call.operands[i].shape, {}});
  }
  call.operation.result = "y0";
  call.operation.dims = call.result.shape.dims;
  call.operation.layout = call.result.layout;
  const DataType type = OutputsOf(member.config)[0].type;
  made.graph.outputs.push_back({call.operation.result, std::string(Name(type))});
  made.graph.operations.push_back(std::move(call.operation));
  made.outputs.push_back({{RegionOperand::Source::kMember, 0}, type, call.result.shape, {}});
  return made;
}

}  // namespace infimum::cuda
