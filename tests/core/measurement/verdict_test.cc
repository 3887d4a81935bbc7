#include "infimum/measurement/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "infimum/measurement/statistics.h"
#include "tests/core/measurement/row_builder.h"

namespace infimum {
namespace {

std::vector<Repetition> WithMedians(std::initializer_list<double> medians) {
  std::vector<Repetition> repetitions;
  for (double median : medians) repetitions.push_back(Summarize(std::vector<Latency>{Latency(median)}));
  return repetitions;
}

// `count` repetitions of a program that takes `latency` us, with processes that differ by `noise`.
std::vector<Repetition> Simulated(std::mt19937_64& random, double latency, double noise, int count) {
  std::normal_distribution<double> normal(0, noise);
  std::vector<Repetition> repetitions;
  for (int i = 0; i < count; ++i) {
    repetitions.push_back(Summarize(std::vector<Latency>{Latency(latency * std::exp(normal(random)))}));
  }
  return repetitions;
}

struct Rates {
  double same = 0;
  double faster = 0;
  double slower = 0;
  double undecided = 0;
};

Rates RatesAt(double ratio, double noise, int repetitions) {
  std::mt19937_64 random(17);
  Rates rates;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto subject = Simulated(random, 10 * ratio, noise, repetitions);
    const auto reference = Simulated(random, 10, noise, repetitions);
    switch (Compare(subject, reference, 0.05)) {
      case Verdict::kSame:
        rates.same += 1.0 / kTrials;
        break;
      case Verdict::kFaster:
        rates.faster += 1.0 / kTrials;
        break;
      case Verdict::kSlower:
        rates.slower += 1.0 / kTrials;
        break;
      case Verdict::kUndecided:
        rates.undecided += 1.0 / kTrials;
        break;
    }
  }
  return rates;
}

TEST(StudentT, HasTheTabulatedQuantiles) {
  EXPECT_NEAR(StudentTQuantile(0.975, 1), 12.7062047, 1e-6);
  EXPECT_NEAR(StudentTQuantile(0.975, 2), 4.30265273, 1e-7);
  EXPECT_NEAR(StudentTQuantile(0.975, 4), 2.77644511, 1e-7);
  EXPECT_NEAR(StudentTQuantile(0.95, 10), 1.81246112, 1e-7);
  EXPECT_NEAR(StudentTQuantile(0.975, 30), 2.04227246, 1e-7);
  EXPECT_NEAR(StudentTQuantile(0.975, 1e6), 1.95996636, 1e-6);
  EXPECT_NEAR(StudentTQuantile(0.025, 4), -2.77644511, 1e-7);
  EXPECT_NEAR(StudentTQuantile(0.5, 3), 0, 1e-12);
}

TEST(StudentT, ProbabilityOfAQuantileGivesTheProbabilityBackAlsoForFractionalDegrees) {
  for (double degrees : {0.7, 1.0, 2.3, 3.9, 17.5, 400.0}) {
    for (double probability : {0.001, 0.2, 0.5, 0.9, 0.975, 0.9995}) {
      EXPECT_NEAR(StudentTProbability(StudentTQuantile(probability, degrees), degrees), probability, 1e-10);
    }
  }
}

TEST(TypicalInterval, IsStudentsOfTheMediansOnLogarithms) {
  const std::optional<Interval> interval = TypicalInterval(WithMedians({10, 10.1, 10.2}));
  ASSERT_TRUE(interval);
  const double mean = (std::log(10) + std::log(10.1) + std::log(10.2)) / 3;
  double squares = 0;
  for (const double median : {10.0, 10.1, 10.2}) squares += std::pow(std::log(median) - mean, 2);
  const double half = 4.302652729911275 * std::sqrt(squares / 2 / 3);  // t of two degrees of freedom at 97.5 %
  EXPECT_NEAR(interval->low.count(), std::exp(mean - half), 1e-9);
  EXPECT_NEAR(interval->high.count(), std::exp(mean + half), 1e-9);
}

TEST(TypicalInterval, IsAbsentWhereNoSpreadIsKnown) {
  EXPECT_FALSE(TypicalInterval(WithMedians({10})));
  EXPECT_FALSE(TypicalInterval({}));
  EXPECT_FALSE(TypicalInterval(WithMedians({0, 10})));
  const std::vector<Repetition> one = {Summarize(std::vector<Latency>(20, Latency(7)))};
  ASSERT_TRUE(TypicalInterval(one));
  EXPECT_NEAR(TypicalInterval(one)->low.count(), 7, 1e-9);
}

// The interval of the difference would be as wide: 95 of 100 hold the true median.
TEST(TypicalInterval, HoldsTheTrueTimeAsOftenAsItSays) {
  std::mt19937_64 random(5);
  int held = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::optional<Interval> interval = TypicalInterval(Simulated(random, 10, 0.03, 3));
    held += interval && interval->low.count() <= 10 && 10 <= interval->high.count() ? 1 : 0;
  }
  EXPECT_NEAR(held / static_cast<double>(kTrials), 0.95, 0.012);
}

