// A pretended framework that runs the truly best kernel of every layer: whatever the noise, no gap may be reported. A
// minimum over candidates and repetitions on one side and one long time on the other would show up to 12 % here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "analyzer/gap/run_latency.h"
#include "tests/analyzer/known_rows.h"
#include "tests/support/graph_builder.h"

namespace infimum::zero_gap_test {
namespace {

constexpr int kLayers = 50;
constexpr int kCandidates = 5;
constexpr double kStep = 0.02;  // each candidate is so much slower than the one before
constexpr int kCampaigns = 200;

ModelGraph Network() {
  testing::GraphBuilder model;
  for (int i = 0; i < kLayers; ++i)
    model.Output(model.Unary("relu_" + std::to_string(i), PointwiseKind::kRelu,
                             model.Input("x_" + std::to_string(i), {4096, 1000 + i})));
  return model.Take();
}

double TruthOf(int layer, int candidate) { return (100.0 + layer) * (1 + kStep * candidate); }

struct Noise {
  double own = 0;     // of each repetition of each candidate
  double run = 0;     // of each repetition of the framework
  double common = 0;  // of a round, in which both run
};

// What the run takes above the bound, as a share of it: the median over the campaigns.
double MedianGap(const Noise& noise, int repetitions) {
  const ModelGraph graph = Network();
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0, 1);
  double total = 0;
  for (int layer = 0; layer < kLayers; ++layer) total += TruthOf(layer, 0);
  std::vector<double> gaps;
  for (int campaign = 0; campaign < kCampaigns; ++campaign) {
    std::vector<double> rounds;
    for (int round = 0; round < repetitions; ++round) rounds.push_back(noise.common * normal(random));
    testing::KnownRows source;
    for (int layer = 0; layer < kLayers; ++layer) {
      for (int candidate = 0; candidate < kCandidates; ++candidate) {
        std::vector<double> medians;
        for (const double round : rounds)
          medians.push_back(TruthOf(layer, candidate) * std::exp(round + noise.own * normal(random)));
        source.Add(graph.layers[static_cast<std::size_t>(layer)], "candidate_" + std::to_string(candidate), medians);
      }
    }
    RunProfile run;
    for (const double round : rounds)
      run.end_to_end.push_back({{Latency(total * std::exp(round + noise.run * normal(random)))}});
    const Latency measured = *EndToEndOf(run);
    const Bracket bracket = testing::BracketOf(graph, source);
    const Bound* bound = bracket.Find(BoundVariant::kFusedSequential);
    gaps.push_back((measured - bound->latency) / measured);
  }
  std::ranges::nth_element(gaps, gaps.begin() + kCampaigns / 2);
  return gaps[kCampaigns / 2];
}

TEST(ZeroGap, IsReportedAsNoneWhereTheRunAveragesItsOwnNoise) {
  for (const int repetitions : {3, 6})
    for (const double own : {0.023, 0.06, 0.10})
      EXPECT_LE(MedianGap({own, own / std::sqrt(kLayers), 0}, repetitions), 0.01) << own << ", " << repetitions;
}

TEST(ZeroGap, IsReportedAsNoneWhereTheRunIsAsNoisyAsARow) {
  for (const int repetitions : {3, 6})
    for (const double own : {0.023, 0.06, 0.10})
      EXPECT_LE(MedianGap({own, own, 0}, repetitions), 0.01) << own << ", " << repetitions;
}

TEST(ZeroGap, IsReportedAsNoneWhereRunAndRowsShareTheirRounds) {
  for (const int repetitions : {3, 6})
    for (const double common : {0.023, 0.06, 0.10})
      EXPECT_LE(MedianGap({0.023, 0.023 / std::sqrt(kLayers), common}, repetitions), 0.01)
          << common << ", " << repetitions;
}

// The other way round: the bound may only be too high by what naming a wrong candidate costs.
TEST(ZeroGap, ABoundIsNoHigherThanNamingAWrongCandidateCosts) {
  for (const int repetitions : {3, 6})
    for (const double own : {0.023, 0.06, 0.10})
      EXPECT_GE(MedianGap({own, own / std::sqrt(kLayers), 0}, repetitions), -kStep * (kCandidates - 1) / 2 - 0.005)
          << own << ", " << repetitions;
}

}  // namespace
}  // namespace infimum::zero_gap_test
