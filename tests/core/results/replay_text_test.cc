#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "src/core/results/replay_result.h"
#include "src/core/results/replay_schedule_text.h"
#include "src/core/results/tensor_folder.h"
#include "tests/core/graph/replay_example.h"
#include "tests/support/temporary_folder.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(ReplayScheduleText, ComesBackAsItWas) {
  ReplaySchedule schedule = ExampleSchedule();
  schedule.tensors[1].fill = 0.5;
  schedule.contract = "tf32";
  schedule.steps[0].candidate = {"cudnn/eng0", "acdb", "abcd"};
  const Result<ReplaySchedule> again = ParseReplaySchedule(FormatReplaySchedule(schedule));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, schedule);
}

TEST(ReplayScheduleText, ChoicesComeBackAndAScheduleWithoutThemDoesNotMentionThem) {
  const ReplaySchedule schedule = ExampleWithFactors();
  const Result<ReplaySchedule> again = ParseReplaySchedule(FormatReplaySchedule(schedule));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, schedule);
  const std::string without = FormatReplaySchedule(ExampleSchedule());
  for (const char* const word : {"factors", "design", "runs_at"})
    EXPECT_EQ(without.find(word), std::string::npos) << word;
}

TEST(ReplayScheduleText, WhateverIsDamagedIsRefusedOrStillValid) {
  const std::string text = FormatReplaySchedule(ExampleWithFactors());
  std::mt19937 random(3);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = text;
    for (std::uint32_t change = 0; change <= random() % 3; ++change) {
      const std::size_t at = random() % damaged.size();
      switch (random() % 3) {
        case 0:
          damaged[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          damaged.erase(at, 1 + random() % 20);
          break;
        default:
          damaged.insert(at, std::to_string(random()));
          break;
      }
      if (damaged.empty()) break;
    }
    const Result<ReplaySchedule> parsed = ParseReplaySchedule(damaged);
    if (!parsed.ok()) {
      ++refused;
      EXPECT_FALSE(parsed.error().message.empty());
      continue;
    }
    EXPECT_TRUE(Validate(*parsed).ok());
  }
  EXPECT_GT(refused, 1000);
}

TEST(ReplayScheduleText, ANewerSchemaIsRefusedByName) {
  std::string text = FormatReplaySchedule(ExampleSchedule());
  text.replace(text.find("schedule/1"), 10, "schedule/2");
  const Result<ReplaySchedule> parsed = ParseReplaySchedule(text);
  ASSERT_FALSE(parsed.ok());
  EXPECT_THAT(parsed.error().message, HasSubstr("infimum.replay-schedule/1"));
}

ReplayResult ExampleResult() {
  ReplayResult result;
  result.repetitions = {{{Latency(12), Latency(10), Latency(11)}}, {{Latency(9), Latency(10), Latency(9.5)}}};
  result.repetitions[1].beat = Beat{Latency(100.5), Latency(410)};
  ReplayPart step{"fc", "onednn/brg:avx2", false, 1, Latency(6), Latency(7), 1e-7, 1e-6, Latency(6.5), Bytes{64}};
  ReplayPart reorder{"reorder of x", "onednn/reorder", true, 1, Latency(2), Latency(2), std::nullopt, 0};
  result.parts = {step, reorder};
  result.outputs = {{"y", 1e-6, 1e-4}};
  result.weights = Bytes{128};
  result.arena = Bytes{4096};
  result.last_level_cache = Bytes{100};
  result.resident_share = 0.25;
  result.inferences = {Latency(12), Latency(13)};
  result.beats = {{Latency(100), Latency(400)}, {Latency(101), Latency(390)}};
  return result;
}

TEST(ReplayResult, IsTheMeanOfTheMediansOverTheSumOfItsParts) {
  const ReplayResult result = ExampleResult();
  const double whole = std::sqrt(11 * 9.5);
  EXPECT_NEAR(result.demonstrated().count(), whole, 1e-12);
  EXPECT_EQ(result.sum_alone(CacheState::kWarm), Latency(8));
  EXPECT_EQ(result.sum_alone(CacheState::kColdWeights), Latency(8.5));
  EXPECT_EQ(result.sum_in_loop(), Latency(9));
  EXPECT_EQ(result.cache_of_weights(), CacheState::kColdWeights);
  EXPECT_EQ(result.sum_expected(), Latency(8.5 - 0.25 * 0.5));
  EXPECT_DOUBLE_EQ(result.composition_error(), whole / (8.5 - 0.25 * 0.5));
  EXPECT_DOUBLE_EQ(result.composition_error(CacheState::kWarm), whole / 8);
  EXPECT_EQ(result.FirstFault(), std::nullopt);
}

