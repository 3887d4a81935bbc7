#include "analyzer/sweep/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "analyzer/sweep/maps.h"
#include "analyzer/sweep/ranks.h"
#include "tests/support/sweep_cells.h"

namespace infimum::sweep_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::MakeSweepCell;
using ::testing::SizeIs;

const SweepAxis& AxisOf(const std::vector<SweepAxis>& axes, const std::string& field) {
  return *std::ranges::find(axes, field, &SweepAxis::field);
}

// Numbers a, b and words w, of a time that is a power law of them; the seed orders the cells.
std::vector<SweepCell> Grid(const std::function<double(double a, double b, int w)>& time) {
  std::vector<SweepCell> cells;
  for (const double a : {1, 2, 4, 8})
    for (const double b : {1, 3, 9})
      for (int w = 0; w < 3; ++w)
        cells.push_back(MakeSweepCell({{"a", std::to_string(static_cast<int>(a))},
                                       {"b", std::to_string(static_cast<int>(b))},
                                       {"w", std::string(1, static_cast<char>('x' + w))}},
                                      time(a, b, w)));
  return cells;
}

TEST(SweepAxes, NumbersAscendAndWhatNeverChangesIsNoAxis) {
  std::vector<SweepCell> cells = Grid([](double a, double, int) { return a; });
  for (SweepCell& cell : cells) cell.fields["same"] = "1";
  cells.front().fields["a"] = "16";
  const std::vector<SweepAxis> axes = AxesOf(cells);
  ASSERT_THAT(axes, SizeIs(3));
  EXPECT_THAT(axes[0].values, ElementsAre("1", "2", "4", "8", "16"));
  EXPECT_TRUE(axes[0].is_numeric);
  EXPECT_FALSE(axes[2].is_numeric);
}

TEST(SweepSensitivity, OfAGridTheSharesOfAPowerLawAddUpToOne) {
  const double words[] = {1, 1.5, 2};
  const auto found = SensitivityOf(
      Grid([&](double a, double b, int w) { return 7 * std::pow(a, 1.2) * std::pow(b, 0.3) * words[w]; }));
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->r_squared, 1, 1e-9);
  double sum = 0;
  for (const Sensitivity::Axis& axis : found->axes) sum += axis.share;
  EXPECT_NEAR(sum, 1, 1e-9);
  // Variances over the grid, by hand: (k log 2)^2 of 0..3, (k log 3)^2 of 0..2, and the words'.
  const double a = std::pow(1.2 * std::log(2), 2) * 5 / 4, b = std::pow(0.3 * std::log(3), 2) * 2 / 3;
  const double m = (std::log(1.5) + std::log(2)) / 3;
  const double w = (m * m + std::pow(std::log(1.5) - m, 2) + std::pow(std::log(2) - m, 2)) / 3;
  EXPECT_EQ(found->axes[0].field, "a");
  EXPECT_NEAR(found->axes[0].share, a / (a + b + w), 1e-9);
  EXPECT_EQ(found->axes[1].field, "w");
  EXPECT_NEAR(found->axes[1].share, w / (a + b + w), 1e-9);
  EXPECT_NEAR(found->axes[2].share, b / (a + b + w), 1e-9);
}

