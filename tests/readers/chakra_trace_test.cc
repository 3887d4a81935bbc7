#include "src/readers/profiles/chakra/chakra_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "src/readers/files/input_file.h"
#include "src/readers/read_profile.h"
#include "tests/support/shared_data.h"

namespace infimum::chakra_trace_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Result<std::variant<RunProfile, Timeline>> Read(const std::string& text) {
  std::istringstream input(text);
  return ReadChakraTrace(input, "trace.json");
}

RunProfile RunOf(const std::string& text) {
  const auto trace = Read(text);
  if (!trace.ok()) ADD_FAILURE() << trace.error().message;
  if (!trace.ok() || !std::holds_alternative<RunProfile>(*trace)) return {};
  return std::get<RunProfile>(*trace);
}

std::string ErrorOf(const std::string& text) {
  const auto trace = Read(text);
  return trace.ok() ? "none" : trace.error().message;
}

std::string Workload(const std::string& nodes) { return R"({"workload_graph": [)" + nodes + R"(], "ngpus": 8})"; }

std::string Host(int id, const std::string& name, int runtime) {
  return R"({"Id":)" + std::to_string(id) + R"(,"Name":")" + name + R"(","NodeType":4,"runtime":)" +
         std::to_string(runtime) + R"(,"data_deps":[],"is_cpu_op":true})";
}

std::string Kernel(int id, const std::string& name, int runtime, int waits_for) {
  return R"({"Id":)" + std::to_string(id) + R"(,"Name":")" + name + R"(","NodeType":4,"runtime":)" +
         std::to_string(runtime) + R"(,"data_deps":[)" + std::to_string(waits_for) + R"(,1],"is_cpu_op":false})";
}

TEST(ChakraTrace, PiecesOfAnOperatorAreOneLayerWithTheTimeOfItsKernels) {
  const RunProfile run = RunOf(
      Workload(Host(1, "aten::mm(0)", 30) + "," + Kernel(2, "splitk", 5, 1) + "," + Host(3, "aten::mm(1)", 7) + "," +
               // A kernel may stand before its operator.
               Kernel(4, "sgemm", 40, 5) + "," + Host(5, "aten::mm(2)", 9) + "," + Host(6, "aten::detach", 3)));
  ASSERT_THAT(run.layers, SizeIs(2));
  EXPECT_EQ(run.framework, "pytorch");
  EXPECT_EQ(run.layers[0].name, "aten::mm#1");
  EXPECT_EQ(run.layers[0].op, "aten::mm");
  EXPECT_THAT(run.layers[0].samples, ElementsAre(Latency(45)));
  EXPECT_EQ(run.layers[0].algorithm, "sgemm");
  EXPECT_THAT(run.layers[1].samples, ElementsAre(Latency(0)));
  EXPECT_THAT(run.settings, ElementsAre(std::pair("ngpus", "8")));
  EXPECT_THAT(run.warnings, ElementsAre(HasSubstr("no start times"),
                                        HasSubstr("1 of 2 operators started no kernel and count as 0 µs")));
}

TEST(ChakraTrace, AFirstPieceBeginsAnotherLayer) {
  const RunProfile run = RunOf(Workload(Host(1, "mm(0)", 1) + "," + Host(2, "mm(1)", 2) + "," + Host(3, "mm(0)", 4) +
                                        "," + Host(4, "mm(2)", 8) + "," + Host(5, "mm(int)", 16)));
  ASSERT_THAT(run.layers, SizeIs(4));
  EXPECT_THAT(run.layers[0].samples, ElementsAre(Latency(3)));
  EXPECT_THAT(run.layers[1].samples, ElementsAre(Latency(4)));
  EXPECT_THAT(run.layers[2].samples, ElementsAre(Latency(8)));
  EXPECT_EQ(run.layers[3].op, "mm(int)");
  EXPECT_THAT(run.warnings, Contains(HasSubstr("the layers' times are those of the host")));
}

TEST(ChakraTrace, AKernelOfNoOperatorIsCountedInAWarning) {
  const RunProfile run = RunOf(Workload(Host(1, "mm", 1) + "," + Kernel(2, "sgemm", 5, 1) + "," +
                                        Kernel(3, "lost", 6, 77) + "," + Kernel(4, "chained", 7, 2)));
  EXPECT_THAT(run.warnings, Contains("2 of 3 kernels (13.0 µs) belong to no operator"));
}

TEST(ChakraTrace, NodesOfZeroMicrosecondsHaveNoRuntime) {
  const RunProfile run =
      RunOf(Workload(Host(1, "copy", 9) + R"(,{"Id":2,"Name":"Memcpy","data_deps":[1],)" + R"("is_cpu_op":false})"));
  EXPECT_THAT(run.layers[0].samples, ElementsAre(Latency(0)));
  EXPECT_EQ(run.layers[0].algorithm, "Memcpy");
}

