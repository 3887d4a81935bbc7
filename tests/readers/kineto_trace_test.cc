#include "src/readers/profiles/kineto/kineto_trace.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace infimum::kineto_trace_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

TEST(KinetoTrace, IgnoredEventsAreCounted) {
  const Result<Timeline> read = Read(TraceOf(fmt::format(
      R"({{"ph":"X","cat":"python_function","name":"f","ts":1,"dur":2}},{{"ph":"s","id":1,"ts":1,"cat":"ac2g"}},{},)"
      R"({{"ph":"X","cat":"python_function","name":"g","ts":1,"dur":2}},{{"ph":"M","name":"process_name","args":{{"name":"x"}}}})",
      kKernelEvent)));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->events, 5);
  EXPECT_THAT(read->remarks, Contains("python_function ignored: 2"));
  EXPECT_THAT(read->remarks, Contains("flow arrows ignored: 1"));
  EXPECT_THAT(read->remarks, Contains("names of rows ignored: 1"));
}

TEST(KinetoTrace, ErrorsNameTheEventAndItsByte) {
  EXPECT_EQ(ErrorOf(R"([{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":-2}])"),
            "t.json: it contains no operator, CUDA or HIP call, kernel or copy: not a trace "
            "of PyTorch's profiler; events skipped: 1, the first: event 0 (byte 1): 'dur' is -2, not a time in "
            "microseconds");
  EXPECT_THAT(ErrorOf(R"([{"ph":"X","cat":"kernel","name":"k","dur":2}])"),
              HasSubstr("event 0 (byte 1): 'ts' is missing"));
  EXPECT_THAT(ErrorOf(R"([{"ph":"X","cat":"kernel","name":"k","ts":"soon"}])"), HasSubstr("'ts' should be a number"));
  EXPECT_THAT(ErrorOf(R"([{"ph":"X","cat":"kernel","name":"k","ts":1e300}])"),
              HasSubstr("'ts' is 1e300, not a time in microseconds"));
  EXPECT_THAT(ErrorOf("[7]"), HasSubstr("event 0 (byte 1): not an object"));
  EXPECT_THAT(ErrorOf(fmt::format("[{} {}]", kKernelEvent, kKernelEvent)), HasSubstr("event 1 (byte"));
  EXPECT_THAT(ErrorOf(fmt::format("[{},,{}]", kKernelEvent, kKernelEvent)), HasSubstr("event 1 (byte"));
  EXPECT_THAT(ErrorOf(TraceOf(std::string(kKernelEvent) + ",")), HasSubstr("nothing after a comma"));
  EXPECT_THAT(ErrorOf("{\"traceEvents\":7}"), HasSubstr("no list \"traceEvents\""));
  EXPECT_THAT(ErrorOf(""), HasSubstr("not a trace"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("not a trace of PyTorch's profiler"));
  EXPECT_THAT(ErrorOf(TraceOf("")), HasSubstr("not a trace of PyTorch's profiler"));
  EXPECT_THAT(ErrorOf(R"([{"ph":"X","cat":"python_function","name":"f","ts":1},{"ph":"B","ts":1},{"ph":"E","ts":2}])"),
              HasSubstr("; ignored: 'begin and end events': 2, 'python_function': 1"));
}

constexpr const char* kLeftOut = "fields of an unexpected form, left out or read in part";
constexpr const char* kSkipped = "events skipped";

// Forty kernels with their calls and operators; in the middle one event more, which `odd` is.
Result<Timeline> ReadAmongOthers(const std::string& odd) {
  std::string events;
  for (int i = 0; i < 40; ++i) {
    if (i == 20) events += odd + ",\n";
    events += fmt::format("{},\n{},\n{}{}\n", kOperatorEvent, kLaunchEvent, kKernelEvent, i == 39 ? "" : ",");
  }
  std::string in_time = TraceOf(events);
  // On one clock.
  for (std::size_t at; (at = in_time.find("\"ts\":1490.100")) != std::string::npos;)
    in_time.replace(at, 13, "\"ts\":1419247333291.9");
  return Read(in_time);
}

