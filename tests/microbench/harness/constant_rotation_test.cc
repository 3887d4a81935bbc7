#include <gtest/gtest.h>

#include "microbench/harness/sampling/sampler.h"

namespace infimum {
namespace {

constexpr Bytes kMiB{1 << 20};

Bytes MiB(std::int64_t count) { return Bytes{count * kMiB.value}; }

TEST(ConstantRotation, HasCopiesForTwiceTheLastLevelCache) {
  EXPECT_EQ(ConstantRotation::For(MiB(9), MiB(32)), (ConstantRotation{8, false}));
  EXPECT_EQ(ConstantRotation::For(MiB(16), MiB(32)), (ConstantRotation{4, false}));
  EXPECT_EQ(ConstantRotation::For(Bytes{(1 << 20) + 1}, MiB(32)), (ConstantRotation{64, false}));
}

TEST(ConstantRotation, ConstantsLargerThanTheCachesAreNotCopied) {
  EXPECT_EQ(ConstantRotation::For(MiB(64), MiB(32)), (ConstantRotation{1, false}));
  EXPECT_EQ(ConstantRotation::For(MiB(80), MiB(32)), (ConstantRotation{1, false}));
}

TEST(ConstantRotation, FlushesWhereTheCopiesWouldBeTooMany) {
  EXPECT_EQ(ConstantRotation::For(Bytes{4096}, MiB(32)), (ConstantRotation{16384, false}));
  EXPECT_EQ(ConstantRotation::For(Bytes{4095}, MiB(32)), (ConstantRotation{16384, true}));
  EXPECT_EQ(ConstantRotation::For(Bytes{1}, MiB(32)), (ConstantRotation{16384, true}));
}

TEST(ConstantRotation, CopiesTakeAtMostTheMemoryOfAFlush) {
  EXPECT_EQ(ConstantRotation::For(MiB(8), Bytes{0}), (ConstantRotation{8, false}));
  EXPECT_EQ(ConstantRotation::For(MiB(256), Bytes{std::int64_t{1} << 40}), (ConstantRotation{4, false}));
}

}  // namespace
}  // namespace infimum
