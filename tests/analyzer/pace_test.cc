#include "analyzer/rows/pace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analyzer/gap/run_latency.h"
#include "tests/analyzer/known_rows.h"
#include "tests/support/graph_builder.h"

namespace infimum::pace_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// What a machine does to a repetition: by how much its clock and its memory are slower then, as logarithms.
struct Moment {
  double clock = 0, memory = 0;
};

Beat BeatAt(const Moment& moment) {
  return {Latency(100 * std::exp(moment.clock)), Latency(400 * std::exp(moment.memory))};
}

// A row that takes this long at the usual pace and follows the clock and the memory by these exponents.
Measurement Row(const std::string& name, double time, const Moment& follows, const std::vector<Moment>& moments,
                double own = 0, std::mt19937_64* random = nullptr) {
  std::vector<Latency> medians;
  for (const Moment& moment : moments) {
    const double noise = random == nullptr ? 0 : std::normal_distribution<double>(0, own)(*random);
    medians.emplace_back(time * std::exp(follows.clock * moment.clock + follows.memory * moment.memory + noise));
  }
  Measurement row = testing::MeasuredRow(WorkloadKey{name}, "gemm", medians);
  for (std::size_t i = 0; i < moments.size(); ++i) row.repetitions[i].beat = BeatAt(moments[i]);
  return row;
}

std::vector<Moment> Wander(std::size_t count, double clock, double memory, std::mt19937_64& random) {
  std::normal_distribution<double> normal(0, 1);
  std::vector<Moment> moments;
  for (std::size_t i = 0; i < count; ++i) moments.push_back({clock * normal(random), memory * normal(random)});
  return moments;
}

std::vector<Measurement> Rows(std::size_t count, const Moment& follows, double clock, double memory, double own,
                              std::mt19937_64& random) {
  std::vector<Measurement> rows;
  for (std::size_t i = 0; i < count; ++i)
    rows.push_back(Row("w" + std::to_string(i), 10.0 + static_cast<double>(i), follows,
                       Wander(3, clock, memory, random), own, &random));
  return rows;
}

TEST(Pace, FindsWhatRowsFollow) {
  std::mt19937_64 random(3);
  const Pace clock(Rows(20, {1, 0}, 0.2, 0.2, 0.01, random));
  EXPECT_NEAR(clock.arithmetic(), 1, 0.05);
  EXPECT_NEAR(clock.memory(), 0, 0.05);
  const Pace memory(Rows(20, {0.1, 0.7}, 0.2, 0.2, 0.01, random));
  EXPECT_NEAR(memory.arithmetic(), 0.1, 0.05);
  EXPECT_NEAR(memory.memory(), 0.7, 0.05);
  EXPECT_TRUE(memory.holds());
  EXPECT_GT(memory.most(), 0.1);
}

TEST(Pace, ALayerIsNotSlowedDownByMoreThanTheLoopsAre) {
  std::mt19937_64 random(4);
  const Pace pace(Rows(20, {3, 2}, 0.1, 0.1, 0.001, random));
  EXPECT_LE(pace.arithmetic() + pace.memory(), 1 + 1e-9);
  const Pace other_way(Rows(20, {-1, -1}, 0.1, 0.1, 0.001, random));
  EXPECT_FALSE(other_way.holds());
}

TEST(Pace, WhatBeatsDoNotExplainStaysAsItWas) {
  std::mt19937_64 random(5);
  int held = 0;
  for (int campaign = 0; campaign < 300; ++campaign) held += Pace(Rows(20, {0, 0}, 0.05, 0.05, 0.02, random)).holds();
  EXPECT_LE(held, 6);
  const Pace none(Rows(20, {0, 0}, 0.05, 0.05, 0, random));
  EXPECT_EQ(none.FactorOf(BeatAt({0.3, 0.3})), 1);
}

TEST(Pace, FewRepetitionsOrNoBeatsHoldNothing) {
  std::mt19937_64 random(6);
  EXPECT_FALSE(Pace(Rows(5, {1, 0}, 0.2, 0, 0, random)).holds());
  std::vector<Measurement> rows = Rows(30, {1, 0}, 0.2, 0, 0, random);
  for (Measurement& row : rows)
    for (Repetition& repetition : row.repetitions) repetition.beat.reset();
  EXPECT_FALSE(Pace(rows).holds());
  EXPECT_EQ(Pace(rows).FactorOf(BeatAt({1, 1})), 1);
}

TEST(Pace, HoldsARepetitionsTimesAlike) {
  std::mt19937_64 random(7);
  std::vector<Measurement> rows = Rows(20, {1, 0}, 0.2, 0.2, 0, random);
  const Pace pace(rows);
  // Both repetitions of a row are the same then.
  for (Measurement& row : rows) {
    for (Repetition& repetition : row.repetitions) {
      const double share = repetition.samples.front() / repetition.median;
      pace.Hold(repetition);
      EXPECT_NEAR(repetition.samples.front() / repetition.median, share, 1e-9);
      EXPECT_LE(repetition.minimum, repetition.median);
    }
    EXPECT_NEAR(row.repetitions[0].median / row.repetitions[1].median, 1, 1e-3);
  }
}

