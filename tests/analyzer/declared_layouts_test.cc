#include <gtest/gtest.h>

#include "analyzer/rows/timed_rows.h"

namespace infimum {
namespace {

Candidate Stating(std::string input, std::string output) {
  return {"onednn", "jit", std::move(input), std::move(output)};
}

TEST(DeclaredLayouts, TheWorkedExample) {
  LayoutTexts texts;
  const DeclaredLayouts* stated = texts.Of(Stating("acdb,plain", "acdb"));
  ASSERT_EQ(stated->inputs.size(), 2u);
  EXPECT_EQ(stated->inputs[0].text, "acdb");
  EXPECT_FALSE(stated->inputs[0].IsRowMajor(4));
  EXPECT_TRUE(stated->inputs[1].IsRowMajor(4));
  EXPECT_TRUE(stated->inputs[1].IsRowMajor(2));
  ASSERT_EQ(stated->outputs.size(), 1u);
  EXPECT_FALSE(stated->is_opaque);
  EXPECT_TRUE(texts.Of(Stating("abcd", "opaque"))->is_opaque);
  EXPECT_FALSE(texts.Of(Stating("abcd", "opaquely"))->is_opaque);
}

TEST(DeclaredLayouts, LettersInTurnAreRowMajorInTheirRank) {
  LayoutTexts texts;
  const DeclaredLayouts* stated = texts.Of(Stating("abcd", ""));
  EXPECT_TRUE(stated->inputs[0].IsRowMajor(4));
  EXPECT_FALSE(stated->inputs[0].IsRowMajor(3));
  EXPECT_TRUE(stated->outputs[0].IsRowMajor(0));
  EXPECT_FALSE(stated->outputs[0].IsRowMajor(4));
}

TEST(DeclaredLayouts, EachPairOfTextsIsOne) {
  LayoutTexts texts;
  std::vector<const DeclaredLayouts*> first;
  for (int i = 0; i < 40; ++i) first.push_back(texts.Of(Stating("a" + std::to_string(i), "b")));
  LayoutTexts moved = std::move(texts);
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(moved.Of(Stating("a" + std::to_string(i), "b")), first[static_cast<std::size_t>(i)]);
  EXPECT_NE(moved.Of(Stating("b", "a1")), first[1]);
}

}  // namespace
}  // namespace infimum
