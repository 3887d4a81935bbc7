// ParaDnn's published sweeps of fully connected models on a TPU v2 and on a GPU, and what they show.
#include "tests/readers/paradnn_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/support/shared_data.h"

namespace infimum::paradnn_points_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;
using State = ParaDnnPoint::State;

Result<std::vector<ParaDnnPoint>> Parse(const std::string& text) {
  std::istringstream input(text);
  return ReadParaDnn(input, "sweep.json", "TPU v2");
}

constexpr const char* kSweep =
    R"({"labels": ["layer_4-node_32-input_2000-output_1000-bs_64"], "step_per_sec": [100], "params": [3500],
        "fl": [0.25], "intensity": [24.5], "err_jobs": ["layer_8-node_64-input_2000-output_1000-bs_64"],
        "states": ["OOM"]})";

TEST(ParaDnnPoints, APointIsOneOfAFamilyWithItsTimeOrWhyThereIsNone) {
  const Result<std::vector<ParaDnnPoint>> points = Parse(kSweep);
  ASSERT_TRUE(points.ok()) << points.error().message;
  ASSERT_THAT(*points, SizeIs(2));
  const ParaDnnPoint &ran = (*points)[0], &failed = (*points)[1];
  EXPECT_EQ(ran.family, "fc");
  EXPECT_EQ(ran.device, "TPU v2");
  EXPECT_THAT(ran.parameters, ElementsAre(Pair("batch", 64), Pair("inputs", 2000), Pair("layers", 4), Pair("nodes", 32),
                                          Pair("outputs", 1000)));
  EXPECT_EQ(ran.state, State::kMeasured);
  EXPECT_EQ(ran.step, Latency(10000));
  EXPECT_EQ(ran.weights, 3500);
  EXPECT_EQ(ran.flops, 0.25e9);
  EXPECT_EQ(ran.intensity, 24.5);
  EXPECT_EQ(ran.share_of_peak, std::nullopt);
  EXPECT_EQ(failed.state, State::kOutOfMemory);
  EXPECT_EQ(failed.parameters.at("layers"), 8);
  EXPECT_EQ(failed.step, std::nullopt);
}

TEST(ParaDnnPoints, ErrorsSayWhatIsWrong) {
  const auto error = [](std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    const Result<std::vector<ParaDnnPoint>> points = Parse(text);
    return points.ok() ? std::string("no error") : points.error().message;
  };
  EXPECT_EQ(error(kSweep, "[3500]", "[3500, 1]"), "sweep.json: 'params' has 2 numbers for 1 'labels'");
  EXPECT_EQ(error(kSweep, "\"OOM\"", "\"lost\""),
            "sweep.json: 'states' has 'lost', expected 'OOM' or 'no error but not finished'");
  EXPECT_THAT(error(kSweep, "node_32", "node_-3"), HasSubstr("expected layer_N-node_N-input_N-output_N-bs_N"));
  EXPECT_THAT(error(kSweep, "[100]", "[0]"), HasSubstr("'step_per_sec' is too small"));
  EXPECT_THAT(error(kSweep, "step_per_sec", "rates"), HasSubstr("neither 'step_per_sec' nor 'flops_perc'"));
  EXPECT_THAT(error(kSweep, "\"labels\"", "\"label\""), HasSubstr("'labels' is missing"));
}

class PublishedParaDnn : public ::testing::Test {
 protected:
  static std::vector<ParaDnnPoint> Read(const std::string& file, const std::string& device) {
    std::ifstream input(SharedData("traces/paradnn") / file);
    const Result<std::vector<ParaDnnPoint>> points = ReadParaDnn(input, file, device);
    EXPECT_TRUE(points.ok()) << points.error().message;
    return points.ok() ? *points : std::vector<ParaDnnPoint>();
  }
  static std::map<State, std::size_t> Count(const std::vector<ParaDnnPoint>& points) {
    std::map<State, std::size_t> count;
    for (const ParaDnnPoint& point : points) ++count[point.state];
    return count;
  }
};

