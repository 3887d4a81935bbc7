#include "src/readers/profiles/onnxruntime/onnxruntime_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "tests/support/shared_data.h"

namespace infimum::onnxruntime_profile_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A profile as ONNX Runtime 1.31 writes it: events one after the other on one thread, an inference's behind its nodes'.
class ProfileText {
 public:
  ProfileText& Node(const std::string& name, int microseconds, int index = 0) {
    events_.push_back(R"({"cat":"Node","name":")" + name + R"(_kernel_time","dur":)" + std::to_string(microseconds) +
                      R"(,"ts":)" + std::to_string(clock_) + R"(,"tid":7,"ph":"X","args":{"op_name":"Conv",)" +
                      R"("provider":"CPUExecutionProvider","node_index":")" + std::to_string(index) + R"("}})");
    clock_ += microseconds;
    return *this;
  }
  // As each node tells of its thread pool.
  ProfileText& Threads(const std::string& statistics) {
    std::string& event = events_.back();
    event.insert(event.rfind("\"op_name\""), "\"thread_scheduling_stats\":" + statistics + ",");
    return *this;
  }
  ProfileText& Shapes(const std::string& shapes) {
    std::string& event = events_.back();
    event.insert(event.rfind("\"op_name\""), "\"input_type_shape\":" + shapes + ",");
    return *this;
  }
  ProfileText& RunEnds() {
    clock_ += 5;
    events_.push_back(R"({"cat":"Session","name":"model_run","dur":)" + std::to_string(clock_ - run_start_) +
                      R"(,"ts":)" + std::to_string(run_start_) + R"(,"tid":7,"args":{}})");
    run_start_ = ++clock_;
    return *this;
  }
  std::string text() const { return Written(events_); }
  // As later versions write it: by start.
  std::string sorted_text() const {
    std::vector<std::string> events = events_;
    const auto start = [](const std::string& event) { return std::stoi(event.substr(event.find("\"ts\":") + 5)); };
    std::stable_sort(events.begin(), events.end(), [&](const auto& a, const auto& b) { return start(a) < start(b); });
    return Written(events);
  }

 private:
  static std::string Written(const std::vector<std::string>& events) {
    std::string text = "[";
    for (const std::string& event : events) text += event + ",\n";
    return text + R"({"cat":"Session","name":"end"}])";
  }

  std::vector<std::string> events_;
  int clock_ = 100, run_start_ = 100;
};

Result<RunProfile> Parse(const std::string& text) {
  std::istringstream input(text);
  return ReadOnnxRuntimeProfile(input, "profile.json");
}

TEST(OnnxRuntimeProfile, ThreadsAreThoseOfThePoolAndTheCaller) {
  const auto threads = [](const std::string& statistics) {
    const Result<RunProfile> run = Parse(ProfileText().Node("a", 100).Threads(statistics).RunEnds().text());
    EXPECT_TRUE(run.ok()) << run.error().message;
    return run.ok() ? run->threads : std::nullopt;
  };
  const std::string main =
      R"({"main_thread":{"thread_pool_name":"session-1-intra-op","block_size":[1]},"sub_threads":)";
  EXPECT_EQ(threads("\"\""), 1) << "there is no pool";
  EXPECT_EQ(threads(main + R"({"14":{"num_run":0,"core":-1}}})"), 2);
  EXPECT_EQ(threads(main + R"({"14":{"num_run":9},"15":{"num_run":0},"16":{}}})"), 4);
  for (const char* other : {"null", "7", "{}", "\"none\"", "[]", R"({"main_thread":{},"sub_threads":3})"})
    EXPECT_EQ(threads(other), std::nullopt) << other;
  EXPECT_EQ(Parse(ProfileText().Node("a", 100).RunEnds().text())->threads, std::nullopt);
  // Of nodes that tell differently the one that tells of most.
  const ProfileText mixed =
      ProfileText().Node("a", 100).Threads("\"\"").Node("b", 1).Threads(main + R"({"1":{}}})").RunEnds();
  EXPECT_EQ(Parse(mixed.text())->threads, 2);
}

TEST(OnnxRuntimeProfile, EachInferenceGivesASampleAndTheFirstIsLeftOut) {
  ProfileText profile;
  for (int run = 0; run < 4; ++run) profile.Node("a", 100 + run).Node("b", 10).RunEnds();
  const Result<RunProfile> run = Parse(profile.text());
  ASSERT_TRUE(run.ok()) << run.error().message;
  ASSERT_THAT(run->layers, SizeIs(2));
  EXPECT_EQ(run->framework, "onnxruntime");
  EXPECT_EQ(run->layers[0].name, "a");
  EXPECT_EQ(run->layers[0].op, "Conv");
  EXPECT_EQ(run->layers[0].provider, "CPUExecutionProvider");
  EXPECT_THAT(run->layers[0].samples, ElementsAre(Latency(101), Latency(102), Latency(103)));
  EXPECT_THAT(run->profiled, ElementsAre(Latency(116), Latency(117), Latency(118)));
  EXPECT_THAT(run->warnings, IsEmpty());
}