std::string Execution(const std::string& nodes) {
  return R"({"schema":"1.1.1-chakra.0.0.4","pid":7,"start_ts":1,"nodes":[)" + nodes + "]}";
}

std::string Node(int id, const std::string& name, int caller, const std::string& schema, const std::string& more = "") {
  return R"({"id":)" + std::to_string(id) + R"(,"name":")" + name + R"(","ctrl_deps":)" + std::to_string(caller) +
         R"(,"inputs":{"values":[[5,6,0,1,4,"cpu"],[7,8,0,1,4,"cpu"],1],"shapes":[[1,64],[64,8],[]],)" +
         R"json("types":["Tensor(float)","Tensor(c10::Half)","Int"]},)json" +
         R"json("outputs":{"values":[[9,9,0,1,4,"cpu"]],"shapes":[[1,8]],"types":["Tensor(float)"]},)json" +
         R"("attrs":[{"name":"tid","type":"uint64","value":3},{"name":"op_schema","type":"string","value":")" + schema +
         R"("}])" + more + "}";
}

TEST(ChakraTrace, AnExecutionWithoutTimesHasTheOutermostOperatorsAndTheirTensors) {
  const RunProfile run = RunOf(Execution(Node(2, "[pytorch|profiler|execution_trace|thread]", 1, "") + "," +
                                         Node(3, "aten::linear", 2, "aten::linear(Tensor)") + "," +
                                         Node(4, "aten::addmm", 3, "aten::addmm(Tensor)")));
  ASSERT_THAT(run.layers, SizeIs(1));
  const ProfiledLayer& layer = run.layers[0];
  EXPECT_EQ(layer.name, "aten::linear#3");
  EXPECT_EQ(layer.op, "aten::linear");
  EXPECT_THAT(layer.samples, IsEmpty());
  EXPECT_THAT(layer.input_tensors, ElementsAre(ProfiledTensor{"f32", {1, 64}, ""}, ProfiledTensor{"f16", {64, 8}, ""}));
  EXPECT_THAT(layer.output_tensors, ElementsAre(ProfiledTensor{"f32", {1, 8}, ""}));
  EXPECT_THAT(run.warnings, ElementsAre(AllOf(HasSubstr("without times"), HasSubstr("chakra_trace_link"))));
}

