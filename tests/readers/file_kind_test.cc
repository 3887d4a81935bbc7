#include "src/readers/files/file_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace infimum {
namespace {

FileKind KindOf(const std::string& text) {
  std::istringstream input(text);
  const FileKind kind = DetectFileKind(input);
  // The stream is where it was: what follows reads the whole file.
  std::string again(std::istreambuf_iterator<char>(input), {});
  EXPECT_EQ(again, text);
  return kind;
}

TEST(FileKind, TheContentDecides) {
  EXPECT_EQ(KindOf(R"({"schema":"infimum.results/1","kind":"header"})"), FileKind::kJournal);
  EXPECT_EQ(KindOf(R"({"schema": "infimum.run/1", "framework": "onnxruntime"})"), FileKind::kRun);
  EXPECT_EQ(KindOf("{\n \"context\": {\"infimum\": {}}, \"benchmarks\": []}"), FileKind::kGoogleBenchmark);
  EXPECT_EQ(KindOf(R"({"context":{"infimum":{"schema":"infimum.results/1"}},"benchmarks":[]})"),
            FileKind::kGoogleBenchmark);
  EXPECT_EQ(KindOf("{\n \"context\": {}, \"benchmarks\": []}"), FileKind::kScopeBenchmarks);
  EXPECT_EQ(KindOf(R"({"benchmarks": [{"name": "LAYER_CUDNN_ADD_TENSOR_FLOAT32"}]})"), FileKind::kScopeBenchmarks);
}

TEST(FileKind, ADatabaseIsAnExportUnlessItIsAStoreOfOurs) {
  std::string database("SQLite format 3\0", 16);
  EXPECT_EQ(KindOf(database), FileKind::kNsysExport);
  database.resize(4096, '\0');
  EXPECT_EQ(KindOf(database), FileKind::kNsysExport);
  database.replace(68, 4, "infm");
  EXPECT_EQ(KindOf(database), FileKind::kUnknown);
  EXPECT_EQ(KindOf("SQLite format 3 is a format"), FileKind::kUnknown);
}

TEST(FileKind, FilesOfATensorRtEngineAreKnownByTheirFirstKeys) {
  EXPECT_EQ(KindOf(R"({"Layers": ["a", "\"benchmarks\""], "Bindings": []})"), FileKind::kTensorRtLayerInfo);
  EXPECT_EQ(KindOf(R"({"Bindings": [], "Layers": [{"Name": "context"}]})"), FileKind::kTensorRtLayerInfo);
  EXPECT_EQ(KindOf("[\n  { \"count\" : 1 }\n, { \"name\" : \"context\", \"timeMs\" : 1 } ]"),
            FileKind::kTensorRtProfile);
  EXPECT_EQ(KindOf(R"([{"averageMs": 1, "name": "a"}])"), FileKind::kTensorRtProfile);
  EXPECT_EQ(KindOf("[ { \"count\" : 0 } ]"), FileKind::kTensorRtProfile);
  EXPECT_EQ(KindOf(R"([{"startEnqMs": 1, "computeMs": 2}])"), FileKind::kTensorRtTimes);
  EXPECT_EQ(KindOf(R"({"performance_summary": {}})"), FileKind::kTensorRtMetadata);
  EXPECT_EQ(KindOf(R"([{"Name": "A100", "ComputeCapability": [8, 0], "MULTIPROCESSOR_COUNT": 1}])"),
            FileKind::kTensorRtMetadata);
  EXPECT_EQ(KindOf(R"([{"cat": "Session", "name": "model_run"}])"), FileKind::kUnknown);
  EXPECT_EQ(KindOf("["), FileKind::kUnknown);
}

TEST(FileKind, ChakraTracesAreKnownByTheirGraphAndItsSchema) {
  EXPECT_EQ(KindOf(R"({"workload_graph": [{"Id": 1}]})"), FileKind::kChakraTrace);
  EXPECT_EQ(KindOf(R"({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": []})"), FileKind::kChakraTrace);
  EXPECT_EQ(KindOf(R"({"schema": "1.0.1", "nodes": [{"name": "[pytorch|profiler|execution_graph|thread]"}]})"),
            FileKind::kChakraTrace);
  EXPECT_EQ(KindOf(R"({"nodes": []})"), FileKind::kUnknown);
  EXPECT_EQ(KindOf(R"([{"workload_graph": 1}])"), FileKind::kUnknown);
}