// What is known of a field without which an event can be read.
TEST(KinetoTrace, AnEventIsReadWithoutItsOddFields) {
  for (const std::string event : {kKernelEvent, kLaunchEvent}) {
    for (const char* const field : {"stream", "device", "correlation", "External id"}) {
      for (const char* const value : {"\"0x0\"", "\"0xffff0000ffff0000\"", "\"seven\"", "\"\"", "null", "true", "false",
                                      "[]", "[7]", "{}", "18446744073709551615", "1e300", "7.5", "NaN"}) {
        nlohmann::json odd = nlohmann::json::parse(event);
        odd["args"][field] = "VALUE";
        std::string text = odd.dump();
        text.replace(text.find("\"VALUE\""), 7, value);
        const Result<Timeline> read = ReadAmongOthers(text);
        ASSERT_TRUE(read.ok()) << text << "\n" << read.error().message;
        EXPECT_EQ(read->host_calls.size() + read->device_work.size(), 121u) << text;
        EXPECT_THAT(read->remarks, ElementsAre(AllOf(HasSubstr(kLeftOut), HasSubstr("read in part: 1;"),
                                                     HasSubstr("event 60 (byte "), HasSubstr(field))))
            << text;
        EXPECT_EQ(read->skipped_share, 0);
      }
    }
  }
}

TEST(KinetoTrace, NumbersWithinQuotesAreRead) {
  const Result<Timeline> read =
      Read(R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":"0x1f","ts":"10.5","dur":"2",)"
           R"("args":{"stream":"0x1f","device":"3","correlation":"77"}}])");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->streams, (std::vector<TimelineStream>{{3, 31}}));
  EXPECT_EQ(read->device_work[0].correlation, 77);
  EXPECT_EQ(read->device_work[0].start_ns, 10'500);
  EXPECT_EQ(read->device_work[0].duration_ns, 2'000);
  EXPECT_THAT(read->remarks, ElementsAre(AllOf(HasSubstr("read in part: 5;"), HasSubstr("'ts' is the text '10.5'"))));
}

TEST(KinetoTrace, EventsWithoutANameKeepTheirTime) {
  const std::pair<const char*, const char*> kNames[] = {{R"("name":"a\ud800b",)", "a\\ud800b"},
                                                        {R"("name":7,)", "(no name)"},
                                                        {R"("name":null,)", "(no name)"},
                                                        {"", "(no name)"}};
  for (const auto& [field, name] : kNames) {
    const Result<Timeline> read =
        Read(fmt::format(R"([{{"ph":"X","cat":"kernel",{}"pid":0,"tid":7,"ts":10,"dur":2}}])", field));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->names.text(read->device_work[0].name), name);
    EXPECT_THAT(read->remarks, ElementsAre(AllOf(HasSubstr(kLeftOut), HasSubstr("'name'"))));
  }
}

TEST(KinetoTrace, AnEventWithoutItsTimesOrKindIsSkippedAndCounted) {
  const char* const kOdd[] = {
      R"({"ph":"X","cat":"kernel","name":"k","tid":7,"ts":1419247333291,"dur":-2})",
      R"({"ph":"X","cat":"kernel","name":"k","tid":7,"ts":1419247333291,"dur":null})",
      R"({"ph":"X","cat":"kernel","name":"k","tid":7,"ts":1419247333291,"dur":"long"})",
      R"({"ph":"X","cat":"kernel","name":"k","tid":7,"ts":null,"dur":6.25})",
      R"({"ph":"X","cat":"kernel","name":"k","tid":7,"ts":"Infinity","dur":6.25})",
      R"({"ph":"X","cat":"kernel","name":"k","tid":7,"dur":6.25})",
      R"({"ph":"X","cat":null,"name":"k","tid":7,"ts":1419247333291,"dur":6.25,"args":{"stream":7}})",
      R"({"ph":"B","cat":"kernel","name":"k","tid":7,"ts":{}})",
      R"({"ph":"X","cat":"kernel","name":"k","tid":7,"ts":1419247333291})",
      R"({"ph":null,"cat":"kernel","name":"k","tid":7,"ts":1419247333291,"dur":6.25})",
      R"({"ph":"","cat":"kernel"})",
      R"({"cat":"gpu_memcpy","name":"k","tid":7,"ts":1419247333291,"dur":6.25})",
  };
  for (const char* const odd : kOdd) {
    const Result<Timeline> read = ReadAmongOthers(odd);
    ASSERT_TRUE(read.ok()) << odd << "\n" << read.error().message;
    EXPECT_EQ(read->device_work.size(), 40u);
    EXPECT_THAT(read->remarks, ElementsAre(AllOf(HasSubstr(kSkipped), HasSubstr("wrong: 1 (about 2.4 % of the device"),
                                                 HasSubstr("event 60 (byte "))))
        << odd;
    EXPECT_NEAR(read->skipped_share, 1.0 / 41, 1e-9) << odd;
  }
  for (const char* const odd :
       {R"({"ph":"","cat":"cpu_op"})", R"({"ph":null})", R"({"ph":"X","cat":["kernel"],"ts":1})", "null", "7",
        "[[1],{}]", "\"},{\"", R"({"ph":"X","cat":"cpu_op","name":"a","ts":1,"dur":-1})", R"({"ph":"E","ts":1})"}) {
    const Result<Timeline> read = ReadAmongOthers(odd);
    ASSERT_TRUE(read.ok()) << odd << "\n" << read.error().message;
    EXPECT_EQ(read->events, 121);
    EXPECT_THAT(read->remarks, ElementsAre(HasSubstr("wrong: 1; the first: event 60 (byte "))) << odd;
    EXPECT_EQ(read->skipped_share, 0);
  }
  // A kernel that never ends took its time, too.
  const Result<Timeline> begun =
      ReadAmongOthers(R"({"ph":"B","cat":"kernel","name":"k","pid":0,"tid":9,"ts":1419247333291})");
  ASSERT_TRUE(begun.ok()) << begun.error().message;
  EXPECT_NEAR(begun->skipped_share, 1.0 / 41, 1e-9);
}

