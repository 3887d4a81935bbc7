#include "src/readers/profiles/tensorrt/tensorrt_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/temporary_folder.h"

namespace infimum::tensorrt_engine_test {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// As TensorRT 10 writes it: metadata, with the separator escaped in one layer and as it is in the other.
const std::string kGraph =
    R"({"Layers": [{
  "Name": "Reformatting CopyNode for Input Tensor 0 to Conv_0 + Relu_1", "LayerType": "Reformat",
  "Inputs": [{"Name": "x", "Location": "Device", "Dimensions": [8,3,224,224], "Format/Datatype": "Row major linear FP32"}],
  "Outputs": [{"Name": "r", "Location": "Device", "Dimensions": [8,3,224,224],
               "Format/Datatype": "Channel major FP16 format where channel % 4 == 0"}],
  "ParameterType": "Reformat", "Origin": "REFORMAT", "TacticValue": "0x0", "StreamId": 0, "Metadata": ""
},{
  "Name": "Conv_0 + Relu_1", "LayerType": "CaskConvolution",
  "Inputs": [{"Name": "r", "Location": "Device", "Dimensions": [8,3,224,224],
              "Format/Datatype": "Channel major FP16 format where channel % 4 == 0"}],
  "Outputs": [{"Name": "y", "Location": "Device", "Dimensions": [8,64,112,112], "Format/Datatype": "Half"}],
  "ParameterType": "Convolution", "Weights": {"Type": "Half", "Count": 9408}, "Bias": {"Type": "Half", "Count": 64},
  "TacticName": "sm80_xmma_fprop", "TacticValue": "0x91e446ca44dd0a6c",
  "Metadata": "[ONNX Layer: Conv_0]\u001e[ONNX Layer: Relu_1]"
},{
  "Name": "__myl_AddMul_myl0_1", "LayerType": "kgen", "Inputs": [], "Outputs": [{"Name": "z", "Dimensions": [-1,64]}],
  "TacticName": "__myl_AddMul_0xabc", "Metadata": "[ONNX Layer: /a/Add])" +
    std::string("\x1e") + R"([ONNX Layer: /a/Mul]"
}],
"Bindings": ["x", "z"]})";

const std::string kProfile = R"([
  { "count" : 10 }
, { "name" : "Reformatting CopyNode for Input Tensor 0 to Conv_0 + Relu_1", "timeMs" : 0.1, "averageMs" : 0.01, "medianMs" : 0.009, "percentage" : 4.5 }
, { "name" : "Conv_0 + Relu_1", "timeMs" : 2, "averageMs" : 0.2, "medianMs" : 0.19, "percentage" : 91 }
, { "name" : "__myl_AddMul_myl0_1", "timeMs" : 0.1, "averageMs" : 0.01, "percentage" : 4.5 }
])";

const std::string kTimes = R"([
  { "startEnqMs" : 1, "endEnqMs" : 1.5, "startComputeMs" : 2, "endComputeMs" : 11, "computeMs" : 9, "latencyMs" : 9.5 }
, { "startEnqMs" : 210, "endEnqMs" : 210.25, "startComputeMs" : 211, "endComputeMs" : 212, "computeMs" : 0.25, "latencyMs" : 0.5 }
, { "startEnqMs" : 220, "endEnqMs" : 220.75, "startComputeMs" : 221, "endComputeMs" : 222, "computeMs" : 0.5, "latencyMs" : 0.75 }
])";

struct Texts {
  std::string graph, profile, times;
  std::vector<std::string> metadata;
};

Result<RunProfile> Read(const Texts& texts) {
  std::istringstream graph(texts.graph), profile(texts.profile), times(texts.times);
  std::vector<std::istringstream> metadata;
  for (const std::string& text : texts.metadata) metadata.emplace_back(text);
  TensorRtStreams streams;
  if (!texts.graph.empty()) streams.layer_info = {&graph, "graph.json"};
  if (!texts.profile.empty()) streams.profile = {&profile, "profile.json"};
  if (!texts.times.empty()) streams.times = {&times, "timing.json"};
  for (std::istringstream& stream : metadata) streams.metadata.push_back({&stream, "metadata.json"});
  return ReadTensorRtEngine(streams);
}

