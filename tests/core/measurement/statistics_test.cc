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

TEST(PointValue, IsTheMeanOfTheMediansOnLogarithms) {
  const auto repetitions = Repetitions({{10.2, 10.2, 9}, {10, 10, 10}, {11.9, 11.9, 11.9}});
  EXPECT_NEAR(PointValue(repetitions).count(), std::cbrt(10.2 * 10 * 11.9), 1e-12);
}

TEST(PointValue, OfOneRepetitionAndOfEqualOnesKeepsItsDigits) {
  for (const double median : {0.1, 10.2, 1.0 / 3, 12345.678}) {
    EXPECT_EQ(PointValue(Repetitions({{median}})), Latency(median));
    EXPECT_EQ(PointValue(Repetitions({{median}, {median}, {median}})), Latency(median));
  }
}

TEST(PointValue, OfARepetitionThatTookNothingIsNothing) {
  EXPECT_EQ(PointValue(Repetitions({{0}, {5}})), Latency(0));
  EXPECT_EQ(PointValue(Repetitions({{5}, {0}})), Latency(0));
}

// 400 campaigns of three repetitions, and one of 1,200: the mean does not fall, what was best seen of them all does.
TEST(PointValue, MoreRepetitionsDoNotLowerIt) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> noise(0, 0.05);
  std::vector<Repetition> all;
  double points = 0, least = 1e300;
  for (int campaign = 0; campaign < 400; ++campaign) {
    std::vector<Repetition> three;
    for (int i = 0; i < 3; ++i) three.push_back(Summarize(Samples({100 * std::exp(noise(random))})));
    points += PointValue(three).count() / 400;
    least = std::min(least, BestSeen(three).count());
    all.insert(all.end(), three.begin(), three.end());
  }
  EXPECT_NEAR(points, 100, 0.6);
  EXPECT_NEAR(PointValue(all).count(), 100, 0.6);
  EXPECT_LT(least, 90);
}

TEST(BestSeen, IsTheSmallestMedianOfThree) {
  EXPECT_EQ(BestSeen(Repetitions({{10.2, 10.2, 9}, {10, 10, 10}, {11.9, 11.9, 11.9}})), Latency(10));
  // Of more than three what the smallest of three is in the mean: 10 in three of the four triples, 11 in one.
  EXPECT_DOUBLE_EQ(BestSeen(Repetitions({{12}, {10}, {13}, {11}})).count(), 10.25);
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

TEST(BestSeenInterval, ReachesFromTheSmallestMinimumToTheSecondSmallestMedian) {
  const auto repetitions = Repetitions({{10.2, 10.2, 9}, {10, 10, 10}, {11.9, 11.9, 11.9}});
  EXPECT_EQ(BestSeenInterval(repetitions).low, Latency(9));
  EXPECT_EQ(BestSeenInterval(repetitions).high, Latency(10.2));
}

TEST(BestSeenInterval, EndsAtThe95thPercentileOfASingleRepetition) {
  const auto repetitions = Repetitions({{1, 2, 3, 4}});
  EXPECT_EQ(BestSeenInterval(repetitions).low, Latency(1));
  EXPECT_DOUBLE_EQ(BestSeenInterval(repetitions).high.count(), 3.85);
}

TEST(BestSeenInterval, HoldsTheBestSeen) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Repetition> repetitions;
    for (int i = 0; i <= trial % 25; ++i) repetitions.push_back(Summarize(RandomSamples(random, 1 + trial % 9)));
    const Interval interval = BestSeenInterval(repetitions);
    ASSERT_LE(interval.low, BestSeen(repetitions));
    ASSERT_LE(BestSeen(repetitions), interval.high);
  }
}

}  // namespace
}  // namespace infimum