TEST(Verdict, OfTheHeadersExampleIsFaster) {
  EXPECT_EQ(Compare(WithMedians({10, 10.1, 10.2}), WithMedians({12, 12.1, 12.2}), 0.05), Verdict::kFaster);
  EXPECT_EQ(Compare(WithMedians({12, 12.1, 12.2}), WithMedians({10, 10.1, 10.2}), 0.05), Verdict::kSlower);
}

TEST(Verdict, IsSameOnlyWhereTheWholeIntervalIsWithinTheThreshold) {
  const auto a = WithMedians({10, 10.02, 10.01, 9.99});
  const auto b = WithMedians({10.1, 10.12, 10.11, 10.09});
  EXPECT_EQ(Compare(a, b, 0.05), Verdict::kSame);
  EXPECT_EQ(Compare(a, b, 0.001), Verdict::kFaster);
  EXPECT_EQ(Compare(a, b, 0.01), Verdict::kUndecided);  // the difference is the threshold
}

TEST(Verdict, OfExactTimesNeedsNoSpread) {
  EXPECT_EQ(Compare(WithMedians({5, 5}), WithMedians({5, 5}), 0.05), Verdict::kSame);
  EXPECT_EQ(Compare(WithMedians({5, 5}), WithMedians({6, 6}), 0.05), Verdict::kFaster);
  EXPECT_EQ(Compare(WithMedians({5, 5}), WithMedians({5, 5}), 0), Verdict::kSame);
}

TEST(Verdict, OfSingleRepetitionsUsesTheirSamples) {
  const auto fast = Repetitions({{10, 10.1, 10.2, 10, 10.1, 10.05, 10.1}});
  const auto slow = Repetitions({{12, 12.1, 12.2, 12, 12.1, 12.05, 12.1}});
  EXPECT_EQ(Compare(fast, slow, 0.05), Verdict::kFaster);
  EXPECT_EQ(Compare(slow, fast, 0.05), Verdict::kSlower);
  EXPECT_EQ(Compare(fast, fast, 0.05), Verdict::kSame);
  EXPECT_EQ(Compare(fast, WithMedians({12, 12.1, 12.2}), 0.05), Verdict::kFaster);
}

TEST(Verdict, OfTooLittleIsUndecided) {
  const auto three = WithMedians({12, 12.1, 12.2});
  EXPECT_EQ(Compare({}, three, 0.05), Verdict::kUndecided);
  EXPECT_EQ(Compare(three, {}, 0.05), Verdict::kUndecided);
  EXPECT_EQ(Compare(Repetitions({{1, 1, 1, 1, 1}}), three, 0.05), Verdict::kUndecided);  // five samples
  EXPECT_EQ(Compare(WithMedians({0, 0, 0}), three, 0.05), Verdict::kUndecided);
  EXPECT_EQ(Compare(WithMedians({10, 15}), WithMedians({11, 9}), 0.05), Verdict::kUndecided);
}

