// Between ONNX's messages and our plain values: element types, shapes, attributes, small tensors.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <optional>
#include <string>

#include "infimum/base/result.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

// No constant with more elements is decoded or folded: shapes, and the positions of a sequence, fit. Numbers
// in floating point matter only where they are few (scales, limits). Beyond, constants are weights or masks,
// whose elements are not needed: to fill and copy them would take most of the time.
inline constexpr std::int64_t kMostFoldedElements = 4096;
inline constexpr std::int64_t kMostFoldedNumbers = 128;
constexpr std::int64_t MostFolded(DataType type) {
  const bool index = type == DataType::kS64 || type == DataType::kS32 || type == DataType::kBool;
  return index ? kMostFoldedElements : kMostFoldedNumbers;
}

// kNone for types that are not numbers of ours (string, complex, f8 of AMD, 2-bit integers).
DataType DataTypeOf(int onnx_type);
int OnnxTypeOf(DataType type);

// Nullopt where the type is no tensor or some dimension is not known.
std::optional<Shape> ShapeOf(const onnx::TypeProto& type);
DataType ElementTypeOf(const onnx::TypeProto& type);

// A dense tensor's type. The message must live as long as the type is used.
void SetTensorType(int onnx_type, const Shape& shape, onnx::TypeProto& type);

// The tensor's dimensions: an error for negative ones and too many elements or dimensions.
Result<Shape> CheckedShapeOf(const onnx::TensorProto& tensor);

// An error where the elements that the message holds are fewer or more than its shape.
Status CheckPayload(const onnx::TensorProto& tensor, const Shape& shape);

// The elements of a tensor that holds them itself; nullopt where it does not, where the type is not one
// of ours, or where they are more than MostFolded. CheckPayload must have passed.
std::optional<Tensor> DecodeTensor(const onnx::TensorProto& tensor, const Shape& shape);
void EncodeTensor(const Tensor& tensor, onnx::TensorProto& out);

// Without graphs, and without tensors that are too large to decode.
std::map<std::string, AttributeValue> AttributesOf(const onnx::NodeProto& node);

}  // namespace infimum
