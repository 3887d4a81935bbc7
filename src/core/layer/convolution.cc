#include "src/core/layer/convolution.h"

#include <algorithm>
#include <array>

#include "src/core/layer/family.h"
#include "src/core/layer/field_text.h"
#include "src/core/layer/windows.h"

namespace infimum {
namespace {

constexpr std::array kConstnessNames = {
    NamedValue<Constness>{Constness::kConstant, "const"},
    NamedValue<Constness>{Constness::kVariable, "variable"},
};

std::size_t SpatialRank(const ConvolutionConfig& config) { return config.input.rank() - 2; }

bool RanksAgree(const ConvolutionConfig& config) {
  if (config.input.rank() < 3) return false;
  const std::size_t rank = SpatialRank(config);
  return config.kernel.rank() == rank && config.stride.rank() == rank && config.dilation.rank() == rank &&
         config.padding.size() == 2 * rank && (config.output_padding.empty() || config.output_padding.size() == rank);
}

// -1, which Validate refuses, where the numbers are beyond what Validate accepts.
std::int64_t OutputExtent(const ConvolutionConfig& config, std::size_t d) {
  const ExactCount input = config.input.dims[d + 2];
  const ExactCount pads = ExactCount(config.padding[d]) + config.padding[d + SpatialRank(config)];
  const std::int64_t stride = std::max<std::int64_t>(1, config.stride.dims[d]);
  const ExactCount reach = ExactCount(config.dilation.dims[d]) * (ExactCount(config.kernel.dims[d]) - 1) + 1;
  if (config.transposed) {
    const std::int64_t extra = config.output_padding.empty() ? 0 : config.output_padding[d];
    return ((input - 1) * stride + reach - pads + extra).ValueOr(-1);
  }
  const std::int64_t room = (input + pads - reach).ValueOr(-1);
  return room < 0 ? -1 : room / stride + 1;
}

// A transposed convolution scatters: its windows step over the input and fall on the output.
Windows WindowsOf(const ConvolutionConfig& config, const Shape& output, std::size_t d) {
  const std::int64_t input_extent = config.input.dims[d + 2];
  const std::int64_t output_extent = output.dims[d + 2];
  return {.extent = config.transposed ? output_extent : input_extent,
          .steps = config.transposed ? input_extent : output_extent,
          .stride = config.stride.dims[d],
          .taps = config.kernel.dims[d],
          .dilation = config.dilation.dims[d],
          .offset = config.padding[d]};
}

Result<Work> ComputeWork(const ConvolutionConfig& config) {
  const Shape output = OutputShape(config);
  const std::int64_t batch = config.input.dims[0];
  const std::int64_t channels = config.input.dims[1];

  ExactCount all_pairs = 1, valid_pairs = 1, used_taps = 1, read_positions = 1;
  for (std::size_t d = 0; d < SpatialRank(config); ++d) {
    const Windows windows = WindowsOf(config, output, d);
    all_pairs = all_pairs * windows.steps * windows.taps;
    valid_pairs = valid_pairs * CountValidPairs(windows);
    used_taps = used_taps * CountUsedTaps(windows);
    read_positions = read_positions * (config.transposed ? CountUsedSteps(windows) : CountPositions(windows));
  }
  const ExactCount flops_of_a_pair = ExactCount(2) * batch * config.output_channels * (channels / config.groups);
  const ExactCount bias_flops = config.bias ? ElementCount(output) : 0;

  Work work;
  INFIMUM_ASSIGN_OR_RETURN(work.direct, (flops_of_a_pair * all_pairs + bias_flops).AsFlops());
  INFIMUM_ASSIGN_OR_RETURN(work.conventional, (flops_of_a_pair * valid_pairs + bias_flops).AsFlops());
  // Both are parts of checked tensors, so they cannot overflow.
  const std::int64_t read_elements = (ExactCount(batch) * channels * read_positions).ValueOr(0);
  const std::int64_t filters = config.output_channels * (channels / config.groups);
  const std::int64_t weight_elements = (ExactCount(filters) * used_taps).ValueOr(0);
  work.operand_reads = {SizeOf(config.types.input, read_elements), SizeOf(config.types.weights, weight_elements)};
  if (config.bias) work.operand_reads.push_back(SizeOf(BiasType(config.types), config.output_channels));
  work.written = SizeOf(config.types.output, ElementCount(output));
  return work;
}

Status CheckFields(const ConvolutionConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types, true));
  INFIMUM_RETURN_IF_ERROR(CheckTensor("in", config.input));
  if (config.input.rank() < 3 || config.input.rank() > 5)
    return Error{"in=" + Format(config.input) + " is not batch x channels x one to three spatial dimensions"};
  const std::size_t rank = SpatialRank(config);
  for (std::size_t d = 2; d < config.input.rank(); ++d)
    INFIMUM_RETURN_IF_ERROR(CheckRange("a spatial extent of in", config.input.dims[d], 1, kMaxSpatialExtent));
  INFIMUM_RETURN_IF_ERROR(CheckSpatial("kernel", config.kernel, rank));
  INFIMUM_RETURN_IF_ERROR(CheckSpatial("stride", config.stride, rank));
  INFIMUM_RETURN_IF_ERROR(CheckSpatial("dilation", config.dilation, rank));
  if (config.padding.size() != 2 * rank)
    return Error{"pad has " + std::to_string(config.padding.size()) +
                 " numbers, write all begins, then all ends: " + std::to_string(2 * rank)};
  for (const std::int64_t pad : config.padding)
    INFIMUM_RETURN_IF_ERROR(CheckRange("pad", pad, -kMaxSpatialExtent, kMaxSpatialExtent));
  if (!config.output_padding.empty()) {
    if (!config.transposed)
      return Error{"output_pad belongs to transposed convolutions, remove it or add transposed=yes"};
    if (config.output_padding.size() != rank)
      return Error{"output_pad has " + std::to_string(config.output_padding.size()) + " numbers, write " +
                   std::to_string(rank)};
    for (const std::int64_t pad : config.output_padding)
      INFIMUM_RETURN_IF_ERROR(CheckRange("output_pad", pad, 0, kMaxSpatialExtent));
  }
  INFIMUM_RETURN_IF_ERROR(CheckRange("out_channels", config.output_channels, 1, kMaxElements));
  INFIMUM_RETURN_IF_ERROR(CheckRange("groups", config.groups, 1, kMaxElements));
  if (config.input.dims[1] % config.groups != 0 || config.output_channels % config.groups != 0)
    return Error{"groups=" + std::to_string(config.groups) + " does not divide " +
                 std::to_string(config.input.dims[1]) + " channels and " + std::to_string(config.output_channels) +
                 " out_channels"};
  const Shape output = OutputShape(config);
  for (std::size_t d = 2; d < output.rank(); ++d)
    if (output.dims[d] < 1)
      return Error{"the output has no elements: kernel=" + Format(config.kernel) +
                   " with its dilation is larger than in=" + Format(config.input) + " with its padding"};
  for (std::size_t d = 2; d < output.rank(); ++d)
    INFIMUM_RETURN_IF_ERROR(CheckRange("a spatial extent of the output", output.dims[d], 1, kMaxSpatialExtent));
  INFIMUM_RETURN_IF_ERROR(CheckTensor("the weights' shape", WeightShape(config)));
  return CheckTensor("the output's shape", output);
}

}  // namespace

