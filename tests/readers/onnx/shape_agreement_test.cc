// Our node by node inference against ONNX's own over the whole model: wherever ONNX knows a shape, ours is
// the same; and ours knows every shape that ONNX knows.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "src/readers/onnx/read_model.h"
#include "tests/readers/onnx/model_text.h"
#include "tests/support/shared_data.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;
using Dims = std::map<std::string, std::int64_t>;

onnx::ModelProto InferredByOnnx(const fs::path& path, const Dims& dims) {
  onnx::ModelProto model;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(model.ParseFromIstream(&file));
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.clear_value_info();
  for (onnx::ValueInfoProto& input : *graph.mutable_input())
    for (auto& dim : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
      if (const auto found = dims.find(dim.dim_param()); dim.has_dim_param() && found != dims.end())
        dim.set_dim_value(found->second);
  for (onnx::ValueInfoProto& output : *graph.mutable_output())
    output.mutable_type()->mutable_tensor_type()->clear_shape();
  onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                     onnx::ShapeInferenceOptions(true, 1, true));
  return model;
}

void Compare(const fs::path& path, const Dims& dims) {
  SCOPED_TRACE(path.filename().string());
  ReadOptions options;
  options.dims = dims;
  options.apply_rewrites = false;  // so that every value of the file is there
  const Result<ModelGraph> graph = ReadModel(path, options);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  std::map<std::string, const Value*> values;
  for (const Value& value : graph->values) values[value.name] = &value;

  const onnx::ModelProto model = InferredByOnnx(path, dims);
  int compared = 0;
  for (const auto& infos : {model.graph().value_info(), model.graph().output()}) {
    for (const onnx::ValueInfoProto& info : infos) {
      const auto ours = values.find(info.name());
      ASSERT_NE(ours, values.end()) << info.name();
      Shape shape;
      for (const auto& dim : info.type().tensor_type().shape().dim()) {
        if (!dim.has_dim_value()) break;
        shape.dims.push_back(dim.dim_value());
      }
      if (!info.type().tensor_type().has_shape()) continue;
      if (shape.rank() != static_cast<std::size_t>(info.type().tensor_type().shape().dim_size())) continue;
      ASSERT_TRUE(ours->second->shape) << info.name();
      EXPECT_EQ(*ours->second->shape, shape) << info.name();
      ++compared;
    }
  }
  EXPECT_GT(compared, 5);
}

// Operators that older sets define as functions of others.
TEST(ShapeInference, IsThatOfTheFunctionWhereAnOperatorIsOne) {
  for (const char* op : {"LessOrEqual", "GreaterOrEqual"})
    EXPECT_EQ(TypeOf(ReadText(std::string("g (float[4, 1] x, float[5] y) => (bool[a, b] z) { z = ") + op + " (x, y) }",
                              {}, 14),
                     "z"),
              "bool 4x5");
}

TEST(ShapeInference, AgreesWithOnnxOnEveryLightModel) {
  for (const fs::directory_entry& entry : fs::directory_iterator(INFIMUM_LIGHT_MODELS)) Compare(entry.path(), {});
}

TEST(ShapeInference, AgreesWithOnnxOnEverySharedModel) {
  const fs::path folder = SharedData("models");
  INFIMUM_NEEDS_DATA(folder);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".onnx") continue;
    Dims dims;
    const std::string name = entry.path().stem();
    for (const char* batched : {"resnet50", "resnet50_v1", "resnet50-f16", "mobilenet_v2", "vgg16", "bert-base"})
      if (name == batched) dims["batch"] = 8;
    if (name == "bert-base") dims["sequence"] = 128;
    Compare(entry.path(), dims);
  }
}

}  // namespace
}  // namespace infimum
