// Operators that only move elements.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "src/readers/onnx/folding/elements.h"
#include "src/readers/onnx/folding/fold.h"

namespace infimum {
namespace {

using Integers = std::vector<std::int64_t>;

const Shape* OutputShape(const NodeView& node) {
  const OperandView* output = node.output(0);
  return output == nullptr ? nullptr : output->shape;
}

// The same elements in another shape: Identity, Reshape, Squeeze and the like.
std::vector<Tensor> FoldView(const NodeView& node) {
  const Tensor& input = *node.inputs[0]->value;
  const Shape* shape = OutputShape(node);
  if (shape == nullptr || node.outputs.size() != 1 || SmallCount(*shape) != SmallCount(input.shape)) return {};
  return {Tensor{input.type, *shape, input.bytes}};
}

std::vector<Tensor> FoldTranspose(const NodeView& node) {
  const Tensor& input = *node.inputs[0]->value;
  const std::size_t rank = input.shape.rank();
  Integers order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = static_cast<std::int64_t>(rank - 1 - i);
  if (const Integers* given = IntegersAttribute(node, "perm")) order = *given;
  if (order.size() != rank) return {};
  const Integers own = RowMajorStrides(input.shape);
  Shape shape;
  Integers strides;
  std::vector<bool> seen(rank, false);
  for (const std::int64_t axis : order) {
    const std::optional<std::size_t> from = AxisOf(axis, rank);
    if (!from || seen[*from]) return {};
    seen[*from] = true;
    shape.dims.push_back(input.shape.dims[*from]);
    strides.push_back(own[*from]);
  }
  return ListOf(Take(input, StridedIndices(shape, 0, strides), shape));
}

std::vector<Tensor> FoldSlice(const NodeView& node) {
  const Tensor& input = *node.inputs[0]->value;
  const std::size_t rank = input.shape.rank();
  const auto list = [&](std::size_t position, const char* attribute) -> std::optional<Integers> {
    if (node.opset >= 10) {
      const OperandView* operand = node.input(position);
      return operand == nullptr ? std::nullopt : IntegersOf(operand->value);
    }
    const Integers* given = IntegersAttribute(node, attribute);
    return given == nullptr ? std::nullopt : std::optional<Integers>(*given);
  };
  const std::optional<Integers> starts = list(1, "starts");
  const std::optional<Integers> ends = list(2, "ends");
  if (!starts || !ends || starts->size() != ends->size() || starts->size() > rank) return {};
  Integers axes(starts->size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  axes = list(3, "axes").value_or(axes);
  const Integers steps = list(4, "steps").value_or(Integers(starts->size(), 1));
  if (axes.size() != starts->size() || steps.size() != starts->size()) return {};

  Shape shape = input.shape;
  Integers strides = RowMajorStrides(input.shape);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::optional<std::size_t> axis = AxisOf(axes[i], rank);
    const std::int64_t step = steps[i];
    if (!axis || step == 0 || step == INT64_MIN) return {};
    const std::int64_t size = input.shape.dims[*axis];
    const auto clamp = [&](std::int64_t at, std::int64_t least, std::int64_t most) {
      if (at < 0) at = at < -size ? -1 - size : at + size;
      return std::clamp(at, least, most);
    };
    if (size == 0) return {};
    const std::int64_t start = clamp((*starts)[i], 0, step > 0 ? size : size - 1);
    const std::int64_t end = step > 0 ? clamp((*ends)[i], 0, size) : clamp((*ends)[i], -1, size - 1);
    const std::int64_t distance = step > 0 ? end - start : start - end;
    const std::int64_t stride = step > 0 ? step : -step;
    shape.dims[*axis] = distance <= 0 ? 0 : 1 + (distance - 1) / stride;
    if (shape.dims[*axis] > 0) offset += start * strides[*axis];
    // A step beyond the extent takes one element: its stride is not walked, and must not overflow.
    strides[*axis] = shape.dims[*axis] > 1 ? strides[*axis] * step : 0;
  }
  return ListOf(Take(input, StridedIndices(shape, offset, strides), shape));
}

std::vector<Tensor> FoldGather(const NodeView& node) {
  if (node.inputs.size() != 2 || !node.inputs[1]) return {};
  const Tensor& input = *node.inputs[0]->value;
  const Tensor& chosen = *node.inputs[1]->value;
  const std::optional<std::size_t> axis = AxisOf(IntegerAttribute(node, "axis", 0), input.shape.rank());
  const std::optional<Integers> rows = IntegersOf(&chosen);
  if (!axis || !rows) return {};
  const std::int64_t size = input.shape.dims[*axis];
  Shape shape;
  std::size_t outer = 1;
  std::size_t inner = 1;
  for (std::size_t i = 0; i < input.shape.rank(); ++i) {
    const std::int64_t dim = input.shape.dims[i];
    if (i < *axis) outer *= static_cast<std::size_t>(dim);
    if (i > *axis) inner *= static_cast<std::size_t>(dim);
    if (i == *axis)
      shape.dims.insert(shape.dims.end(), chosen.shape.dims.begin(), chosen.shape.dims.end());
    else
      shape.dims.push_back(dim);
  }
  if (!SmallCount(shape)) return {};
  if (*SmallCount(shape) == 0) return {Tensor{input.type, shape, {}}};
  Indices indices;
  for (std::size_t o = 0; o < outer; ++o) {
    for (const std::int64_t row : *rows) {
      const std::optional<std::size_t> at = AxisOf(row, static_cast<std::size_t>(size));
      if (!at) return {};
      for (std::size_t i = 0; i < inner; ++i) indices.push_back((o * static_cast<std::size_t>(size) + *at) * inner + i);
    }
  }
  return ListOf(Take(input, indices, shape));
}

std::vector<Tensor> FoldConcat(const NodeView& node) {
  const Shape* shape = OutputShape(node);
  if (shape == nullptr) return {};
  const std::optional<std::size_t> axis = AxisOf(IntegerAttribute(node, "axis", 1), shape->rank());
  if (!axis) return {};
  std::size_t outer = 1;
  for (std::size_t i = 0; i < *axis; ++i) outer *= static_cast<std::size_t>(shape->dims[i]);
  Tensor result{node.inputs[0] ? node.inputs[0]->value->type : DataType::kNone, *shape, {}};
  if (BitsPerElement(result.type) < 8) return {};
  if (ElementCount(*shape) == 0) return {result};
  for (std::size_t o = 0; o < outer; ++o) {
    for (const std::optional<OperandView>& input : node.inputs) {
      if (!input || input->value->type != result.type) return {};
      const std::vector<std::byte>& bytes = input->value->bytes;
      const std::size_t part = bytes.size() / outer;
      result.bytes.insert(result.bytes.end(), bytes.begin() + static_cast<std::ptrdiff_t>(o * part),
                          bytes.begin() + static_cast<std::ptrdiff_t>((o + 1) * part));
    }
  }
  const auto expected = static_cast<std::size_t>(SizeOf(result.type, ElementCount(*shape)).value);
  if (result.bytes.size() != expected) return {};
  return {result};
}

std::vector<Tensor> FoldExpand(const NodeView& node) {
  const Tensor& input = *node.inputs[0]->value;
  const Shape* shape = OutputShape(node);
  if (shape == nullptr) return {};
  const std::optional<Indices> indices = BroadcastIndices(input.shape, *shape);
  return indices ? ListOf(Take(input, *indices, *shape)) : std::vector<Tensor>();
}

std::vector<Tensor> FoldTile(const NodeView& node) {
  const Tensor& input = *node.inputs[0]->value;
  const Shape* shape = OutputShape(node);
  if (shape == nullptr || node.opset < 6 || shape->rank() != input.shape.rank()) return {};
  const Integers own = RowMajorStrides(input.shape);
  // Every dimension as repeats x extent, so that the repeats have stride 0.
  Shape split;
  Integers strides;
  for (std::size_t i = 0; i < shape->rank(); ++i) {
    const std::int64_t extent = input.shape.dims[i];
    if (extent == 0 || shape->dims[i] % extent != 0) return {};
    split.dims.insert(split.dims.end(), {shape->dims[i] / extent, extent});
    strides.insert(strides.end(), {0, own[i]});
  }
  return ListOf(Take(input, StridedIndices(split, 0, strides), *shape));
}

std::vector<Tensor> FoldSplit(const NodeView& node) {
  const Tensor& input = *node.inputs[0]->value;
  const std::optional<std::size_t> axis = AxisOf(IntegerAttribute(node, "axis", 0), input.shape.rank());
  if (!axis) return {};
  const Integers strides = RowMajorStrides(input.shape);
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (const std::optional<OperandView>& output : node.outputs) {
    if (!output || output->shape == nullptr || output->shape->rank() != input.shape.rank()) return {};
    std::optional<Tensor> part =
        Take(input, StridedIndices(*output->shape, start * strides[*axis], strides), *output->shape);
    if (!part) return {};
    parts.push_back(std::move(*part));
    start += output->shape->dims[*axis];
  }
  return parts;
}

std::vector<Tensor> FoldConstantOfShape(const NodeView& node) {
  const Shape* shape = OutputShape(node);
  if (shape == nullptr) return {};
  const auto found = node.attributes.find("value");
  const Tensor zero{DataType::kF32, Shape{{1}}, std::vector<std::byte>(4)};
  const Tensor* value = found == node.attributes.end() ? &zero : std::get_if<Tensor>(&found->second);
  const std::size_t size = value == nullptr ? 0 : static_cast<std::size_t>(BitsPerElement(value->type) / 8);
  if (size == 0 || value->bytes.size() != size) return {};
  Tensor result{value->type, *shape, std::vector<std::byte>(*SmallCount(*shape) * size)};
  for (std::size_t at = 0; at < result.bytes.size(); at += size)
    std::memcpy(result.bytes.data() + at, value->bytes.data(), size);
  return {std::move(result)};
}

std::vector<Tensor> FoldScatterND(const NodeView& node) {
  if (node.inputs.size() != 3 || !node.inputs[1] || !node.inputs[2]) return {};
  if (TextAttribute(node, "reduction", "none") != "none") return {};
  Tensor result = *node.inputs[0]->value;
  const Tensor& places = *node.inputs[1]->value;
  const Tensor& updates = *node.inputs[2]->value;
  const std::optional<Integers> positions = IntegersOf(&places);
  if (!positions || places.shape.rank() == 0 || updates.type != result.type || BitsPerElement(result.type) < 8)
    return {};
  const auto depth = static_cast<std::size_t>(places.shape.dims.back());
  if (depth == 0 || depth > result.shape.rank()) return {};
  const auto size = static_cast<std::size_t>(BitsPerElement(result.type) / 8);
  const Integers strides = RowMajorStrides(result.shape);
  std::size_t slice = size;
  for (std::size_t i = depth; i < result.shape.rank(); ++i) slice *= static_cast<std::size_t>(result.shape.dims[i]);
  const std::size_t count = positions->size() / depth;
  if (updates.bytes.size() != count * slice) return {};
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t offset = 0;
    for (std::size_t axis = 0; axis < depth; ++axis) {
      const auto at = AxisOf((*positions)[i * depth + axis], static_cast<std::size_t>(result.shape.dims[axis]));
      if (!at) return {};
      offset += *at * static_cast<std::size_t>(strides[axis]);
    }
    std::memcpy(result.bytes.data() + offset * size, updates.bytes.data() + i * slice, slice);
  }
  return {result};
}

std::vector<Tensor> FoldTrilu(const NodeView& node) {
  Tensor result = *node.inputs[0]->value;
  const std::size_t rank = result.shape.rank();
  const OperandView* shift = node.input(1);
  const std::optional<Integers> diagonal = shift == nullptr ? Integers{0} : IntegersOf(shift->value);
  if (rank < 2 || BitsPerElement(result.type) < 8 || !diagonal || diagonal->size() != 1) return {};
  const std::int64_t k = std::clamp<std::int64_t>((*diagonal)[0], -(1 << 20), 1 << 20);
  const bool upper = IntegerAttribute(node, "upper", 1) != 0;
  const auto size = static_cast<std::size_t>(BitsPerElement(result.type) / 8);
  const std::int64_t rows = result.shape.dims[rank - 2];
  const std::int64_t columns = result.shape.dims[rank - 1];
  for (std::size_t i = 0; i * size < result.bytes.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    const std::int64_t column = index % columns;
    const std::int64_t row = index / columns % rows;
    if (upper ? column - row < k : column - row > k) std::memset(result.bytes.data() + i * size, 0, size);
  }
  return {result};
}

}  // namespace

Folder FindMovementFolder(std::string_view op) {
  static const std::unordered_map<std::string_view, Folder> folders = {
      {"Identity", FoldView},       {"Reshape", FoldView},   {"Flatten", FoldView},
      {"Squeeze", FoldView},        {"Unsqueeze", FoldView}, {"Transpose", FoldTranspose},
      {"Slice", FoldSlice},         {"Gather", FoldGather},  {"Concat", FoldConcat},
      {"Expand", FoldExpand},       {"Tile", FoldTile},      {"Split", FoldSplit},
      {"ScatterND", FoldScatterND}, {"Trilu", FoldTrilu},    {"ConstantOfShape", FoldConstantOfShape},
  };
  const auto found = folders.find(op);
  return found == folders.end() ? nullptr : found->second;
}

}  // namespace infimum