// Of two numbers that are not independent, in closed form: R^2 = (r1^2 + r2^2 - 2 r1 r2 r12) / (1 - r12^2).
TEST(SweepSensitivity, OfTwoNumbersItIsWhatTheirCorrelationsSay) {
  std::mt19937_64 random(5);
  std::uniform_int_distribution<int> few(1, 9);
  std::normal_distribution<double> noise(0, 0.4);
  for (int round = 0; round < 100; ++round) {
    std::vector<SweepCell> cells;
    std::vector<double> one, other, time;
    for (int i = 0; i < 8 + round % 30; ++i) {
      const int a = few(random), b = a + few(random);
      cells.push_back(
          MakeSweepCell({{"a", std::to_string(a)}, {"b", std::to_string(b)}}, a * b * std::exp(noise(random))));
      one.push_back(std::log(a));
      other.push_back(std::log(b));
      time.push_back(std::log(cells.back().time->count()));
    }
    const auto correlation = [](const std::vector<double>& p, const std::vector<double>& q) {
      double sp = 0, sq = 0, pq = 0, pp = 0, qq = 0;
      for (std::size_t i = 0; i < p.size(); ++i) sp += p[i], sq += q[i];
      for (std::size_t i = 0; i < p.size(); ++i) {
        const double dp = p[i] - sp / static_cast<double>(p.size()), dq = q[i] - sq / static_cast<double>(p.size());
        pq += dp * dq, pp += dp * dp, qq += dq * dq;
      }
      return pq / std::sqrt(pp * qq);
    };
    const double r1 = correlation(one, time), r2 = correlation(other, time), r12 = correlation(one, other);
    const auto found = SensitivityOf(cells);
    ASSERT_TRUE(found.has_value());
    const double r_squared = (r1 * r1 + r2 * r2 - 2 * r1 * r2 * r12) / (1 - r12 * r12);
    EXPECT_NEAR(found->r_squared, r_squared, 1e-8);
    for (const Sensitivity::Axis& axis : found->axes)
      EXPECT_NEAR(axis.share, r_squared - (axis.field == "a" ? r2 * r2 : r1 * r1), 1e-8);
  }
}

TEST(SweepSensitivity, AnAxisThatSaysNothingHasNoShareAndNoiseIsNotExplained) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.5);
  const auto found = SensitivityOf(Grid([&](double a, double, int) { return a * std::exp(noise(random)); }));
  ASSERT_TRUE(found.has_value());
  EXPECT_LT(found->r_squared, 0.95);
  EXPECT_EQ(found->axes[0].field, "a");
  EXPECT_LT(found->axes[1].share, 0.2);
}

TEST(SweepSensitivity, OfTwoAxesThatChangeTogetherNeitherGetsWhatTheyHaveInCommon) {
  std::vector<SweepCell> cells = Grid([](double a, double, int) { return a; });
  for (SweepCell& cell : cells) cell.fields["twin"] = cell.fields.at("a");
  const auto found = SensitivityOf(cells);
  EXPECT_NEAR(found->r_squared, 1, 1e-9);
  for (const Sensitivity::Axis& axis : found->axes) EXPECT_NEAR(axis.share, 0, 1e-9) << axis.field;
}

TEST(SweepSensitivity, IsThatOfTheQuantityAndOfNothingWhereThereIsNone) {
  std::vector<SweepCell> cells = Grid([](double a, double, int) { return a; });
  for (SweepCell& cell : cells) cell.facts.floor = Latency(std::stod(cell.fields.at("b")));
  EXPECT_EQ(SensitivityOf(cells, SweepQuantity::kFloor)->axes[0].field, "b");
  for (SweepCell& cell : cells) cell.time = Latency(1);
  EXPECT_FALSE(SensitivityOf(cells).has_value());
  EXPECT_FALSE(SensitivityOf({}).has_value());
}