TEST(OnnxRuntimeProfile, TheOrderOfEventsDoesNotMatter) {
  ProfileText profile;
  for (int run = 0; run < 6; ++run) profile.Node("a", 100 + run).Node("b", 10).RunEnds();
  ASSERT_NE(profile.text(), profile.sorted_text());
  const Result<RunProfile> by_end = Parse(profile.text());
  const Result<RunProfile> by_start = Parse(profile.sorted_text());
  ASSERT_TRUE(by_end.ok() && by_start.ok());
  EXPECT_EQ(by_end->layers[0].samples, by_start->layers[0].samples);
  EXPECT_EQ(by_end->profiled, by_start->profiled);
}

TEST(OnnxRuntimeProfile, ANodeThatRunsSeveralTimesInAnInferenceHasTheSum) {
  ProfileText profile;
  for (int run = 0; run < 3; ++run) profile.Node("body", 5).Node("body", 7).RunEnds();
  const Result<RunProfile> run = Parse(profile.text());
  ASSERT_TRUE(run.ok());
  EXPECT_THAT(run->layers[0].samples, ElementsAre(Latency(12), Latency(12)));
}

TEST(OnnxRuntimeProfile, ASingleInferenceIsKept) {
  const Result<RunProfile> run = Parse(ProfileText().Node("a", 9).RunEnds().text());
  ASSERT_TRUE(run.ok());
  EXPECT_THAT(run->layers[0].samples, ElementsAre(Latency(9)));
  EXPECT_THAT(run->profiled, ElementsAre(Latency(14)));
}

TEST(OnnxRuntimeProfile, AnInferenceThatWasCutOffIsLeftOut) {
  ProfileText profile;
  for (int run = 0; run < 2; ++run) profile.Node("a", 9).Node("b", 4).RunEnds();
  const Result<RunProfile> run = Parse(profile.Node("a", 9).text());
  ASSERT_TRUE(run.ok());
  EXPECT_THAT(run->layers[0].samples, SizeIs(2));
  EXPECT_THAT(run->warnings, ElementsAre(HasSubstr("1 executions of nodes outside any inference are left out")));
}

TEST(OnnxRuntimeProfile, WithoutInferenceEndsTheProfileIsOneInference) {
  const Result<RunProfile> run = Parse(ProfileText().Node("a", 9).Node("a", 4).text());
  ASSERT_TRUE(run.ok());
  EXPECT_THAT(run->layers[0].samples, ElementsAre(Latency(13)));
  EXPECT_THAT(run->profiled, IsEmpty());
  EXPECT_THAT(run->warnings, ElementsAre(HasSubstr("No inference boundaries")));
}

TEST(OnnxRuntimeProfile, InferencesThatReplayACudaGraphShowNoNodes) {
  ProfileText profile;
  profile.Node("a", 30).RunEnds().Node("a", 9).RunEnds();
  for (int run = 0; run < 100; ++run) profile.RunEnds();
  const Result<RunProfile> run = Parse(profile.text());
  ASSERT_TRUE(run.ok());
  EXPECT_THAT(run->layers[0].samples, ElementsAre(Latency(30), Latency(9)));
  EXPECT_THAT(run->profiled, SizeIs(2));
  EXPECT_THAT(run->warnings, ElementsAre(HasSubstr("100 of 102 inferences ran no node")));
}

TEST(OnnxRuntimeProfile, InferencesOfDifferentShapesAreAWarning) {
  const auto profile = [](const std::vector<int>& batches) {
    ProfileText text;
    for (const int batch : batches) {
      for (const char* name : {"a", "b", "c"}) {
        // What depends on the data may differ from inference to inference.
        const int extent = name[0] == 'c' ? batch * 100 + static_cast<int>(text.text().size()) : batch;
        text.Node(name, 100).Shapes(R"([{"float":[)" + std::to_string(extent) + ",3]}]");
      }
      text.RunEnds();
    }
    const Result<RunProfile> run = Parse(text.text());
    EXPECT_TRUE(run.ok());
    EXPECT_EQ(run->shapes_vary, !run->warnings.empty());
    EXPECT_THAT(run->layers[0].input_tensors.at(0).dims, ElementsAre(batches.back(), 3));
    return run->shapes_vary;
  };
  EXPECT_FALSE(profile({2, 2, 2}));
  EXPECT_FALSE(profile({1, 2, 2})) << "the warm-up is not among the times";
  EXPECT_TRUE(profile({1, 1, 2}));
  EXPECT_TRUE(profile({1, 2, 1}));
}

