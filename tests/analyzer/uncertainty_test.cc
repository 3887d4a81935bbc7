#include "analyzer/rows/uncertainty.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "microbench/fake/fake_backend.h"
#include "microbench/fake/fake_machine.h"
#include "tests/analyzer/known_rows.h"
#include "tests/support/graph_builder.h"

namespace infimum::uncertainty_test {
namespace {

std::vector<Repetition> Repetitions(const std::vector<double>& medians) {
  std::vector<Repetition> repetitions;
  for (double median : medians)
    repetitions.push_back({9, Latency(median * 0.99), Latency(median), Latency(median * 1.05), {Latency(median)}});
  return repetitions;
}

NoiseModel NoiseOf(const std::vector<std::vector<Repetition>>& rows) {
  std::vector<std::vector<double>> logs;
  for (const std::vector<Repetition>& row : rows) {
    logs.emplace_back();
    for (const Repetition& repetition : row) logs.back().push_back(LogOf(repetition));
  }
  return NoiseModel(std::vector<std::span<const double>>(logs.begin(), logs.end()));
}

TEST(Uncertainty, ManyRepetitionsOfOneCandidateGiveTheTextbooksInterval) {
  const std::vector<Repetition> repetitions = Repetitions({98, 99, 100, 101, 102});
  const NoiseModel noise = NoiseOf({repetitions});
  const TimeEstimate estimate = noise.Of(repetitions);
  EXPECT_NEAR(estimate.center, 100, 0.02);
  const Interval interval = IntervalOfSum(std::vector<Term>{{estimate, 1, 0}});
  // Deviation 1.58 %, five repetitions; a row that is all that was pooled counts once.
  EXPECT_NEAR(interval.low.count(), 100 - 2.776 * 1.58 / std::sqrt(5.0), 0.05);
  EXPECT_NEAR(interval.high.count(), 100 + 2.776 * 1.58 / std::sqrt(5.0), 0.05);
}

TEST(Uncertainty, ASteadyRowAmongNoisyOnesIsNotTrustedBlindly) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> spread(0, 0.05);
  std::vector<std::vector<Repetition>> rows;
  for (int row = 0; row < 100; ++row) {
    std::vector<double> medians;
    for (int i = 0; i < 3; ++i) medians.push_back(100 * std::exp(spread(random)));
    rows.push_back(Repetitions(medians));
  }
  const NoiseModel noise = NoiseOf(rows);
  EXPECT_NEAR(*noise.deviation(), 0.05, 0.005);
  const TimeEstimate steady = noise.Of(Repetitions({100, 100, 100}));
  EXPECT_GT(std::sqrt(steady.variance), 100 * 0.05 / std::sqrt(3.0) * 0.8);
}

// One repetition in twenty is 30 % slower: the deviation stays about what it is without, and of what the neighbours add
// to the plain means less than half is left (a row of three in which two were hit cannot be helped).
TEST(Uncertainty, ABusyNeighbourNowAndThenDoesNotWidenEverything) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> spread(0, 0.01);
  std::vector<std::vector<Repetition>> rows;
  double plain = 0;
  for (int row = 0; row < 2000; ++row) {
    std::vector<double> medians;
    for (int i = 0; i < 3; ++i) {
      const double neighbour = random() % 20 == 0 ? 1.3 : 1;
      medians.push_back(100 * std::exp(spread(random)) * neighbour);
      plain += medians.back() / 6000;
    }
    rows.push_back(Repetitions(medians));
  }
  const NoiseModel noise = NoiseOf(rows);
  EXPECT_LT(*noise.deviation(), 0.02);
  double centers = 0;
  for (const std::vector<Repetition>& row : rows) centers += noise.Of(row).center / 2000;
  EXPECT_GT(plain, 101);
  EXPECT_LT(std::abs(centers - 100), (plain - 100) / 2);
}

TEST(Uncertainty, OneOfManyRepetitionsThatIsFarOffSaysNothing) {
  std::mt19937_64 random(6);
  std::normal_distribution<double> spread(0, 0.01);
  std::vector<std::vector<Repetition>> rows = {Repetitions({130, 100, 100, 100, 100, 100, 100, 100, 100})};
  for (int row = 0; row < 20; ++row) {
    std::vector<double> medians;
    for (int i = 0; i < 9; ++i) medians.push_back(100 * std::exp(spread(random)));
    rows.push_back(Repetitions(medians));
  }
  EXPECT_NEAR(NoiseOf(rows).Of(rows.front()).center, 100, 0.1);
}