TEST(KinetoTrace, FieldsOfIgnoredEventsMayContainAnything) {
  for (const char* const odd :
       {R"({"ph":"X","cat":"python_function","ts":1,"dur":-1})", R"({"ph":"X","cat":"Trace","name":7})",
        R"({"ph":"X","cat":"Trace","ts":"soon","args":{"stream":"x"}})", R"({"ph":"i","cat":7,"ts":null})"}) {
    const Result<Timeline> read = ReadAmongOthers(odd);
    ASSERT_TRUE(read.ok()) << odd << "\n" << read.error().message;
    EXPECT_THAT(read->remarks, ElementsAre(HasSubstr("ignored: 1"))) << odd;
  }
}

TEST(KinetoTrace, BeginAndEndEventsAreNestedOnTheirThread) {
  const Result<Timeline> read = Read(
      R"([{"ph":"B","cat":"cpu_op","name":"outer","pid":1,"tid":1,"ts":10,"args":{"External id":5}},
          {"ph":"B","cat":"cpu_op","name":"other","pid":1,"tid":2,"ts":11},
          {"ph":"B","name":"of no category","pid":1,"tid":1,"ts":11},
          {"ph":"B","cat":"cuda_runtime","name":"launch","pid":1,"tid":1,"ts":12},
          {"ph":"E","pid":1,"tid":1,"ts":13.5},
          {"ph":"E","pid":1,"tid":1,"ts":14},
          {"ph":"E","pid":1,"tid":2,"ts":15},
          {"ph":"E","pid":1,"tid":1,"ts":20},
          {"ph":"B","cat":"cpu_op","name":"open","pid":1,"tid":1,"ts":21},
          {"ph":"B","cat":"kernel","name":"k","pid":0,"tid":7,"ts":30,"args":{"stream":7}},
          {"ph":"E","pid":0,"tid":7,"ts":36}])");
  ASSERT_TRUE(read.ok()) << read.error().message;
  std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> calls;
  for (const HostCall& call : read->host_calls)
    calls.emplace_back(read->names.text(call.name), call.start_ns, call.duration_ns);
  EXPECT_THAT(calls, ElementsAre(std::tuple("outer", 10'000, 10'000), std::tuple("other", 11'000, 4'000),
                                 std::tuple("launch", 12'000, 1'500)));
  EXPECT_EQ(read->host_calls[0].external_id, 5);
  ASSERT_EQ(read->device_work.size(), 1u);
  EXPECT_EQ(read->device_work[0].duration_ns, 6'000);
  EXPECT_THAT(read->remarks, ElementsAre("begin and end events ignored: 2", "begin events without an end ignored: 1"));
}

TEST(KinetoTrace, ABareListMayEndWithACommaOrWithoutItsBracket) {
  const std::string events = fmt::format("[{},\n{}", kKernelEvent, kLaunchEvent);
  for (const char* const end : {"]", ",]", ",\n]\n", "", ",", ",\n", "\n"}) {
    const Result<Timeline> read = Read(events + end);
    ASSERT_TRUE(read.ok()) << end << read.error().message;
    EXPECT_EQ(read->events, 2);
    const bool is_open = std::string_view(end).find(']') == std::string_view::npos;
    EXPECT_EQ(read->remarks.size(), is_open ? 1u : 0u) << end;
  }
  EXPECT_THAT(ErrorOf(events.substr(0, events.size() - 1)), HasSubstr("it was cut off"));
  EXPECT_THAT(ErrorOf(events + ",{\"ph\":"), HasSubstr("it was cut off"));
}