// Written after chakra's src/trace_link/trace_linker.py: a kernel has a copy of its operator's fields, a category, a
// stream, and its operator as the caller.
TEST(ChakraTrace, WithTheTimesOfADeviceItIsATimeline) {
  const auto trace = Read(Execution(
      Node(3, "aten::mm", 2, "aten::mm(Tensor)", R"(,"ts":1000.25,"inclusive_dur":20)") + "," +
      Node(9, "sgemm", 3, "aten::mm(Tensor)", R"(,"cat":"kernel","stream":7,"ts":1030,"inclusive_dur":55.5)") + "," +
      Node(10, "Memcpy DtoH", 3, "aten::mm(Tensor)", R"(,"cat":"gpu_memcpy","stream":7,"ts":1090,"inclusive_dur":2)") +
      "," + Node(11, "aten::t", 2, "aten::t(Tensor)")));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const auto* timeline = std::get_if<Timeline>(&*trace);
  ASSERT_NE(timeline, nullptr);
  ASSERT_THAT(timeline->host_calls, SizeIs(1));
  EXPECT_EQ(timeline->host_calls[0].start_ns, 1'000'250);
  EXPECT_EQ(timeline->host_calls[0].duration_ns, 20'000);
  EXPECT_EQ(timeline->host_calls[0].external_id, 3);
  EXPECT_THAT(timeline->threads, ElementsAre(TimelineThread{0, 3}));
  ASSERT_THAT(timeline->device_work, SizeIs(2));
  EXPECT_EQ(timeline->names.text(timeline->device_work[0].name), "sgemm");
  EXPECT_EQ(timeline->device_work[0].external_id, 3);
  EXPECT_EQ(timeline->device_work[0].duration_ns, 55'500);
  EXPECT_EQ(timeline->device_work[1].kind, DeviceWorkKind::kCopy);
  EXPECT_THAT(timeline->streams, ElementsAre(TimelineStream{0, 7}));
  EXPECT_EQ(timeline->duration_ns(), 91'750);
  EXPECT_THAT(timeline->remarks, Contains("1 operators without a time are left out"));
}

TEST(ChakraTrace, AnErrorNamesTheNode) {
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("trace.json: not a Chakra trace"));
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("trace.json: not a Chakra trace"));
  EXPECT_THAT(ErrorOf(R"({"workload_graph": [)"), AllOf(HasSubstr("trace.json"), HasSubstr("cut off")));
  EXPECT_THAT(ErrorOf(Workload("")), HasSubstr("is empty"));
  EXPECT_THAT(ErrorOf(Workload(Kernel(1, "sgemm", 5, 1))), HasSubstr("no host operator"));
  EXPECT_THAT(ErrorOf(Execution(Node(1, "a", 1, "a") + "," + Node(1, "a", 1, "a"))), HasSubstr("'id' 1 occurs twice"));
  EXPECT_THAT(ErrorOf(Execution(Node(1, "a", 1, ""))), HasSubstr("contains no operator"));
  const std::pair<const char*, const char*> kBad[] = {
      {R"(7)", "not an object"},
      {R"({"Name":"a"})", "'Id' is missing"},
      {R"({"Id":-1,"Name":"a"})", "'Id' should be between"},
      {R"({"Id":null,"Name":"a"})", "'Id' should be a whole number, not null"},
      {R"({"Id":1,"Name":"a"})", "'is_cpu_op'"},
      {R"({"Id":1,"Name":"a","is_cpu_op":true,"runtime":-4})", "'runtime' is -4, not a time"},
      {R"({"Id":2,"Name":"b","is_cpu_op":true})", "'Id' 2 occurs twice"},
  };
  for (const auto& [node, error] : kBad) {
    EXPECT_THAT(ErrorOf(Workload(node)), ::testing::AnyOf(HasSubstr(error), "none")) << node;
    // Among others it is skipped.
    const RunProfile run = RunOf(Workload(Host(2, "b", 7) + "," + node + "," + Kernel(3, "sgemm", 5, 2)));
    ASSERT_THAT(run.layers, SizeIs(1)) << node;
    EXPECT_THAT(run.layers[0].samples, ElementsAre(Latency(5)));
    EXPECT_THAT(run.warnings, Contains(AllOf(HasSubstr("events skipped"), HasSubstr("node 2 of 'workload_graph' (byte"),
                                             HasSubstr(error))))
        << node;
  }
  const std::pair<const char*, const char*> kBadTimes[] = {
      {R"(,"ts":-1)", "'ts' is -1"},
      {R"(,"ts":1e300)", "'ts' is"},
      {R"(,"ts":"now")", "'ts' should be a number"},
      {R"(,"ts":1,"inclusive_dur":-0.5)", "'inclusive_dur' is -0.5"}};
  for (const auto& [fields, error] : kBadTimes) {
    EXPECT_THAT(ErrorOf(Execution(Node(1, "a", 1, "a", fields))), HasSubstr(error)) << fields;
    const RunProfile run = RunOf(Execution(Node(1, "a", 1, "a", fields) + "," + Node(2, "b", 1, "b")));
    EXPECT_THAT(run.layers, SizeIs(1)) << fields;
    EXPECT_THAT(run.warnings, Contains(HasSubstr(error))) << fields;
  }
}

TEST(ChakraTrace, ANodeIsReadWithoutItsOddFields) {
  const RunProfile graph =
      RunOf(Workload(Host(1, "mm", 30) + R"(,{"Id":"2","Name":["k"],"runtime":"5.5","data_deps":[1],)" +
                     R"("is_cpu_op":false},{"Id":3,"Name":"k","data_deps":{},"is_cpu_op":false})"));
  ASSERT_THAT(graph.layers, SizeIs(1));
  EXPECT_THAT(graph.layers[0].samples, ElementsAre(Latency(5.5)));
  EXPECT_THAT(graph.warnings, Contains(AllOf(HasSubstr("read in part: 4;"), HasSubstr("'Id' is the text '2'"))));
  const auto trace = Read(Execution(Node(
      9, "sgemm", 3, "mm", R"(,"cat":"kernel","stream":"0x7","ctrl_deps":null,"ts":1030,"inclusive_dur":"55.5")")));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const auto& timeline = std::get<Timeline>(*trace);
  EXPECT_THAT(timeline.streams, ElementsAre(TimelineStream{0, 7}));
  EXPECT_EQ(timeline.device_work[0].duration_ns, 55'500);
  EXPECT_THAT(timeline.remarks, Contains(HasSubstr("read in part: 3;")));
}

// A reader sees a window of the text at a time, wherever one ends.
TEST(ChakraTrace, WindowsEndAnywhere) {
  std::mt19937_64 random(3);
  for (const char* const separator : {",", ",\n"}) {
    std::string execution, workload;
    std::vector<std::string> names;
    for (int id = 1; execution.size() < 1'300'000; ++id) {
      std::string name = "op";
      for (auto i = random() % 60; i > 0; --i)
        name += std::vector<std::string>{"}", "},{", "]", "[", "{", "\\\"", "\\\\", "x"}[random() % 8];
      if (id == 100) name += std::string(600'000, '}');
      if (id > 1) execution += separator;
      if (id > 1) workload += separator;
      execution += Node(id, name, 0, "an operator");
      workload += Host(2 * id, name, id) + separator + Kernel(2 * id + 1, name, 3 * id, 2 * id);
      std::string unescaped;
      for (std::size_t i = 0; i < name.size(); ++i) unescaped += name[i] == '\\' ? name[++i] : name[i];
      names.push_back(unescaped);
    }
    const RunProfile observed = RunOf(Execution(execution));
    const RunProfile graph = RunOf(Workload(workload));
    ASSERT_THAT(observed.layers, SizeIs(names.size()));
    ASSERT_THAT(graph.layers, SizeIs(names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) {
      ASSERT_EQ(observed.layers[i].op, names[i]);
      ASSERT_THAT(observed.layers[i].input_tensors, SizeIs(2));
      ASSERT_EQ(graph.layers[i].algorithm, names[i]);
      ASSERT_THAT(graph.layers[i].samples, ElementsAre(Latency(3.0 * static_cast<double>(i + 1))));
    }
  }
}

TEST(ChakraTrace, AFileThatWasCutIsAnErrorWhereverItWasCut) {
  const std::string whole = Execution(Node(1, "aten::mm", 0, "mm") + "," + Node(2, "aten::t", 0, "t"));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string error = ErrorOf(whole.substr(0, length));
    EXPECT_THAT(error, ::testing::AnyOf(HasSubstr("cut off"), HasSubstr("not a Chakra trace"))) << length;
  }
  EXPECT_EQ(ErrorOf(whole), "none");
}

TEST(ChakraTrace, ListsThatNestTooDeeplyAreErrorsOrIgnored) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const char* const field : {"data_deps", "runtime", "Name", "attrs", "another"}) {
    const std::string error = ErrorOf(Workload(R"({"Id":1,"Name":"a","is_cpu_op":false,")" + std::string(field) +
                                               "\":" + deep + "}," + Host(2, "b", 1)));
    EXPECT_THAT(error, ::testing::AnyOf("none", HasSubstr("node 1 of 'workload_graph'"))) << field;
  }
  const std::string shapes = R"({"id":1,"name":"a","attrs":[{"name":"op_schema","value":"a"}],"inputs":{"shapes":)";
  EXPECT_THAT(ErrorOf(Execution(shapes + deep + R"json(,"types":["Tensor(float)"]}})json")),
              ::testing::AnyOf("none", HasSubstr("trace.json: ")));
}

