#include "analyzer/effects/effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace infimum::effects_test {
namespace {

using ::testing::HasSubstr;

using Program = std::function<double(const std::string& levels)>;

std::vector<std::optional<Latency>> Times(const std::vector<DesignRun>& design, const Program& program) {
  std::vector<std::optional<Latency>> times;
  for (const DesignRun& run : design) times.emplace_back(program(run.levels));
  return times;
}

Effects Estimated(const std::vector<DesignRun>& design, const std::vector<std::optional<Latency>>& times) {
  Result<Effects> effects = EstimateEffects(design, times);
  EXPECT_TRUE(effects.ok()) << (effects.ok() ? "" : effects.error().message);
  return effects.ok() ? *std::move(effects) : Effects();
}

// Of 1000 us, with this cost of each factor alone and of each pair of neighbours beyond that.
Program Pairwise(std::vector<double> alone, std::vector<double> pairs = {}) {
  return [alone = std::move(alone), pairs = std::move(pairs)](const std::string& levels) {
    double time = 1000;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      if (levels[i] != '1') continue;
      time += alone[i];
      if (i + 1 < levels.size() && i < pairs.size() && levels[i + 1] == '1') time += pairs[i];
    }
    return time;
  };
}

Program WithNoise(Program program, double share, std::mt19937_64& random) {
  return [program = std::move(program), share, &random](const std::string& levels) {
    return program(levels) * (1 + std::normal_distribution<double>(0, share)(random));
  };
}

double Z(char level) { return level == '1' ? 1 : -1; }

TEST(EffectDesign, EachReplicateIsOrthogonalAlsoToBlocksAndFreesEffectsOfAllPairs) {
  for (const std::size_t factors : {1, 2, 3, 5, 8, 21, 53}) {
    SCOPED_TRACE(factors);
    const std::vector<DesignRun> design = MakeDesign(factors, 1, factors);
    std::vector<std::vector<double>> columns;
    std::vector<std::vector<double>> pairs;
    std::vector<DesignRun> settings;
    for (const DesignRun& run : design)
      if (!run.is_end) settings.push_back(run);
    ASSERT_EQ(settings.size(), SettingsOfReplicate(factors));
    const auto column = [&](const std::function<double(const std::string&)>& of) {
      std::vector<double> numbers;
      for (const DesignRun& run : settings) numbers.push_back(of(run.levels));
      return numbers;
    };
    for (std::size_t i = 0; i < factors; ++i)
      columns.push_back(column([i](const std::string& levels) { return Z(levels[i]); }));
    for (std::size_t i = 0; i + 1 < factors; ++i)
      columns.push_back(column([i](const std::string& levels) { return Z(levels[i]) * Z(levels[i + 1]); }));
    for (std::size_t i = 0; i < factors; ++i)
      for (std::size_t j = i + 1; j < factors; ++j)
        pairs.push_back(column([i, j](const std::string& levels) { return Z(levels[i]) * Z(levels[j]); }));
    const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
      return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    };
    for (std::size_t i = 0; i < columns.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) EXPECT_EQ(product(columns[i], columns[j]), 0) << i << " " << j;
    for (std::size_t i = 0; i < factors; ++i)
      for (const std::vector<double>& pair : pairs) EXPECT_EQ(product(columns[i], pair), 0) << i;
    for (const std::vector<double>& one : columns) {
      std::map<std::size_t, double> sums;
      for (std::size_t i = 0; i < settings.size(); ++i) sums[settings[i].block] += one[i];
      for (const auto& [block, sum] : sums) EXPECT_EQ(sum, 0) << block;
    }
  }
}

TEST(EffectDesign, EachBlockHasBothEndsAndTheSeedDecidesTheRest) {
  const std::vector<DesignRun> design = MakeDesign(6, 3, 1);
  EXPECT_EQ(design, MakeDesign(6, 3, 1));
  EXPECT_NE(design, MakeDesign(6, 3, 2));
  ASSERT_EQ(design.size() % kRunsOfBlock, 0U);
  for (std::size_t first = 0; first < design.size(); first += kRunsOfBlock) {
    std::multiset<std::string> ends;
    for (std::size_t i = first; i < first + kRunsOfBlock; ++i) {
      EXPECT_EQ(design[i].block, first / kRunsOfBlock);
      if (design[i].is_end) ends.insert(design[i].levels);
    }
    EXPECT_EQ(ends, (std::multiset<std::string>{"000000", "111111"}));
  }
}

