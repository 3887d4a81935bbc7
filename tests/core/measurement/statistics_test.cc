#include "infimum/measurement/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/core/measurement/row_builder.h"

namespace infimum {
namespace {

std::vector<Latency> Samples(std::initializer_list<double> values) { return {values.begin(), values.end()}; }

std::vector<Latency> RandomSamples(std::mt19937_64& random, std::size_t count) {
  std::lognormal_distribution<double> noise(2, 0.3);
  std::vector<Latency> samples;
  for (std::size_t i = 0; i < count; ++i) samples.emplace_back(noise(random));
  return samples;
}

TEST(Quantile, InterpolatesBetweenClosestRanksLikeNumPy) {
  const auto samples = Samples({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(Quantile(samples, 0).count(), 1);
  EXPECT_DOUBLE_EQ(Quantile(samples, 0.25).count(), 1.75);
  EXPECT_DOUBLE_EQ(Quantile(samples, 0.5).count(), 2.5);
  EXPECT_DOUBLE_EQ(Quantile(samples, 0.95).count(), 3.85);
  EXPECT_DOUBLE_EQ(Quantile(samples, 1).count(), 4);
  EXPECT_DOUBLE_EQ(Quantile(Samples({7}), 0.95).count(), 7);
}

TEST(Summarize, KeepsOrderAndEveryOneOfFewSamples) {
  const Repetition repetition = Summarize(Samples({3, 1, 2}));
  EXPECT_EQ(repetition.count, 3);
  EXPECT_EQ(repetition.minimum, Latency(1));
  EXPECT_EQ(repetition.median, Latency(2));
  EXPECT_EQ(repetition.samples, Samples({3, 1, 2}));
}

TEST(Summarize, KeepsSixtyFourEvenlySpacedOfManyFirstAndLastIncluded) {
  std::vector<Latency> samples;
  for (int i = 0; i < 6301; ++i) samples.emplace_back(i);
  const Repetition repetition = Summarize(samples);
  EXPECT_EQ(repetition.count, 6301);
  ASSERT_EQ(repetition.samples.size(), kMaxKeptSamples);
  for (std::size_t i = 0; i < kMaxKeptSamples; ++i) EXPECT_EQ(repetition.samples[i], Latency(100.0 * i));
}

TEST(Summarize, KeepsMinimumMedianAndP95InOrderWhateverTheSamples) {
  std::mt19937_64 random(1);
  for (std::size_t count = 1; count < 200; ++count) {
    const auto samples = RandomSamples(random, count);
    const Repetition repetition = Summarize(samples);
    ASSERT_LE(repetition.minimum, repetition.median);
    ASSERT_LE(repetition.median, repetition.p95);
    ASSERT_LE(repetition.p95, *std::max_element(samples.begin(), samples.end()));
    ASSERT_EQ(repetition.samples.size(), std::min(count, kMaxKeptSamples));
  }
}

TEST(Fold, FollowsTheNamedStatistic) {
  const auto repetitions = Repetitions({{10.2, 10.2, 9}, {10, 10, 10}, {11.9, 11.9, 11.9}});
  EXPECT_EQ(PointValue(repetitions), Latency(10));
  EXPECT_EQ(Fold(repetitions, SampleStatistic::kMinimum), Latency(9));
  EXPECT_EQ(Fold(repetitions, SampleStatistic::kMedian), Latency(10.2));
  // Of more than three what the smallest of three is in the mean: 10 in three of the four triples, 11 in one.
  EXPECT_DOUBLE_EQ(PointValue(Repetitions({{12}, {10}, {13}, {11}})).count(), 10.25);
  EXPECT_EQ(Name(SampleStatistic::kMinimumOfMedians), "min-of-medians");
  EXPECT_EQ(Name(SampleStatistic::kMinimum), "min");
  EXPECT_EQ(Name(SampleStatistic::kMedian), "median");
}

TEST(MedianInterval, IsTheRangeOfFewerThanSixSamples) {
  const Interval interval = MedianInterval(Samples({5, 1, 3, 2, 4}));
  EXPECT_EQ(interval.low, Latency(1));
  EXPECT_EQ(interval.high, Latency(5));
}

TEST(MedianInterval, HasTheTabulatedRanksOfTheBinomialDistribution) {
  // Ranks of the 95 % interval, e.g. Conover, Practical Nonparametric Statistics, table A3.
  const std::vector<std::pair<int, int>> ranks = {{6, 1}, {8, 1}, {9, 2}, {12, 3}, {20, 6}, {50, 18}, {100, 40}};
  for (const auto& [count, rank] : ranks) {
    std::vector<Latency> samples;
    for (int i = 1; i <= count; ++i) samples.emplace_back(i);
    const Interval interval = MedianInterval(samples);
    EXPECT_EQ(interval.low, Latency(rank)) << count;
    EXPECT_EQ(interval.high, Latency(count + 1 - rank)) << count;
  }
}

TEST(MedianInterval, HoldsTheTrueMedianInNinetyFivePercentOfTheCases) {
  std::mt19937_64 random(2);
  const double median = std::exp(2.0);
  for (std::size_t count : {6, 20, 64, 2000}) {
    int held = 0;
    constexpr int kTrials = 1000;
    for (int trial = 0; trial < kTrials; ++trial) {
      const Interval interval = MedianInterval(RandomSamples(random, count));
      if (interval.low.count() <= median && median <= interval.high.count()) ++held;
    }
    EXPECT_GE(held, 930) << count;  // the interval is conservative: 95 to 98 %
    EXPECT_LE(held, 990) << count;
  }
}

TEST(PointInterval, ReachesFromTheSmallestMinimumToTheSecondSmallestMedian) {
  const auto repetitions = Repetitions({{10.2, 10.2, 9}, {10, 10, 10}, {11.9, 11.9, 11.9}});
  EXPECT_EQ(PointInterval(repetitions).low, Latency(9));
  EXPECT_EQ(PointInterval(repetitions).high, Latency(10.2));
}

TEST(PointInterval, EndsAtThe95thPercentileOfASingleRepetition) {
  const auto repetitions = Repetitions({{1, 2, 3, 4}});
  EXPECT_EQ(PointInterval(repetitions).low, Latency(1));
  EXPECT_DOUBLE_EQ(PointInterval(repetitions).high.count(), 3.85);
}

TEST(PointInterval, HoldsThePointValue) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Repetition> repetitions;
    for (int i = 0; i <= trial % 25; ++i) repetitions.push_back(Summarize(RandomSamples(random, 1 + trial % 9)));
    const Interval interval = PointInterval(repetitions);
    ASSERT_LE(interval.low, PointValue(repetitions));
    ASSERT_LE(PointValue(repetitions), interval.high);
  }
}

}  // namespace
}  // namespace infimum
