// --anonymize: whatever a model, its run and its files are called, no report says it, and its numbers stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace infimum::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr const char* kMarker = "Xyzzyplugh";  // of which every name here has one

std::string Small(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string Base64(const std::string& text) {
  constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i + 2 < text.size(); i += 3) {  // whole groups of three alone
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits * 256 + static_cast<unsigned char>(text[i + k]);
    for (int shift = 18; shift >= 0; shift -= 6) out += kDigits[bits >> shift & 63];
  }
  return out;
}

// The marker in any case, in base64 wherever it begins in its text, or with escapes for its letters.
std::vector<std::string> TracesOfTheMarker(const std::string& text) {
  std::vector<std::string> found;
  const std::string small = Small(text);
  std::string percent, unicode, hex;
  for (const char c : Small(kMarker)) {
    char digits[8];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
    percent += std::string("%") + digits;
    unicode += std::string("\\u00") + digits;
    hex += digits;
  }
  for (const std::string& trace : {Small(kMarker), percent, unicode, hex})
    if (const std::size_t at = small.find(trace); at != std::string::npos)
      found.push_back(text.substr(at < 60 ? 0 : at - 60, 140));
  for (const std::string& name : {std::string(kMarker), Small(kMarker)})
    for (std::size_t skipped = 0; skipped < 3; ++skipped)
      if (text.find(Base64(name.substr(skipped))) != std::string::npos) found.push_back("base64 of " + name);
  return found;
}

// Every number and truth value with the way to it; texts are what may differ.
void Collect(const Json& json, const std::string& path, std::vector<std::string>& numbers) {
  if (path == "/run/settings") return;
  if (json.is_object() || json.is_array()) {
    numbers.push_back(path + " has " + std::to_string(json.size()));
    for (const auto& [key, value] : json.items()) Collect(value, path + "/" + key, numbers);
  } else if (!json.is_string()) {
    numbers.push_back(path + " = " + json.dump());
  }
}

std::vector<std::string> Numbers(const std::string& text) {
  std::vector<std::string> numbers;
  Collect(Json::parse(text), "", numbers);
  return numbers;
}

class Anonymize : public ::testing::Test {
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
    Run({"analyze"}, {"--framework", "none", "--budget", "60s", "--report", "first.json"});
    const Json report = Json::parse(program_.Read("first.json"));
    Json layers = Json::array();
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
    const Json run = {
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
    const Ended imported =
        program_.Infimum({"import", profile, "--model", model_, "--dim", "Xyzzyplugh_batch=2", "--device",
                          report["device"]["key"], "--threads", "1", "--db", "Xyzzyplugh.db"});
    ASSERT_EQ(imported.exit_code, 0) << imported.errors;
  }

  std::string Report(const std::string& ending, bool anonymize) const {
    std::vector<std::string> more = {"-o", "report." + ending};
    if (anonymize) more.push_back("--anonymize");
    Run({"report"}, more);
    return program_.Read("report." + ending);
  }

  void ExpectNoTraces() {
    for (const char* ending : {"html", "md", "json", "csv"}) {
      EXPECT_FALSE(TracesOfTheMarker(Report(ending, false)).empty()) << ending << ": nothing is tested";
      EXPECT_THAT(TracesOfTheMarker(Report(ending, true)), ::testing::IsEmpty()) << ending;
    }
    for (const char* format : {"table", "json", "csv"}) {
      const std::vector<std::string> plain = {"--framework",     "onnxruntime", "--report",
                                              "Xyzzyplugh.html", "--format",    format};
      std::vector<std::string> anonymous = plain;
      anonymous.push_back("--anonymize");
      EXPECT_FALSE(TracesOfTheMarker(Run({"analyze"}, plain).output).empty()) << format << ": nothing is tested";
      EXPECT_THAT(TracesOfTheMarker(Run({"analyze"}, anonymous).output), ::testing::IsEmpty()) << format;
      EXPECT_THAT(TracesOfTheMarker(program_.Read("Xyzzyplugh.html")), ::testing::IsEmpty());
    }
    EXPECT_EQ(Numbers(Report("json", true)), Numbers(Report("json", false)));
  }

