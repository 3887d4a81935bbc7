#include "src/core/measurement/cudnn_shapes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "infimum/layer/element_order.h"
#include "infimum/layer/pointwise.h"

namespace infimum::cuda {
namespace {

// A height of one before the only spatial dimension.
std::vector<std::int64_t> Spatial(const std::vector<std::int64_t>& list, std::int64_t filling) {
  return list.size() == 1 ? std::vector<std::int64_t>{filling, list[0]} : list;
}

// For OverCommonDimensions, of which nothing but the extents is wanted here.
std::vector<ElementRun> RunsOf(const Shape& shape) {
  std::vector<ElementRun> runs;
  for (const std::int64_t extent : shape.dims)
    if (extent != 1) runs.push_back({extent, 1, 1});
  return runs;
}

// The coarsest dimensions that split both shapes of the same elements.
std::optional<Shape> CommonSplit(const Shape& a, const Shape& b) {
  if (a == b) return a;
  std::optional<CommonDimensions> common = OverCommonDimensions(RunsOf(a), RunsOf(b));
  if (!common) return std::nullopt;
  return Shape{std::move(common->dims)};
}

// A normalization's rows and columns.
Shape RowsOf(const NormalizationConfig& config) {
  Shape rows{{1, 1}};
  for (std::size_t i = 0; i < config.input.rank(); ++i)
    rows.dims[i < static_cast<std::size_t>(config.axis) ? 0 : 1] *= config.input.dims[i];
  return rows;
}

// All elements of a member as its own text has them; nullopt of families that are not seen in other dimensions.
struct OwnShape {
  std::optional<Shape> operator()(const PointwiseConfig& config) const {
    Shape merged = config.inputs[0];
    for (std::size_t k = 1; k < config.inputs.size(); ++k) {
      Result<Shape> wider = Broadcast(merged, config.inputs[k]);
      if (!wider.ok()) return std::nullopt;
      merged = *std::move(wider);
    }
    return merged;
  }
  std::optional<Shape> operator()(const NormalizationConfig& config) const {
    if (config.kind != NormalizationKind::kLayer && config.kind != NormalizationKind::kRms) return std::nullopt;
    return RowsOf(config);
  }
  std::optional<Shape> operator()(const ReductionConfig& config) const { return config.input; }
  template <class Config>
  std::optional<Shape> operator()(const Config&) const {
    return std::nullopt;
  }
};

}  // namespace

std::vector<Shape> MemberShapes(const Region& region) {
  const std::size_t count = region.members.size();
  std::vector<Shape> shapes(count);
  // What a member passes elements to, or reads with it from outside, is of its group: the group's first member.
  std::vector<std::size_t> group(count);
  std::map<RegionOperand, std::size_t> reader;
  const auto join = [&](std::size_t a, std::size_t b) {
    if (ElementCount(shapes[a]) != ElementCount(shapes[b])) return;
    const std::size_t from = group[b], to = group[a];
    std::ranges::replace(group, from, to);
  };
  for (std::size_t i = 0; i < count; ++i) {
    group[i] = i;
    const RegionMember& member = region.members[i];
    const std::optional<Shape> own = std::visit(OwnShape{}, member.config);
    if (!own) {
      // Behind a product or beside channels its result decides.
      if (i == 0) return std::vector<Shape>(count);
      continue;
    }
    shapes[i] = *own;
    const std::vector<Operand> operands = OperandsOf(member.config);
    for (std::size_t k = 0; k < member.operands.size(); ++k) {
      const RegionOperand& source = member.operands[k];
      const bool is_whole = ElementCount(operands[k].shape) == ElementCount(shapes[i]);
      if (!is_whole) continue;
      if (source.source == RegionOperand::Source::kMember) {
        const auto maker = static_cast<std::size_t>(source.index);
        const bool makes_all = !std::holds_alternative<ReductionConfig>(region.members[maker].config);
        if (makes_all && shapes[maker].rank() > 0) join(maker, i);
      } else if (const auto [known, is_new] = reader.try_emplace(source, i); !is_new) {
        join(known->second, i);
      }
    }
  }
  for (const std::size_t first : std::set<std::size_t>(group.begin(), group.end())) {
    std::optional<Shape> common = shapes[first];
    for (std::size_t i = 0; i < count && common; ++i)
      if (group[i] == first) common = CommonSplit(*common, shapes[i]);
    for (std::size_t i = 0; i < count && common; ++i)
      if (group[i] == first) shapes[i] = *common;
  }
  return shapes;
}

std::optional<Shape> ParametersOf(const NormalizationConfig& config, const Shape& rows) {
  const Shape merged = RowsOf(config);
  return Unmerged({{1, merged.dims[1]}}, merged, rows);
}

bool LeadsWithChannels(const LayerConfig& lead) {
  const auto* normalization = std::get_if<NormalizationConfig>(&lead);
  return std::holds_alternative<ConvolutionConfig>(lead) || std::holds_alternative<PoolingConfig>(lead) ||
         (normalization != nullptr && normalization->kind == NormalizationKind::kBatch);
}

Shape WithTwoSpatial(Shape shape) {
  if (shape.rank() == 3) shape.dims.insert(shape.dims.begin() + 2, 1);
  return shape;
}

Shape WithLastAsChannels(const Shape& shape) {
  Shape result = shape;
  if (result.rank() == 0) result.dims = {1};
  if (result.rank() == 1) result.dims.insert(result.dims.begin(), 1);
  std::rotate(result.dims.begin() + 1, result.dims.end() - 1, result.dims.end());
  while (result.rank() < 4) result.dims.push_back(1);
  return result;
}

std::vector<std::int64_t> SpatialSteps(const Shape& steps) { return Spatial(steps.dims, 1); }

std::vector<std::int64_t> PaddingBefore(const std::vector<std::int64_t>& padding) {
  return Spatial({padding.begin(), padding.begin() + static_cast<std::ptrdiff_t>(padding.size() / 2)}, 0);
}

std::vector<std::int64_t> PaddingBehind(const std::vector<std::int64_t>& padding) {
  return Spatial({padding.begin() + static_cast<std::ptrdiff_t>(padding.size() / 2), padding.end()}, 0);
}

std::vector<std::int64_t> Strides(const Shape& shape, bool channels_last) {
  std::vector<std::size_t> order(shape.rank());
  std::iota(order.begin(), order.end(), 0u);
  if (channels_last && order.size() > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  std::vector<std::int64_t> strides(shape.rank());
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= shape.dims[order[i]];
  }
  return strides;
}

}  // namespace infimum::cuda