TEST(ReplayResult, ComesBackAsItWas) {
  const ReplayResult result = ExampleResult();
  const Result<ReplayResult> again = ParseReplayResult(FormatReplayResult(result));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(FormatReplayResult(*again), FormatReplayResult(result));
  EXPECT_EQ(again->repetitions, result.repetitions);
  EXPECT_EQ(again->demonstrated(), result.demonstrated());
  EXPECT_EQ(again->parts[0].error, result.parts[0].error);
  EXPECT_EQ(again->parts[1].error, std::nullopt);
  EXPECT_EQ(again->parts, result.parts);
  EXPECT_EQ(again->last_level_cache, result.last_level_cache);
  EXPECT_EQ(again->resident_share, result.resident_share);
  EXPECT_EQ(again->inferences, result.inferences);
  EXPECT_EQ(again->beats, result.beats);
}

TEST(ReplayResult, NamesABeatThatCannotBe) {
  const auto error_of = [](const std::string& beat) {
    std::string text = FormatReplayResult(ExampleResult());
    const std::string good = "[100.5,410.0]";
    text.replace(text.find(good), good.size(), beat);
    const Result<ReplayResult> parsed = ParseReplayResult(text);
    return parsed.ok() ? "no error" : parsed.error().message;
  };
  EXPECT_EQ(error_of("null"), "no error");
  EXPECT_EQ(error_of("[-1,410]"), "repetitions[1]: 'beat_us' is -1, expected a number from 0 to 1e+15");
  EXPECT_EQ(error_of("[1,2,3,4]"),
            "repetitions[1]: beat_us: expected [arithmetic, memory] or [arithmetic, memory, cache], all more than 0");
  EXPECT_EQ(error_of("\"fast\""), "repetitions[1]: 'beat_us' is the text 'fast', expected a list");
}

TEST(ReplayResult, NamesAWrongStepAWrongOutputAndWhatIsNoNumber) {
  ReplayResult step = ExampleResult();
  step.parts[0].error = 1e-3;
  EXPECT_THAT(step.FirstFault().value_or(""), HasSubstr("'fc'"));
  ReplayResult output = ExampleResult();
  output.outputs[0].error = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(output.FirstFault().value_or(""), HasSubstr("'y'"));
  const Result<ReplayResult> again = ParseReplayResult(FormatReplayResult(output));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(again->FirstFault().has_value());
  ReplayResult nothing = ExampleResult();
  nothing.outputs.clear();
  EXPECT_TRUE(nothing.FirstFault().has_value());
}

TEST(ReplayResult, OfANoisyProcessAndAQuietOneTheQuietOneCounts) {
  ReplayResult noisy = ExampleResult(), quiet = ExampleResult();
  noisy.noisy = "only 1 of 9 samples";
  noisy.repetitions = {{{Latency(5)}}};
  noisy.parts[0].alone = Latency(1);
  noisy.outputs[0].error = 2e-6;
  EXPECT_EQ(ParseReplayResult(FormatReplayResult(noisy))->noisy, noisy.noisy);
  for (const bool is_first : {true, false}) {
    const Result<ReplayResult> joined = is_first ? Joined(noisy, quiet) : Joined(quiet, noisy);
    ASSERT_TRUE(joined.ok());
    EXPECT_EQ(joined->noisy, "");
    EXPECT_EQ(joined->repetitions, quiet.repetitions);
    EXPECT_EQ(joined->parts, quiet.parts);
    EXPECT_EQ(joined->outputs, is_first ? noisy.outputs : quiet.outputs);
  }
  EXPECT_EQ(Joined(noisy, noisy)->noisy, noisy.noisy);
  EXPECT_EQ(Joined(noisy, noisy)->repetitions.size(), 2U);
}

