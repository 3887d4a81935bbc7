#include "infimum/ingest/kineto_trace.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace infimum {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kKernelEvent =
    R"({"ph":"X","cat":"kernel","name":"gemm<a, b>","pid":0,"tid":7,"ts":1490.100,"dur":6.25,)"
    R"("args":{"External id":2,"device":0,"stream":7,"correlation":77,"grid":[50, 1, 1],"block":[256, 1, 1]}})";
constexpr const char* kOperatorEvent =
    R"({"ph":"X","cat":"cpu_op","name":"aten::linear","pid":19,"tid":20,"ts":1419247333291.708,"dur":22.51,)"
    R"("args":{"External id":2,"Input Dims":[[1, 512], []]}})";
constexpr const char* kLaunchEvent =
    R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":19,"tid":20,"ts":1419247333292,"dur":4,)"
    R"("args":{"External id":2,"cbid":211,"correlation":77}})";

Result<Timeline> Read(const std::string& text) {
  std::istringstream input(text);
  return ReadKinetoTrace(input, "t.json");
}
std::string TraceOf(const std::string& events) {
  return R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100","numSms":132}],"traceEvents":[)" +
         events + R"(],"traceName":"t"})";
}
std::string ErrorOf(const std::string& text) {
  const Result<Timeline> timeline = Read(text);
  return timeline.ok() ? "none" : timeline.error().message;
}

TEST(KinetoTrace, KeepsCallsAndWorkWithTimesToTheNanosecond) {
  const Result<Timeline> read = Read(TraceOf(fmt::format("{},{},{}", kKernelEvent, kLaunchEvent, kOperatorEvent)));
  ASSERT_TRUE(read.ok()) << read.error().message;
  const Timeline& timeline = *read;
  ASSERT_EQ(timeline.host_calls.size(), 2u);
  const HostCall& linear = timeline.host_calls[0];
  EXPECT_EQ(timeline.names.text(linear.name), "aten::linear");
  EXPECT_EQ(linear.kind, HostCallKind::kOperator);
  EXPECT_EQ(linear.start_ns, 1419247333291708);
  EXPECT_EQ(linear.duration_ns, 22510);
  EXPECT_EQ(linear.external_id, 2);
  EXPECT_EQ(timeline.names.text(linear.shapes), "[[1, 512], []]");
  EXPECT_EQ(timeline.threads[linear.thread], (TimelineThread{19, 20}));
  const HostCall& launch = timeline.host_calls[1];
  EXPECT_EQ(launch.kind, HostCallKind::kRuntime);
  EXPECT_EQ(launch.correlation, 77);
  ASSERT_EQ(timeline.device_work.size(), 1u);
  const DeviceWork& kernel = timeline.device_work[0];
  EXPECT_EQ(timeline.names.text(kernel.name), "gemm<a, b>");
  EXPECT_EQ(kernel.start_ns, 1490100);
  EXPECT_EQ(kernel.duration_ns, 6250);
  EXPECT_EQ(kernel.correlation, 77);
  EXPECT_EQ(timeline.names.text(kernel.launch), "grid [50,1,1] block [256,1,1]");
  EXPECT_EQ(timeline.streams[kernel.stream], (TimelineStream{0, 7}));
  ASSERT_EQ(timeline.devices.size(), 1u);
  EXPECT_EQ(timeline.devices[0].name, "NVIDIA H100");
  EXPECT_EQ(timeline.devices[0].multiprocessors, 132);
  EXPECT_EQ(timeline.first_ns, 1490100);
  EXPECT_EQ(timeline.last_ns, 1419247333314218);
}

TEST(KinetoTrace, ReadsTheOldSchemaAndTheBareList) {
  const std::string events =
      R"([{"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":10,"dur":2,"args":{"correlation":3,"external id":5}},
         {"ph":"X","cat":"Operator","name":"aten::add","pid":25738,"tid":"25738","ts":5,"dur":3,"args":{"External id":5}},
         {"ph":"X","cat":"Memcpy","name":"Memcpy HtoD","pid":0,"tid":"stream 20","ts":20,"dur":1,"args":{"stream":20}}])";
  const Result<Timeline> read = Read(events);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->streams, (std::vector<TimelineStream>{{0, 7}, {0, 20}}));
  EXPECT_EQ(read->threads, (std::vector<TimelineThread>{{25738, 25738}}));
  EXPECT_EQ(read->device_work[0].external_id, 5);
  EXPECT_EQ(read->device_work[1].kind, DeviceWorkKind::kCopy);
}

