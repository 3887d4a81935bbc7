#include "src/readers/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "src/readers/profiles/tensorrt/tensorrt_engine.h"

namespace infimum {
namespace {

std::string_view KindOf(const std::string& text) {
  std::istringstream input(text);
  const std::string_view kind = DetectFormat(input).name;
  // The stream is where it was: what follows reads the whole file.
  std::string again(std::istreambuf_iterator<char>(input), {});
  EXPECT_EQ(again, text);
  return kind;
}

TEST(FileFormat, TheContentDecides) {
  EXPECT_EQ(KindOf(R"({"schema":"infimum.results/1","kind":"header"})"), "results journal");
  EXPECT_EQ(KindOf(R"({"schema": "infimum.run/1", "framework": "onnxruntime"})"), "framework run");
  EXPECT_EQ(KindOf("{\n \"context\": {\"infimum\": {}}, \"benchmarks\": []}"), "Google Benchmark JSON");
  EXPECT_EQ(KindOf(R"({"context":{"infimum":{"schema":"infimum.results/1"}},"benchmarks":[]})"),
            "Google Benchmark JSON");
  EXPECT_EQ(KindOf("{\n \"context\": {}, \"benchmarks\": []}"), "Google Benchmark JSON of another program");
  EXPECT_EQ(KindOf(R"({"benchmarks": [{"name": "LAYER_CUDNN_ADD_TENSOR_FLOAT32"}]})"),
            "Google Benchmark JSON of another program");
}

TEST(FileFormat, ASweepOfParaDnnIsKnownByItsLists) {
  EXPECT_EQ(KindOf(R"({"states": [], "labels": [], "step_per_sec": []})"), "sweep of ParaDnn");
  EXPECT_EQ(KindOf(R"({"infeed": [], "labels": [], "flops_perc": []})"), "sweep of ParaDnn");
  EXPECT_EQ(KindOf(R"({"labels": []})"), "unknown");
}

TEST(FileFormat, ADatabaseIsAnExportUnlessItIsAStoreOfOurs) {
  std::string database("SQLite format 3\0", 16);
  EXPECT_EQ(KindOf(database), "export of Nsight Systems");
  database.resize(4096, '\0');
  EXPECT_EQ(KindOf(database), "export of Nsight Systems");
  database.replace(68, 4, "infm");
  EXPECT_EQ(KindOf(database), "unknown");
  EXPECT_EQ(KindOf("SQLite format 3 is a format"), "unknown");
}

ingest::TensorRtKind PartOf(const std::string& text) {
  const ingest::TensorRtKind kind = ingest::TensorRtKindOf(text);
  EXPECT_EQ(KindOf(text), kind != ingest::TensorRtKind::kNone ? "file of a TensorRT engine" : "unknown");
  return kind;
}

TEST(FileFormat, FilesOfATensorRtEngineAreKnownByTheirFirstKeys) {
  using ingest::TensorRtKind;
  EXPECT_EQ(PartOf(R"({"Layers": ["a", "\"benchmarks\""], "Bindings": []})"), TensorRtKind::kLayerInfo);
  EXPECT_EQ(PartOf(R"({"Bindings": [], "Layers": [{"Name": "context"}]})"), TensorRtKind::kLayerInfo);
  EXPECT_EQ(PartOf("[\n  { \"count\" : 1 }\n, { \"name\" : \"context\", \"timeMs\" : 1 } ]"), TensorRtKind::kProfile);
  EXPECT_EQ(PartOf(R"([{"averageMs": 1, "name": "a"}])"), TensorRtKind::kProfile);
  EXPECT_EQ(PartOf("[ { \"count\" : 0 } ]"), TensorRtKind::kProfile);
  EXPECT_EQ(PartOf(R"([{"startEnqMs": 1, "computeMs": 2}])"), TensorRtKind::kTimes);
  EXPECT_EQ(PartOf(R"({"performance_summary": {}})"), TensorRtKind::kMetadata);
  EXPECT_EQ(PartOf(R"([{"Name": "A100", "ComputeCapability": [8, 0], "MULTIPROCESSOR_COUNT": 1}])"),
            TensorRtKind::kMetadata);
  EXPECT_EQ(PartOf(R"([{"cat": "Session", "name": "model_run"}])"), TensorRtKind::kNone);
  EXPECT_EQ(PartOf("["), TensorRtKind::kNone);
}

TEST(FileFormat, ChakraTracesAreKnownByTheirGraphAndItsSchema) {
  EXPECT_EQ(KindOf(R"({"workload_graph": [{"Id": 1}]})"), "Chakra trace");
  EXPECT_EQ(KindOf(R"({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": []})"), "Chakra trace");
  EXPECT_EQ(KindOf(R"({"schema": "1.0.1", "nodes": [{"name": "[pytorch|profiler|execution_graph|thread]"}]})"),
            "Chakra trace");
  EXPECT_EQ(KindOf(R"({"nodes": []})"), "unknown");
  EXPECT_EQ(KindOf(R"([{"workload_graph": 1}])"), "unknown");
}

TEST(FileFormat, ArchivesAreRecognizedWithTheCommandThatUnpacksThem) {
  std::string tar(1024, '\0');
  tar.replace(0, 10, "trace.json");
  EXPECT_EQ(KindOf(tar), "unknown");
  tar.replace(257, 5, "ustar");
  EXPECT_EQ(KindOf(tar), "archive of files");
  EXPECT_EQ(KindOf("PK\3\4 and so on"), "archive of files");
}

std::string AdviceOn(const std::string& text) {
  std::istringstream input(text);
  return std::string(DetectFormat(input).advice);
}

TEST(FileFormat, CompressedFilesAreRecognizedWithTheCommandThatUnpacksThem) {
  const std::pair<std::string, const char*> kPacked[] = {{"\x28\xb5\x2f\xfd\x04", "zstd -d"},
                                                         {std::string("\xfd\x37zXZ\0", 6), "xz -d"},
                                                         {"BZh91AY&SY", "bzip2 -d"},
                                                         {"\x1f\x8b\x08", "gunzip"}};
  for (const auto& [text, command] : kPacked) {
    EXPECT_EQ(KindOf(text), "compressed file");
    EXPECT_THAT(AdviceOn(text), ::testing::HasSubstr(command));
  }
  const std::string lines = "{\"ph\":\"X\",\"ts\":1}\n{\"ph\":\"X\",\"ts\":2}\n";
  EXPECT_EQ(KindOf(lines), "JSON lines");
  EXPECT_THAT(AdviceOn(lines), ::testing::HasSubstr("jq -s"));
  EXPECT_EQ(KindOf("{\"a\":1}\n{\"a\":2}\n"), "unknown");
}

TEST(FileFormat, BlanksBeforeTheFirstBraceAreSkipped) {
  for (const std::string& front : {std::string("\xef\xbb\xbf"), std::string(100'000, ' '), std::string("\n\r\t ")}) {
    EXPECT_EQ(KindOf(front + R"([{"ph":"X","cat":"kernel"}])"), "trace of PyTorch's profiler");
    EXPECT_EQ(KindOf(front + R"({"traceEvents":[]})"), "trace of PyTorch's profiler");
    EXPECT_EQ(KindOf(front + R"({"schema": "infimum.run/1"})"), "framework run");
  }
  EXPECT_EQ(KindOf("\xef\xbb"), "unknown");
}

TEST(FileFormat, EventsMayFollowALongField) {
  const std::string front = "{\"metadata\":\"" + std::string(200'000, 'x') + "\",\"traceEvents\":[";
  EXPECT_EQ(KindOf(front + "{}]}"), "trace of PyTorch's profiler");
  EXPECT_EQ(KindOf(front + std::string(30'000, ' ') + R"({"name":"a_kernel_time"}]})"), "profile of ONNX Runtime");
  EXPECT_EQ(KindOf("{\"a\":{\"b\":\"" + std::string(200'000, 'x') + "\",\"traceEvents\":[]}}"), "unknown");
}

TEST(FileFormat, AnythingElseIsUnknown) {
  EXPECT_EQ(KindOf(""), "unknown");
  EXPECT_EQ(KindOf("hello"), "unknown");
  EXPECT_EQ(KindOf(std::string(200'000, '\0')), "unknown");
  EXPECT_EQ(KindOf("{}"), "unknown");
}

TEST(FileFormat, ALongRunWithItsSchemaAtTheEndIsARun) {
  const std::string long_list(200'000, ' ');
  EXPECT_EQ(KindOf("{\"layers\":[" + long_list + "],\"schema\":\"infimum.run/1\"}"), "framework run");
}

}  // namespace
}  // namespace infimum
