#include "tests/readers/onnx/model_text.h"

#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <vector>

#include "src/readers/onnx/parse/proto_conversion.h"
#include "tests/support/temporary_folder.h"

namespace infimum {

namespace {

// Declared values that nothing writes become initializers of zeros.
void DefineWeights(onnx::GraphProto& graph) {
  std::set<std::string> defined;
  for (const onnx::TensorProto& tensor : graph.initializer()) defined.insert(tensor.name());
  for (const onnx::NodeProto& node : graph.node()) defined.insert(node.output().begin(), node.output().end());
  for (const onnx::ValueInfoProto& info : graph.value_info()) {
    if (defined.contains(info.name())) continue;
    const DataType type = ElementTypeOf(info.type());
    const std::optional<Shape> shape = ShapeOf(info.type());
    if (!shape || type == DataType::kNone) continue;
    const auto size = static_cast<std::size_t>(SizeOf(type, ElementCount(*shape)).value);
    EncodeTensor(Tensor{type, *shape, std::vector<std::byte>(size)}, *graph.add_initializer());
    graph.mutable_initializer()->rbegin()->set_name(info.name());
  }
}

}  // namespace

onnx::ModelProto ModelOf(const std::string& text, int opset) {
  onnx::ModelProto model;
  const std::string header = "<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) +
                             ", \"com.microsoft\" : 1, \"custom\" : 1, \"trt\" : 1]> ";
  const onnx::Common::Status status = onnx::OnnxParser::Parse(model, header + text);
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage() << "\nin " << text;
  DefineWeights(*model.mutable_graph());
  return model;
}

Result<ModelGraph> TryRead(const onnx::ModelProto& model, const Dims& dims, bool apply_rewrites) {
  const testing::TemporaryFolder folder;
  ReadOptions options;
  options.dims = dims;
  options.apply_rewrites = apply_rewrites;
  return ReadModel(folder.Write("model.onnx", model.SerializeAsString()), options);
}

ModelGraph ReadText(const std::string& text, const Dims& dims, int opset, bool apply_rewrites) {
  Result<ModelGraph> graph = TryRead(ModelOf(text, opset), dims, apply_rewrites);
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  if (!graph.ok()) return {};
  const Status valid = Validate(*graph);
  EXPECT_TRUE(valid.ok()) << valid.error().message;
  return std::move(*graph);
}

std::string ErrorOf(const onnx::ModelProto& model, const Dims& dims) {
  const Result<ModelGraph> graph = TryRead(model, dims);
  if (graph.ok()) return "";
  const std::string& message = graph.error().message;
  const std::string name = "model.onnx: ";
  const std::size_t at = message.find(name);
  EXPECT_NE(at, std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return at == std::string::npos ? message : message.substr(at + name.size());
}

std::string ErrorOf(const std::string& text, const Dims& dims, int opset) {
  return ErrorOf(ModelOf(text, opset), dims);
}

const Layer& LayerCalled(const ModelGraph& graph, const std::string& name) {
  for (const Layer& layer : graph.layers)
    if (layer.name == name) return layer;
  ADD_FAILURE() << "no layer is called " << name;
  static const Layer none;
  return none;
}

const Value& ValueCalled(const ModelGraph& graph, const std::string& name) {
  for (const Value& value : graph.values)
    if (value.name == name) return value;
  ADD_FAILURE() << "no value is called " << name;
  static const Value none;
  return none;
}

std::string TypeOf(const ModelGraph& graph, const std::string& value) {
  const Value& found = ValueCalled(graph, value);
  return std::string(Name(found.type)) + " " + (found.shape ? Format(*found.shape) : "?");
}

std::string Describe(const Layer& layer) {
  if (layer.workload) return Format(*layer.workload);
  return (layer.status == LayerStatus::kFree ? "free: " : "unknown: ") + layer.reason;
}

}  // namespace infimum