TEST(SweepSensitivity, WordsWithTooManyValuesWouldExplainEverythingAndAreLeftOut) {
  std::vector<SweepCell> cells;
  for (int i = 0; i < 30'000; ++i)
    cells.push_back(MakeSweepCell({{"name", "net " + std::to_string(i)}, {"n", std::to_string(1 + i % 7)}}, 1 + i % 7));
  const auto found = SensitivityOf(cells);
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(found->left_out, ElementsAre("name"));
  EXPECT_EQ(found->cells, 15'000u);
  EXPECT_NEAR(found->axes.at(0).share, 1, 1e-9);
}

TEST(SweepMaps, APlaceIsTheMedianOfWhatFallsThere) {
  const std::vector<SweepCell> cells = Grid([](double, double, int w) { return 100 * (1 + w); });
  const std::vector<SweepAxis> axes = AxesOf(cells);
  std::vector<SweepCell> known = cells;
  for (SweepCell& cell : known) {
    cell.facts.floor = Latency(50);
    cell.facts.decided_by = cell.fields.at("w") == "z" ? "bandwidth memory" : "arithmetic f32";
  }
  const SweepMap map = UtilizationMap(known, AxisOf(axes, "a"), AxisOf(axes, "b"));
  ASSERT_THAT(map.places, SizeIs(12));
  for (const MapPlace& place : map.places) {
    EXPECT_EQ(place.cells, 3u);
    EXPECT_DOUBLE_EQ(*place.value, 0.25);
    EXPECT_EQ(place.word, "arithmetic f32");
  }
  for (const MapPlace& place : UtilizationMap(cells, AxisOf(axes, "a"), AxisOf(axes, "b")).places)
    EXPECT_FALSE(place.value.has_value());
  EXPECT_DOUBLE_EQ(*FloorMap(known, AxisOf(axes, "b"), AxisOf(axes, "a")).at(3, 2).value, 50);
}

TEST(SweepMaps, APairDiffersInOneFieldAlone) {
  std::vector<SweepCell> cells = Grid([](double a, double b, int w) { return a * b * (w == 1 ? 50 : 100); });
  cells.pop_back();  // z of the last: its partner is alone
  const SpeedUps ups = SpeedUpsOf(cells, "w", "x", "y", SweepQuantity::kTime, 0.05);
  ASSERT_THAT(ups.pairs, SizeIs(12));
  EXPECT_DOUBLE_EQ(ups.mean, 0.5);
  for (const SweepPair& pair : ups.pairs) {
    EXPECT_EQ(cells[pair.from].fields.at("a"), cells[pair.to].fields.at("a"));
    EXPECT_EQ(cells[pair.from].fields.at("b"), cells[pair.to].fields.at("b"));
    EXPECT_EQ(pair.difference.verdict, Verdict::kFaster);
  }
  const SpeedUps less = SpeedUpsOf(cells, "w", "x", "z", SweepQuantity::kTime, 0.05);
  EXPECT_THAT(less.pairs, SizeIs(11));
  const std::vector<SweepAxis> axes = AxesOf(cells);
  const SweepMap map = SpeedUpMap(cells, less, AxisOf(axes, "a"), AxisOf(axes, "b"));
  EXPECT_EQ(map.at(2, 3).cells, 0u);
  EXPECT_EQ(map.at(0, 0).verdict, Verdict::kSame);
  EXPECT_THAT(SpeedUpsOf(cells, "w", "x", "none", SweepQuantity::kTime, 0.05).pairs, IsEmpty());
}

TEST(SweepMaps, WhereTheIntervalsOverlapNobodyCanTell) {
  std::vector<SweepCell> cells{MakeSweepCell({{"w", "x"}}, 100), MakeSweepCell({{"w", "y"}}, 110)};
  for (SweepCell& cell : cells) cell.between = {*cell.time * 0.8, *cell.time * 1.2};
  const SpeedUps ups = SpeedUpsOf(cells, "w", "x", "y", SweepQuantity::kTime, 0.05);
  ASSERT_THAT(ups.pairs, SizeIs(1));
  EXPECT_EQ(ups.pairs[0].difference.verdict, Verdict::kUndecided);
}

TEST(SweepMaps, TheFrontierIsTheLargestThatFitsAndTheSmallestThatDoesNot) {
  std::vector<SweepCell> cells = Grid([](double, double, int) { return 1; });
  const std::vector<SweepAxis> axes = AxesOf(cells);
  EXPECT_FALSE(MemoryFrontierOf(cells, AxisOf(axes, "a")).has_value());
  for (SweepCell& cell : cells) {
    const double memory = std::stod(cell.fields.at("a")) * std::stod(cell.fields.at("b"));
    cell.facts.memory = Bytes{static_cast<std::int64_t>(memory)};
    if (memory > 10) cell.state = CellState::kOutOfMemory;
  }
  const auto frontier = MemoryFrontierOf(cells, AxisOf(axes, "a"));
  ASSERT_TRUE(frontier.has_value());
  ASSERT_THAT(frontier->rows, SizeIs(4));
  EXPECT_EQ(cells[*frontier->rows[0].fits].facts.memory->value, 9);
  EXPECT_FALSE(frontier->rows[0].does_not.has_value());
  EXPECT_EQ(cells[*frontier->rows[2].fits].facts.memory->value, 4);
  EXPECT_EQ(cells[*frontier->rows[2].does_not].facts.memory->value, 12);
}

// Cells of few different times, sizes and floors, so that there are ties.
std::vector<SweepCell> Drawn(std::mt19937_64& random, std::size_t count) {
  std::uniform_int_distribution<int> few(1, 12);
  std::vector<SweepCell> cells;
  for (std::size_t i = 0; i < count; ++i) {
    SweepCell cell = MakeSweepCell({}, 10 * few(random));
    const double half = few(random) / 2.0;
    cell.between = {*cell.time - Latency(half), *cell.time + Latency(half)};
    cell.facts.parameters = few(random);
    cell.facts.floor = Latency(few(random));
    if (few(random) == 1) cell.time.reset();
    if (few(random) == 1) cell.facts.floor.reset();
    cells.push_back(std::move(cell));
  }
  return cells;
}

TEST(SweepRanks, TheFrontHoldsExactlyWhatNoFasterOneReaches) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::vector<SweepCell> cells = Drawn(random, 1 + round % 20);
    std::vector<std::size_t> front = ParetoOf(cells, SweepSize::kParameters);
    const auto key = [&](std::size_t i) { return std::pair(cells[i].time->count(), *cells[i].facts.parameters); };
    std::set<std::pair<double, std::int64_t>> found, expected;
    for (const std::size_t i : front) found.insert(key(i));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!cells[i].time) continue;
      const bool is_beaten = std::ranges::any_of(cells, [&](const SweepCell& other) {
        if (!other.time) return false;
        const bool is_better = *other.time < *cells[i].time || *other.facts.parameters > *cells[i].facts.parameters;
        return *other.time <= *cells[i].time && *other.facts.parameters >= *cells[i].facts.parameters && is_better;
      });
      if (!is_beaten) expected.insert(key(i));
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(found.size(), front.size()) << "one of equal ones";
  }
}

