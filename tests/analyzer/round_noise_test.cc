// Intervals and points where the noise is not what the estimator assumes: campaigns whose rounds have something in
// common, whose clock drifts, beside a neighbour that slows some of them. What they are held against is known exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/rows/uncertainty.h"

namespace infimum::round_noise_test {
namespace {

constexpr double kOwn = 0.023;  // the deviation of one process from the next, of one row
constexpr int kCampaigns = 600;

struct Extent {
  int layers = 24;
  int rounds = 3;
  int candidates = 1;  // each 2 % slower than the one before
};

// On the logarithm of each repetition, in the order in which they run: round by round, in each all rows.
using Noise = std::function<std::vector<double>(std::mt19937_64& random, const Extent& extent)>;

std::size_t RowsOf(const Extent& extent) { return static_cast<std::size_t>(extent.layers * extent.candidates); }

std::vector<double> Own(std::mt19937_64& random, const Extent& extent) {
  std::normal_distribution<double> own(0, kOwn);
  std::vector<double> logs(RowsOf(extent) * static_cast<std::size_t>(extent.rounds));
  for (double& log : logs) log = own(random);
  return logs;
}

// Every row of a round is as much slower or faster.
Noise CommonRounds(double deviation) {
  return [deviation](std::mt19937_64& random, const Extent& extent) {
    std::normal_distribution<double> common(0, 1);
    std::vector<double> logs = Own(random, extent);
    for (int round = 0; round < extent.rounds; ++round) {
      const double effect = deviation * common(random);
      for (std::size_t row = 0; row < RowsOf(extent); ++row)
        logs[static_cast<std::size_t>(round) * RowsOf(extent) + row] += effect;
    }
    return logs;
  };
}

// The clock wanders without regard to rounds: an autoregressive process that forgets within half a round.
Noise WanderingClock(double deviation) {
  return [deviation](std::mt19937_64& random, const Extent& extent) {
    std::normal_distribution<double> step(0, 1);
    std::vector<double> logs = Own(random, extent);
    const double kept = std::exp(-2.0 / static_cast<double>(RowsOf(extent)));
    double clock = step(random);
    for (double& log : logs) {
      log += deviation * clock;
      clock = kept * clock + std::sqrt(1 - kept * kept) * step(random);
    }
    return logs;
  };
}

// It falls from the first to the last repetition, by so much altogether; in the middle it is right.
Noise Drift(double total) {
  return [total](std::mt19937_64& random, const Extent& extent) {
    std::vector<double> logs = Own(random, extent);
    for (std::size_t i = 0; i < logs.size(); ++i)
      logs[i] += total * (static_cast<double>(i) / static_cast<double>(logs.size() - 1) - 0.5);
    return logs;
  };
}

// In one of `every` rounds another program makes a part of the rows, one after the other, 30 % slower.
Noise SlowNeighbour(int every) {
  return [every](std::mt19937_64& random, const Extent& extent) {
    std::vector<double> logs = Own(random, extent);
    const std::size_t rows = RowsOf(extent);
    for (int round = 0; round < extent.rounds; ++round) {
      if (random() % static_cast<std::uint64_t>(every) != 0) continue;
      const std::size_t first = random() % rows, count = random() % (rows - first) + 1;
      for (std::size_t row = first; row < first + count; ++row)
        logs[static_cast<std::size_t>(round) * rows + row] += std::log(1.3);
    }
    return logs;
  };
}

void ForgetRounds(std::mt19937_64& random, const Extent& extent, std::vector<double>& logs) {
  const std::size_t rows = RowsOf(extent);
  for (std::size_t row = 0; row < rows; ++row)
    for (auto left = static_cast<std::size_t>(extent.rounds); left > 1; --left)
      std::swap(logs[(left - 1) * rows + row], logs[random() % left * rows + row]);
}

double TruthOf(int layer, int candidate) { return 10.0 * (1 + layer % 5) * (1 + 0.02 * candidate); }

// One campaign's estimates of the layers' best times.
std::vector<Term> TermsOf(const std::vector<double>& noise, const Extent& extent) {
  std::vector<TimedRows> layers;
  for (int layer = 0; layer < extent.layers; ++layer) {
    std::vector<Measurement> rows;
    for (int candidate = 0; candidate < extent.candidates; ++candidate) {
      Measurement row;
      row.candidate.algorithm = std::to_string(candidate);
      for (int round = 0; round < extent.rounds; ++round) {
        const auto place = static_cast<std::size_t>((round * extent.layers + layer) * extent.candidates + candidate);
        const Latency median(TruthOf(layer, candidate) * std::exp(noise[place]));
        row.repetitions.push_back({9, median, median, median, {median}});
      }
      rows.push_back(std::move(row));
    }
    layers.emplace_back(std::move(rows));
  }
  std::vector<std::span<const double>> logs;
  for (const TimedRows& layer : layers)
    for (const TimedRow& row : layer.all()) logs.push_back(row.logs);
  const NoiseModel model(logs);
  std::vector<Term> terms;
  for (std::size_t layer = 0; layer < layers.size(); ++layer)
    terms.push_back({model.OfBest(layers[layer].all()), 1, layer});
  return terms;
}

struct Simulated {
  double covered = 0;  // share of campaigns whose interval holds the truth
  double width = 0;    // of half of it, in the mean, as a share of the truth
};

// Forgotten: each row's repetitions are in an order of their own, so that nothing says which rounds they belong to, and
// all noise counts as a row's own.
enum class Rounds { kKnown, kForgotten };

Simulated Simulate(const Extent& extent, const Noise& noise, Rounds rounds = Rounds::kKnown) {
  std::mt19937_64 random(7);
  double truth = 0;
  for (int layer = 0; layer < extent.layers; ++layer) truth += TruthOf(layer, 0);
  Simulated outcome;
  for (int campaign = 0; campaign < kCampaigns; ++campaign) {
    std::vector<double> logs = noise(random, extent);
    if (rounds == Rounds::kForgotten) ForgetRounds(random, extent, logs);
    std::vector<Term> terms = TermsOf(logs, extent);
    if (rounds == Rounds::kForgotten)
      for (Term& term : terms) term.estimate.round = {};
    const SumEstimate sum = SumOf(terms);
    EXPECT_LE(sum.interval.low, sum.center);
    EXPECT_LE(sum.center, sum.interval.high);
    outcome.covered += (sum.interval.low.count() <= truth && truth <= sum.interval.high.count()) / double{kCampaigns};
    outcome.width += (sum.interval.high - sum.interval.low).count() / 2 / truth / kCampaigns;
  }
  return outcome;
}

std::string TextOf(const Extent& extent) {
  return std::to_string(extent.layers) + " layers, " + std::to_string(extent.rounds) + " rounds, " +
         std::to_string(extent.candidates) + " candidates";
}

constexpr Extent kExtents[] = {{24, 3}, {53, 3}, {24, 24}, {53, 24}};

TEST(RoundNoise, IntervalsCoverTheTruthWhateverRoundsHaveInCommon) {
  for (const Extent& extent : kExtents)
    for (const double common : {0.0, 0.0115, 0.023, 0.10}) {
      const Simulated outcome = Simulate(extent, CommonRounds(common));
      EXPECT_GE(outcome.covered, 0.90) << TextOf(extent) << ", " << common;
      EXPECT_LE(outcome.covered, 0.99) << TextOf(extent) << ", " << common;
    }
}

TEST(RoundNoise, OfRepetitionsWithoutTheirRoundsIntervalsWouldBeTooNarrow) {
  for (const int layers : {24, 53})
    for (const double common : {0.0115, 0.023, 0.10}) {
      const Simulated outcome = Simulate({layers, 3}, CommonRounds(common), Rounds::kForgotten);
      EXPECT_LT(outcome.covered, 0.65) << layers << " layers, " << common;
    }
}

// Half of the interval of 24 rows that err by themselves is 1.97 x 2.3 % / sqrt(72) of their sum, a tenth more for
// their weights; a round's noise that is not there may now and then look as if it were.
TEST(RoundNoise, ANoiseThatRoundsDoNotShareWidensLittle) {
  const double alone = Simulate({24, 3}, CommonRounds(0), Rounds::kForgotten).width;
  EXPECT_NEAR(alone, 0.006, 0.001);
  EXPECT_LT(Simulate({24, 3}, CommonRounds(0)).width, 1.5 * alone);
  EXPECT_LT(Simulate({24, 24}, CommonRounds(0)).width, 1.25 * alone * std::sqrt(3.0 / 24));
}

TEST(RoundNoise, NearlyEqualCandidatesAreCoveredAtLeastAsOften) {
  for (const double common : {0.0, 0.023, 0.10})
    EXPECT_GE(Simulate({24, 3, 5}, CommonRounds(common)).covered, 0.90) << common;
}

TEST(RoundNoise, ADriftingClockIsCovered) {
  for (const Extent& extent : kExtents) EXPECT_GE(Simulate(extent, Drift(0.05)).covered, 0.90) << TextOf(extent);
}

// Three rounds do not say that each is like the one before; many do.
TEST(RoundNoise, AWanderingClockIsCoveredByManyRounds) {
  for (const int layers : {24, 53})
    for (const double deviation : {0.02, 0.05}) {
      EXPECT_GE(Simulate({layers, 3}, WanderingClock(deviation)).covered, 0.85) << layers << " layers, " << deviation;
      EXPECT_GE(Simulate({layers, 24}, WanderingClock(deviation)).covered, 0.90) << layers << " layers, " << deviation;
    }
}

TEST(RoundNoise, ANeighbourThatSlowsAPartOfSomeRoundsIsCovered) {
  for (const Extent& extent : kExtents) EXPECT_GE(Simulate(extent, SlowNeighbour(6)).covered, 0.90) << TextOf(extent);
}

}  // namespace
}  // namespace infimum::round_noise_test