TEST(ReplayResult, PartsCountAsInTheProcessThatWasFastestAsAWhole) {
  ReplayResult faster = ExampleResult();
  faster.repetitions = {{{Latency(9)}}};
  faster.parts[0].alone = Latency(5);
  faster.parts[0].alone_cold_weights = Latency(7.5);
  faster.resident_share = 0.75;
  for (const bool is_first : {false, true}) {
    const Result<ReplayResult> joined = is_first ? Joined(faster, ExampleResult()) : Joined(ExampleResult(), faster);
    ASSERT_TRUE(joined.ok());
    EXPECT_EQ(joined->repetitions.size(), 3U);
    EXPECT_NEAR(joined->demonstrated().count(), std::cbrt(11 * 9.5 * 9), 1e-12);
    EXPECT_EQ(joined->sum_alone(CacheState::kWarm), Latency(7));
    EXPECT_EQ(joined->sum_alone(CacheState::kColdWeights), Latency(9.5));
    EXPECT_EQ(joined->resident_share, 0.75);
  }
}

TEST(ReplayResult, JoinsRepetitionsOfTheSamePartsOnly) {
  ReplayResult other = ExampleResult();
  other.parts.pop_back();
  EXPECT_FALSE(Joined(ExampleResult(), other).ok());
}

// How many copies of few constants a sample needs depends on its time: in one process there were more than can be made.
TEST(ReplayResult, ATimeWithWeightsFromMemoryIsTakenFromTheProcessThatHasOne) {
  for (const double faster : {9.0, 12.0}) {
    ReplayResult without = ExampleResult();
    without.repetitions = {{{Latency(faster)}}};
    without.parts[0].alone_cold_weights.reset();
    for (const Result<ReplayResult>& joined : {Joined(ExampleResult(), without), Joined(without, ExampleResult())}) {
      ASSERT_TRUE(joined.ok());
      EXPECT_EQ(joined->parts[0].alone_cold_weights, Latency(6.5));
    }
  }
}

class Folder : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const { std::ofstream(path / name) << text; }
  void WriteIndex(const std::string& entries) const {
    Write("index.json", R"({"schema":"infimum.tensors/1","tensors":[)" + entries + "]}");
  }
  const testing::TemporaryFolder temporary;
  const fs::path path = temporary.path();
};

TEST_F(Folder, ReadsWhatTheIndexNames) {
  WriteIndex(R"({"name":"x","dtype":"s32","shape":[2],"file":"0.bin"})");
  const std::int32_t elements[] = {7, -9};
  std::ofstream(path / "0.bin", std::ios::binary).write(reinterpret_cast<const char*>(elements), sizeof elements);
  const Result<TensorFolder> folder = TensorFolder::Open(path);
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  std::int32_t read[2] = {};
  ASSERT_TRUE(folder->Read("x", DataType::kS32, Shape{{1, 2}}, read).ok());
  EXPECT_EQ(read[1], -9);
  EXPECT_FALSE(folder->Read("y", DataType::kS32, Shape{{2}}, read).ok());
  EXPECT_FALSE(folder->Read("x", DataType::kF32, Shape{{2}}, read).ok());
  EXPECT_FALSE(folder->Read("x", DataType::kS32, Shape{{3}}, read).ok());
  fs::resize_file(path / "0.bin", 7);
  EXPECT_FALSE(folder->Read("x", DataType::kS32, Shape{{2}}, read).ok());
  fs::resize_file(path / "0.bin", 9);
  EXPECT_FALSE(folder->Read("x", DataType::kS32, Shape{{2}}, read).ok());
}

TEST_F(Folder, RefusesAnIndexThatLeadsElsewhereOrSaysNonsense) {
  const char* const entries[] = {
      R"({"name":"x","dtype":"s32","shape":[2],"file":"../0.bin"})",
      R"({"name":"x","dtype":"s32","shape":[2],"file":"/etc/passwd"})",
      R"({"name":"x","dtype":"s32","shape":[2],"file":".."})",
      R"({"name":"x","dtype":"s31","shape":[2],"file":"0.bin"})",
      R"({"name":"x","dtype":"s4","shape":[2],"file":"0.bin"})",
      R"({"name":"x","dtype":"s32","shape":[-2],"file":"0.bin"})",
      R"({"name":"x","dtype":"s32","shape":[1e12,1e12],"file":"0.bin"})",
      R"({"name":"x","dtype":"s32","shape":[1],"file":"a"},{"name":"x","dtype":"s32","shape":[1],"file":"b"})",
      R"({"name":"x"})",
      "{",
  };
  for (const char* const entry : entries) {
    SCOPED_TRACE(entry);
    WriteIndex(entry);
    const Result<TensorFolder> folder = TensorFolder::Open(path);
    ASSERT_FALSE(folder.ok());
    EXPECT_THAT(folder.error().message, HasSubstr("index.json"));
  }
}

}  // namespace
}  // namespace infimum
