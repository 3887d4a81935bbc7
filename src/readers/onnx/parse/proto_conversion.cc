#include "src/readers/onnx/parse/proto_conversion.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "src/readers/onnx/parse/model_file.h"

namespace infimum {
namespace {

constexpr std::size_t kMostTensorDimensions = 64;

using onnx::TensorProto;

constexpr std::pair<TensorProto::DataType, DataType> kDataTypes[] = {
    {TensorProto::DOUBLE, DataType::kF64},
    {TensorProto::FLOAT, DataType::kF32},
    {TensorProto::FLOAT16, DataType::kF16},
    {TensorProto::BFLOAT16, DataType::kBF16},
    {TensorProto::FLOAT8E4M3FN, DataType::kF8E4M3},
    {TensorProto::FLOAT8E5M2, DataType::kF8E5M2},
    {TensorProto::FLOAT8E8M0, DataType::kF8E8M0},
    {TensorProto::FLOAT4E2M1, DataType::kF4E2M1},
    {TensorProto::INT64, DataType::kS64},
    {TensorProto::INT32, DataType::kS32},
    {TensorProto::INT16, DataType::kS16},
    {TensorProto::INT8, DataType::kS8},
    {TensorProto::INT4, DataType::kS4},
    {TensorProto::INT2, DataType::kS2},
    {TensorProto::UINT64, DataType::kU64},
    {TensorProto::UINT32, DataType::kU32},
    {TensorProto::UINT16, DataType::kU16},
    {TensorProto::UINT8, DataType::kU8},
    {TensorProto::UINT4, DataType::kU4},
    {TensorProto::UINT2, DataType::kU2},
    {TensorProto::BOOL, DataType::kBool},
    {TensorProto::STRING, DataType::kNone},
};

// Elements of a field with one entry for each, narrowed to T.
template <class T, class Field>
void AppendNarrowed(const Field& field, std::vector<std::byte>& out) {
  out.resize(static_cast<std::size_t>(field.size()) * sizeof(T));
  for (int i = 0; i < field.size(); ++i) {
    const T element = static_cast<T>(field.Get(i));
    std::memcpy(out.data() + static_cast<std::size_t>(i) * sizeof(T), &element, sizeof(T));
  }
}

// The number of entries in the typed field that holds elements of `type`, and how many elements each has.
std::pair<std::int64_t, std::int64_t> TypedEntries(const TensorProto& tensor) {
  switch (tensor.data_type()) {
    case TensorProto::FLOAT:
      return {tensor.float_data_size(), 1};
    case TensorProto::COMPLEX64:
      return {tensor.float_data_size() / 2, 1};
    case TensorProto::DOUBLE:
      return {tensor.double_data_size(), 1};
    case TensorProto::COMPLEX128:
      return {tensor.double_data_size() / 2, 1};
    case TensorProto::INT64:
      return {tensor.int64_data_size(), 1};
    case TensorProto::UINT32:
    case TensorProto::UINT64:
      return {tensor.uint64_data_size(), 1};
    case TensorProto::STRING:
      return {tensor.string_data_size(), 1};
    case TensorProto::INT4:
    case TensorProto::UINT4:
    case TensorProto::FLOAT4E2M1:
      return {tensor.int32_data_size(), 2};
    case TensorProto::INT2:
    case TensorProto::UINT2:
      return {tensor.int32_data_size(), 4};
    default:
      return {tensor.int32_data_size(), 1};
  }
}

template <class Field>
auto ToVector(const Field& field) {
  return std::vector<std::decay_t<decltype(*field.begin())>>(field.begin(), field.end());
}

std::optional<AttributeValue> ValueOf(const onnx::AttributeProto& attribute) {
  switch (attribute.type()) {
    case onnx::AttributeProto::INT:
      return attribute.i();
    case onnx::AttributeProto::FLOAT:
      return static_cast<double>(attribute.f());
    case onnx::AttributeProto::STRING:
      return attribute.s();
    case onnx::AttributeProto::INTS:
      return ToVector(attribute.ints());
    case onnx::AttributeProto::FLOATS:
      return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
    case onnx::AttributeProto::STRINGS:
      return ToVector(attribute.strings());
    case onnx::AttributeProto::TENSOR: {
      const Result<Shape> shape = CheckedShapeOf(attribute.t());
      if (!shape.ok() || !CheckPayload(attribute.t(), *shape).ok()) return std::nullopt;
      if (std::optional<Tensor> tensor = DecodeTensor(attribute.t(), *shape)) return std::move(*tensor);
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

DataType DataTypeOf(int onnx_type) {
  const auto* const row = std::ranges::find(kDataTypes, onnx_type, [](const auto& pair) { return int{pair.first}; });
  return row != std::end(kDataTypes) ? row->second : DataType::kNone;
}

int OnnxTypeOf(DataType type) {
  const auto* const row = std::ranges::find(kDataTypes, type, [](const auto& pair) { return pair.second; });
  return row != std::end(kDataTypes) ? row->first : TensorProto::UNDEFINED;
}

std::optional<Shape> ShapeOf(const onnx::TypeProto& type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
  const onnx::TensorShapeProto& dims = type.tensor_type().shape();
  Shape shape;
  shape.dims.reserve(static_cast<std::size_t>(dims.dim_size()));
  for (const onnx::TensorShapeProto::Dimension& dim : dims.dim()) {
    if (!dim.has_dim_value()) return std::nullopt;
    shape.dims.push_back(dim.dim_value());
  }
  return shape;
}

DataType ElementTypeOf(const onnx::TypeProto& type) {
  return type.has_tensor_type() ? DataTypeOf(type.tensor_type().elem_type()) : DataType::kNone;
}

void SetTensorType(int onnx_type, const Shape& shape, onnx::TypeProto& type) {
  onnx::TypeProto::Tensor& tensor = *type.mutable_tensor_type();
  tensor.set_elem_type(onnx_type);
  onnx::TensorShapeProto& dims = *tensor.mutable_shape();
  dims.clear_dim();
  for (const std::int64_t dim : shape.dims) dims.add_dim()->set_dim_value(dim);
}

Result<Shape> CheckedShapeOf(const TensorProto& tensor) {
  if (static_cast<std::size_t>(tensor.dims_size()) > kMostTensorDimensions)
    return Error{"has " + std::to_string(tensor.dims_size()) + " dimensions, more than " +
                 std::to_string(kMostTensorDimensions)};
  Shape shape{ToVector(tensor.dims())};
  if (const Result<std::int64_t> count = CheckedElementCount(shape); !count.ok()) return count.error();
  return shape;
}

Status CheckPayload(const TensorProto& tensor, const Shape& shape) {
  const DataType type = DataTypeOf(tensor.data_type());
  if (tensor.data_location() == TensorProto::EXTERNAL || type == DataType::kNone) return {};
  const std::int64_t count = ElementCount(shape);
  if (const std::optional<Elided> elided = ElidedOf(tensor); elided && !tensor.has_raw_data()) {
    // Which field they stood in is forgotten: any encoding takes a quarter of a byte for an element at least.
    if (elided->bytes < count / 4) return Error{"has fewer elements than its shape " + Format(shape) + " needs"};
    return {};
  }
  if (tensor.has_raw_data()) {
    const std::int64_t expected = SizeOf(type, count).value;
    const auto actual = static_cast<std::int64_t>(tensor.raw_data().size());
    if (expected != actual)
      return Error{"has " + std::to_string(actual) + " bytes of elements where its shape " + Format(shape) + " takes " +
                   std::to_string(expected)};
    return {};
  }
  const auto [entries, elements_each] = TypedEntries(tensor);
  if (entries != (count + elements_each - 1) / elements_each)
    return Error{"has " + std::to_string(entries * elements_each) + " elements where its shape is " + Format(shape)};
  return {};
}

std::optional<Tensor> DecodeTensor(const TensorProto& tensor, const Shape& shape) {
  Tensor result{DataTypeOf(tensor.data_type()), shape, {}};
  const std::int64_t count = ElementCount(shape);
  if (result.type == DataType::kNone || count > MostFolded(result.type) ||
      tensor.data_location() == TensorProto::EXTERNAL)
    return std::nullopt;
  if (tensor.has_raw_data()) {
    const auto* data = reinterpret_cast<const std::byte*>(tensor.raw_data().data());
    result.bytes.assign(data, data + tensor.raw_data().size());
  } else if (tensor.data_type() == TensorProto::FLOAT) {
    AppendNarrowed<float>(tensor.float_data(), result.bytes);
  } else if (tensor.data_type() == TensorProto::DOUBLE) {
    AppendNarrowed<double>(tensor.double_data(), result.bytes);
  } else if (tensor.data_type() == TensorProto::INT64) {
    AppendNarrowed<std::int64_t>(tensor.int64_data(), result.bytes);
  } else if (tensor.data_type() == TensorProto::UINT64) {
    AppendNarrowed<std::uint64_t>(tensor.uint64_data(), result.bytes);
  } else if (tensor.data_type() == TensorProto::UINT32) {
    AppendNarrowed<std::uint32_t>(tensor.uint64_data(), result.bytes);
  } else if (BitsPerElement(result.type) == 32) {
    AppendNarrowed<std::int32_t>(tensor.int32_data(), result.bytes);
  } else if (BitsPerElement(result.type) == 16) {
    AppendNarrowed<std::uint16_t>(tensor.int32_data(), result.bytes);
  } else {
    AppendNarrowed<std::uint8_t>(tensor.int32_data(), result.bytes);
  }
  if (static_cast<std::int64_t>(result.bytes.size()) != SizeOf(result.type, count).value) return std::nullopt;
  return result;
}

void EncodeTensor(const Tensor& tensor, TensorProto& out) {
  out.set_data_type(OnnxTypeOf(tensor.type));
  for (const std::int64_t dim : tensor.shape.dims) out.add_dims(dim);
  out.set_raw_data(tensor.bytes.data(), tensor.bytes.size());
}

std::map<std::string, AttributeValue> AttributesOf(const onnx::NodeProto& node) {
  std::map<std::string, AttributeValue> attributes;
  for (const onnx::AttributeProto& attribute : node.attribute())
    if (std::optional<AttributeValue> value = ValueOf(attribute))
      attributes.emplace(attribute.name(), std::move(*value));
  return attributes;
}

}  // namespace infimum