std::span<const NamedValue<Constness>> NamesOf(Constness) { return kConstnessNames; }

DataType BiasType(const OperandTypes& types) { return IsFloatingPoint(types.output) ? types.output : DataType::kS32; }

Shape OutputShape(const ConvolutionConfig& config) {
  if (!RanksAgree(config)) return {};
  Shape output{{config.input.dims[0], config.output_channels}};
  for (std::size_t d = 0; d < SpatialRank(config); ++d) output.dims.push_back(OutputExtent(config, d));
  return output;
}

Shape WeightShape(const ConvolutionConfig& config) {
  if (config.input.rank() < 2) return {};
  const std::int64_t channels = config.input.dims[1];
  const std::int64_t groups = std::max<std::int64_t>(1, config.groups);
  Shape weights = config.transposed ? Shape{{channels, config.output_channels / groups}}
                                    : Shape{{config.output_channels, channels / groups}};
  weights.dims.insert(weights.dims.end(), config.kernel.dims.begin(), config.kernel.dims.end());
  return weights;
}

Work WorkOf(const ConvolutionConfig& config) { return ComputeWork(config).value(); }

Status Validate(const ConvolutionConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckFields(config));
  INFIMUM_RETURN_IF_ERROR(ComputeWork(config));
  return {};
}

std::vector<Operand> OperandsOfFamily(const ConvolutionConfig& config) {
  const bool constant = config.weights == Constness::kConstant;
  std::vector<Operand> operands = {{config.input, config.types.input, false},
                                   {WeightShape(config), config.types.weights, constant}};
  if (config.bias) operands.push_back({Shape{{config.output_channels}}, BiasType(config.types), constant});
  return operands;
}

}  // namespace infimum