TEST(Verdict, TheRatioLiesAroundThatOfTheMediansAndIsUnknownWithoutASpread) {
  const std::optional<RatioInterval> ratio = RatioOf(WithMedians({12, 12.1, 12.2}), WithMedians({10, 10.1, 10.2}));
  ASSERT_TRUE(ratio);
  EXPECT_LT(ratio->low, 12.1 / 10.1);
  EXPECT_GT(ratio->high, 12.1 / 10.1);
  EXPECT_NEAR(ratio->low, 1.2, 0.05);
  EXPECT_FALSE(RatioOf(Repetitions({{1, 1, 1, 1, 1}}), WithMedians({1, 1})));  // five samples
  EXPECT_FALSE(RatioOf(WithMedians({0, 0}), WithMedians({1, 1})));
  EXPECT_FALSE(RatioOf({}, WithMedians({1, 1})));
}

TEST(Verdict, OfSwappedSidesIsSwapped) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> ratio(0.8, 1.25);
  for (int trial = 0; trial < 300; ++trial) {
    const auto a = Simulated(random, 10 * ratio(random), 0.01, 2 + trial % 4);
    const auto b = Simulated(random, 10, 0.01, 2 + trial % 3);
    const Verdict verdict = Compare(a, b, 0.05);
    const Verdict swapped = verdict == Verdict::kFaster   ? Verdict::kSlower
                            : verdict == Verdict::kSlower ? Verdict::kFaster
                                                          : verdict;
    ASSERT_EQ(Compare(b, a, 0.05), swapped);
  }
}

TEST(Verdict, OnEqualProgramsErrsAtMostAsOftenAsItPromises) {
  for (int repetitions : {2, 3, 5, 20}) {
    const Rates rates = RatesAt(1, 0.023, repetitions);
    EXPECT_LE(rates.faster + rates.slower, 0.005) << repetitions;  // a whole threshold away from the truth
  }
  EXPECT_GE(RatesAt(1, 0.023, 20).same, 0.95);
}

TEST(Verdict, AtTheThresholdItselfErrsInOneOfFortyCasesOnEachSide) {
  for (int repetitions : {2, 3, 5, 8, 20}) {
    const Rates slower = RatesAt(1.05, 0.023, repetitions);
    EXPECT_LE(slower.slower, 0.035) << repetitions;
    EXPECT_GE(slower.slower, 0.01) << repetitions;  // with two repetitions Welch's interval is a little wide
    EXPECT_LE(slower.same, 0.035) << repetitions;
    EXPECT_LE(slower.faster, 0.001) << repetitions;
  }
}

TEST(Verdict, IsNotKeptOpenByAProcessThatMetABurst) {
  const auto burst = WithMedians({10, 10.1, 10.05, 9.95, 10.02, 10.08, 9.98, 12.1});
  const auto quiet = WithMedians({10.01, 10.05, 10.0, 9.97, 10.04, 10.06, 9.99, 10.02});
  EXPECT_EQ(Compare(quiet, burst, 0.05), Verdict::kSame);
  EXPECT_EQ(Compare(burst, quiet, 0.05), Verdict::kSame);
  // Of two, one is no exception.
  EXPECT_EQ(Compare(quiet, WithMedians({10, 10.1, 10.05, 9.95, 10.02, 10.08, 12.3, 12.1}), 0.05), Verdict::kUndecided);
}

TEST(Verdict, FindsALargeDifferenceWithThreeRepetitions) {
  EXPECT_GE(RatesAt(0.8, 0.023, 3).faster, 0.95);
  EXPECT_GE(RatesAt(1.25, 0.023, 3).slower, 0.95);
}

TEST(Verdict, HasANameForEach) {
  EXPECT_EQ(Name(Verdict::kSame), "same");
  EXPECT_EQ(Name(Verdict::kFaster), "faster");
  EXPECT_EQ(Name(Verdict::kSlower), "slower");
  EXPECT_EQ(Name(Verdict::kUndecided), "undecided");
}

}  // namespace
}  // namespace infimum