RunProfile ReadGood(const Texts& texts) {
  Result<RunProfile> run = Read(texts);
  EXPECT_TRUE(run.ok()) << run.error().message;
  return run.ok() ? *std::move(run) : RunProfile();
}

std::string GraphOf(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "\"" : "\n,\"") + name + '"';
  return "{\"Layers\": [" + text + "],\n\"Bindings\": [\"x\"\n,\"y\"\n]}";
}

std::string ProfileOf(const std::vector<std::pair<std::string, std::string>>& layers) {
  std::string text = "[ { \"count\" : 7 }\n";
  for (const auto& [name, time] : layers)
    text += ", { \"name\" : \"" + name + "\", \"averageMs\" : " + time + ", \"medianMs\" : " + time + " }\n";
  return text + "]";
}

std::vector<std::string> NamesOf(const RunProfile& run) {
  std::vector<std::string> names;
  for (const ProfiledLayer& layer : run.layers) names.push_back(layer.name);
  return names;
}

TEST(TensorRtEngine, TheThreeFilesAreOneProfile) {
  const RunProfile run = ReadGood({kGraph, kProfile, kTimes, {}});
  EXPECT_EQ(run.framework, "tensorrt");
  EXPECT_EQ(run.device, "");
  EXPECT_THAT(run.warnings, IsEmpty());
  ASSERT_THAT(run.layers, SizeIs(3));

  const ProfiledLayer& reformat = run.layers[0];
  EXPECT_EQ(reformat.op, "Reformat");
  EXPECT_THAT(reformat.nodes, IsEmpty());
  EXPECT_EQ(reformat.serves, "Conv_0 + Relu_1");
  EXPECT_THAT(reformat.samples, ElementsAre(Latency(9)));

  const ProfiledLayer& convolution = run.layers[1];
  EXPECT_EQ(convolution.name, "Conv_0 + Relu_1");
  EXPECT_EQ(convolution.op, "CaskConvolution");
  EXPECT_EQ(convolution.algorithm, "sm80_xmma_fprop");
  EXPECT_THAT(convolution.nodes, ElementsAre("Conv_0", "Relu_1"));
  EXPECT_THAT(convolution.inputs, ElementsAre("r"));
  EXPECT_THAT(convolution.outputs, ElementsAre("y"));
  EXPECT_THAT(convolution.input_tensors, ElementsAre(ProfiledTensor{"f16", {8, 3, 224, 224}, "NHWC4"}));
  EXPECT_THAT(convolution.output_tensors, ElementsAre(ProfiledTensor{"f16", {8, 64, 112, 112}, ""}));
  EXPECT_THAT(convolution.samples, ElementsAre(Latency(190)));

  const ProfiledLayer& kernel = run.layers[2];
  EXPECT_THAT(kernel.nodes, ElementsAre("/a/Add", "/a/Mul"));
  EXPECT_THAT(kernel.output_tensors, ElementsAre(ProfiledTensor{}));
  // Without a median the mean.
  EXPECT_THAT(kernel.samples, ElementsAre(Latency(10)));

  ASSERT_THAT(run.end_to_end, SizeIs(1));
  EXPECT_THAT(run.end_to_end[0].samples, ElementsAre(Latency(250), Latency(500)));
  EXPECT_THAT(run.settings,
              UnorderedElementsAre(Pair("profiled_inferences", "10"), Pair("bindings", "x, z"),
                                   Pair("warm_up_inferences_left_out", "1"), Pair("host_latency_median_ms", "0.625"),
                                   Pair("enqueue_median_ms", "0.5")));
}

