// Whatever runs beside whatever: an operation is behind all that it reads, on random graphs too.
#include "microbench/gpu/replay_branches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace infimum::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Operation i writes buffer i.
cpu::ReplayLayout LayoutOf(const std::vector<std::vector<std::size_t>>& reads) {
  cpu::ReplayLayout layout;
  layout.buffers.resize(reads.size());
  for (std::size_t i = 0; i < reads.size(); ++i) layout.operations.push_back({i, false, reads[i], {i}});
  return layout;
}

TEST(ReplayBranches, AForkGetsAStreamOfItsOwn) {
  const BranchPlan plan = PlanBranches(LayoutOf({{}, {0}, {0}, {1, 2}}), 2);
  EXPECT_EQ(plan.operations[1].stream, 0u);
  EXPECT_EQ(plan.operations[2].stream, 1u);
  EXPECT_THAT(plan.operations[2].follows, ElementsAre(0));
  EXPECT_EQ(plan.operations[3].stream, 1u) << "behind the result that came last";
  EXPECT_THAT(plan.operations[3].follows, ElementsAre(0));
  EXPECT_THAT(plan.last, ElementsAre(1));
}

TEST(ReplayBranches, OnOneStreamNothingWaits) {
  const BranchPlan plan = PlanBranches(LayoutOf({{}, {0}, {0}, {1, 2}}), 1);
  for (const BranchPlan::Place& place : plan.operations) {
    EXPECT_EQ(place.stream, 0u);
    EXPECT_THAT(place.follows, IsEmpty());
  }
  EXPECT_THAT(plan.last, IsEmpty());
}

// What is before what, by streams and waits: bit i of before[j].
std::vector<std::vector<bool>> Before(const BranchPlan& plan, std::size_t streams) {
  const std::size_t count = plan.operations.size();
  std::vector<std::vector<bool>> done(streams, std::vector<bool>(count, false)), before;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<bool>& own = done[plan.operations[i].stream];
    for (const std::size_t other : plan.operations[i].follows)
      for (std::size_t k = 0; k < count; ++k) own[k] = own[k] || done[other][k];
    before.push_back(own);
    own[i] = true;
  }
  return before;
}

TEST(ReplayBranches, WhatIsReadIsThereOnRandomGraphs) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 500; ++trial) {
    const std::size_t count = 1 + random() % 30, streams = 1 + random() % 5;
    std::vector<std::vector<std::size_t>> reads(count);
    for (std::size_t i = 1; i < count; ++i)
      for (std::size_t k = random() % 3; k > 0; --k) reads[i].push_back(random() % i);
    const BranchPlan plan = PlanBranches(LayoutOf(reads), streams);
    const auto before = Before(plan, streams);
    std::vector<bool> used(streams, false);
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::size_t producer : reads[i]) EXPECT_TRUE(before[i][producer]) << producer << " before " << i;
      const std::size_t stream = plan.operations[i].stream;
      ASSERT_LT(stream, streams);
      // A branch that nothing led to would not belong to the captured graph.
      if (stream != 0 && !used[stream]) {
        EXPECT_FALSE(plan.operations[i].follows.empty());
      }
      used[stream] = true;
    }
    std::vector<std::size_t> others;
    for (std::size_t stream = 1; stream < streams; ++stream)
      if (used[stream]) others.push_back(stream);
    EXPECT_EQ(plan.last, others);
  }
}

}  // namespace
}  // namespace infimum::cuda
