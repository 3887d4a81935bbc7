#include "analyzer/types/touch_curve.h"

#include <gtest/gtest.h>

#include <random>

namespace infimum::touch_curve_test {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kRounding = 1 + 1e-9;

// A machine that holds some bytes near the core and has the others from farther away: the least time to touch so many.
struct Machine {
  std::vector<double> capacity, seconds_per_byte;  // nearest first; the last holds everything

  double SecondsFor(double bytes) const {
    double seconds = 0;
    for (std::size_t i = 0; i < capacity.size() && bytes > 0; ++i) {
      seconds += std::min(bytes, capacity[i]) * seconds_per_byte[i];
      bytes -= capacity[i];
    }
    return seconds;
  }
};

Machine Draw(std::mt19937_64& random) {
  std::uniform_real_distribution<double> share(0, 1);
  Machine machine;
  double cost = 1e-12 * (1 + share(random));
  for (const double size : {0.03, 1.0, 30.0, 1e9}) {
    machine.capacity.push_back(kMiB * size * (0.3 + 0.7 * share(random)));
    machine.seconds_per_byte.push_back(cost);
    cost *= 1 + 3 * share(random);
  }
  return machine;
}

std::vector<TouchTime> Measured(const Machine& machine, double step) {
  std::vector<TouchTime> times;
  for (double bytes = 2048; bytes < 512 * kMiB; bytes *= step) times.push_back({bytes, machine.SecondsFor(bytes)});
  times.push_back({512 * kMiB, machine.SecondsFor(512 * kMiB)});  // several times all caches
  return times;
}

TEST(TouchCurve, BetweenTwoPointsTheNeighboursChordsAreExtended) {
  const TouchCurve tau({{16 * kMiB, 0.5e-3}, {32 * kMiB, 1.6e-3}, {64 * kMiB, 4.8e-3}});
  EXPECT_NEAR(tau.SecondsFor(32 * kMiB), 1.6e-3, 1e-12);
  EXPECT_NEAR(tau.SecondsFor(24 * kMiB), 0.8e-3, 1e-12);
  EXPECT_NEAR(tau.SecondsFor(18 * kMiB), 0.5e-3 + 2 * 0.5e-3 / 16, 1e-12);
  EXPECT_NEAR(tau.SecondsFor(4 * kMiB), 0.125e-3, 1e-12);
  EXPECT_NEAR(tau.SecondsFor(128 * kMiB), 9.6e-3, 1e-12);
  EXPECT_EQ(tau.SecondsFor(0), 0);
  EXPECT_EQ(TouchCurve().SecondsFor(kMiB), 0);
}

TEST(TouchCurve, FindsLevelsThatAreSeveralStepsApartAsTheyAre) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    const Machine machine = Draw(random);
    const TouchCurve tau(Measured(machine, 1.41421356));
    double before = 0;
    for (double bytes = 4096; bytes < 256 * kMiB; bytes *= 1.01) {
      const double least = machine.SecondsFor(bytes), said = tau.SecondsFor(bytes);
      ASSERT_LE(said, least * kRounding) << i << " " << bytes;
      ASSERT_GE(said * kRounding, least) << i << " " << bytes;
      ASSERT_GE(said * kRounding, before) << "more bytes take less " << i << " " << bytes;
      before = said;
    }
  }
}

TEST(TouchCurve, ATimeThatWasDisturbedChangesNothingWhereItsNeighboursAreOnALine) {
  std::vector<TouchTime> times;
  for (double mib = 1; mib <= 64; mib *= 2) times.push_back({mib * kMiB, 1e-3 * mib - 0.5e-3});
  times[4].seconds *= 1.5;
  const TouchCurve tau(times);
  for (double mib = 2; mib <= 32; mib *= 1.1) EXPECT_NEAR(tau.SecondsFor(mib * kMiB), 1e-3 * mib - 0.5e-3, 1e-9) << mib;
}

TEST(TouchCurve, AFewPointsSayLessAndNothingFalse) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 500; ++i) {
    const Machine machine = Draw(random);
    const TouchCurve tau(Measured(machine, 1 + 30 * std::uniform_real_distribution<double>(0, 1)(random)));
    for (double bytes = 4096; bytes < 1024 * kMiB; bytes *= 1.1)
      ASSERT_LE(tau.SecondsFor(bytes), machine.SecondsFor(bytes) * kRounding) << i << " " << bytes;
  }
}

TEST(TouchCurve, WhatWasObservedHoldsWhateverIsObservedLater) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> factor(0.3, 3), size(10, 32);
  for (int i = 0; i < 200; ++i) {
    const Machine machine = Draw(random);
    TouchCurve tau(Measured(machine, 2));
    std::vector<TouchTime> observed;
    for (int j = 0; j < 20; ++j) {
      const double bytes = std::exp2(size(random)), probe = std::exp2(size(random));
      const double before = tau.SecondsFor(probe);
      observed.push_back({bytes, machine.SecondsFor(bytes) * factor(random)});
      tau.Observe(observed.back());
      ASSERT_LE(tau.SecondsFor(probe), before * kRounding) << i;
      for (const TouchTime& seen : observed) ASSERT_LE(tau.SecondsFor(seen.bytes), seen.seconds * kRounding) << i;
    }
  }
}

TEST(TouchCurve, ASlowObservationChangesNothing) {
  TouchCurve tau({{kMiB, 1e-3}, {2 * kMiB, 3e-3}});
  for (const double mib : {0.5, 1.0, 1.5, 2.0, 64.0}) tau.Observe({mib * kMiB, 1});
  EXPECT_EQ(tau.SecondsFor(2 * kMiB), 3e-3);
  EXPECT_NEAR(tau.SecondsFor(64 * kMiB), 96e-3, 1e-9);
  EXPECT_NEAR(tau.SecondsFor(0.5 * kMiB), 0.5e-3, 1e-9);
}

TEST(TouchCurve, APointThatALargerSetBeatsCountsNothing) {
  const TouchCurve tau({{4 * kMiB, 4e-3}, {8 * kMiB, 2e-3}, {8 * kMiB, 9e-3}});
  EXPECT_NEAR(tau.SecondsFor(4 * kMiB), 1e-3, 1e-12);
}

}  // namespace
}  // namespace infimum::touch_curve_test