TEST(TensorRtEngine, EachFileAloneIsRead) {
  const RunProfile layers = ReadGood({kGraph, "", "", {}});
  EXPECT_THAT(layers.layers, SizeIs(3));
  EXPECT_THAT(layers.layers[1].samples, IsEmpty());
  EXPECT_THAT(layers.end_to_end, IsEmpty());
  EXPECT_THAT(layers.warnings, IsEmpty());

  const RunProfile profile = ReadGood({"", kProfile, "", {}});
  EXPECT_THAT(NamesOf(profile), ElementsAre(HasSubstr("Reformatting"), "Conv_0 + Relu_1", "__myl_AddMul_myl0_1"));
  EXPECT_THAT(profile.layers[1].nodes, ElementsAre("Conv_0", "Relu_1"));
  EXPECT_THAT(profile.layers[1].samples, ElementsAre(Latency(190)));
  EXPECT_EQ(profile.layers[0].serves, "Conv_0 + Relu_1");

  const RunProfile times = ReadGood({"", "", kTimes, {}});
  EXPECT_THAT(times.layers, IsEmpty());
  EXPECT_THAT(times.end_to_end, SizeIs(1));
}

TEST(TensorRtEngine, NoFilesAreAnError) {
  EXPECT_EQ(Read({}).error().message, "a TensorRT engine needs its layer information, its profile or its times");
  EXPECT_EQ(Read({"", "[{\"count\":0}]", "", {}}).error().message,
            "profile.json: contains neither a layer nor an inference");
  EXPECT_FALSE(Read({R"({"Layers":[]})", "", "[]", {}}).ok());
}

TEST(TensorRtEngine, LayerInformationMayBeNamesAlone) {
  const RunProfile run = ReadGood({GraphOf({"Conv_0 + Relu_1", "(Unnamed Layer* 3) [Shuffle]"}),
                                   ProfileOf({{"Conv_0 + Relu_1", "0.5"}, {"(Unnamed Layer* 3) [Shuffle]", "0"}}),
                                   "",
                                   {}});
  ASSERT_THAT(run.layers, SizeIs(2));
  EXPECT_EQ(run.layers[0].op, "");
  EXPECT_THAT(run.layers[0].nodes, ElementsAre("Conv_0", "Relu_1"));
  EXPECT_THAT(run.layers[0].samples, ElementsAre(Latency(500)));
  EXPECT_THAT(run.layers[1].nodes, IsEmpty());
  // No time at all is a time, where the profile says so.
  EXPECT_THAT(run.layers[1].samples, ElementsAre(Latency(0)));
}

TEST(TensorRtEngine, EqualNamesAreJoinedInOrder) {
  const RunProfile run = ReadGood({GraphOf({"a", "b", "a"}), ProfileOf({{"a", "1"}, {"b", "2"}, {"a", "3"}}), "", {}});
  ASSERT_THAT(run.layers, SizeIs(3));
  EXPECT_THAT(run.layers[0].samples, ElementsAre(Latency(1000)));
  EXPECT_THAT(run.layers[2].samples, ElementsAre(Latency(3000)));
  EXPECT_THAT(run.warnings, IsEmpty());
}

TEST(TensorRtEngine, ALayerInALoopHasTheSumOfItsRuns) {
  const RunProfile run = ReadGood(
      {GraphOf({"before", "body", "body", "after"}),
       ProfileOf({{"before", "1"}, {"body", "2"}, {"body", "3"}, {"body", "4"}, {"body", "5"}, {"after", "6"}}),
       "",
       {}});
  EXPECT_THAT(NamesOf(run), ElementsAre("before", "body", "body", "after"));
  EXPECT_THAT(run.layers[1].samples, ElementsAre(Latency(6000)));
  EXPECT_THAT(run.layers[2].samples, ElementsAre(Latency(8000)));
  EXPECT_THAT(run.warnings, IsEmpty());
}

TEST(TensorRtEngine, LayersOfOneFileAloneStayInPlaceAndAreNamed) {
  const RunProfile run = ReadGood(
      {GraphOf({"a", "b", "c"}), ProfileOf({{"first", "9"}, {"a", "1"}, {"between", "2"}, {"c", "3"}}), "", {}});
  EXPECT_THAT(NamesOf(run), ElementsAre("first", "a", "between", "b", "c"));
  EXPECT_THAT(run.layers[3].samples, IsEmpty());
  EXPECT_THAT(run.warnings,
              ElementsAre("profile.json: 2 layers with a time but not in the layer information: 'first', 'between'",
                          "graph.json: 1 layer without a time in profile.json: 'b'"));
}

