#include "src/core/layer/pooling.h"

#include "src/core/layer/family.h"
#include "src/core/layer/field_text.h"
#include "src/core/layer/windows.h"

namespace infimum {
namespace {

constexpr NamedValue<PoolingKind> kPoolingNames[] = {
#define INFIMUM_POOLING(kind, name, ...) {PoolingKind::kind, name},
#include "src/core/layer/reduction_kinds.def"
};

Windows WindowsOf(const PoolingConfig& config, std::size_t d) {
  return {.extent = config.input.dims[d + 2],
          .steps = config.output.dims[d + 2],
          .stride = config.stride.dims[d],
          .taps = config.kernel.dims[d],
          .dilation = config.dilation.dims[d],
          .offset = config.padding[d]};
}

Result<Work> ComputeWork(const PoolingConfig& config) {
  const ExactCount planes = ExactCount(config.input.dims[0]) * config.input.dims[1];
  ExactCount all_pairs = planes, valid_pairs = planes, read = planes;
  for (std::size_t d = 0; d + 2 < config.input.rank(); ++d) {
    const Windows windows = WindowsOf(config, d);
    all_pairs = all_pairs * windows.steps * windows.taps;
    valid_pairs = valid_pairs * CountValidPairs(windows);
    read = read * CountPositions(windows);
  }
  const std::int64_t read_elements = read.ValueOr(0);  // part of a checked tensor: no overflow
  Work work = WholeWork({}, OutputsOfFamily(config));
  INFIMUM_ASSIGN_OR_RETURN(work.direct, all_pairs.AsFlops());
  INFIMUM_ASSIGN_OR_RETURN(work.conventional, valid_pairs.AsFlops());
  work.operand_reads = {SizeOf(config.types.input, read_elements)};
  return work;
}

// From the formula that rounds down, which drops a window that does not fit, to the last window that starts
// before the padded input ends, which ceil_mode keeps.
Status CheckOutputExtent(const PoolingConfig& config, std::size_t d) {
  const std::int64_t padded = config.input.dims[d + 2] + config.padding[d] + config.padding[d + config.kernel.rank()];
  const std::int64_t reach = config.dilation.dims[d] * (config.kernel.dims[d] - 1) + 1;
  const std::int64_t stride = config.stride.dims[d];
  const std::int64_t least = padded < reach ? 1 : (padded - reach) / stride + 1;
  const std::int64_t most = (padded - 1) / stride + 1;
  const std::int64_t extent = config.output.dims[d + 2];
  if (extent >= least && extent <= most) return {};
  return Error{"out=" + Format(config.output) + " does not fit the window in spatial dimension " + std::to_string(d) +
               ", it must be from " + std::to_string(least) + " to " + std::to_string(most) + " there"};
}

Status CheckFields(const PoolingConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types, false));
  INFIMUM_RETURN_IF_ERROR(CheckTensor("in", config.input));
  INFIMUM_RETURN_IF_ERROR(CheckTensor("out", config.output));
  if (config.input.rank() < 3 || config.input.rank() > 5)
    return Error{"in=" + Format(config.input) + " is not batch x channels x one to three spatial dimensions"};
  if (config.output.rank() != config.input.rank() || config.output.dims[0] != config.input.dims[0] ||
      config.output.dims[1] != config.input.dims[1])
    return Error{"out=" + Format(config.output) +
                 " must have the rank, batch and channels of in=" + Format(config.input)};
  const std::size_t rank = config.input.rank() - 2;
  for (std::size_t d = 2; d < config.input.rank(); ++d)
    INFIMUM_RETURN_IF_ERROR(CheckRange("a spatial extent of in", config.input.dims[d], 1, kMaxSpatialExtent));
  for (std::size_t d = 2; d < config.output.rank(); ++d)
    INFIMUM_RETURN_IF_ERROR(CheckRange("a spatial extent of out", config.output.dims[d], 1, kMaxSpatialExtent));
  INFIMUM_RETURN_IF_ERROR(CheckSpatial("kernel", config.kernel, rank));
  INFIMUM_RETURN_IF_ERROR(CheckSpatial("stride", config.stride, rank));
  INFIMUM_RETURN_IF_ERROR(CheckSpatial("dilation", config.dilation, rank));
  if (config.padding.size() != 2 * rank)
    return Error{"pad has " + std::to_string(config.padding.size()) +
                 " numbers, write all begins, then all ends: " + std::to_string(2 * rank)};
  for (const std::int64_t pad : config.padding) INFIMUM_RETURN_IF_ERROR(CheckRange("pad", pad, 0, kMaxSpatialExtent));
  for (std::size_t d = 0; d < rank; ++d) INFIMUM_RETURN_IF_ERROR(CheckOutputExtent(config, d));
  return {};
}

}  // namespace

std::span<const NamedValue<PoolingKind>> NamesOf(PoolingKind) { return kPoolingNames; }

ReductionKind ReductionOf(PoolingKind kind) {
  constexpr ReductionKind kReductions[] = {
#define INFIMUM_POOLING(kind, name, reduction, ...) ReductionKind::reduction,
#include "src/core/layer/reduction_kinds.def"
  };
  return kReductions[static_cast<std::size_t>(kind)];
}

bool CountsPadding(PoolingKind kind) {
  constexpr bool kCounts[] = {
#define INFIMUM_POOLING(kind, name, reduction, counts_padding, cudnn) counts_padding,
#include "src/core/layer/reduction_kinds.def"
  };
  return kCounts[static_cast<std::size_t>(kind)];
}

Work WorkOf(const PoolingConfig& config) { return ComputeWork(config).value(); }

Status Validate(const PoolingConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckFields(config));
  INFIMUM_RETURN_IF_ERROR(ComputeWork(config));
  return {};
}

std::vector<Operand> OutputsOfFamily(const PoolingConfig& config) {
  std::vector<Operand> outputs = {{config.output, config.types.output, false}};
  if (config.kind == PoolingKind::kMaxWithIndices) outputs.push_back({config.output, DataType::kS64, false});
  return outputs;
}

}  // namespace infimum
