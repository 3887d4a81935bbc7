#include "infimum/ingest/onnxruntime_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace infimum {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string Node(const std::string& name, int microseconds, int index = 0) {
  return R"({"cat":"Node","name":")" + name + R"(_kernel_time","dur":)" + std::to_string(microseconds) +
         R"(,"ts":1,"ph":"X","args":{"op_name":"Conv","provider":"CPUExecutionProvider","node_index":")" +
         std::to_string(index) + R"("}},)";
}

const std::string kRunEnds = R"({"cat":"Session","name":"model_run","dur":1,"ts":1,"args":{}},)";

std::string Profile(const std::string& events) { return "[" + events + R"({"cat":"Session","name":"end"}])"; }

Result<std::vector<ProfiledLayer>> Parse(const std::string& text) {
  std::istringstream input(text);
  return ReadOnnxRuntimeProfile(input, "profile.json");
}

TEST(OnnxRuntimeProfile, EachInferenceGivesASampleAndTheFirstIsLeftOut) {
  std::string events;
  for (int run = 0; run < 4; ++run) events += Node("a", 100 + run) + Node("b", 10) + kRunEnds;
  const Result<std::vector<ProfiledLayer>> layers = Parse(Profile(events));
  ASSERT_TRUE(layers.ok()) << layers.error().message;
  ASSERT_THAT(*layers, SizeIs(2));
  EXPECT_EQ((*layers)[0].name, "a");
  EXPECT_EQ((*layers)[0].op, "Conv");
  EXPECT_EQ((*layers)[0].provider, "CPUExecutionProvider");
  EXPECT_THAT((*layers)[0].samples, ElementsAre(Latency(101), Latency(102), Latency(103)));
}

TEST(OnnxRuntimeProfile, ANodeThatRunsSeveralTimesInAnInferenceHasTheSum) {
  std::string events;
  for (int run = 0; run < 3; ++run) events += Node("body", 5) + Node("body", 7) + kRunEnds;
  const Result<std::vector<ProfiledLayer>> layers = Parse(Profile(events));
  ASSERT_TRUE(layers.ok());
  EXPECT_THAT((*layers)[0].samples, ElementsAre(Latency(12), Latency(12)));
}

TEST(OnnxRuntimeProfile, ASingleInferenceIsKept) {
  const Result<std::vector<ProfiledLayer>> layers = Parse(Profile(Node("a", 9) + kRunEnds));
  ASSERT_TRUE(layers.ok());
  EXPECT_THAT((*layers)[0].samples, ElementsAre(Latency(9)));
}

TEST(OnnxRuntimeProfile, EqualNamesOfDifferentNodesStayApart) {
  const Result<std::vector<ProfiledLayer>> layers = Parse(Profile(Node("a", 9, 1) + Node("a", 4, 2) + kRunEnds));
  ASSERT_TRUE(layers.ok());
  EXPECT_THAT(*layers, SizeIs(2));
}

TEST(OnnxRuntimeProfile, TheFormWithTraceEventsIsReadToo) {
  const Result<std::vector<ProfiledLayer>> layers = Parse("{\"traceEvents\":" + Profile(Node("a", 9) + kRunEnds) + "}");
  ASSERT_TRUE(layers.ok());
  EXPECT_THAT(*layers, SizeIs(1));
}

TEST(OnnxRuntimeProfile, WhatIsNoProfileIsAnErrorThatNamesTheFile) {
  for (const std::string text : {"", "{}", "[]", "[1]", "\"x\"", R"([{"cat":"Session","name":"model_run"}])"})
    EXPECT_THAT(Parse(text).error().message, HasSubstr("profile.json")) << text;
  std::string cut = Profile(Node("a", 9) + kRunEnds);
  cut.resize(cut.size() / 2);
  EXPECT_THAT(Parse(cut).error().message, AllOf(HasSubstr("profile.json"), HasSubstr("cut off")));
}

TEST(OnnxRuntimeProfile, WrongTypesAndTimesAreErrorsThatSayWhichEvent) {
  const char* const kBad[] = {R"({"cat":"Node","name":7})", R"({"cat":"Node","name":"a_kernel_time","dur":-1})",
                              R"({"cat":"Node","name":"a_kernel_time","dur":1e300})",
                              R"({"cat":"Node","name":"a_kernel_time","dur":1,"args":{"op_name":[]}})"};
  for (const char* bad : kBad)
    EXPECT_THAT(Parse("[" + Node("a", 1) + bad + "]").error().message, HasSubstr("event 2")) << bad;
}

TEST(OnnxRuntimeProfile, NoDamagedTextCrashesTheReader) {
  std::string events;
  for (int run = 0; run < 3; ++run) events += Node("a", 5) + kRunEnds;
  const std::string good = Profile(events);
  std::mt19937_64 random(11);
  for (int attempt = 0; attempt < 3000; ++attempt) {
    std::string text = good;
    for (int i = 0; i < 4; ++i) text[random() % text.size()] = static_cast<char>(random());
    if (attempt % 5 == 0) text.resize(random() % text.size());
    static_cast<void>(Parse(text).ok());
  }
  static_cast<void>(Parse(std::string(100'000, '[')).ok());
}

TEST(OnnxRuntimeProfile, RealProfilesAreRead) {
  const std::filesystem::path folder = std::filesystem::path(INFIMUM_SOURCE_DIR) / "../shared/data/traces/ort";
  if (!std::filesystem::exists(folder)) {
    if (std::getenv("CI") != nullptr) FAIL() << folder << " is absent";
    GTEST_SKIP() << folder << " is absent";
  }
  std::ifstream fused(folder / "light_resnet50_cpu_opt_all.json");
  const Result<std::vector<ProfiledLayer>> layers = ReadOnnxRuntimeProfile(fused, "all");
  ASSERT_TRUE(layers.ok()) << layers.error().message;
  ASSERT_THAT(*layers, SizeIs(59));
  EXPECT_EQ(layers->front().name, "r2_nchwc");
  EXPECT_EQ(layers->back().op, "Softmax");
  for (const ProfiledLayer& layer : *layers) EXPECT_THAT(layer.samples, SizeIs(2)) << layer.name;
  std::ifstream plain(folder / "light_squeezenet_cpu_opt_disabled.json");
  EXPECT_THAT(*ReadOnnxRuntimeProfile(plain, "disabled"), SizeIs(105));
}

}  // namespace
}  // namespace infimum
