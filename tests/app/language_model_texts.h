// Language models as texts in ONNX's form, written to a folder that goes with the test.
//
//   TEST_F(Texts, Name) { const ModelGraph graph = Read("g (float[n, 4] x) => ...", {{"n", 2}}); }
#pragma once

#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "src/app/processes/temporary_folder.h"
#include "src/readers/onnx/read_model.h"

namespace infimum::language_model_test {

using Dims = std::map<std::string, std::int64_t>;

class Texts : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> folder = TemporaryFolder::Make();
    ASSERT_TRUE(folder.ok()) << folder.error().message;
    folder_.emplace(*std::move(folder));
  }

  std::filesystem::path Write(const std::string& graph, int opset = 23) {
    onnx::ModelProto model;
    const std::string text =
        "<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) + ", \"com.microsoft\" : 1]> " + graph;
    const auto parsed = onnx::OnnxParser::Parse(model, text.c_str());
    EXPECT_TRUE(parsed.IsOK()) << parsed.ErrorMessage();
    const std::filesystem::path path = folder_->path() / "model.onnx";
    std::ofstream(path, std::ios::binary) << model.SerializeAsString();
    return path;
  }

  ModelGraph Read(const std::string& graph, const Dims& dims, int opset = 23) {
    ReadOptions options;
    options.dims = dims;
    Result<ModelGraph> read = ReadModel(Write(graph, opset), options);
    EXPECT_TRUE(read.ok()) << read.error().message;
    if (!read.ok()) return {};
    const Status valid = Validate(*read);
    EXPECT_TRUE(valid.ok()) << valid.error().message;
    return *std::move(read);
  }
  std::string ErrorOf(const std::string& graph, const Dims& dims) {
    ReadOptions options;
    options.dims = dims;
    const Result<ModelGraph> read = ReadModel(Write(graph), options);
    return read.ok() ? "" : read.error().message;
  }

  std::optional<TemporaryFolder> folder_;
};

}  // namespace infimum::language_model_test