TEST(KinetoTrace, WhatIsPassedOverIsCounted) {
  const Result<Timeline> read = Read(TraceOf(fmt::format(
      R"({{"ph":"X","cat":"python_function","name":"f","ts":1,"dur":2}},{{"ph":"s","id":1,"ts":1,"cat":"ac2g"}},{},)"
      R"({{"ph":"X","cat":"python_function","name":"g","ts":1,"dur":2}},{{"ph":"M","name":"process_name","args":{{"name":"x"}}}})",
      kKernelEvent)));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->events, 5);
  EXPECT_THAT(read->remarks, Contains("python_function passed over: 2"));
  EXPECT_THAT(read->remarks, Contains("flow arrows passed over: 1"));
  EXPECT_THAT(read->remarks, Contains("names of rows passed over: 1"));
}

TEST(KinetoTrace, ErrorsNameTheEventAndItsByte) {
  EXPECT_EQ(ErrorOf(R"([{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":-2}])"),
            "t.json: event 0 (byte 1): 'dur' is negative");
  EXPECT_EQ(ErrorOf(fmt::format(R"([{}, {{"ph":"X","cat":"kernel","name":"k","ts":"soon","dur":2}}])", kKernelEvent)),
            fmt::format("t.json: event 1 (byte {}): 'ts' is not a time in microseconds",
                        3 + std::string(kKernelEvent).size()));
  EXPECT_EQ(ErrorOf(R"([{"ph":"X","cat":"kernel","name":"k","dur":2}])"), "t.json: event 0 (byte 1): 'ts' is missing");
  EXPECT_EQ(ErrorOf(R"([{"ph":"X","cat":"kernel","name":7,"ts":1,"dur":2}])"),
            "t.json: event 0 (byte 1): 'name' is not a text");
  EXPECT_EQ(ErrorOf(R"([{"ph":"X","cat":"kernel","name":"k","ts":1,"args":{"correlation":"x"}}])"),
            "t.json: event 0 (byte 1): 'args.correlation' is not a whole number");
  EXPECT_EQ(ErrorOf(R"([{"ph":"X","cat":"kernel","name":"k","ts":1e300}])"),
            "t.json: event 0 (byte 1): 'ts' is not a time in microseconds");
  EXPECT_THAT(ErrorOf("[7]"), HasSubstr("event 0 (byte 1): not an object"));
  EXPECT_THAT(ErrorOf(fmt::format("[{} {}]", kKernelEvent, kKernelEvent)), HasSubstr("event 1 (byte"));
  EXPECT_THAT(ErrorOf("{\"traceEvents\":7}"), HasSubstr("no list \"traceEvents\""));
  EXPECT_THAT(ErrorOf(""), HasSubstr("not a trace"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("not a trace of PyTorch's profiler"));
  EXPECT_THAT(ErrorOf(TraceOf("")), HasSubstr("not a trace of PyTorch's profiler"));
}

// The first starts 95 years before the trace's origin, the second ends 190 years after it.
TEST(KinetoTrace, TheLongestOfAllTracesHasALength) {
  const std::string longest = R"([{"ph":"X","cat":"kernel","name":"a","ts":-3000000000000000,"dur":1},)"
                              R"({"ph":"X","cat":"kernel","name":"b","ts":3000000000000000,"dur":3000000000000000}])";
  const Result<Timeline> read = Read(longest);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->duration_ns(), 9'000'000'000'000'000'000);
  EXPECT_THAT(ErrorOf(R"([{"ph":"X","cat":"kernel","name":"a","ts":-3000000000000001,"dur":1}])"),
              HasSubstr("'ts' is not a time in microseconds"));
}

TEST(KinetoTrace, AFileThatWasCutSaysWhere) {
  const std::string whole = TraceOf(fmt::format("{},\n{},\n{}", kKernelEvent, kOperatorEvent, kLaunchEvent));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string error = ErrorOf(whole.substr(0, length));
    if (length <= whole.find("\"traceEvents\":[") + 14) {
      EXPECT_THAT(error, testing::AnyOf(HasSubstr("in the middle of the trace"), HasSubstr("not a trace"))) << length;
    } else {
      EXPECT_EQ(error,
                fmt::format("t.json: the file ends at byte {}, in the middle of the trace: it was cut off", length));
    }
  }
  EXPECT_EQ(ErrorOf(whole), "none");
}

TEST(KinetoTrace, ControlCharactersAndBytesThatAreNoTextAreForgivenWithARemark) {
  std::string event = kKernelEvent;
  event.replace(event.find("gemm"), 4, "g\x01m\nm");
  const Result<Timeline> control = Read(TraceOf(event));
  ASSERT_TRUE(control.ok()) << control.error().message;
  EXPECT_EQ(control->names.text(control->device_work[0].name), "g m m<a, b>");
  EXPECT_THAT(control->remarks, Contains(HasSubstr("control characters within texts")));
  event = kKernelEvent;
  event.replace(event.find("gemm"), 4, "g\xffmm");
  const Result<Timeline> bytes = Read(TraceOf(event));
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  EXPECT_EQ(bytes->names.text(bytes->device_work[0].name), "g?mm<a, b>");
  EXPECT_THAT(bytes->remarks, Contains("1 bytes that are not UTF-8 count as '?'"));
}

