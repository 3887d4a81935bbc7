// What a file of an engine could hold that trtexec never wrote: each is an error with its place, or is read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <sstream>

#include "src/core/results/json_struct.h"
#include "src/readers/profiles/tensorrt/tensorrt_engine.h"

namespace infimum::tensorrt_hostile_files_test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

enum class Role { kLayerInfo, kProfile, kTimes, kMetadata };
constexpr Role kRoles[] = {Role::kLayerInfo, Role::kProfile, Role::kTimes, Role::kMetadata};

std::string GoodText(Role role) {
  switch (role) {
    case Role::kLayerInfo:
      return R"json({"Layers":[{"Name":"Conv_0 + PWN(Relu_1)","LayerType":"CaskConvolution","Inputs":[{"Name":"x",)json"
             R"("Dimensions":[8,3],"Format/Datatype":"Half"}],"Outputs":[],"TacticName":"t",)"
             R"("Metadata":"[ONNX Layer: a]\u001e[ONNX Layer: b]"},"{ForeignNode[a...b]}","c [profile 1]"],)"
             R"("Bindings":["x","y"]})";
    case Role::kProfile:
      return R"([{"count":10},{"name":"Conv_0","timeMs":2.5,"averageMs":0.25,"medianMs":0.24,"percentage":90},)"
             R"({"name":"b","averageMs":1e-3}])";
    case Role::kTimes:
      return R"([{"startEnqMs":1,"endEnqMs":2,"startComputeMs":203,"computeMs":4.5,"latencyMs":5,"endToEndMs":6},)"
             R"({"computeMs":4}])";
    case Role::kMetadata:
      return R"json({"inference_options":{"Duration":"3s (+ 200ms warm up)"},"device_information":{"Selected Device":"A100",)json"
             R"("SMs":108.0,"Compute Clock Rate":1.41,"Compute Capability":8.0},"model_options":{"Model":"a/b.onnx"}})";
  }
  return "";
}

// With the good files beside it, so that what was read is joined too.
Result<RunProfile> Read(Role role, const std::string& text) {
  std::istringstream inputs[4];
  for (const Role each : kRoles) inputs[static_cast<int>(each)].str(each == role ? text : GoodText(each));
  TensorRtStreams streams;
  streams.layer_info = {&inputs[0], "FILE"};
  streams.profile = {&inputs[1], "FILE"};
  streams.times = {&inputs[2], "FILE"};
  streams.metadata = {{&inputs[3], "FILE"}};
  return ReadTensorRtEngine(streams);
}

std::string ErrorOf(Role role, const std::string& text) {
  const Result<RunProfile> run = Read(role, text);
  return run.ok() ? "" : run.error().message;
}

TEST(TensorRtHostileFiles, TheGoodOnesAreRead) {
  for (const Role role : kRoles) EXPECT_EQ(ErrorOf(role, GoodText(role)), "");
}

TEST(TensorRtHostileFiles, EveryTruncationIsAnErrorWithItsPlace) {
  for (const Role role : kRoles) {
    const std::string good = GoodText(role);
    for (std::size_t size = 0; size < good.size(); ++size)
      EXPECT_THAT(ErrorOf(role, good.substr(0, size)), StartsWith("FILE: ")) << good.substr(0, size);
  }
}

// All places of a document, itself included.
void Places(const Json& json, const Json::json_pointer& at, std::vector<Json::json_pointer>& all) {
  all.push_back(at);
  if (json.is_object())
    for (const auto& [key, value] : json.items()) Places(value, at / key, all);
  if (json.is_array())
    for (std::size_t i = 0; i < json.size(); ++i) Places(json[i], at / i, all);
}

TEST(TensorRtHostileFiles, EveryFieldMayHaveAnyType) {
  const char* const kValues[] = {"null",  "true", "-1",  "0",  "1e308",  "18446744073709551615", "\"\"",
                                 "\"x\"", "[]",   "[1]", "{}", "[[{}]]", "{\"a\":[null]}",       "[null,\"a\",-7]"};
  int errors = 0, read = 0;
  for (const Role role : kRoles) {
    const Json good = Json::parse(GoodText(role));
    std::vector<Json::json_pointer> places;
    Places(good, Json::json_pointer(), places);
    for (const Json::json_pointer& place : places) {
      for (const char* const value : kValues) {
        Json bad = good;
        bad[place] = Json::parse(value);
        const Result<RunProfile> run = Read(role, bad.dump());
        ++(run.ok() ? read : errors);
        if (!run.ok()) {
          EXPECT_THAT(run.error().message, StartsWith("FILE: ")) << bad.dump();
        }
      }
    }
  }
  EXPECT_GT(errors, 500);
  EXPECT_GT(read, 100);
}