TEST(OnnxRuntimeProfile, NodesOnSeveralThreadsLeaveTheThreadCountUnknown) {
  std::string text = ProfileText().Node("a", 100).Threads("\"\"").Node("b", 1).Threads("\"\"").RunEnds().text();
  EXPECT_EQ(Parse(text)->threads, 1);
  const std::size_t second = text.find("\"tid\":7", text.find("\"b_kernel"));
  text.replace(second, 7, "\"tid\":8");
  EXPECT_EQ(Parse(text)->threads, std::nullopt);
}

TEST(OnnxRuntimeProfile, ConcurrentInferencesAreDistinguishedByTheirThreads) {
  const auto inference = [](int thread, int start) {
    const std::string tid = R"(,"tid":)" + std::to_string(thread);
    return R"({"cat":"Node","name":"a_kernel_time","dur":)" + std::to_string(10 * thread) + tid + R"(,"ts":)" +
           std::to_string(start + 10) + R"(,"args":{}},{"cat":"Session","name":"model_run","dur":50)" + tid +
           R"(,"ts":)" + std::to_string(start) + "},";
  };
  const Result<RunProfile> run = Parse("[" + inference(1, 0) + inference(2, 5) + R"({"cat":"Session","name":"end"}])");
  ASSERT_TRUE(run.ok());
  EXPECT_THAT(run->layers[0].samples, ElementsAre(Latency(10), Latency(20)));
  EXPECT_THAT(run->warnings, ElementsAre(HasSubstr("1 inferences began while others ran")));
}

TEST(OnnxRuntimeProfile, EqualNamesOfDifferentNodesStayApart) {
  const Result<RunProfile> run = Parse(ProfileText().Node("a", 9, 1).Node("a", 4, 2).RunEnds().text());
  ASSERT_TRUE(run.ok());
  EXPECT_THAT(run->layers, SizeIs(2));
}

TEST(OnnxRuntimeProfile, TheFormWithTraceEventsIsReadToo) {
  const Result<RunProfile> run = Parse("{\"traceEvents\":" + ProfileText().Node("a", 9).RunEnds().text() + "}");
  ASSERT_TRUE(run.ok());
  EXPECT_THAT(run->layers, SizeIs(1));
}

TEST(OnnxRuntimeProfile, AnotherFileIsAnErrorThatNamesIt) {
  for (const std::string text : {"", "{}", "[]", "[1]", "\"x\"", R"([{"cat":"Session","name":"model_run"}])"})
    EXPECT_THAT(Parse(text).error().message, HasSubstr("profile.json")) << text;
  std::string cut = ProfileText().Node("a", 9).RunEnds().text();
  cut.resize(cut.size() / 2);
  EXPECT_THAT(Parse(cut).error().message, AllOf(HasSubstr("profile.json"), HasSubstr("cut off")));
}

TEST(OnnxRuntimeProfile, NodesOutsideOfAllInferencesAreNoRun) {
  EXPECT_THAT(Parse(R"([{"cat":"Node","name":"a_kernel_time","dur":1,"ts":90},)"
                    R"({"cat":"Session","name":"model_run","dur":5,"ts":1}])")
                  .error()
                  .message,
              HasSubstr("profile.json: no node of the profile ran within an inference"));
}