TEST(Effects, WithoutNoiseTheyAreShapleysSharesOfThePairwiseModel) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> size(-50, 100);
  for (int trial = 0; trial < 10; ++trial) {
    std::vector<double> alone(5), pairs(4);
    for (double& one : alone) one = size(random);
    for (double& one : pairs) one = size(random);
    const Program program = Pairwise(alone, pairs);
    const std::vector<DesignRun> design = MakeDesign(5, 1, static_cast<std::uint64_t>(trial));
    const Effects effects = Estimated(design, Times(design, program));
    // Each factor's mean cost over all orders in which they may be switched.
    std::vector<double> shares(5, 0);
    std::vector<std::size_t> order = {0, 1, 2, 3, 4};
    double orders = 0;
    do {
      std::string levels = "00000";
      for (const std::size_t factor : order) {
        const double before = program(levels);
        levels[factor] = '1';
        shares[factor] += program(levels) - before;
      }
      ++orders;
    } while (std::next_permutation(order.begin(), order.end()));
    ASSERT_EQ(effects.effects.size(), 5U);
    ASSERT_EQ(effects.interactions.size(), 4U);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(effects.effects[i].value.count(), shares[i] / orders, 1e-6) << i;
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(effects.interactions[i].value.count(), pairs[i], 1e-6) << i;
    EXPECT_NEAR(effects.sum.value.count(), program("11111") - program("00000"), 1e-6);
    EXPECT_NEAR(effects.difference.value.count(), program("11111") - program("00000"), 1e-6);
    EXPECT_NEAR(effects.none.count(), 1000, 1e-9);
  }
}

TEST(Effects, TheirIntervalsHoldTheTruthAsOftenAsTheySay) {
  std::mt19937_64 random(6);
  const std::vector<double> alone = {0, 5, 0, 20, -3, 0, 40, 1, 0, 0};
  std::size_t inside = 0, of = 0, sums = 0, families = 0;
  const std::size_t trials = 300;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    const std::vector<DesignRun> design = MakeDesign(alone.size(), 2, trial);
    const Effects effects = Estimated(design, Times(design, WithNoise(Pairwise(alone), 0.015, random)));
    bool all = true;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const EstimatedDifference& effect = effects.effects[i];
      inside += effect.low().count() <= alone[i] && alone[i] <= effect.high().count() ? 1 : 0;
      all = all && std::fabs(effect.value.count() - alone[i]) <= effect.simultaneous.count();
      ++of;
    }
    families += all ? 1 : 0;
    sums += effects.adds_up() ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(inside) / static_cast<double>(of), 0.95, 0.015);
  EXPECT_NEAR(static_cast<double>(sums) / static_cast<double>(trials), 0.95, 0.035);
  EXPECT_GE(static_cast<double>(families) / static_cast<double>(trials), 0.95);
}

TEST(Effects, FiftyThreeLayersAreAsExactAsTheirNumberOfInferencesAllows) {
  std::mt19937_64 random(7);
  const std::vector<DesignRun> design = MakeDesign(53, 3, 7);
  const Effects effects =
      Estimated(design, Times(design, WithNoise(Pairwise(std::vector<double>(53, 4)), 0.015, random)));
  EXPECT_NEAR(effects.deviation.count(), 0.015 * 1106, 1.0);
  EXPECT_GE(effects.inferences, 3 * SettingsOfReplicate(53) - 2);
  for (const EstimatedDifference& effect : effects.effects) {
    EXPECT_LE(effect.half_width, 1.1 * effects.ideal_half_width());
    EXPECT_LE(effect.half_width.count(), 0.003 * 1000);
  }
}

// Twenty layers, of which the second program runs one slower, reorders once without need and runs a chain unfused.
TEST(Effects, ThreeSeededCausesAreFoundWithTheirSizesAndHardlyEverAFourth) {
  constexpr std::size_t kSlow = 4, kReorder = 9, kUnfused = 15;
  std::vector<double> causes(20, 0);
  causes[kSlow] = 30;
  causes[kReorder] = 12;
  causes[kUnfused] = 20;
  std::size_t with_fourth = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    const std::vector<DesignRun> design = MakeDesign(causes.size(), 6, seed);
    // A machine that drifts by a twentieth, noise that stays for some inferences, and now and then a slow neighbour.
    std::size_t run = 0;
    double lasting = 0;
    const Program program = [&, quiet = Pairwise(causes)](const std::string& levels) {
      std::normal_distribution<double> normal(0, 1);
      lasting = 0.7 * lasting + 0.005 * normal(random);
      const double drift = 0.05 * std::sin(static_cast<double>(run++) / 150);
      const double neighbour = random() % 50 == 0 ? 0.3 : 0;
      return quiet(levels) * (1 + drift + lasting + neighbour + 0.008 * normal(random));
    };
    const Effects effects = Estimated(design, Times(design, program));
    bool has_fourth = false;
    for (std::size_t i = 0; i < causes.size(); ++i) {
      const EstimatedDifference& effect = effects.effects[i];
      if (causes[i] > 0) {
        EXPECT_TRUE(effect.is_real()) << seed << ": " << i;
        EXPECT_NEAR(effect.value.count(), causes[i], effect.simultaneous.count()) << seed << ": " << i;
      } else {
        has_fourth |= effect.is_real();
      }
    }
    with_fourth += has_fourth ? 1 : 0;
    EXPECT_GT(effects.disturbed, 0U);
  }
  EXPECT_LE(with_fourth, 1U);
}

