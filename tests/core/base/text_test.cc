#include "infimum/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <random>

namespace infimum {
namespace {

using ::testing::ElementsAre;

TEST(Split, GivesThePiecesBetweenSeparators) {
  EXPECT_THAT(Split("1x64x56", 'x'), ElementsAre("1", "64", "56"));
  EXPECT_THAT(Split("", 'x'), ElementsAre(""));
  EXPECT_THAT(Split("x", 'x'), ElementsAre("", ""));
}

TEST(Join, PutsTheSeparatorOnlyBetween) {
  const std::vector<std::string> pieces = {"a", "", "c"};
  EXPECT_EQ(Join(pieces, ", "), "a, , c");
  EXPECT_EQ(Join({}, ", "), "");
}

TEST(TrimSpace, TakesSpaceOffBothEnds) {
  EXPECT_EQ(TrimSpace(" \t a b\r\n"), "a b");
  EXPECT_EQ(TrimSpace(" \n"), "");
}

TEST(ParseInteger, ReadsOnlyWholeDecimalTextsInRange) {
  EXPECT_EQ(ParseInteger("64"), 64);
  EXPECT_EQ(ParseInteger("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(ParseInteger("9223372036854775807"), INT64_MAX);
  for (const char* bad : {"", "-", "+1", " 1", "1 ", "6 4", "0x4", "1e3", "9223372036854775808", "1.0"})
    EXPECT_EQ(ParseInteger(bad), std::nullopt) << bad;
}

TEST(ParseNumber, ReadsOnlyFiniteWholeTexts) {
  EXPECT_EQ(ParseNumber("0.25"), 0.25);
  EXPECT_EQ(ParseNumber("-1e-05"), -1e-05);
  for (const char* bad : {"", "inf", "-inf", "nan", "0x1p3", "1e999", "1,5", "1 ", "+1"})
    EXPECT_EQ(ParseNumber(bad), std::nullopt) << bad;
}

TEST(FormatNumber, GivesTheShortestTextThatReadsBack) {
  EXPECT_EQ(FormatNumber(0.1), "0.1");
  EXPECT_EQ(FormatNumber(1e-05), "1e-05");
  EXPECT_EQ(FormatNumber(0), "0");
  std::mt19937_64 engine(1);
  for (int i = 0; i < 10000; ++i) {
    const auto value = std::bit_cast<double>(engine());
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(ParseNumber(FormatNumber(value)), value);
  }
}

TEST(NearestName, FindsATypoButNotADifferentWord) {
  constexpr std::string_view known[] = {"stride", "pad", "kernel"};
  EXPECT_EQ(NearestName("strid", known), "stride");
  EXPECT_EQ(NearestName("kernal", known), "kernel");
  EXPECT_EQ(NearestName("weights", known), std::nullopt);
  EXPECT_EQ(NearestName("", known), std::nullopt);
  EXPECT_EQ(DidYouMean("strid", known), ", did you mean 'stride'?");
  EXPECT_EQ(DidYouMean("banana", known), "");
}

TEST(NearestName, IsQuickForAMegabyteOfName) {
  constexpr std::string_view known[] = {"stride", "pad"};
  EXPECT_EQ(NearestName(std::string(1 << 20, 's'), known), std::nullopt);
}

TEST(Quoted, KeepsPrintableTextAndEscapesTheRest) {
  EXPECT_EQ(Quoted("conv_1/größe"), "'conv_1/größe'");
  EXPECT_EQ(Quoted(std::string_view("a\0b\n\x1b[31m", 9)), "'a\\x00b\\x0a\\x1b[31m'");
  EXPECT_EQ(Quoted("it's a \\"), "'it\\'s a \\\\'");
}

TEST(Quoted, EscapesWhatIsNotUtf8OrReordersText) {
  EXPECT_EQ(Quoted("\xff\xc3"), "'\\xff\\xc3'");
  EXPECT_EQ(Quoted("\xc0\xaf"), "'\\xc0\\xaf'");           // overlong '/'
  EXPECT_EQ(Quoted("\xed\xa0\x80"), "'\\xed\\xa0\\x80'");  // a surrogate
  EXPECT_EQ(Quoted("\xe2\x80\xae"
                   "x"),
            "'\\xe2\\x80\\xaex'");                              // right-to-left override
  EXPECT_EQ(Quoted("\xf0\x9f\x98\x80"), "'\xf0\x9f\x98\x80'");  // a character of four bytes
}

// What a shell makes of `word`.
std::string Shelled(const std::string& word) {
  const std::string command = "printf '%s' " + word;
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string out;
  std::array<char, 256> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe)) out.append(part.data(), size);
  pclose(pipe);
  return out;
}

TEST(ShellQuoted, IsOneWordForAShellWhateverItHolds) {
  for (const char* text : {"resnet50.onnx", "a b",   "it's",  "$(id)", "`id`",
                           "a;b",           "*",     "~",     "=ls",   "",
                           "a\\b",          "\"",    "a\nb",  "!!",    "#x",
                           "{a,b}",         "x|y>z", "größe", "-n",    "postgresql://me@host/db?a=b&c"})
    EXPECT_EQ(Shelled(ShellQuoted(text)), text);
}

TEST(ShellQuoted, LeavesPlainWordsAsTheyAre) {
  EXPECT_EQ(ShellQuoted("models/resnet50-v1.5.onnx"), "models/resnet50-v1.5.onnx");
  EXPECT_EQ(ShellQuoted("onednn/brgconv:avx512_core"), "onednn/brgconv:avx512_core");
  EXPECT_EQ(ShellQuoted("a b"), "'a b'");
}

TEST(Quoted, CutsLongTextsAtEightyCharacters) {
  EXPECT_EQ(Quoted(std::string(80, 'a')), "'" + std::string(80, 'a') + "'");
  EXPECT_EQ(Quoted(std::string(1 << 20, 'a')), "'" + std::string(80, 'a') + "...'");
}

}  // namespace
}  // namespace infimum
