#include "infimum/base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace infimum {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) return Error{"odd"};
  return number / 2;
}

Result<int> Quarter(int number) {
  INFIMUM_ASSIGN_OR_RETURN(const int half, Half(number));
  INFIMUM_ASSIGN_OR_RETURN(int quarter, Half(half));
  return quarter;
}

Status IsEven(int number) {
  INFIMUM_RETURN_IF_ERROR(Half(number));
  return {};
}

TEST(Result, HoldsEitherAValueOrAnError) {
  EXPECT_TRUE(Half(4).ok());
  EXPECT_EQ(Half(4).value(), 2);
  EXPECT_FALSE(Half(3).ok());
  EXPECT_EQ(Half(3).error().message, "odd");
}

TEST(Result, TheMacrosPassTheFirstErrorUp) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).error().message, "odd");
  EXPECT_TRUE(IsEven(2).ok());
  EXPECT_EQ(IsEven(1).error().message, "odd");
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 7);
}

TEST(Result, WithinPutsThePlaceBeforeTheMessage) {
  EXPECT_EQ(Within("plan.txt:3", Error{"bad"}).message, "plan.txt:3: bad");
}

TEST(ResultDeathTest, TakingTheValueOfAnErrorNamesTheBrokenInvariant) {
  EXPECT_DEATH((void)Half(3).value(), "value\\(\\) asked of a Result that holds an error");
}

TEST(CheckDeathTest, AFailedCheckSaysWhichInvariantAndWhere) {
  EXPECT_DEATH(INFIMUM_CHECK(1 + 1 == 3, "arithmetic holds"), "arithmetic holds .*result_test.cc:[0-9]+: 1 \\+ 1 == 3");
}

}  // namespace
}  // namespace infimum
