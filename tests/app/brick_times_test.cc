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

}  // namespace
}  // namespace infimum::brick_times_test
