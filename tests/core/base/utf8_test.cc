#include "infimum/base/utf8.h"

#include <gtest/gtest.h>

namespace infimum {
namespace {

TEST(Utf8, ValidTextStaysAsItIs) {
  for (const char* text : {"", "abc", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"})
    EXPECT_EQ(ValidUtf8(text), text);
}

TEST(Utf8, EveryByteThatIsNoneIsReplaced) {
  const std::string replaced = "\xef\xbf\xbd";
  EXPECT_EQ(ValidUtf8("a\xff"
                      "b"),
            "a" + replaced + "b");
  EXPECT_EQ(ValidUtf8("\xc0\x80"), replaced + replaced);                                // overlong
  EXPECT_EQ(ValidUtf8("\xed\xa0\x80"), replaced + replaced + replaced);                 // a surrogate
  EXPECT_EQ(ValidUtf8("\xf4\x90\x80\x80"), replaced + replaced + replaced + replaced);  // past the last one
  EXPECT_EQ(ValidUtf8("\xe2\x82"), replaced + replaced);                                // cut short
}

TEST(Utf8, PrintableTextMovesNoCursorAndTurnsNoDirection) {
  EXPECT_EQ(Printable("caf\xc3\xa9 \x1b[31mred\x07\n\xc2\x9b\xe2\x80\xae\xff"),
            "caf\xc3\xa9 \\x1b[31mred\\x07\\x0a\\x9b\\u202e\xef\xbf\xbd");
}

TEST(Utf8, ACodePointComesWithItsBytes) {
  const CodePoint euro = FirstCodePoint("\xe2\x82\xac!");
  EXPECT_EQ(euro.value, 0x20acu);
  EXPECT_EQ(euro.bytes, 3u);
  EXPECT_TRUE(euro.valid);
  EXPECT_FALSE(FirstCodePoint("\xf4\x90\x80\x80").valid);  // past the last one
}

}  // namespace
}  // namespace infimum
