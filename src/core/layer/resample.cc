// Resample and reorder: the two families of movement.h that are no plain movement of elements.
#include <algorithm>
#include <array>

#include "infimum/base/text.h"
#include "src/core/layer/family.h"
#include "src/core/layer/field_text.h"
#include "src/core/layer/movement.h"

namespace infimum {
namespace {

constexpr std::array kResampleNames = {
    NamedValue<ResampleKind>{ResampleKind::kNearest, "nearest"},
    NamedValue<ResampleKind>{ResampleKind::kLinear, "linear"},
    NamedValue<ResampleKind>{ResampleKind::kCubic, "cubic"},
    NamedValue<ResampleKind>{ResampleKind::kGridSample, "grid_sample"},
    NamedValue<ResampleKind>{ResampleKind::kRoiAlign, "roi_align"},
};

// Both sample the spatial dimensions linearly, wherever their second input points to.
bool SamplesAnywhere(ResampleKind kind) { return kind == ResampleKind::kGridSample || kind == ResampleKind::kRoiAlign; }

// Input elements that one output element combines.
ExactCount Taps(const ResampleConfig& config) {
  ExactCount taps = 1;
  for (std::size_t i = 0; i < config.input.rank(); ++i) {
    const bool sampled = SamplesAnywhere(config.kind) ? i >= 2 : config.input.dims[i] != config.output.dims[i];
    if (sampled) taps = taps * TapsPerDimension(config.kind);
  }
  return taps;
}

Result<Work> ComputeWork(const ResampleConfig& config) {
  const ExactCount taps = Taps(config);
  const std::int64_t outputs = ElementCount(config.output);
  const std::int64_t inputs = ElementCount(config.input);
  Work work = WholeWork(OperandsOfFamily(config), OutputsOfFamily(config));
  if (config.kind != ResampleKind::kNearest) {  // which only copies
    INFIMUM_ASSIGN_OR_RETURN(work.direct, (ExactCount(2) * taps * outputs).AsFlops());
  }
  work.conventional = work.direct;
  work.operand_reads[0] = SizeOf(config.types.input, std::min(inputs, (taps * outputs).ValueOr(inputs)));
  return work;
}

}  // namespace

std::span<const NamedValue<ResampleKind>> NamesOf(ResampleKind) { return kResampleNames; }

int TapsPerDimension(ResampleKind kind) {
  return kind == ResampleKind::kNearest ? 1 : kind == ResampleKind::kCubic ? 4 : 2;
}

Work WorkOf(const ResampleConfig& config) { return ComputeWork(config).value(); }

std::vector<Operand> OperandsOfFamily(const ResampleConfig& config) {
  std::vector<Operand> operands{{config.input, config.types.input, false}};
  if (config.types.weights == DataType::kNone) return operands;
  Shape grid = config.output;
  grid.dims.erase(grid.dims.begin() + 1);
  grid.dims.push_back(static_cast<std::int64_t>(config.input.rank()) - 2);
  operands.push_back({std::move(grid), config.types.weights, false});
  return operands;
}

Status Validate(const ResampleConfig& config) {
  const bool has_grid = config.types.weights != DataType::kNone;
  INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types, has_grid));
  if (has_grid && (config.kind != ResampleKind::kGridSample || !IsFloatingPoint(config.types.weights)))
    return Error{"dtype has the type of a grid, which is grid_sample's, of floats"};
  INFIMUM_RETURN_IF_ERROR(CheckTensor("in", config.input));
  INFIMUM_RETURN_IF_ERROR(CheckTensor("out", config.output));
  const std::string shapes = "in=" + Format(config.input) + " and out=" + Format(config.output);
  if (config.input.rank() != config.output.rank()) return Error{shapes + " differ in rank"};
  if (SamplesAnywhere(config.kind) && config.input.rank() < 3)
    return Error{shapes + " have no spatial dimensions, write batch x channels x spatial ones"};
  if (has_grid) {
    if (config.input.dims[0] != config.output.dims[0] || config.input.dims[1] != config.output.dims[1])
      return Error{shapes + " differ in batch or channels, which a grid keeps"};
    INFIMUM_RETURN_IF_ERROR(CheckTensor("the grid's shape", OperandsOfFamily(config)[1].shape));
  }
  INFIMUM_RETURN_IF_ERROR(ComputeWork(config));
  return {};
}

Work WorkOf(const ReorderConfig& config) { return WholeWork(OperandsOfFamily(config), OutputsOfFamily(config)); }

Status Validate(const ReorderConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types, false));
  INFIMUM_RETURN_IF_ERROR(CheckTensor("in", config.input));
  for (const std::string& layout : {config.from, config.to})
    if (!IsIdentifier(layout))
      return Error{Quoted(layout) + " is not a name of 1 to 64 letters, digits and underscores"};
  return {};
}

}  // namespace infimum
