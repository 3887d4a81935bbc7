#include <gtest/gtest.h>

#include "analyzer/rows/timed_rows.h"

namespace infimum {
namespace {

Candidate Declaring(std::string input, std::string output) {
  return {"onednn", "jit", std::move(input), std::move(output)};
}

TEST(DeclaredLayouts, TheWorkedExample) {
  LayoutTexts texts;
  const DeclaredLayouts* declared = texts.Of(Declaring("acdb,plain", "acdb"));
  ASSERT_EQ(declared->inputs.size(), 2u);
  EXPECT_EQ(declared->inputs[0].text, "acdb");
  EXPECT_FALSE(declared->inputs[0].IsRowMajor(4));
  EXPECT_TRUE(declared->inputs[1].IsRowMajor(4));
  EXPECT_TRUE(declared->inputs[1].IsRowMajor(2));
  ASSERT_EQ(declared->outputs.size(), 1u);
  EXPECT_FALSE(declared->is_opaque);
  EXPECT_TRUE(texts.Of(Declaring("abcd", "opaque"))->is_opaque);
  EXPECT_FALSE(texts.Of(Declaring("abcd", "opaquely"))->is_opaque);
}

TEST(DeclaredLayouts, LettersInTurnAreRowMajorInTheirRank) {
  LayoutTexts texts;
  const DeclaredLayouts* declared = texts.Of(Declaring("abcd", ""));
  EXPECT_TRUE(declared->inputs[0].IsRowMajor(4));
  EXPECT_FALSE(declared->inputs[0].IsRowMajor(3));
  EXPECT_TRUE(declared->outputs[0].IsRowMajor(0));
  EXPECT_FALSE(declared->outputs[0].IsRowMajor(4));
}

TEST(DeclaredLayouts, EachPairOfTextsIsOne) {
  LayoutTexts texts;
  std::vector<const DeclaredLayouts*> first;
  for (int i = 0; i < 40; ++i) first.push_back(texts.Of(Declaring("a" + std::to_string(i), "b")));
  LayoutTexts moved = std::move(texts);
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(moved.Of(Declaring("a" + std::to_string(i), "b")), first[static_cast<std::size_t>(i)]);
  EXPECT_NE(moved.Of(Declaring("b", "a1")), first[1]);
}

}  // namespace
}  // namespace infimum
