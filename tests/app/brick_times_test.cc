#include "src/app/commands/measure/brick_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace infimum::brick_times_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

BrickTime Timed(const std::string& name, std::int64_t count, double latency, double half) {
  BrickTime time;
  time.brick.name = name;
  time.brick.uses = {{0, count, {name}}};
  time.latency = Latency(latency);
  time.interval = {Latency(latency - half), Latency(latency + half)};
  return time;
}

// The example of the header.
TEST(ComposedTime, CountsBricksAndOneCall) {
  ComposedTime composed;
  composed.call = Latency(5);
  composed.bricks = {Timed("conv", 10, 105, 3), Timed("relu", 2, 55, 20)};
  Compose(composed);
  EXPECT_DOUBLE_EQ(composed.total.count(), 1105);
  // 10 x 3 and 2 x 20 are 50 together, and composing itself costs 9 %: 99.45.
  EXPECT_DOUBLE_EQ(composed.interval.low.count(), 1105 - std::hypot(50, 99.45));
  EXPECT_DOUBLE_EQ(composed.interval.high.count(), 1105 + std::hypot(50, 99.45));
  EXPECT_EQ(composed.missing, 0);
  EXPECT_THAT(ComposedText(composed, 0), HasSubstr("composed of 2 bricks (12 occurrences)"));
  EXPECT_THAT(ComposedText(composed, 0), HasSubstr("(80 %: between"));
  composed.weights_decide = true;
  EXPECT_THAT(ComposedText(composed, 0),
              HasSubstr("without an interval\ntoo low where the whole's weights do not stay"));
  EXPECT_TRUE(nlohmann::json::parse(ComposedJson(composed))["interval_us"].is_null());
}

TEST(ComposedTime, IsNotReducedByABrickThatIsFasterThanACall) {
  ComposedTime composed;
  composed.call = Latency(5);
  composed.bricks = {Timed("flatten", 1000, 4, 0)};
  Compose(composed);
  EXPECT_DOUBLE_EQ(composed.total.count(), 5);
}

TEST(ComposedTime, SaysWhatItLacks) {
  ComposedTime composed;
  composed.bricks = {Timed("conv", 1, 100, 0), Timed("loop", 3, 100, 0)};
  composed.bricks[1].latency.reset();
  composed.bricks[1].why_not = "ONNX Runtime refused it";
  Compose(composed);
  EXPECT_DOUBLE_EQ(composed.total.count(), 100);
  EXPECT_EQ(composed.missing, 3);
  EXPECT_THAT(ComposedText(composed, 0), HasSubstr("without 3 occurrences that have no time: the sum is too small"));
  EXPECT_THAT(ComposedText(composed, 0), Not(HasSubstr("the whole model")));
  const nlohmann::json json = nlohmann::json::parse(ComposedJson(composed));
  EXPECT_EQ(json["bricks"][1]["left_out"], "ONNX Runtime refused it");
  EXPECT_TRUE(json["error"].is_null());
}

// Layers and regions are what the store has keys of; a block is not, and what takes no longer than a call has no time.
TEST(ObservedRows, AreOfLayersAndRegionsLessACall) {
  constexpr const char* kRelu = "pointwise kind=relu dtype=f32:-:f32 in=802816";
  constexpr const char* kTanh = "pointwise kind=tanh dtype=f32:-:f32 in=802816";
  ComposedTime composed;
  composed.call = Latency(5);
  composed.bricks = {Timed("relu", 2, 105, 3), Timed("block", 1, 300, 3), Timed("tanh", 1, 4, 0)};
  composed.bricks[0].brick.text = kRelu;
  composed.bricks[1].brick.text = std::string(kRelu) + "; " + kTanh;
  composed.bricks[2].brick.text = kTanh;
  for (BrickTime& one : composed.bricks) {
    one.run.framework = "openvino";
    one.run.framework_version = "2026.4.1";
    one.run.end_to_end = {{{*one.latency, *one.latency + Latency(1), *one.latency + Latency(1)}}, {{*one.latency}}};
  }
  const std::vector<Measurement> rows = ObservedRows(composed, "2026-11-28T18:00:00Z");
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].workload.text, kRelu);
  EXPECT_EQ(rows[0].candidate.name(), "observed/openvino-2026.4.1");
  ASSERT_EQ(rows[0].repetitions.size(), 2);
  EXPECT_DOUBLE_EQ(rows[0].repetitions[0].median.count(), 101);
  EXPECT_DOUBLE_EQ(rows[0].repetitions[1].median.count(), 100);
}

}  // namespace
}  // namespace infimum::brick_times_test
