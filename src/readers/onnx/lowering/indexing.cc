// Operators that pick or place elements by indices: Gather*, Scatter*, TensorScatter, Compress.
#include <string>
#include <vector>

#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/movement.h"
#include "src/readers/onnx/lowering/operands.h"
#include "src/readers/onnx/lowering/region_builder.h"

namespace infimum::lowering {
namespace {

// Types of data, indices and output.
Result<OperandTypes> IndexedTypes(const NodeView& node, std::size_t indices) { return BinaryTypes(node, 0, indices); }

Result<Lowering> LowerGather(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape data, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape indices, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, IndexedTypes(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t axis, AxisIn(node, "axis", 0, data.rank()));
  const std::int64_t count = ElementCount(indices);
  const Shape input = AroundAxis(data, axis);
  Shape output = input;
  output.dims[1] = count;
  INFIMUM_RETURN_IF_ERROR(CheckedElementCount(output));
  return Measurable(Canonicalize(MovementConfig{MovementKind::kGather, types, {input}, {output}, 1, {}, count}),
                    {0, 1});
}

Result<Lowering> LowerGatherElements(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape data, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape indices, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, IndexedTypes(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t axis, AxisIn(node, "axis", 0, data.rank()));
  if (indices.rank() != data.rank())
    return Error{"indices of " + Format(indices) + " do not fit data of " + Format(data)};
  return Measurable(
      Canonicalize(MovementConfig{
          MovementKind::kGather, types, {data}, {indices}, static_cast<std::int64_t>(axis), {}, ElementCount(indices)}),
      {0, 1});
}

// Each index names the first dimensions at once: batch x positions x slice.
Result<Lowering> LowerGatherNd(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape data, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape indices, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, IndexedTypes(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t batch_dims, IntegerIn(node, "batch_dims", 0, {0, 64}));
  if (indices.rank() == 0) return Error{"its indices are a scalar"};
  const auto batches = static_cast<std::size_t>(batch_dims);
  const std::int64_t depth = indices.dims.back();
  if (batches >= indices.rank() || depth < 1 || batch_dims + depth > static_cast<std::int64_t>(data.rank()))
    return Error{"indices of " + Format(indices) + " do not fit data of " + Format(data)};
  const std::size_t end = batches + static_cast<std::size_t>(depth);
  for (std::size_t i = 0; i < batches; ++i)
    if (indices.dims[i] != data.dims[i])
      return Error{"indices of " + Format(indices) + " do not fit data of " + Format(data)};
  const std::int64_t batch = ProductOf(data, 0, batches);
  const std::int64_t slice = ProductOf(data, end, data.rank());
  const Shape input{{batch, ProductOf(data, batches, end), slice}};
  const Shape output{{batch, ProductOf(indices, batches, indices.rank() - 1), slice}};
  INFIMUM_RETURN_IF_ERROR(CheckedElementCount(output));
  return Measurable(
      Canonicalize(MovementConfig{MovementKind::kGather, types, {input}, {output}, 1, {}, ElementCount(indices)}),
      {0, 1});
}

// A copy of the data, then the updates: data, indices and updates are inputs 0, 1 and 2.
Result<Lowering> Scattered(const NodeView& node, const Shape& data, const Shape& updates, std::size_t axis,
                           std::int64_t count) {
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, IndexedTypes(node, 1));
  return Measurable(
      Canonicalize(MovementConfig{
          MovementKind::kScatter, types, {data, updates}, {data}, static_cast<std::int64_t>(axis), {}, count}),
      {0, 2, 1});
}

Result<Lowering> LowerScatterElements(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape data, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape indices, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const Shape updates, InputShape(node, 2));
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t axis, AxisIn(node, "axis", 0, data.rank()));
  if (indices != updates || updates.rank() != data.rank())
    return Error{"indices of " + Format(indices) + " and updates of " + Format(updates) + " do not fit data of " +
                 Format(data)};
  if (ElementCount(updates) == 0) return Free("it updates no elements");
  return Scattered(node, data, updates, axis, ElementCount(indices));
}

Result<Lowering> LowerScatterNd(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape data, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape indices, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const Shape updates, InputShape(node, 2));
  if (indices.rank() == 0 || indices.dims.back() < 1 || indices.dims.back() > static_cast<std::int64_t>(data.rank()))
    return Error{"indices of " + Format(indices) + " do not fit data of " + Format(data)};
  if (ElementCount(updates) == 0) return Free("it updates no elements");
  const auto depth = static_cast<std::size_t>(indices.dims.back());
  const std::int64_t slice = ProductOf(data, depth, data.rank());
  const std::int64_t tuples = ProductOf(indices, 0, indices.rank() - 1);
  const Shape flat{{ProductOf(data, 0, depth), slice}};
  const Shape rows{{tuples, slice}};
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t updated, CheckedElementCount(rows));
  if (updated != ElementCount(updates))
    return Error{"indices of " + Format(indices) + " and updates of " + Format(updates) + " do not fit data of " +
                 Format(data)};
  return Scattered(node, flat, rows, 0, ElementCount(indices));
}