TEST(Pace, ANeighbourThatCameAndWentDoesNotDecide) {
  std::mt19937_64 random(8);
  std::vector<Measurement> rows = Rows(40, {1, 0}, 0.1, 0, 0.01, random);
  for (std::size_t i = 0; i < rows.size(); i += 8) rows[i].repetitions[0].median *= 3.0;
  EXPECT_NEAR(Pace(rows).arithmetic(), 1, 0.15);
}

TEST(Pace, NoBeatMakesATimeVanish) {
  std::mt19937_64 random(9);
  const Pace pace(Rows(20, {1, 0}, 0.2, 0.2, 0, random));
  for (const double arithmetic : {0.0, 1e-300, 1e300})
    for (const double memory : {0.0, 1e300}) {
      const double factor = pace.FactorOf(Beat{Latency(arithmetic), Latency(memory)});
      EXPECT_GE(factor, 1.0 / 20) << arithmetic << " " << memory;
      EXPECT_LE(factor, 20) << arithmetic << " " << memory;
    }
}

TEST(HoldTo, ARunIsHeldOnceAndSaysSo) {
  std::mt19937_64 random(10);
  const Pace pace(Rows(30, {1, 0}, 0.2, 0.2, 0, random));
  RunProfile run;
  for (const double clock : {0.2, 0.4}) {
    RunRepetition& repetition = run.end_to_end.emplace_back();
    for (int i = 0; i < 6; ++i) repetition.samples.emplace_back(1000 * std::exp(clock));
    repetition.beat = BeatAt({clock, 0});
  }
  HoldTo(pace, run);
  const Latency held = *EndToEndOf(run);
  EXPECT_NEAR(run.end_to_end[0].samples[0] / run.end_to_end[1].samples[0], 1, 1e-3);
  ASSERT_EQ(run.warnings.size(), 1U);
  EXPECT_THAT(run.warnings[0], HasSubstr("held to the metronome"));
  HoldTo(pace, run);
  EXPECT_EQ(*EndToEndOf(run), held);
  EXPECT_EQ(run.warnings.size(), 1U);
}

constexpr int kLayers = 24;

ModelGraph Network() {
  testing::GraphBuilder model;
  for (int i = 0; i < kLayers; ++i)
    model.Output(model.Unary("relu_" + std::to_string(i), PointwiseKind::kRelu,
                             model.Input("x_" + std::to_string(i), {4096, 1000 + i})));
  return model.Take();
}

// Each repetition at another pace of the clock, the run at one of its own: the gap that is told although there is none,
// and whether the bound's interval has the truth at the usual pace.
struct Told {
  double gap = 0;
  double width = 0;
  bool is_tagged = false;
};

Told Campaign(double wander, bool has_metronome, std::mt19937_64& random) {
  const ModelGraph graph = Network();
  testing::KnownRows source;
  double total = 0;
  for (int layer = 0; layer < kLayers; ++layer) {
    const Layer& one = graph.layers[static_cast<std::size_t>(layer)];
    Measurement row = Row("", 100 + layer, {1, 0}, Wander(3, wander, 0.05, random), 0.01, &random);
    row.workload = KeyOf(*one.workload);
    row.device = testing::TestDeviceKey();
    row.contract = NativeContract(*one.workload);
    if (!has_metronome)
      for (Repetition& repetition : row.repetitions) repetition.beat.reset();
    source.Add(std::move(row), testing::TestEnvironment(1));
    total += 100 + layer;
  }
  RunProfile run;
  for (const Moment& moment : Wander(3, wander, 0.05, random)) {
    RunRepetition& repetition = run.end_to_end.emplace_back();
    repetition.samples = {Latency(total * std::exp(moment.clock))};
    if (has_metronome) repetition.beat = BeatAt(moment);
  }
  const Bracket bracket = testing::BracketOf(graph, source);
  const Bound& bound = *bracket.Find(BoundVariant::kSequential);
  HoldTo(bracket.pace, run);
  const Latency measured = *EndToEndOf(run);
  return {std::abs((measured - bound.latency) / measured), (bound.interval.high - bound.interval.low) / bound.latency,
          std::ranges::find(bound.assumptions, "held-to-metronome") != bound.assumptions.end()};
}

TEST(ZeroGapByTheMetronome, AClockThatWandersMakesNoGap) {
  for (const double wander : {0.05, 0.1, 0.3}) {
    std::mt19937_64 random(12);
    std::vector<double> with, without;
    double narrow = 0, wide = 0;
    for (int i = 0; i < 60; ++i) {
      const Told told = Campaign(wander, true, random);
      EXPECT_TRUE(told.is_tagged);
      with.push_back(told.gap);
      narrow += told.width;
      const Told raw = Campaign(wander, false, random);
      EXPECT_FALSE(raw.is_tagged);
      without.push_back(raw.gap);
      wide += raw.width;
    }
    std::ranges::nth_element(with, with.begin() + 30);
    std::ranges::nth_element(without, without.begin() + 30);
    EXPECT_LE(with[30], 0.01) << wander;
    EXPECT_GE(without[30], wander / 4) << wander;
    EXPECT_LT(narrow, 0.6 * wide) << wander;
  }
}

}  // namespace
}  // namespace infimum::pace_test