TEST(FileKind, ArchivesAreKnownSoThatTheErrorCanSayWhatToDo) {
  std::string tar(1024, '\0');
  tar.replace(0, 10, "trace.json");
  EXPECT_EQ(KindOf(tar), FileKind::kUnknown);
  tar.replace(257, 5, "ustar");
  EXPECT_EQ(KindOf(tar), FileKind::kArchive);
  EXPECT_EQ(KindOf("PK\3\4 and so on"), FileKind::kArchive);
}

std::string AdviceOn(const std::string& text) {
  std::istringstream input(text);
  return UnpackAdvice(input);
}

TEST(FileKind, WhatHasToBeUnpackedNamesTheCommand) {
  const std::pair<std::string, const char*> kPacked[] = {{"\x28\xb5\x2f\xfd\x04", "zstd -d"},
                                                         {std::string("\xfd\x37zXZ\0", 6), "xz -d"},
                                                         {"BZh91AY&SY", "bzip2 -d"},
                                                         {"\x1f\x8b\x08", "gunzip"}};
  for (const auto& [text, command] : kPacked) {
    EXPECT_EQ(KindOf(text), FileKind::kCompressed);
    EXPECT_THAT(AdviceOn(text), ::testing::HasSubstr(command));
  }
  const std::string lines = "{\"ph\":\"X\",\"ts\":1}\n{\"ph\":\"X\",\"ts\":2}\n";
  EXPECT_EQ(KindOf(lines), FileKind::kEventLines);
  EXPECT_THAT(AdviceOn(lines), ::testing::HasSubstr("jq -s"));
  EXPECT_EQ(KindOf("{\"a\":1}\n{\"a\":2}\n"), FileKind::kUnknown);
}

TEST(FileKind, WhatStandsBeforeTheFirstBraceSaysNothing) {
  for (const std::string& front : {std::string("\xef\xbb\xbf"), std::string(100'000, ' '), std::string("\n\r\t ")}) {
    EXPECT_EQ(KindOf(front + R"([{"ph":"X","cat":"kernel"}])"), FileKind::kKinetoTrace);
    EXPECT_EQ(KindOf(front + R"({"traceEvents":[]})"), FileKind::kKinetoTrace);
    EXPECT_EQ(KindOf(front + R"({"schema": "infimum.run/1"})"), FileKind::kRun);
  }
  EXPECT_EQ(KindOf("\xef\xbb"), FileKind::kUnknown);
}

TEST(FileKind, EventsMayStandBehindALongField) {
  const std::string front = "{\"metadata\":\"" + std::string(200'000, 'x') + "\",\"traceEvents\":[";
  EXPECT_EQ(KindOf(front + "{}]}"), FileKind::kKinetoTrace);
  EXPECT_EQ(KindOf(front + std::string(30'000, ' ') + R"({"name":"a_kernel_time"}]})"), FileKind::kOnnxRuntimeProfile);
  EXPECT_EQ(KindOf("{\"a\":{\"b\":\"" + std::string(200'000, 'x') + "\",\"traceEvents\":[]}}"), FileKind::kUnknown);
}

TEST(FileKind, AnythingElseIsUnknown) {
  EXPECT_EQ(KindOf(""), FileKind::kUnknown);
  EXPECT_EQ(KindOf("hello"), FileKind::kUnknown);
  EXPECT_EQ(KindOf(std::string(200'000, '\0')), FileKind::kUnknown);
  EXPECT_EQ(KindOf("{}"), FileKind::kUnknown);
}

TEST(FileKind, ALongRunWhoseSchemaStandsAtItsEndIsARun) {
  const std::string long_list(200'000, ' ');
  EXPECT_EQ(KindOf("{\"layers\":[" + long_list + "],\"schema\":\"infimum.run/1\"}"), FileKind::kRun);
}

}  // namespace
}  // namespace infimum