TEST(Uncertainty, OneRepetitionHasTheSpreadOfItsSamples) {
  const TimeEstimate estimate = NoiseModel().Of(Repetitions({100}));
  const Interval interval = IntervalOfSum(std::vector<Term>{{estimate, 1, 0}});
  EXPECT_NEAR(interval.low.count(), 99, 1e-9);
  EXPECT_NEAR(interval.high.count(), 105, 1e-9);
}

TEST(Uncertainty, ErrorsOfOneWorkloadAddUpAndThoseOfDifferentOnesPartlyCancel) {
  const TimeEstimate estimate{100, 4, 1000, 0, 0};
  std::vector<Term> same(16, Term{estimate, 1, 7});
  std::vector<Term> different;
  for (std::size_t i = 0; i < 16; ++i) different.push_back({estimate, 1, i});
  const auto width = [](const Interval& interval) { return (interval.high - interval.low).count(); };
  EXPECT_NEAR(width(IntervalOfSum(same)), 4 * width(IntervalOfSum(different)), 1e-6);
  EXPECT_NEAR(width(IntervalOfSum(different)), 2 * 1.972 * 2 * 4, 0.01);
}

// Term by term, in maps and without order: what the header says.
TEST(Uncertainty, TheOrderOfTermsMakesNoDifference) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<Term> terms;
    for (std::size_t i = 0; i < 1 + random() % 30; ++i) {
      const double center = 50 + static_cast<double>(random() % 50);
      const std::size_t workload = random() % 12;
      // Terms of one workload have one estimate.
      terms.push_back({{center, 1.0 + static_cast<double>(workload), 8, 0.5, 0.25},
                       1.0 + static_cast<double>(random() % 3),
                       workload});
    }
    std::map<std::size_t, double> weights;
    double center = 0, below = 0, above = 0;
    for (const Term& term : terms) {
      weights[term.workload] += term.weight;
      center += term.weight * term.estimate.center;
      below += term.weight * term.estimate.below;
      above += term.weight * term.estimate.above;
    }
    double variance = 0, by_freedom = 0;
    for (const auto& [workload, weight] : weights) {
      const double part = weight * weight * (1.0 + static_cast<double>(workload));
      variance += part;
      by_freedom += part * part / 8;
    }
    const double freedom = std::clamp(std::floor(variance * variance / by_freedom * (1 + 1e-12)), 1.0, 200.0);
    const double half = StudentTQuantile(0.975, freedom) * std::sqrt(variance);
    std::shuffle(terms.begin(), terms.end(), random);
    const Interval interval = IntervalOfSum(terms);
    ASSERT_NEAR(interval.low.count(), std::max(center - half - below, 0.0), 1e-9 * center);
    ASSERT_NEAR(interval.high.count(), center + half + above, 1e-9 * center);
  }
}

TEST(Uncertainty, TheLossOfNamingTheWrongOneIsBounded) {
  EXPECT_NEAR(MostLoss(1), 0.17, 0.005);
  EXPECT_EQ(MostLoss(0), 0);
  for (std::size_t rivals = 1; rivals < 30; ++rivals) EXPECT_LE(MostLoss(rivals), MostLoss(rivals + 1));
}

// A campaign on the fake backend: so many processes, each with its own deviation from the exact time.
std::vector<Measurement> Rows(const Workload& workload, std::uint64_t campaign, double deviation, int repetitions) {
  std::vector<Measurement> rows;
  for (const Candidate& candidate : FakeCandidates(workload, CandidateTier::kEngine)) {
    std::vector<double> medians;
    for (int process = 0; process < repetitions; ++process) {
      BackendOptions options;
      options.seed = campaign;
      options.process = process;
      options.settings = {{"process-noise", std::to_string(deviation)}};
      FakeClock clock;
      FakeBackend backend(options, clock);
      const auto run = backend.Prepare(workload, candidate, NumericContract::kStrictF32);
      if (!run.ok()) break;  // refused by the machine, as some candidates are
      const auto start = clock.Now();
      EXPECT_TRUE((*run)->Run().ok());
      medians.push_back(Latency(clock.Now() - start).count());
    }
    if (medians.empty()) continue;
    Measurement row;
    row.workload = KeyOf(workload);
    row.candidate = candidate;
    row.device = testing::TestDeviceKey();
    row.repetitions = Repetitions(medians);
    rows.push_back(std::move(row));
  }
  return rows;
}

Latency Exact(const Workload& workload) {
  Latency least{1e300};
  for (const Candidate& candidate : FakeCandidates(workload, CandidateTier::kEngine))
    if (const Result<Clock::Duration> exact = FakeLatency(workload, candidate, 1, 0); exact.ok())
      least = std::min(least, Latency(*exact));
  return least;
}

