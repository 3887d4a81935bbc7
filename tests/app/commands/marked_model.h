// A model of which every name has the marker, measured on the fake machine, with a run of it in the store.
#pragma once

#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/commands/program.h"
#include "tests/support/marker.h"

namespace infimum::testing {

class MarkedModel : public ::testing::Test {
 protected:
  void SetUp() override {
    onnx::ModelProto model;
    const auto parsed = onnx::OnnxParser::Parse(model, R"(
      <ir_version: 9, opset_import: ["" : 17, "xyzzyplugh.ops" : 1], producer_name: "Xyzzyplugh exporter",
       producer_version: "Xyzzyplugh", domain: "xyzzyplugh", doc_string: "Xyzzyplugh", metadata_props: ["Xyzzyplugh": "Xyzzyplugh"]>
      Xyzzyplugh (float[Xyzzyplugh_batch, 16, 32, 32] Xyzzyplugh_x) => (float[Xyzzyplugh_batch, 32, 32, 32] Xyzzyplugh_y,
              float[Xyzzyplugh_batch, 32, 32, 32] Xyzzyplugh_e)
        <int64[4] Xyzzyplugh_s1 = {32, 16, 3, 3}, int64[4] Xyzzyplugh_s2 = {32, 32, 3, 3}> {
        Xyzzyplugh_w1 = ConstantOfShape <value = float[1] {0.01}> (Xyzzyplugh_s1)
        Xyzzyplugh_w2 = ConstantOfShape <value = float[1] {0.01}> (Xyzzyplugh_s2)
        [Xyzzyplugh_conv1] Xyzzyplugh_a = Conv <pads = [1, 1, 1, 1]> (Xyzzyplugh_x, Xyzzyplugh_w1)
        [Xyzzyplugh_relu1] Xyzzyplugh_b = Relu (Xyzzyplugh_a)
        [Xyzzyplugh_conv2] Xyzzyplugh_c = Conv <pads = [1, 1, 1, 1]> (Xyzzyplugh_b, Xyzzyplugh_w2)
        [Xyzzyplugh_same] Xyzzyplugh_d = Identity (Xyzzyplugh_c)
        [Xyzzyplugh_blend] Xyzzyplugh_e = xyzzyplugh.ops.XyzzyplughBlend <Xyzzyplugh = "Xyzzyplugh"> (Xyzzyplugh_d)
        [Xyzzyplugh_relu2] Xyzzyplugh_y = Relu (Xyzzyplugh_c)
      })");
    ASSERT_TRUE(parsed.IsOK()) << parsed.ErrorMessage();
    std::filesystem::create_directory(program_.folder() / "Xyzzyplugh");
    model_ = program_.Write("Xyzzyplugh/Xyzzyplugh.onnx", model.SerializeAsString());
  }

  std::vector<std::string> With(std::vector<std::string> arguments, std::vector<std::string> more) const {
    const std::vector<std::string> common = {model_,      "--dim", "Xyzzyplugh_batch=2", "--db", "Xyzzyplugh.db",
                                             "--backend", backend_};
    arguments.insert(arguments.end(), common.begin(), common.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  Ended Run(std::vector<std::string> arguments, std::vector<std::string> more = {}) const {
    Ended ended = program_.Infimum(With(std::move(arguments), std::move(more)));
    EXPECT_EQ(ended.exit_code, 0) << ended.errors;
    return ended;
  }

  // All of it, and a run of which every layer is twice as slow.
  void MeasureAndImport() {
    Run({"analyze"}, {"--framework", "none", "--budget", budget_, "--report", "first.json"});
    const nlohmann::json report = nlohmann::json::parse(program_.Read("first.json"));
    nlohmann::json layers = nlohmann::json::array();
    double sum = 0;
    for (const auto& layer : report["layers"]) {
      if (layer["status"] == "free") continue;
      const double time = (layer["latency_us"].is_null() ? 20.0 : layer["latency_us"].get<double>()) * 2 + 50;
      sum += time;
      const std::string name = layer["name"];
      const std::string op = layer["op"].get<std::string>();
      layers.push_back({{"name", name + "_nchwc"},
                        {"op", op.substr(op.rfind('.') + 1)},
                        {"provider", "XyzzyplughExecutionProvider"},
                        {"nodes", {name}},
                        {"algorithm", "xyzzyplugh_gemm_kernel"},
                        {"samples_us", {time}}});
    }
    layers.push_back({{"name", "reorder Xyzzyplugh_a"}, {"op", "ReorderInput"}, {"samples_us", {300}}});
    sum += 300;
    const nlohmann::json run = {
        {"schema", "infimum.run/1"},
        {"framework", "onnxruntime"},
        {"framework_version", "1.31.1+Xyzzyplugh"},
        {"model", "Xyzzyplugh"},
        {"contract", "strict-f32"},
        {"threads", 1},
        {"dims", {{"Xyzzyplugh_batch", 2}}},
        {"settings", {{"Xyzzyplugh", "1"}, {"provider", "Xyzzyplugh"}, {"graph_optimization_level", "all"}}},
        {"end_to_end", {{{"samples_us", {sum + 100}}}, {{"samples_us", {sum + 120}}}}},
        {"warnings", {"Xyzzyplugh"}},
        {"layers", layers}};
    const std::string profile = program_.Write("Xyzzyplugh/run.json", run.dump());
    program_.Run({"import", profile, "--model", model_, "--dim", "Xyzzyplugh_batch=2", "--device",
                  report["device"]["key"], "--threads", "1", "--db", "Xyzzyplugh.db"});
  }

  ProgramTest program_;
  std::string model_;
  std::string backend_ = "fake";
  std::string budget_ = "60s";
};

}  // namespace infimum::testing