// Writes new positions into a cache, for each batch from its own start on.
Result<Lowering> LowerTensorScatter(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape cache, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape update, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t axis, AxisIn(node, "axis", -2, cache.rank()));
  if (update.rank() != cache.rank() || axis == 0)
    return Error{"an update of " + Format(update) + " does not fit a cache of " + Format(cache)};
  RegionBuilder region(node);
  std::vector<RegionBuilder::Source> operands{region.Input(0), region.Input(1)};
  DataType index_type = DataType::kS64;
  std::int64_t count = cache.dims[0];
  if (HasInput(node, 2)) {
    INFIMUM_ASSIGN_OR_RETURN(const Shape starts, InputShape(node, 2));
    INFIMUM_ASSIGN_OR_RETURN(index_type, InputType(node, 2));
    count = ElementCount(starts);
    operands.push_back(region.Input(2));
  } else {  // every batch starts at 0
    operands.push_back(region.Add(Fill(index_type, Shape{{count}}), {}));
  }
  region.Add(Canonicalize(MovementConfig{MovementKind::kScatter,
                                         {types.input, index_type, types.output},
                                         {cache, update},
                                         {cache},
                                         static_cast<std::int64_t>(axis),
                                         {},
                                         count}),
             operands);
  INFIMUM_ASSIGN_OR_RETURN(Lowering lowering, region.Finish());
  lowering.in_place.push_back({0, 0, SizeOf(types.output, ElementCount(update))});
  return lowering;
}

// With a condition that is known beforehand the output's shape is, and it picks as a Gather does.
// All elements are looked at, and the places of some are written: which depends on the data, and how many too unless it
// is stated.
Result<Lowering> LowerNonZero(const NodeView& node) {
  const OperandView* const places = node.output(0);
  if (places == nullptr || places->shape == nullptr)
    return UnknownThatMoves(node, {0}, {},
                            "how many elements it keeps depends on the data; --assume " + std::string(kKeptElements) +
                                "=N states it for what follows");
  return UnknownThatMoves(node, {0}, {{DataType::kS64, *places->shape}},
                          "which elements it keeps depends on the data; what any run reads and writes counts");
}

Result<Lowering> LowerCompress(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape data, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape condition, InputShape(node, 1));
  const OperandView* output = node.output(0);
  if (output == nullptr || output->shape == nullptr)
    return Unknown("the number of elements that its condition keeps depends on the data");
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, IndexedTypes(node, 1));
  const bool flat = !HasAttribute(node, "axis");
  const Shape whole = flat ? Shape{{ElementCount(data)}} : data;
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t axis, AxisIn(node, "axis", 0, whole.rank()));
  if (output->shape->rank() != whole.rank())
    return Error{"an output of " + Format(*output->shape) + " is not a part of " + Format(whole)};
  return Measurable(Canonicalize(MovementConfig{MovementKind::kGather,
                                                types,
                                                {AroundAxis(whole, axis)},
                                                {AroundAxis(*output->shape, axis)},
                                                1,
                                                {},
                                                ElementCount(condition)}),
                    {0, 1});
}

// The block of a quantized table that shares a scale: what keep-stored-weights found, or the operator's own.
Result<std::optional<Shape>> TableBlock(const NodeView& node, const Shape& data) {
  INFIMUM_ASSIGN_OR_RETURN(const auto stored, IntegersIn(node, kStoredBlock, {1, kMaxElements}));
  if (stored) return stored->size() == data.rank() ? std::optional(Shape{*stored}) : std::nullopt;
  if (!HasInput(node, 2)) return std::optional<Shape>();
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t axis, AxisIn(node, "quantize_axis", 1, data.rank()));
  Shape block{std::vector<std::int64_t>(data.rank(), 1)};
  INFIMUM_ASSIGN_OR_RETURN(block.dims[axis], IntegerIn(node, "block_size", 128, {1, kMaxAttribute}));
  return std::optional(block);
}

