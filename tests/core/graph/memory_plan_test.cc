#include "src/core/graph/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>

namespace infimum {
namespace {

constexpr std::size_t kAlignment = 64;

bool LiveTogether(const BufferLife& a, const BufferLife& b) { return a.first <= b.last && b.first <= a.last; }

void ExpectNoTwoLiveBuffersOverlap(const std::vector<BufferLife>& buffers, const MemoryPlan& plan) {
  ASSERT_EQ(plan.offsets.size(), buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % kAlignment, 0U);
    EXPECT_LE(plan.offsets[i] + buffers[i].bytes, plan.bytes);
    for (std::size_t j = 0; j < i; ++j) {
      if (!LiveTogether(buffers[i], buffers[j])) continue;
      const bool apart = plan.offsets[i] + buffers[i].bytes <= plan.offsets[j] ||
                         plan.offsets[j] + buffers[j].bytes <= plan.offsets[i];
      EXPECT_TRUE(apart) << "buffers " << i << " and " << j;
    }
  }
}

// The most bytes that live at one step: no plan takes less.
std::size_t PeakOf(const std::vector<BufferLife>& buffers) {
  std::size_t peak = 0;
  for (const BufferLife& at : buffers) {
    std::size_t sum = 0;
    for (const BufferLife& other : buffers) {
      if (other.first <= at.first && at.first <= other.last) sum += other.bytes;
    }
    peak = std::max(peak, sum);
  }
  return peak;
}

std::vector<BufferLife> RandomBuffers(std::mt19937& random, std::size_t most) {
  std::vector<BufferLife> buffers(1 + random() % most);
  for (BufferLife& buffer : buffers) {
    buffer.bytes = kAlignment * (1 + random() % 9);
    buffer.first = random() % 12;
    buffer.last = buffer.first + random() % 4;
  }
  return buffers;
}

// The least bytes over all orders of placing each buffer as low as it goes, which the best plan is among.
std::size_t BestOf(const std::vector<BufferLife>& buffers) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::size_t best = std::numeric_limits<std::size_t>::max();
  do {
    std::vector<std::size_t> offsets(buffers.size(), 0);
    std::size_t bytes = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const BufferLife& own = buffers[order[k]];
      std::size_t offset = 0;
      const auto collides = [&] {
        for (std::size_t before = 0; before < k; ++before) {
          const std::size_t other = order[before];
          if (LiveTogether(own, buffers[other]) && offset < offsets[other] + buffers[other].bytes &&
              offsets[other] < offset + own.bytes)
            return true;
        }
        return false;
      };
      while (collides()) offset += kAlignment;
      offsets[order[k]] = offset;
      bytes = std::max(bytes, offset + own.bytes);
    }
    best = std::min(best, bytes);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(MemoryPlan, TheExampleOfTheHeaderIsSo) {
  const MemoryPlan plan = PlanMemory({{100, 0, 1}, {100, 1, 2}, {60, 2, 3}}, 64);
  EXPECT_EQ(plan.offsets, (std::vector<std::size_t>{0, 128, 0}));
  EXPECT_EQ(plan.bytes, 228U);
}

TEST(MemoryPlan, NothingTakesNothing) { EXPECT_EQ(PlanMemory({}, kAlignment).bytes, 0U); }

TEST(MemoryPlan, NoTwoLiveBuffersOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const std::vector<BufferLife> buffers = RandomBuffers(random, 40);
    const MemoryPlan plan = PlanMemory(buffers, kAlignment);
    ExpectNoTwoLiveBuffersOverlap(buffers, plan);
    EXPECT_GE(plan.bytes, PeakOf(buffers));
  }
}

TEST(MemoryPlan, SmallPlansAreNeverHalfAgainAsLargeAsTheBest) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    const std::vector<BufferLife> buffers = RandomBuffers(random, 6);
    const MemoryPlan plan = PlanMemory(buffers, kAlignment);
    const std::size_t best = BestOf(buffers);
    EXPECT_GE(plan.bytes, best);
    EXPECT_LE(2 * plan.bytes, 3 * best);
  }
}

}  // namespace
}  // namespace infimum