TEST(SweepRanks, InversionsAreThoseOfAllPairs) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    const std::vector<SweepCell> cells = Drawn(random, 1 + round % 30);
    std::size_t pairs = 0;
    std::vector<double> worst;
    for (const SweepCell& slow : cells) {
      double most = 0;
      for (const SweepCell& fast : cells) {
        if (!slow.time || !fast.time || !slow.facts.floor || !fast.facts.floor) continue;
        if (!(*slow.facts.floor < *fast.facts.floor) || !(slow.between.low > fast.between.high)) continue;
        ++pairs;
        most = std::max(most, slow.between.low / fast.between.high);
      }
      if (most > 0) worst.push_back(most);
    }
    std::ranges::sort(worst, std::ranges::greater{});
    const RankInversions found = InversionsOf(cells, 1000);
    EXPECT_EQ(found.pairs, pairs);
    ASSERT_EQ(found.worst.size(), worst.size());
    for (std::size_t i = 0; i < worst.size(); ++i) EXPECT_DOUBLE_EQ(found.worst[i].times, worst[i]);
    EXPECT_THAT(InversionsOf(cells, 2).worst, SizeIs(std::min<std::size_t>(2, worst.size())));
  }
}

TEST(SweepRanks, TheCorrelationIsSpearmans) {
  std::vector<SweepCell> cells;
  const double sizes[] = {1, 2, 3, 4, 5}, times[] = {5, 6, 7, 8, 7};  // ranks 0 1 2.5 4 2.5: rho 0.82078
  for (int i = 0; i < 5; ++i) {
    cells.push_back(MakeSweepCell({}, times[i]));
    cells.back().facts.flops = Flops{static_cast<std::int64_t>(sizes[i])};
  }
  EXPECT_NEAR(RankCorrelationOf(cells, SweepSize::kFlops)->rho, 0.820783, 1e-6);
  EXPECT_FALSE(RankCorrelationOf(cells, SweepSize::kBytes).has_value());
  for (SweepCell& cell : cells) cell.time = Latency(std::exp(*SizeOf(cell, SweepSize::kFlops)));
  EXPECT_DOUBLE_EQ(RankCorrelationOf(cells, SweepSize::kFlops)->rho, 1);
}

}  // namespace
}  // namespace infimum::sweep_test