const std::filesystem::path kArchive = SharedData("traces/chakra/json_trace.tar.gz");

// A file of a tar: a header of 512 bytes with name and octal size, then as many blocks of 512 as it takes.
std::string Unpacked(std::istream& tar, std::string_view name) {
  std::string header(512, '\0');
  while (tar.read(header.data(), 512)) {
    const std::size_t size = std::strtoull(header.substr(124, 12).c_str(), nullptr, 8);
    std::string content((size + 511) / 512 * 512, '\0');
    tar.read(content.data(), static_cast<std::streamsize>(content.size()));
    content.resize(size);
    if (std::string_view(header.c_str()).ends_with(name)) return content;
  }
  return {};
}

// The training step of a ResNet-50 on two GPUs, with 1216 kernels and copies of 329.543 ms.
TEST(ChakraTrace, TheRealGraphIsReadAndItsArchiveIsRefusedWithACommand) {
  INFIMUM_NEEDS_DATA(kArchive);
  const Result<std::vector<NamedProfile>> profiles = ReadProfiles({kArchive});
  ASSERT_FALSE(profiles.ok());
  EXPECT_THAT(profiles.error().message, AllOf(HasSubstr("an archive of files"), HasSubstr("tar -xf")));

  std::ifstream packed(kArchive, std::ios::binary);
  ingest::GzipStream tar(packed);
  const RunProfile run = RunOf(Unpacked(tar, "/chakra.0.json"));
  std::map<std::string, int> layers;
  Latency time{0};
  for (const ProfiledLayer& layer : run.layers) {
    ++layers[layer.op];
    time += layer.samples.at(0);
  }
  EXPECT_EQ(layers["aten::conv2d"], 53);
  EXPECT_EQ(layers["aten::batch_norm"], 53);
  EXPECT_EQ(layers["aten::convolution_backward"], 53);
  EXPECT_NEAR(time.count(), 329'543, 0.5);
  EXPECT_THAT(run.warnings, Not(Contains(HasSubstr("belong to no operator"))));
}

}  // namespace
}  // namespace infimum::chakra_trace_test