TEST(KinetoTrace, AnEventWithoutAnEndNamesTheLimit) {
  const std::string endless =
      fmt::format(R"([{},{{"ph":"X","name":"{}"}}])", kKernelEvent, std::string(70'000'000, 'x'));
  EXPECT_THAT(ErrorOf(endless), AllOf(HasSubstr("event 1 (byte "), HasSubstr("no end within 64 MiB")));
}

TEST(KinetoTrace, ATimeOfAnotherClockIsSkipped) {
  std::string event = kKernelEvent;
  event.replace(event.find("1490.100"), 8, "1419247333291708");
  const Result<Timeline> one = ReadAmongOthers(event);
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_EQ(one->device_work.size(), 40u);
  EXPECT_LT(one->duration_ns(), 1'000'000'000);
  EXPECT_THAT(one->remarks, ElementsAre(AllOf(HasSubstr(kSkipped), HasSubstr("more than a month from the others"))));
  // Of as many events on each of two clocks none is the wrong one.
  const Result<Timeline> two = Read(fmt::format("[{},{}]", kKernelEvent, event));
  ASSERT_TRUE(two.ok()) << two.error().message;
  EXPECT_EQ(two->device_work.size(), 2u);
  EXPECT_THAT(two->remarks, ElementsAre(HasSubstr("1 of 2 calls and pieces of device work are more than a month")));
}

TEST(KinetoTrace, AByteOrderMarkAndBlanksInFrontAreSkipped) {
  for (const std::string& front : {std::string("\xef\xbb\xbf"), std::string(700'000, ' ')}) {
    EXPECT_EQ(ErrorOf(front + "[" + kKernelEvent + "]"), "none");
    EXPECT_EQ(ErrorOf(front + TraceOf(kKernelEvent)), "none");
  }
}

// The first starts 95 years before the trace's origin, the second ends 190 years after it.
TEST(KinetoTrace, TheLongestOfAllTracesHasALength) {
  const std::string longest = R"([{"ph":"X","cat":"kernel","name":"a","ts":-3000000000000000,"dur":1},)"
                              R"({"ph":"X","cat":"kernel","name":"b","ts":3000000000000000,"dur":3000000000000000}])";
  const Result<Timeline> read = Read(longest);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->duration_ns(), 9'000'000'000'000'000'000);
  EXPECT_THAT(ErrorOf(R"([{"ph":"X","cat":"kernel","name":"a","ts":-3000000000000001,"dur":1}])"),
              HasSubstr("'ts' is -3000000000000001, not a time in microseconds"));
}

TEST(KinetoTrace, ATruncatedFileIsAnErrorWithItsLength) {
  const std::string whole = TraceOf(fmt::format("{},\n{},\n{}", kKernelEvent, kOperatorEvent, kLaunchEvent));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string error = ErrorOf(whole.substr(0, length));
    if (length <= whole.find("\"traceEvents\":[") + 14) {
      EXPECT_THAT(error, ::testing::AnyOf(HasSubstr("within the trace"), HasSubstr("not a trace"))) << length;
    } else {
      EXPECT_EQ(error, fmt::format("t.json: the file ends at byte {}, within the trace: it was cut off", length));
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
  EXPECT_THAT(bytes->remarks, Contains("1 bytes that are not UTF-8 are read as '?'"));
}

TEST(KinetoTrace, DeepNestingIsAnErrorOrIgnored) {
  const std::string deep(100000, '[');
  EXPECT_THAT(ErrorOf(TraceOf(R"({"ph":"X","cat":"kernel","name":"k","ts":1,"args":{"grid":)" + deep)),
              HasSubstr("within the trace"));
  const std::string closed = deep + std::string(100000, ']');
  EXPECT_THAT(ErrorOf(TraceOf(fmt::format("{},{{\"ph\":\"X\",\"x\":{}}}", kKernelEvent, closed))),
              ::testing::AnyOf(HasSubstr("event 1"), ::testing::Eq("none")));
  EXPECT_THAT(ErrorOf("{\"a\":" + deep), HasSubstr("within the trace"));
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
    EXPECT_THAT(read.error().message, ::testing::StartsWith("t.json: "));
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
}  // namespace infimum::kineto_trace_test
