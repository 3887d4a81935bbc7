#include "analyzer/rows/best_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/support/random_graph.h"

namespace infimum {
namespace {

Measurement Row(const std::string& algorithm, const std::vector<double>& medians, bool choice = false) {
  std::vector<Latency> times(medians.begin(), medians.end());
  Measurement row = testing::MeasuredRow({"pointwise kind=relu dtype=f32:-:f32 in=64"}, algorithm, std::move(times));
  row.candidate.library_choice = choice;
  return row;
}

// What it says of rows points at them: only its numbers may be looked at where they are gone.
BestTime Best(const TimedRows& rows) {
  WorkloadRows all;
  all.by_threads[1].assign(rows.all().begin(), rows.all().end());
  const std::optional<BestTime> best = BestTimeOf(all, 1, NoiseModel());
  EXPECT_TRUE(best.has_value());
  return *best;
}

BestTime Best(std::vector<Measurement> rows) { return Best(TimedRows(std::move(rows))); }

TEST(BestTime, TheWorkedExample) {
  const TimedRows rows({Row("brgconv", {10.4, 10.2, 10.6}, true), Row("gemm", {10.0, 9.8, 10.1})});
  const BestTime best = Best(rows);
  EXPECT_NEAR(best.best.count(), std::cbrt(10.0 * 9.8 * 10.1), 1e-12);
  EXPECT_EQ(best.row->candidate.algorithm, "gemm");
  ASSERT_TRUE(best.choice.has_value());
  EXPECT_NEAR(best.choice->time.count(), std::cbrt(10.4 * 10.2 * 10.6), 1e-12);
  EXPECT_TRUE(best.choice->is_validated);
  EXPECT_NEAR(best.choice->regret.count(), 1.3 / 3, 1e-12);
}

TEST(BestTime, TheChoiceThatWinsAlwaysHasNoRegret) {
  const BestTime best = Best({Row("choice", {9, 9.5, 9.2}, true), Row("other", {11, 10, 12})});
  EXPECT_EQ(best.choice->regret, Latency(0));
}

TEST(BestTime, OneRepetitionGivesThePlainDifferenceAndSaysSo) {
  const BestTime best = Best({Row("choice", {12}, true), Row("other", {10})});
  EXPECT_EQ(best.choice->regret, Latency(2));
  EXPECT_FALSE(best.choice->is_validated);
}

TEST(BestTime, WithoutAChoiceThereIsNoRegret) { EXPECT_FALSE(Best({Row("a", {1, 2})}).choice.has_value()); }

TEST(BestTime, CandidatesWithFewerRepetitionsWereGivenUpAndDoNotCompete) {
  const BestTime best = Best({Row("choice", {10, 10, 10}, true), Row("pruned", {25})});
  EXPECT_EQ(best.choice->regret, Latency(0));
  EXPECT_TRUE(best.choice->is_validated);
}

TEST(BestTime, WhereACampaignWasCutOffBeforeTheBestRowWasRepeatedTheRegretIsNotValidated) {
  const BestTime best = Best({Row("choice", {10, 10, 10}, true), Row("best", {8, 8})});
  EXPECT_EQ(best.choice->regret, Latency(2));
  EXPECT_FALSE(best.choice->is_validated);
}

TEST(BestTime, AChoiceThatIsTheBestTakesItsTimeAndOneBesideItIsNotFaster) {
  // Without the first repetition `a` is the best, without one of the others `choice`.
  const TimedRows rows({Row("choice", {10, 10.3, 10.3}, true), Row("a", {10.5, 10.15, 10.15})});
  const BestTime best = Best(rows);
  EXPECT_EQ(best.row->candidate.algorithm, "choice");
  EXPECT_GT(best.best.count(), std::cbrt(10 * 10.3 * 10.3) + 0.1);
  EXPECT_EQ(best.choice->time, best.best);
  const TimedRows others({Row("best", {10, 10.3, 10.3}), Row("choice", {10.5, 10.15, 10.15}, true)});
  const BestTime beside = Best(others);
  EXPECT_EQ(beside.row->candidate.algorithm, "best");
  EXPECT_EQ(beside.choice->time, beside.best);
}

// Twenty candidates that take the same, 2.3 % from process to process, three processes: the difference of what was best
// seen shows 3.6 % of regret that is not there.
TEST(BestTime, TwentyEqualCandidatesShowNoRegretInTheMean) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.023);
  double validated = 0, plain = 0, squares = 0;
  constexpr int kCampaigns = 2000;
  for (int campaign = 0; campaign < kCampaigns; ++campaign) {
    std::vector<Measurement> rows;
    for (int candidate = 0; candidate < 20; ++candidate) {
      std::vector<double> medians;
      for (int repetition = 0; repetition < 3; ++repetition) medians.push_back(100 * std::exp(noise(random)));
      rows.push_back(Row("candidate_" + std::to_string(candidate), medians, candidate == 0));
    }
    Latency least = Latency::max();
    for (const Measurement& row : rows) least = std::min(least, BestSeen(row.repetitions));
    plain += (BestSeen(rows[0].repetitions) - least).count();
    const BestTime best = Best(std::move(rows));
    validated += best.choice->regret.count();
    squares += best.choice->regret.count() * best.choice->regret.count();
  }
  const double deviation = std::sqrt(squares / kCampaigns / kCampaigns);  // of the mean
  EXPECT_NEAR(validated / kCampaigns, 0, 3 * deviation);
  EXPECT_LT(3 * deviation, 0.3);  // so that a regret of 0.3 % would have been seen
  EXPECT_GT(plain / kCampaigns, 3);
}

}  // namespace
}  // namespace infimum