TEST(TensorRtEngine, OneOptimizationProfileIsKept) {
  const std::string graph = GraphOf({"a", "b", "a [profile 1]", "b [profile 1]"});
  const RunProfile first = ReadGood({graph, "", "", {}});
  EXPECT_THAT(NamesOf(first), ElementsAre("a", "b"));
  EXPECT_THAT(first.warnings,
              ElementsAre("graph.json: 2 layers of other optimization profiles of the engine are left out"));
  const RunProfile second = ReadGood({graph, ProfileOf({{"a [profile 1]", "1"}, {"b [profile 1]", "2"}}), "", {}});
  EXPECT_THAT(NamesOf(second), ElementsAre("a [profile 1]", "b [profile 1]"));
  EXPECT_THAT(second.layers[0].nodes, ElementsAre("a"));
  EXPECT_THAT(second.layers[1].samples, ElementsAre(Latency(2000)));
}

TEST(TensorRtEngine, RegionsAndASingleProfiledInferenceAreWarnedOf) {
  const RunProfile run = ReadGood(
      {"", R"([{"count":1},{"name":"{ForeignNode[a...b]}","timeMs":2.5,"averageMs":2.5,"percentage":100}])", "", {}});
  EXPECT_THAT(run.layers[0].nodes, ElementsAre("a", "b"));
  EXPECT_THAT(run.warnings, ElementsAre(HasSubstr("single inference"),
                                        HasSubstr("1 layer of which only the first and the last node are known")));
}

std::string WarmUpOf(int milliseconds) {
  return "{\"inference_options\": {\"Duration\": \"3s (+ " + std::to_string(milliseconds) + "ms warm up)\"}}";
}

TEST(TensorRtEngine, TheWarmUpComesFromTheMetadata) {
  const RunProfile run = ReadGood({"", "", kTimes, {WarmUpOf(220)}});
  EXPECT_THAT(run.end_to_end[0].samples, ElementsAre(Latency(500)));
  // Where all is warm-up, it is better than nothing.
  const RunProfile all = ReadGood({"", "", kTimes, {WarmUpOf(9000)}});
  EXPECT_THAT(all.end_to_end[0].samples, SizeIs(3));
  EXPECT_THAT(all.warnings, ElementsAre(HasSubstr("all 3 inferences began in the first 9000 ms")));
}

TEST(TensorRtEngine, MetadataOfAllThreeKindsAreSettings) {
  const std::string device = R"([{"Name": "NVIDIA A100", "ComputeCapability": [8, 0], "CUDA_VERSION": [11, 6, 0],
      "CLOCK_RATE": 1410000, "MEMORY_CLOCK_RATE": 1512000, "MULTIPROCESSOR_COUNT": 108}])";
  const std::string profile = R"({"performance_summary": {"Throughput": 1130.01},
      "inference_options": {"CUDA Graph": "Enabled", "Input inference shape": "x=8x3"},
      "device_information": {"Selected Device": "NVIDIA A100", "Selected Device UUID": "GPU-1", "Compute Capability": 8.0,
                             "SMs": 108.0, "Compute Clock Rate": 1.41, "Memory Clock Rate": 1.512}})";
  const std::string build =
      R"({"model_options": {"Format": "ONNX", "Model": "/some/where/resnet.onnx"}, "build_options": {"Precision": "FP32+FP16"}})";
  const RunProfile run = ReadGood({"", "", kTimes, {device, profile, build}});
  EXPECT_THAT(run.warnings, IsEmpty());
  EXPECT_EQ(run.model_name, "resnet");
  const std::map<std::string, std::string> wanted = {
      {"device_name", "NVIDIA A100"}, {"compute_capability", "8.0"}, {"multiprocessors", "108"},
      {"clock_mhz", "1410"},          {"memory_clock_mhz", "1512"},  {"cuda_version", "11.6.0"},
      {"cuda_graph", "Enabled"},      {"input_shapes", "x=8x3"},     {"precision", "FP32+FP16"}};
  for (const auto& [setting, value] : wanted) EXPECT_EQ(run.settings.at(setting), value) << setting;
  for (const auto& [setting, value] : run.settings) {
    EXPECT_THAT(value, ::testing::Not(HasSubstr("GPU-1"))) << setting;
    EXPECT_THAT(value, ::testing::Not(HasSubstr("where"))) << setting;
  }
  const RunProfile contradicting =
      ReadGood({"", "", kTimes, {device, R"({"device_information": {"Selected Device": "NVIDIA T4"}})"}});
  EXPECT_THAT(contradicting.warnings, ElementsAre(HasSubstr("device_name is 'NVIDIA T4', but 'NVIDIA A100'")));
}

