// No text may leave the literal, the comment or the folder that it is put into.
#include "src/emit/source_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/random_layer.h"

namespace infimum::emit {
namespace {

TEST(SourceText, ALiteralIsOneLineOfPlainCharactersWhateverItHolds) {
  EXPECT_EQ(StringLiteral("a \"b\"\n"), "\"a \\\"b\\\"\\n\"");
  EXPECT_EQ(StringLiteral("back\\slash"), "\"back\\\\slash\"");
  EXPECT_EQ(StringLiteral(std::string("\0", 1) + "7\x7f\xc3"), "\"\\0007\\177\\303\"");
  EXPECT_EQ(StringLiteral("\?\?/"), "\"\\?\\?/\"");
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  for (const char c : StringLiteral(all)) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
}

TEST(SourceText, ACommentsLinesAllBeginAsComments) {
  EXPECT_EQ(Comment("two words", 8), "// two\n// words\n");
  EXPECT_EQ(Comment("one\nsystem(\"x\");\r\n"), "// one system(\"x\");\n");
  // A backslash at the end would take the next line into the comment.
  EXPECT_EQ(Comment("ends with \\"), "// ends with \\.\n");
  EXPECT_EQ(Comment("aaaa\\ bbbb", 9), "// aaaa\\.\n// bbbb\n");
}

TEST(SourceText, LongTextsBreakBehindSpacesAndKeepEveryCharacter) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "word" + std::to_string(i) + " ";
  std::string joined;
  bool inside = false;
  for (const char c : BrokenLiteral(text, 4)) {
    if (c == '"') inside = !inside;
    if (inside && c != '"') joined += c;
  }
  EXPECT_EQ(joined, text);
}

TEST(SourceText, NumbersAreOfTypeFloat) {
  EXPECT_EQ(FloatLiteral(0), "0.0F");
  EXPECT_EQ(FloatLiteral(-1), "-1.0F");
  EXPECT_EQ(FloatLiteral(0.015625), "0.015625F");
  EXPECT_EQ(FloatLiteral(1e-5), "1e-05F");
}

Workload Parsed(const std::string& text) { return *ParseWorkload(text); }

TEST(SourceName, SaysTheFamilyAndTheFirstValues) {
  EXPECT_EQ(SourceName(Parsed("pointwise kind=relu dtype=f32:-:f32 in=64")).substr(0, 21), "pointwise_relu_f32_64");
  const std::string region = SourceName(
      Parsed("region [matmul dtype=f32:f32:f32 a=1x1x8 b=1x8x8 bias=no weights=const](in0,w0) ; [pointwise kind=relu "
             "dtype=f32:-:f32 in=8](%0)"));
  EXPECT_TRUE(region.starts_with("matmul_relu_f32_1x1x8_1x8x8_no_const_")) << region;
}

TEST(SourceName, IsSafeShortAndOfOneLayerAlone) {
  testing::RandomLayers random(11);
  std::set<std::string> names, texts;
  for (int i = 0; i < 2000; ++i) {
    const Workload workload = random.Either();
    if (!texts.insert(Format(workload)).second) continue;
    const std::string name = SourceName(workload, 16);
    EXPECT_LE(name.size(), 80U);
    EXPECT_TRUE(std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; }));
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

}  // namespace
}  // namespace infimum::emit