double MedianOf(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  return (numbers[(numbers.size() - 1) / 2] + numbers[numbers.size() / 2]) / 2;
}

TEST_F(PublishedParaDnn, EachPointWithItsState) {
  INFIMUM_NEEDS_DATA(SharedData("traces/paradnn"));
  EXPECT_THAT(Count(Read("tpu_fc.json", "TPU v2")),
              ElementsAre(Pair(State::kMeasured, 1724), Pair(State::kOutOfMemory, 220)));
  EXPECT_THAT(Count(Read("gpu_fc.json", "GPU")),
              ElementsAre(Pair(State::kMeasured, 176), Pair(State::kUnfinished, 94)));
}

// 180 TFLOPS and 2,400 GB/s, of the whole board.
TEST_F(PublishedParaDnn, NoTracedPointIsAboveTheRoofline) {
  INFIMUM_NEEDS_DATA(SharedData("traces/paradnn"));
  const std::vector<ParaDnnPoint> points = Read("fc_trace_10sec.json", "TPU v2");
  ASSERT_THAT(points, SizeIs(230));
  const ParaDnnPoint* best = &points[0];
  for (const ParaDnnPoint& point : points) {
    EXPECT_LE(*point.share_of_peak * 180e12, std::min(180e12, *point.intensity * 2400e9));
    if (point.share_of_peak > best->share_of_peak) best = &point;
  }
  EXPECT_NEAR(*best->share_of_peak, 0.704, 0.0005);
  EXPECT_THAT(best->parameters, ElementsAre(Pair("batch", 16384), Pair("inputs", 2000), Pair("layers", 32),
                                            Pair("nodes", 4096), Pair("outputs", 1000)));
}

TEST_F(PublishedParaDnn, LargeBatchesAndNarrowLayersWinOnTheTpu) {
  INFIMUM_NEEDS_DATA(SharedData("traces/paradnn"));
  std::map<std::map<std::string, std::int64_t>, Latency> tpu;
  for (const ParaDnnPoint& point : Read("tpu_fc.json", "TPU v2"))
    if (point.step) tpu[point.parameters] = *point.step;
  struct SpeedUp {
    double value;
    std::map<std::string, std::int64_t> of;
  };
  std::vector<SpeedUp> common;
  std::map<std::int64_t, std::vector<double>> by_batch, by_nodes;
  for (const ParaDnnPoint& point : Read("gpu_fc.json", "GPU")) {
    const auto found = tpu.find(point.parameters);
    if (!point.step || found == tpu.end()) continue;
    common.push_back({*point.step / found->second, point.parameters});
    by_batch[point.parameters.at("batch")].push_back(common.back().value);
    by_nodes[point.parameters.at("nodes")].push_back(common.back().value);
  }
  ASSERT_THAT(common, SizeIs(176));
  const auto [least, most] = std::ranges::minmax_element(common, {}, &SpeedUp::value);
  EXPECT_NEAR(least->value, 0.212, 0.0005);
  EXPECT_EQ(least->of, (std::map<std::string, std::int64_t>{
                           {"batch", 64}, {"inputs", 2000}, {"layers", 8}, {"nodes", 8192}, {"outputs", 1000}}));
  EXPECT_NEAR(most->value, 11.70, 0.005);
  EXPECT_EQ(most->of, (std::map<std::string, std::int64_t>{
                          {"batch", 16384}, {"inputs", 2000}, {"layers", 8}, {"nodes", 512}, {"outputs", 1000}}));
  EXPECT_NEAR(MedianOf(by_batch.at(64)), 0.82, 0.005);
  EXPECT_NEAR(MedianOf(by_batch.at(16384)), 10.99, 0.005);
  EXPECT_NEAR(MedianOf(by_nodes.at(32)), 5.82, 0.005);
  EXPECT_NEAR(MedianOf(by_nodes.at(8192)), 0.37, 0.005);
}

}  // namespace
}  // namespace infimum::paradnn_points_test