TEST(TensorRtEngine, NanMattersOnlyInFieldsThatAreRead) {
  // What trtexec writes for an engine whose layers all took no time.
  const RunProfile run =
      ReadGood({"", R"([{"count":2},{"name":"a","timeMs":0,"averageMs":0,"percentage":-nan}])", "", {}});
  EXPECT_THAT(run.layers[0].samples, ElementsAre(Latency(0)));
  EXPECT_EQ(Read({"", R"([{"count":2},{"name":"a","averageMs":nan}])", "", {}}).error().message,
            "profile.json: layer 1 ('a'): 'averageMs' is the text '?', expected a number from 0 to 31622400000");
}

class TensorRtFilesOnDisk : public ::testing::Test {
 protected:
  fs::path Write(const std::string& name, const std::string& text, bool compressed = false) {
    const fs::path path = folder_ / name;
    if (compressed) {
      const gzFile file = gzopen(path.c_str(), "wb");
      gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
      gzclose(file);
    } else {
      std::ofstream(path, std::ios::binary) << text;
    }
    return path;
  }
  const testing::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(TensorRtFilesOnDisk, FilesAreSortedByContentAndMayBeCompressed) {
  const std::vector<fs::path> paths = {Write("1", kTimes, true),
                                       Write("2", R"({"build_options": {"Precision": "FP16"}})"), Write("3", kProfile),
                                       Write("4", kGraph, true)};
  const Result<TensorRtFiles> files = SortTensorRtFiles(paths);
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(files->times, paths[0]);
  EXPECT_THAT(files->metadata, ElementsAre(paths[1]));
  EXPECT_EQ(files->profile, paths[2]);
  EXPECT_EQ(files->layer_info, paths[3]);
  const Result<RunProfile> run = ReadTensorRtEngine(*files);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_THAT(run->layers, SizeIs(3));
  EXPECT_THAT(run->layers[2].samples, SizeIs(1));
  EXPECT_EQ(run->settings.at("precision"), "FP16");
}

TEST_F(TensorRtFilesOnDisk, AFileOfNoEngineIsNamed) {
  const fs::path profile = Write("p.json", kProfile), again = Write("q.json", kProfile), other = Write("o", "hello");
  EXPECT_THAT(SortTensorRtFiles(std::vector{other}).error().message, HasSubstr("/o: not a file of a TensorRT engine"));
  EXPECT_THAT(SortTensorRtFiles(std::vector{profile, again}).error().message,
              HasSubstr("/q.json: a second TensorRT layer profile, beside "));
  EXPECT_THAT(SortTensorRtFiles(std::vector{folder_ / "none"}).error().message, HasSubstr("No such file"));
  EXPECT_THAT(SortTensorRtFiles(std::vector{folder_}).error().message, HasSubstr("a folder"));
  TensorRtFiles files;
  files.profile = folder_ / "none";
  EXPECT_THAT(ReadTensorRtEngine(files).error().message, HasSubstr("none: cannot be read: No such file"));
}

TEST_F(TensorRtFilesOnDisk, ATruncatedCompressedFileIsAnError) {
  const fs::path path = Write("g.gz", kGraph, true);
  fs::resize_file(path, fs::file_size(path) / 2);
  TensorRtFiles files;
  files.layer_info = path;
  EXPECT_THAT(ReadTensorRtEngine(files).error().message, HasSubstr("the gzip data is cut off here"));
}

}  // namespace
}  // namespace infimum::tensorrt_engine_test