  ProgramTest program_;
  std::string model_;
  std::string backend_ = "fake";
};

TEST_F(Anonymize, NoWriterSaysAName) {
  MeasureAndImport();
  ExpectNoTraces();
}

// Of the real library, whose candidates have sources.
TEST_F(Anonymize, NoSourceOfACandidateSaysAName) {
  backend_ = "onednn";
  MeasureAndImport();
  ExpectNoTraces();
  const Json report = Json::parse(Report("json", true));
  ASSERT_FALSE(report["sources"].empty());
  EXPECT_TRUE(report["sources"][0]["text"].is_string()) << report["sources"][0];
}

TEST_F(Anonymize, WhatEverybodyKnowsStays) {
  MeasureAndImport();
  const Json report = Json::parse(Report("json", true)), plain = Json::parse(Report("json", false));
  EXPECT_EQ(report["model"]["name"], "model");
  EXPECT_EQ(report["model"]["sha256"], "");
  EXPECT_EQ(report["model"]["inputs"][0]["name"], "input-1");
  EXPECT_EQ(report["model"]["inputs"][0]["shape"], "2x16x32x32");
  EXPECT_EQ(report["device"], plain["device"]);
  EXPECT_EQ(report["environment"]["host"], "");
  EXPECT_EQ(report["run"]["framework"], "onnxruntime");
  EXPECT_EQ(report["run"]["version"], "1.31.1");
  EXPECT_EQ(report["run"]["settings"], (Json{{"graph_optimization_level", "all"}}));
  std::vector<std::string> custom;
  for (std::size_t i = 0; i < report["layers"].size(); ++i) {
    const Json &layer = report["layers"][i], &own = plain["layers"][i];
    EXPECT_EQ(layer["config"], own["config"]);
    EXPECT_EQ(layer["candidate"], own["candidate"]);
    if (own["op"] == "Conv" || own["op"] == "Relu") {
      EXPECT_EQ(layer["op"], own["op"]);
      EXPECT_EQ(layer["name"], own["op"].get<std::string>() + "-" + std::to_string(i + 1));
    } else if (layer["status"] == "unknown") {
      custom.push_back(layer["op"]);
    }
  }
  EXPECT_THAT(custom, ::testing::ElementsAre("custom-1"));
  EXPECT_EQ(report["workloads"], plain["workloads"]);
  ASSERT_FALSE(report["findings"].empty());
  bool any_command = false;
  for (const Json& finding : report["findings"])
    for (const Json& command : finding["commands"])
      if (command["what"] == "measure") {
        any_command = true;
        EXPECT_THAT(command["command"].get<std::string>(), HasSubstr("--db DB"));
      }
  EXPECT_TRUE(any_command);
}

// The message of a Python that is not there holds its path.
TEST_F(Anonymize, WhatFailedOnTheWayIsNotQuoted) {
  const std::vector<std::string> more = {"--framework", "onnxruntime", "--python", "/nowhere/Xyzzyplugh/python",
                                         "--report",    "out.json"};
  std::vector<std::string> anonymous = more;
  anonymous.push_back("--anonymize");
  const Ended plain = Run({"analyze"}, more);
  EXPECT_THAT(program_.Read("out.json"), HasSubstr("/nowhere/Xyzzyplugh"));
  const Ended ended = Run({"analyze"}, anonymous);
  EXPECT_THAT(TracesOfTheMarker(program_.Read("out.json") + ended.output), ::testing::IsEmpty());
  EXPECT_THAT(program_.Read("out.json"), HasSubstr("A step of the analysis failed"));
}

TEST_F(Anonymize, TheFileIsNotNamedAfterTheModel) {
  Run({"analyze"}, {"--framework", "none", "--anonymize"});
  EXPECT_TRUE(std::filesystem::exists(program_.folder() / "model.html"));
  EXPECT_FALSE(std::filesystem::exists(program_.folder() / "Xyzzyplugh.html"));
}

}  // namespace
}  // namespace infimum::testing