// Rows of a quantized table become numbers: q, (q - zero point), (q - zero point) x scale, with what is there of them
// gathered by the same indices. Blocks of several rows are values: their scales are few.
Result<Lowering> LowerGatherBlockQuantized(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(Shape data, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape indices, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(OperandTypes types, IndexedTypes(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t bits, IntegerIn(node, "bits", 4, {2, 8}));
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t axis, AxisIn(node, "gather_axis", 0, data.rank()));
  if (types.input == DataType::kU8 && (bits == 2 || bits == 4)) {  // several elements a byte
    types.input = bits == 4 ? DataType::kU4 : DataType::kU2;
    data.dims.back() *= 8 / bits;
  } else if (types.input == DataType::kU8 && bits != 8) {
    return Unknown("no supported element type has " + std::to_string(bits) + " bits");
  }
  const std::int64_t count = ElementCount(indices);
  RegionBuilder region(node);
  const auto gather = [&](std::size_t input, DataType type, const Shape& table) {
    const Shape from = AroundAxis(table, axis);
    Shape to = from;
    to.dims[1] = count;
    return region.Add(
        Canonicalize(MovementConfig{MovementKind::kGather, {type, types.weights, type}, {from}, {to}, 1, {}, count}),
        {region.Input(input), region.Input(1)});
  };
  // Blocks of what is gathered, as rows x blocks x elements.
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<Shape> block, TableBlock(node, data));
  Shape table = data, rows = data, one = data;
  bool has_scales = HasInput(node, 2) && block && block->dims[axis] == 1;
  rows.dims[axis] = one.dims[axis] = count;
  for (std::size_t i = data.rank(); has_scales && i-- > 0;) {
    const std::int64_t part = std::max<std::int64_t>(1, std::min(block->dims[i], data.dims[i]));
    has_scales = data.dims[i] % part == 0;
    table.dims[i] = data.dims[i] / part;
    const auto split = [&](Shape& shape, std::int64_t inner) {
      shape.dims[i] /= part;
      shape.dims.insert(shape.dims.begin() + static_cast<std::ptrdiff_t>(i) + 1, inner);
    };
    split(rows, part);
    split(one, 1);
  }
  INFIMUM_RETURN_IF_ERROR(CheckedElementCount(rows));
  auto value = gather(0, types.input, data);
  const DataType type = types.output;
  INFIMUM_ASSIGN_OR_RETURN(
      value, region.AddPointwise(PointwiseKind::kDequantize, {types.input, DataType::kNone, type}, {rows}, {value}));
  if (!has_scales) return region.Finish();
  if (HasInput(node, 3)) {
    INFIMUM_ASSIGN_OR_RETURN(DataType zero_type, InputType(node, 3));
    if (zero_type == DataType::kU8) zero_type = types.input;
    auto zeros = gather(3, zero_type, table);
    INFIMUM_ASSIGN_OR_RETURN(
        zeros, region.AddPointwise(PointwiseKind::kCast, {zero_type, DataType::kNone, type}, {one}, {zeros}));
    INFIMUM_ASSIGN_OR_RETURN(
        value, region.AddPointwise(PointwiseKind::kSubtract, {type, type, type}, {rows, one}, {value, zeros}));
  }
  INFIMUM_ASSIGN_OR_RETURN(const DataType scale_type, InputType(node, 2));
  const auto scales = gather(2, scale_type, table);
  INFIMUM_RETURN_IF_ERROR(
      region.AddPointwise(PointwiseKind::kMultiply, {type, scale_type, type}, {rows, one}, {value, scales}));
  return region.Finish();
}

// A table of heads by buckets, picked by positions that follow from the lengths alone.
Result<Lowering> LowerRelativePositionBias(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape table, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape output, OutputShape(node, 0));
  if (table.rank() != 2 || output.rank() != 4)
    return Error{"a table of " + Format(table) + " does not give a bias of " + Format(output)};
  const std::int64_t positions = output.dims[2] * output.dims[3];
  RegionBuilder region(node);
  const auto buckets = region.Add(Fill(DataType::kS64, Shape{{positions}}), {});
  const MovementConfig gather{MovementKind::kGather,
                              {type, DataType::kS64, type},
                              {Shape{{table.dims[1], table.dims[0]}}},
                              {Shape{{table.dims[1], positions}}},
                              1,
                              {},
                              positions};
  region.Add(Canonicalize(gather), {region.Input(0), buckets});
  return region.Finish();
}

}  // namespace

std::span<const OperatorEntry> IndexingOperators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "Gather", LowerGather},
      {kOnnx, "GatherElements", LowerGatherElements},
      {kOnnx, "GatherND", LowerGatherNd},
      {kOnnx, "Scatter", LowerScatterElements},
      {kOnnx, "ScatterElements", LowerScatterElements},
      {kOnnx, "ScatterND", LowerScatterNd},
      {kOnnx, "TensorScatter", LowerTensorScatter},
      {kOnnx, "Compress", LowerCompress},
      {kOnnx, "NonZero", LowerNonZero},
      {kMicrosoft, "GatherBlockQuantized", LowerGatherBlockQuantized},
      {kMicrosoft, "GatherND", LowerGatherNd},
      {kMicrosoft, "RelativePositionBias", LowerRelativePositionBias},
      {kMicrosoft, "TorchEmbedding", LowerGather},
  };
  return kEntries;
}

}  // namespace infimum::lowering