TEST(TensorRtHostileFiles, ErrorsNameTheLayerAndTheField) {
  EXPECT_EQ(ErrorOf(Role::kProfile, R"([{"count":1},{"name":"a","averageMs":1},{"name":"b","averageMs":"x"}])"),
            "FILE: layer 2 ('b'): 'averageMs' is the text 'x', expected a number from 0 to 31622400000");
  EXPECT_EQ(ErrorOf(Role::kProfile, R"([{"count":1},{"name":"a","averageMs":-1}])"),
            "FILE: layer 1 ('a'): 'averageMs' is -1, expected a number from 0 to 31622400000");
  EXPECT_EQ(ErrorOf(Role::kProfile, R"([{"count":1},{"name":"a","percentage":7}])"),
            "FILE: layer 1 ('a'): has no time: neither 'medianMs' nor 'averageMs'");
  EXPECT_EQ(ErrorOf(Role::kProfile, R"([{"count":1},{"averageMs":7}])"), "FILE: layer 1: has no 'name'");
  EXPECT_EQ(ErrorOf(Role::kProfile, R"([{"count":1.5}])"),
            "FILE: 'count' is 1.5, expected a whole number from 0 to 1e+12");
  EXPECT_EQ(ErrorOf(Role::kProfile, "{}"), "FILE: not what 'trtexec --exportProfile' writes: no list of layers");
  EXPECT_EQ(ErrorOf(Role::kTimes, R"([{"computeMs":1},{"latencyMs":1}])"), "FILE: inference 2: has no 'computeMs'");
  EXPECT_EQ(ErrorOf(Role::kTimes, R"([{"computeMs":inf}])"),
            "FILE: inference 1: 'computeMs' is the text '?', expected a number from 0 to 31622400000");
  EXPECT_EQ(ErrorOf(Role::kTimes, "[7]"), "FILE: inference 1: it is 7, expected an object");
  EXPECT_EQ(ErrorOf(Role::kLayerInfo, R"({"Layers":[{"Name":"a"},7]})"),
            "FILE: layer 2: it is 7, expected an object or a name");
  EXPECT_EQ(ErrorOf(Role::kLayerInfo, R"({"Layers":[{"Name":"a","Inputs":[{"Dimensions":[2,-3]}]}]})"),
            "FILE: layer 1: Inputs[0]: 'Dimensions' is -3, expected a whole number from -1 to 1099511627776");
  EXPECT_EQ(ErrorOf(Role::kLayerInfo, R"({"Layers":[{"Name":"a","Outputs":[{},{"Format/Datatype":7}]}]})"),
            "FILE: layer 1: Outputs[1]: 'Format/Datatype' is 7, expected a text");
  EXPECT_EQ(ErrorOf(Role::kMetadata, R"({"a":1})"),
            "FILE: neither a device's properties nor trtexec's options, as TREx writes them");
}

TEST(TensorRtHostileFiles, NoDamagedTextCrashesTheReader) {
  std::mt19937_64 random(11);
  for (const Role role : kRoles) {
    const std::string good = GoodText(role);
    for (int attempt = 0; attempt < 3000; ++attempt) {
      std::string text = good;
      for (int i = 0; i < 4; ++i) text[random() % text.size()] = static_cast<char>(random());
      if (attempt % 5 == 0) text.resize(random() % text.size());
      static_cast<void>(Read(role, text).ok());
    }
  }
}

TEST(TensorRtHostileFiles, DepthAndNumbersAreBounded) {
  for (const Role role : kRoles) {
    EXPECT_THAT(ErrorOf(role, std::string(10'000'000, '[')), StartsWith("FILE: ")) << static_cast<int>(role);
    std::string deep = "{\"Layers\":";
    for (int i = 0; i < 100'000; ++i) deep += "[";
    EXPECT_THAT(ErrorOf(role, deep + std::string(100'000, ']') + "}"), HasSubstr("nested deeper than 32 levels"));
  }
  EXPECT_THAT(ErrorOf(Role::kProfile, std::string((std::size_t{256} << 20) + 1, ' ')),
              HasSubstr("larger than 256 MiB"));
}

// With INFIMUM_LONG (scripts/test long) a million.
TEST(TensorRtHostileFiles, HundredsOfThousandsOfLayersAreRead) {
  const int layers = std::getenv("INFIMUM_LONG") != nullptr ? 1'000'000 : 200'000;
  std::string graph = "{\"Layers\":[\"a\"", profile = "[{\"count\":2}";
  for (int i = 1; i < layers; ++i) graph += ",\"a\"";
  // All of one name, of which the profile has other ones as well.
  for (int i = 0; i < layers / 2; ++i) profile += ",{\"name\":\"a\",\"averageMs\":1},{\"name\":\"b\",\"averageMs\":1}";
  std::istringstream graph_stream(graph + "]}"), profile_stream(profile + "]");
  TensorRtStreams streams;
  streams.layer_info = {&graph_stream, "graph"};
  streams.profile = {&profile_stream, "profile"};
  const Result<RunProfile> run = ReadTensorRtEngine(streams);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_THAT(run->layers, SizeIs(layers + layers / 2));
  EXPECT_THAT(run->warnings, SizeIs(2));
  for (const std::string& warning : run->warnings) EXPECT_LT(warning.size(), 1000U);
}

}  // namespace
}  // namespace infimum::tensorrt_hostile_files_test
