#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "microbench/harness/supervisor/environment.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;

// Four physical cores with two threads each, as Linux numbers them.
const std::vector<Core> kEight{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 0}, {5, 1}, {6, 2}, {7, 3}};

TEST(CoreChoice, TakesTheLastCoresAndDifferentPhysicalOnes) {
  EXPECT_THAT(*ChooseCores(kEight, 1), ElementsAre(7));
  EXPECT_THAT(*ChooseCores(kEight, 2), ElementsAre(6, 7));
  EXPECT_THAT(*ChooseCores(kEight, 4), ElementsAre(4, 5, 6, 7));
}

TEST(CoreChoice, SharesPhysicalCoresOnlyWhereItMust) {
  EXPECT_THAT(*ChooseCores({{0, 0}, {1, 0}, {2, 2}, {3, 2}}, 2), ElementsAre(1, 3));
  EXPECT_THAT(*ChooseCores({{0, 0}, {1, 0}, {2, 2}, {3, 2}}, 3), ElementsAre(1, 2, 3));
}

TEST(CoreChoice, MoreThreadsThanCoresAreRefused) {
  EXPECT_EQ(ChooseCores(kEight, 9).error().message, "9 threads need as many cores, but 8 are visible to this process");
}

TEST(CoreList, IsNumbersAndRanges) {
  EXPECT_THAT(*ParseCoreList("0,2-4", kEight), ElementsAre(0, 2, 3, 4));
  EXPECT_EQ(FormatCoreList({0, 2, 3}), "0,2,3");
  EXPECT_EQ(ParseCoreList("8", kEight).error().message, "core 8 is not visible to this process");
  EXPECT_EQ(ParseCoreList("1,1", kEight).error().message, "core 1 is named twice");
  for (const char* text : {"", "a", "3-1", "1-2-3", "-1", "0-99999999999"})
    EXPECT_FALSE(ParseCoreList(text, kEight).ok()) << text;
}

TEST(OpenMpEnvironment, BindsAThreadToEachCore) {
  EXPECT_THAT(OpenMpEnvironment(2, {6, 7}),
              ElementsAre("OMP_NUM_THREADS=2", "OMP_DYNAMIC=false", "OMP_PLACES={6},{7}", "OMP_PROC_BIND=true"));
  EXPECT_THAT(OpenMpEnvironment(2, {}), ElementsAre("OMP_NUM_THREADS=2", "OMP_DYNAMIC=false", "OMP_PROC_BIND=false"));
}

TEST(VisibleCores, AreAtLeastOne) { EXPECT_FALSE(VisibleCores().empty()); }

}  // namespace
}  // namespace infimum