// 24 products and activations of a network on the pretended machine, some of them used more than once.
ModelGraph Network() {
  testing::GraphBuilder model;
  ValueId value = model.Input("x", {64, 128});
  for (int i = 0; i < 12; ++i) {
    const std::int64_t extent = 96 + 32 * (i % 5);
    const std::int64_t before = model.graph().value(value).shape->dims[1];
    value = model.MatMul("fc_" + std::to_string(i), value, model.Weight("w_" + std::to_string(i), {before, extent}));
    value = model.Unary("relu_" + std::to_string(i), PointwiseKind::kRelu, value);
  }
  model.Output(value);
  return model.Take();
}

// The share of campaigns whose interval of `variant` holds the truth.
double Covered(BoundVariant variant, double deviation, int repetitions, int campaigns) {
  const ModelGraph graph = Network();
  std::vector<Workload> workloads;
  for (const Layer& layer : graph.layers) workloads.push_back(*layer.workload);
  Latency truth{0};
  for (const Workload& workload : workloads) truth += Exact(workload);
  int covered = 0;
  for (int campaign = 0; campaign < campaigns; ++campaign) {
    testing::KnownRows source;
    std::vector<std::string> seen;
    for (const Workload& workload : workloads) {
      const std::string text = Format(workload);
      if (std::ranges::find(seen, text) != seen.end()) continue;
      seen.push_back(text);
      for (Measurement& row : Rows(workload, static_cast<std::uint64_t>(campaign) + 1, deviation, repetitions))
        source.Add(std::move(row), testing::TestEnvironment(1));
    }
    const Bracket bracket = testing::BracketOf(graph, source);
    const Interval& interval = bracket.Find(variant)->interval;
    covered += interval.low <= truth && truth <= interval.high;
  }
  return static_cast<double>(covered) / campaigns;
}

TEST(Uncertainty, IntervalsCoverTheTruthAsOftenAsTheySay) {
  const double covered = Covered(BoundVariant::kSequential, 0.023, 3, 1000);
  EXPECT_GE(covered, 0.90);
  EXPECT_LE(covered, 0.98);
}

TEST(Uncertainty, AlsoWithTwentyRepetitions) {
  const double covered = Covered(BoundVariant::kFusedSequential, 0.023, 20, 300);
  EXPECT_GE(covered, 0.90);
  EXPECT_LE(covered, 0.98);
}

// Candidates that are equal, or nearly: what the least mean gets wrong.
double CoveredAmong(const std::function<double(int)>& truth_of, int candidates, int layers) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(0, 0.023);
  double least = 1e300;
  for (int i = 0; i < candidates; ++i) least = std::min(least, truth_of(i));
  int covered = 0;
  constexpr int kCampaigns = 1000;
  for (int campaign = 0; campaign < kCampaigns; ++campaign) {
    std::vector<TimedRows> all;
    for (int layer = 0; layer < layers; ++layer) {
      std::vector<Measurement> rows;
      for (int i = 0; i < candidates; ++i) {
        std::vector<double> medians;
        for (int repetition = 0; repetition < 3; ++repetition) medians.push_back(truth_of(i) * std::exp(noise(random)));
        Measurement row;
        row.candidate.algorithm = std::to_string(i);
        row.repetitions = Repetitions(medians);
        rows.push_back(std::move(row));
      }
      all.emplace_back(std::move(rows));
    }
    std::vector<std::span<const double>> spans;
    for (const TimedRows& rows : all)
      for (const TimedRow& row : rows.all()) spans.push_back(row.logs);
    const NoiseModel model(spans);
    std::vector<Term> terms;
    for (std::size_t layer = 0; layer < all.size(); ++layer)
      terms.push_back({model.OfBest(all[layer].all()), 1, layer});
    const Interval interval = IntervalOfSum(terms);
    covered += interval.low.count() <= least * layers && least * layers <= interval.high.count();
  }
  return static_cast<double>(covered) / kCampaigns;
}

TEST(Uncertainty, EqualAndNearlyEqualCandidatesAreCoveredAtLeastAsOften) {
  EXPECT_GE(CoveredAmong([](int) { return 100.0; }, 20, 1), 0.90);
  EXPECT_GE(CoveredAmong([](int) { return 100.0; }, 20, 40), 0.90);
  // The rival that is hardest to tell apart, on each of fifty layers.
  EXPECT_GE(CoveredAmong([](int i) { return i == 0 ? 100.0 : 101.75; }, 2, 50), 0.90);
  EXPECT_GE(CoveredAmong([](int i) { return 100.0 + 1.5 * i; }, 8, 50), 0.90);
}

}  // namespace
}  // namespace infimum::uncertainty_test