TEST(OnnxRuntimeProfile, AnEventWithoutItsNameOrTimesIsSkippedAndCounted) {
  const char* const kBad[] = {
      R"({"cat":"Node","name":7})",
      R"({"cat":"Node","name":"a_kernel_time","dur":-1})",
      R"({"cat":"Node","name":"a_kernel_time","dur":1e300})",
      R"({"cat":"Node","name":"a_kernel_time","dur":null,"ts":1})",
      R"({"cat":"Node","name":"a_kernel_time","dur":1,"ts":-5})",
      R"({"cat":"Node","name":"a_kernel_time","dur":1,"ts":1700000000000000})",
      R"({"cat":"Kernel","name":"sgemm","dur":-1})",
      R"({"cat":"Node","name":"a_kernel_time","ts":1})",
      R"({"cat":null,"name":"Node_kernel_time","dur":1,"ts":1,"args":{"op_name":"Conv"}})",
      R"({"name":"Node_kernel_time","dur":1,"ts":1,"args":{"op_name":"Conv"}})",
      R"({"cat":"Kernel","name":[],"dur":1})",
      "null",
  };
  std::string good;
  for (int i = 0; i < 40; ++i) good += R"({"cat":"Node","name":"a_kernel_time","dur":1,"ts":1,"args":{}},)";
  for (const std::string bad : kBad) {
    const Result<RunProfile> run = Parse("[" + good + bad + "]");
    ASSERT_TRUE(run.ok()) << bad << run.error().message;
    EXPECT_THAT(run->layers, SizeIs(1));
    EXPECT_THAT(run->warnings, Contains(AllOf(HasSubstr("events skipped"), HasSubstr("event 41 (byte")))) << bad;
    const bool is_work = bad.find("Node") != std::string::npos || bad.find("Kernel") != std::string::npos;
    EXPECT_NEAR(run->skipped_share, is_work ? 1.0 / 41 : 0, 1e-9) << bad;
  }
  // Without the end of one inference its layers' times would be sums over all of them.
  EXPECT_THAT(Parse("[" + good + R"({"cat":"Session","name":"model_run","dur":"long"}])").error().message,
              AllOf(HasSubstr("no readable event 'model_run'"), HasSubstr("event 41 (byte")));
  EXPECT_THAT(Parse(R"([{"cat":"Node","name":"a_kernel_time","dur":-1}])").error().message,
              AllOf(HasSubstr("it has no node events"), HasSubstr("event 1 (byte 1): 'dur' is -1")));
}

TEST(OnnxRuntimeProfile, AnEventIsReadWithoutItsOddFields) {
  const std::pair<const char*, double> kOdd[] = {
      {R"("dur":7,"ts":1,"tid":"main","args":{})", 7},
      {R"("dur":"7","ts":1,"args":{})", 7},
      {R"("dur":7.6,"ts":1,"args":{})", 8},
      {R"("dur":7,"ts":1.25,"args":{})", 7},
      {R"("dur":7,"ts":1,"args":{"op_name":[]})", 7},
      {R"("dur":7,"ts":1,"args":{"node_index":3})", 7},
      {R"("dur":7,"ts":1,"args":{"op_name":"a\ud800"})", 7},
  };
  for (const auto& [fields, time] : kOdd) {
    const Result<RunProfile> run = Parse(std::string(R"([{"cat":"Node","name":"a_kernel_time",)") + fields + "}]");
    ASSERT_TRUE(run.ok()) << fields << run.error().message;
    EXPECT_THAT(run->layers[0].samples, ElementsAre(Latency(time))) << fields;
    EXPECT_THAT(run->warnings, Contains(AllOf(HasSubstr("fields of an unexpected form, left out or read in part"),
                                              HasSubstr("read in part: 1; the first: event 1 (byte 1)"))))
        << fields;
  }
  for (const char* const arguments : {R"({"parent_name":{}})", R"({"ort_correlation_id":"seven"})"}) {
    const Result<RunProfile> run = Parse(ProfileText().Node("a", 100).RunEnds().text().replace(
        0, 1, std::string(R"([{"cat":"Kernel","name":"sgemm","dur":1,"args":)") + arguments + "},"));
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_THAT(run->warnings, Contains(HasSubstr("read in part: 1;"))) << arguments;
    EXPECT_THAT(run->warnings, Contains(HasSubstr("1 kernels and copies"))) << arguments;
  }
}

TEST(OnnxRuntimeProfile, WhereTheProfilerWasStoppedTheListIsOpen) {
  std::string text = ProfileText().Node("a", 9).RunEnds().text();
  text.resize(text.rfind(",\n") + 2);
  const Result<RunProfile> run = Parse(text);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_THAT(run->warnings, ElementsAre(HasSubstr("the list of events has no closing bracket")));
}