TEST(Effects, WhatNeighboursCannotExplainIsSaid) {
  std::mt19937_64 random(8);
  const auto estimated = [&random](const Program& program, std::uint64_t seed) {
    const std::vector<DesignRun> design = MakeDesign(8, 12, seed);
    return Estimated(design, Times(design, WithNoise(program, 0.01, random)));
  };
  const Program pairwise = Pairwise({10, 0, 30, 0, 0, 20, 5, 0}, {0, 0, 15, 0, 0, 0, 0});
  const auto all_of = [](const std::string& levels, std::initializer_list<std::size_t> factors) {
    return std::all_of(factors.begin(), factors.end(), [&](std::size_t factor) { return levels[factor] == '1'; });
  };
  std::size_t alarms = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) alarms += estimated(pairwise, seed).lack_of_fit ? 1 : 0;
  EXPECT_LE(alarms, 5U);
  // Three that interact shift the sum, two apart only scatter.
  const Effects three = estimated(
      [&](const std::string& levels) {
        return pairwise(levels) + (all_of(levels, {0, 3, 6}) ? 60 : 0);
      },
      1);
  EXPECT_TRUE(three.lack_of_fit.has_value());
  EXPECT_FALSE(three.adds_up());
  const Effects apart = estimated(
      [&](const std::string& levels) {
        return pairwise(levels) + (all_of(levels, {0, 5}) ? 60 : 0);
      },
      2);
  EXPECT_TRUE(apart.lack_of_fit.has_value());
  EXPECT_TRUE(apart.adds_up());
}

TEST(Effects, RunsMayBeMissing) {
  std::mt19937_64 random(9);
  const std::vector<double> alone = {0, 50, 0, 20};
  const std::vector<DesignRun> design = MakeDesign(alone.size(), 4, 9);
  std::vector<std::optional<Latency>> times = Times(design, WithNoise(Pairwise(alone), 0.01, random));
  for (std::optional<Latency>& time : times)
    if (random() % 3 == 0) time.reset();
  const Effects effects = Estimated(design, times);
  for (std::size_t i = 0; i < alone.size(); ++i)
    EXPECT_NEAR(effects.effects[i].value.count(), alone[i], effects.effects[i].simultaneous.count());
}

TEST(Effects, TooFewInferencesAreSaid) {
  const std::vector<DesignRun> design = MakeDesign(12, 1, 1);
  std::vector<std::optional<Latency>> times = Times(design, Pairwise(std::vector<double>(12, 1)));
  // Six settings of each of four blocks are enough for the effects, and not for the interactions.
  std::vector<std::size_t> settings(4, 0);
  for (std::size_t i = 0; i < design.size(); ++i)
    if (!design[i].is_end && ++settings[design[i].block] > 6) times[i].reset();
  const Effects without = Estimated(design, times);
  EXPECT_EQ(without.effects.size(), 12U);
  EXPECT_TRUE(without.interactions.empty());
  std::fill(times.begin() + kRunsOfBlock * 2, times.end(), std::nullopt);
  const Result<Effects> effects = EstimateEffects(design, times);
  ASSERT_FALSE(effects.ok());
  EXPECT_THAT(effects.error().message, HasSubstr("12 inferences are too few for the effects of 12 factors: 64 make"));
  EXPECT_FALSE(EstimateEffects(design, std::vector<std::optional<Latency>>(design.size())).ok());
}

TEST(Effects, WhatTheMetronomeSaysIsTakenOff) {
  std::mt19937_64 random(31);
  std::normal_distribution<double> normal(0, 1);
  const std::vector<DesignRun> design = MakeDesign(6, 4, 8);
  const Program program = Pairwise({40, -20, 0, 15, 5, 0});
  std::vector<std::optional<Latency>> times;
  std::vector<Beat> beats;
  for (const DesignRun& run : design) {
    const double clock = 0.05 * normal(random), memory = 0.05 * normal(random);
    beats.push_back({Latency(100 * (1 + clock)), Latency(300 * (1 + memory))});
    times.emplace_back(program(run.levels) * (1 + 0.8 * clock + 0.2 * memory + 0.003 * normal(random)));
  }
  const Result<Effects> raw = EstimateEffects(design, times), held = EstimateEffects(design, times, beats);
  ASSERT_TRUE(raw.ok() && held.ok());
  EXPECT_GT(raw->deviation.count(), 30);
  EXPECT_NEAR(held->deviation.count(), 3, 1.5);
  EXPECT_LT(held->unexplained.half_width, raw->unexplained.half_width / 4);
  EXPECT_TRUE(held->adds_up());
  ASSERT_EQ(held->effects.size(), 6U);
  EXPECT_EQ(held->interactions.size(), 5U);
  EXPECT_LE(std::abs(held->effects[0].value.count() - 40), 3 * held->effects[0].half_width.count());
  // A metronome that stands still changes nothing.
  const Result<Effects> still =
      EstimateEffects(design, times, std::vector<Beat>(times.size(), Beat{Latency(1), Latency(1)}));
  ASSERT_TRUE(still.ok());
  EXPECT_EQ(still->deviation, raw->deviation);
}

}  // namespace
}  // namespace infimum::effects_test