TEST(KinetoTrace, DeepNestingIsAnErrorOrPassedOver) {
  const std::string deep(100000, '[');
  EXPECT_THAT(ErrorOf(TraceOf(R"({"ph":"X","cat":"kernel","name":"k","ts":1,"args":{"grid":)" + deep)),
              HasSubstr("in the middle of the trace"));
  const std::string closed = deep + std::string(100000, ']');
  EXPECT_THAT(ErrorOf(TraceOf(fmt::format("{},{{\"ph\":\"X\",\"x\":{}}}", kKernelEvent, closed))),
              testing::AnyOf(HasSubstr("event 1"), testing::Eq("none")));
  EXPECT_THAT(ErrorOf("{\"a\":" + deep), HasSubstr("in the middle of the trace"));
}

// Whatever stands between the events and however long they are: the same as a reader that takes the document whole.
TEST(KinetoTrace, WindowsEndAnywhere) {
  std::mt19937_64 random(7);
  const auto pick = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  for (int round = 0; round < 12; ++round) {
    std::string events;
    std::vector<std::pair<std::string, std::int64_t>> expected;
    const bool lines = round % 3 != 0;
    const char* const blank = lines ? "\n  " : "";
    while (events.size() < 1'700'000) {
      const auto number = static_cast<std::int64_t>(expected.size());
      // Texts with everything that could be taken for an end.
      std::string name = fmt::format("k{}", number);
      for (std::int64_t i = pick(6); i > 0; --i)
        name += std::vector<std::string>{
            "}", "},{", "]", "\\\"", "\\\\", "{\\\"ph\\\":", ",\\u00e9", "\\n"}[static_cast<std::size_t>(pick(8))];
      if (pick(400) == 0) name += std::string(static_cast<std::size_t>(pick(round == 5 ? 1'300'000 : 3000)), 'x');
      const std::string event = fmt::format(
          "{{{0}\"ph\":{0}\"X\",\"cat\":\"kernel\",\"name\":\"{1}\",\"ts\":{2},{0}\"dur\":1,\"args\":{{\"a\":[{{}},{{"
          "\"b\":[1]}}]{0}}}}}",
          blank, name, number);
      if (!events.empty()) events += fmt::format("{},{}", pick(3) == 0 ? blank : "", pick(3) == 0 ? blank : "");
      events += event;
      expected.emplace_back(nlohmann::json::parse(event)["name"], number * 1000);
    }
    const Result<Timeline> read = Read(TraceOf(events));
    ASSERT_TRUE(read.ok()) << read.error().message;
    ASSERT_EQ(read->device_work.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(read->names.text(read->device_work[i].name), expected[i].first);
      ASSERT_EQ(read->device_work[i].start_ns, expected[i].second);
    }
  }
}

// Any field of any event with a value of another type: an error that names the event, or a timeline; never a crash.
TEST(KinetoTrace, WrongTypesInEveryField) {
  const nlohmann::json document =
      nlohmann::json::parse(TraceOf(fmt::format("{},{},{}", kKernelEvent, kOperatorEvent, kLaunchEvent)));
  const std::vector<nlohmann::json> wrong = {nullptr,
                                             true,
                                             -1,
                                             1e308,
                                             "",
                                             "x",
                                             std::string(5000, 'y'),
                                             nlohmann::json::array(),
                                             nlohmann::json::object(),
                                             nlohmann::json::parse("[[[{}]]]"),
                                             18446744073709551615u};
  int errors = 0;
  const auto check = [&](const nlohmann::json& changed) {
    const Result<Timeline> read = Read(changed.dump());
    if (read.ok()) return;
    ++errors;
    EXPECT_THAT(read.error().message, testing::StartsWith("t.json: "));
  };
  const nlohmann::json flat = document.flatten();
  for (const auto& pointer : flat.items()) {
    for (nlohmann::json::json_pointer at(pointer.key()); !at.empty(); at.pop_back()) {
      for (const nlohmann::json& value : wrong) {
        nlohmann::json changed = document;
        changed[at] = value;
        check(changed);
      }
    }
  }
  EXPECT_GT(errors, 50);
}

TEST(KinetoTrace, AnyByteMayBeWrong) {
  const std::string whole = TraceOf(fmt::format("{},\n{},\n{}", kKernelEvent, kOperatorEvent, kLaunchEvent));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char c : {'\0', '"', '{', '}', '[', ']', ',', ':', '\\', '\xff', '9', '-'}) {
      std::string changed = whole;
      changed[at] = c;
      static_cast<void>(Read(changed).ok());  // under the sanitizers: reads nothing that is not its own
    }
  }
}

}  // namespace
}  // namespace infimum