TEST(OnnxRuntimeProfile, NoDamagedTextCrashesTheReader) {
  ProfileText profile;
  for (int run = 0; run < 3; ++run) profile.Node("a", 5).RunEnds();
  const std::string good = profile.text();
  std::mt19937_64 random(11);
  for (int attempt = 0; attempt < 3000; ++attempt) {
    std::string text = good;
    for (int i = 0; i < 4; ++i) text[random() % text.size()] = static_cast<char>(random());
    if (attempt % 5 == 0) text.resize(random() % text.size());
    static_cast<void>(Parse(text).ok());
  }
  static_cast<void>(Parse(std::string(100'000, '[')).ok());
}

// A reader sees a window of the text at a time: wherever one ends, in lists, in texts, in nodes longer than a window.
TEST(OnnxRuntimeProfile, WindowsEndAnywhere) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 6; ++round) {
    // Lines as ONNX Runtime writes them, and all in one as other tools do.
    const char* const blank = round % 2 == 0 ? "\n" : "";
    std::string text = "[";
    std::vector<double> expected;
    long clock = 100;
    for (long inference = 0; text.size() < 1'500'000; ++inference) {
      const long start = clock;
      double time = 0;
      for (std::size_t node = 0; node < 40; ++node) {
        const auto duration = static_cast<long>(random() % 50);
        std::string dims = "1";
        for (auto i = random() % 40; i > 0; --i) dims += ",64";
        if (round == 5 && inference == 3 && node == 7) dims = "1" + std::string(700'000, ' ');
        text += R"({"cat" : "Node","dur" :)" + std::to_string(duration) + R"(,"ts" :)" + std::to_string(clock) +
                R"(,"ph" : "X","args" : {"op_name" : "},{\"}]","thread_scheduling_stats" : {"a":[{}]},)" +
                R"("input_type_shape" : [{"float":[)" + dims + R"(]}],"node_index" : "3"},"name" :"a_kernel_time"},)" +
                blank;
        time += static_cast<double>(duration);
        clock += duration + 1;
      }
      text += R"({"cat" : "Session","name" :"model_run","args" : {},"dur" :)" + std::to_string(clock - start) +
              R"(,"ts" :)" + std::to_string(start) + "}," + blank;
      clock += 10;
      expected.push_back(time);
    }
    const Result<RunProfile> run = Parse(text + R"({"cat" : "Session","name" :"end"}])");
    ASSERT_TRUE(run.ok()) << run.error().message;
    ASSERT_THAT(run->layers, SizeIs(1));
    EXPECT_EQ(run->layers[0].op, "},{\"}]");
    expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(expected.size() / 5));
    std::vector<double> times;
    for (const Latency sample : run->layers[0].samples) times.push_back(sample.count());
    EXPECT_EQ(times, expected) << round;
  }
}

TEST(OnnxRuntimeProfile, DeviationsThatAreAcceptedAreWarnings) {
  std::string text = ProfileText().Node("name", 9).RunEnds().text();
  text.replace(text.find("name_kernel"), 4, "n\x01\xffm");
  const Result<RunProfile> run = Parse(text);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->layers[0].name, "n ?m");
  EXPECT_THAT(run->warnings, Contains(HasSubstr("1 control characters within texts")));
  EXPECT_THAT(run->warnings, Contains("1 bytes that are not UTF-8 are read as '?'"));
}

TEST(OnnxRuntimeProfile, TheLastOfTwoFieldsOfOneNameCounts) {
  const Result<RunProfile> run = Parse(R"([{"cat":"Node","name":"a_kernel_time","dur":"x","dur":7,"args":{}}])");
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_THAT(run->layers[0].samples, ElementsAre(Latency(7)));
}

TEST(OnnxRuntimeProfile, RealProfilesAreRead) {
  const std::filesystem::path folder = SharedData("traces/ort");
  INFIMUM_NEEDS_DATA(folder);
  std::ifstream fused(folder / "light_resnet50_cpu_opt_all.json");
  const Result<RunProfile> run = ReadOnnxRuntimeProfile(fused, "all");
  ASSERT_TRUE(run.ok()) << run.error().message;
  ASSERT_THAT(run->layers, SizeIs(59));
  EXPECT_EQ(run->layers.front().name, "r2_nchwc");
  EXPECT_EQ(run->layers.back().op, "Softmax");
  EXPECT_THAT(run->profiled, ElementsAre(Latency(35763), Latency(35799)));
  EXPECT_THAT(run->warnings, IsEmpty());
  std::vector<Latency> sums(2);
  for (const ProfiledLayer& layer : run->layers) {
    ASSERT_THAT(layer.samples, SizeIs(2)) << layer.name;
    for (std::size_t i = 0; i < 2; ++i) sums[i] += layer.samples[i];
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_LT(sums[i], run->profiled[i]);
    EXPECT_GT(sums[i], 0.9 * run->profiled[i]);
  }
  std::ifstream plain(folder / "light_squeezenet_cpu_opt_disabled.json");
  const Result<RunProfile> unfused = ReadOnnxRuntimeProfile(plain, "disabled");
  ASSERT_TRUE(unfused.ok());
  EXPECT_THAT(unfused->layers, SizeIs(105));
  EXPECT_THAT(unfused->profiled, ElementsAre(Latency(5178), Latency(4716)));
}

}  // namespace
}  // namespace infimum::onnxruntime_profile_test
