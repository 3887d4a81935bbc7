#include "microbench/harness/supervisor/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

namespace infimum {
namespace {

using std::chrono::milliseconds;

CampaignProgress Halfway() {
  CampaignProgress progress;
  progress.round = 1;
  progress.rounds = 3;
  progress.trials = 34;
  progress.expected_trials = 120;
  progress.rows = 30;
  progress.elapsed = std::chrono::seconds(30);
  progress.remaining = std::chrono::seconds(72);
  progress.workload = "pointwise kind=relu";
  return progress;
}

TEST(Progress, IsALineForPeople) {
  EXPECT_EQ(FormatProgressLine(Halfway()),
            "infimum: 34 of about 120 runs, round 1 of 3, 1m 12s left: pointwise kind=relu");
}

TEST(Progress, IsJsonForAParent) {
  const auto json = nlohmann::json::parse(FormatProgressJson(Halfway()));
  EXPECT_EQ(json["event"], "progress");
  EXPECT_EQ(json["done"], 34);
  EXPECT_EQ(json["total"], 120);
  EXPECT_EQ(json["left_s"], 72.0);
  CampaignProgress unknown = Halfway();
  unknown.remaining.reset();
  EXPECT_TRUE(nlohmann::json::parse(FormatProgressJson(unknown))["left_s"].is_null());
}

TEST(Progress, NoRemainingTimeIsShownForATrialPastItsEstimate) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  FakeClock clock;
  clock.Advance(std::chrono::seconds(1));
  ProgressDisplay display({false, false, ends[1]}, clock);
  display.Update(Halfway());
  std::string text(1 << 12, '\0');
  EXPECT_GT(read(ends[0], text.data(), text.size()), 0);
  clock.Advance(std::chrono::seconds(73));
  display.Tick();
  text.resize(static_cast<std::size_t>(read(ends[0], text.data(), text.size())));
  EXPECT_TRUE(nlohmann::json::parse(text)["left_s"].is_null()) << text;
  close(ends[0]);
  close(ends[1]);
}

TEST(Progress, JsonLinesAreSparseAndAParentThatDoesNotReadStopsNothing) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  FakeClock clock;
  clock.Advance(std::chrono::seconds(1));
  ProgressDisplay display({false, false, ends[1]}, clock);
  for (int i = 0; i < 1000000; ++i) {
    if (i % 1000 == 0) clock.Advance(milliseconds(200));
    display.Update(Halfway());
  }
  CampaignSummary summary;
  std::string text(1 << 20, '\0');
  text.resize(static_cast<std::size_t>(read(ends[0], text.data(), text.size())));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 1000);
  EXPECT_THAT(text, ::testing::EndsWith("\n"));
  display.End(summary);
  text.resize(1000);
  text.resize(static_cast<std::size_t>(read(ends[0], text.data(), text.size())));
  EXPECT_EQ(nlohmann::json::parse(text)["event"], "end");
  EXPECT_EQ(nlohmann::json::parse(text)["complete"], true);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace infimum
