#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "analyzer/layouts/solver_state.h"

namespace infimum {
namespace {

std::set<std::size_t> SetOf(const PendingRegions& pending, std::uint32_t number) {
  return {pending[number].begin(), pending[number].end()};
}

TEST(PendingRegions, TheWorkedExample) {
  PendingRegions pending;
  EXPECT_TRUE(pending[0].empty());
  EXPECT_EQ(pending.With(0, 7), 1u);
  EXPECT_EQ(pending.With(1, 9), 2u);
  EXPECT_EQ(SetOf(pending, 2), (std::set<std::size_t>{7, 9}));
  EXPECT_EQ(pending.Without(2, 9), 1u);
}

TEST(PendingRegions, AreTheSetsThatPlainSetsWouldBe) {
  std::mt19937_64 random(3);
  PendingRegions pending;
  std::vector<std::pair<std::uint32_t, std::set<std::size_t>>> states = {{0, {}}};
  for (int layer = 0; layer < 300; ++layer) {
    std::vector<std::pair<std::uint32_t, std::set<std::size_t>>> next;
    for (const auto& [number, set] : states) {
      const std::size_t region = random() % 6;
      std::set<std::size_t> changed = set;
      if (set.contains(region)) {
        changed.erase(region);
        next.emplace_back(pending.Without(number, region), changed);
      } else {
        changed.insert(region);
        next.emplace_back(pending.With(number, region), changed);
      }
      if (next.size() < 20) next.emplace_back(number, set);
    }
    std::shuffle(next.begin(), next.end(), random);
    next.resize(std::min<std::size_t>(next.size(), 8));
    for (auto& [number, set] : next) number = pending.Keep(number);
    pending.ForgetOthers();
    states = std::move(next);
    for (const auto& [number, set] : states) {
      ASSERT_EQ(SetOf(pending, number), set);
      for (const auto& [other, other_set] : states) ASSERT_EQ(number == other, set == other_set);
      ASSERT_LE(number, states.size());
    }
  }
}

}  // namespace
}  // namespace infimum
