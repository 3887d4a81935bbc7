#include "infimum/base/quantity_text.h"

#include <gtest/gtest.h>

namespace infimum {
namespace {

using namespace std::chrono_literals;

TEST(Duration, IsANumberWithAUnitOrSeveral) {
  EXPECT_EQ(*ParseDuration("3m"), 3min);
  EXPECT_EQ(*ParseDuration("1h30m"), 90min);
  EXPECT_EQ(*ParseDuration("200ms"), 200ms);
  EXPECT_EQ(*ParseDuration("1.5s"), 1500ms);
  EXPECT_EQ(*ParseDuration(" 2 min 10 s "), 130s);
  EXPECT_EQ(*ParseDuration("500us"), 500us);
}

TEST(Duration, AnErrorShowsHowToWriteIt) {
  for (const char* text : {"", "90", "3 parsecs", "m", "-3m", "3m4", "0s", "nan", "1e5s"})
    EXPECT_FALSE(ParseDuration(text).ok()) << text;
  EXPECT_EQ(ParseDuration("90").error().message, "'90' is no time, write it like 500ms, 90s, 3m or 1h30m");
  EXPECT_EQ(ParseDuration("99999999h").error().message, "'99999999h' is longer than a year, write a shorter time");
}

TEST(ByteCount, IsANumberWithAPowerOf1024) {
  EXPECT_EQ(*ParseByteCount("8G"), Bytes{std::int64_t{8} << 30});
  EXPECT_EQ(*ParseByteCount("1.5GiB"), Bytes{1610612736});
  EXPECT_EQ(*ParseByteCount("512mB"), Bytes{512 << 20});
  EXPECT_EQ(*ParseByteCount("100"), Bytes{100});
  for (const char* text : {"", "G", "8X", "8GG", "-1", "1e30", "99999999T", "0"})
    EXPECT_FALSE(ParseByteCount(text).ok()) << text;
}

TEST(Quantities, ArePrintedShortly) {
  EXPECT_EQ(FormatDuration(130s), "2m 10s");
  EXPECT_EQ(FormatDuration(2h + 5min), "2h 5m");
  EXPECT_EQ(FormatDuration(12300ms), "12 s");
  EXPECT_EQ(FormatDuration(2300ms), "2.3 s");
  EXPECT_EQ(FormatDuration(30s), "30 s");
  EXPECT_EQ(FormatDuration(1s), "1 s");
  EXPECT_EQ(FormatDuration(350ms), "350 ms");
  EXPECT_EQ(FormatLatency(Latency(1240)), "1.24 ms");
  EXPECT_EQ(FormatLatency(Latency(812)), "812 µs");
  EXPECT_EQ(FormatLatency(Latency(2.5e6)), "2.50 s");
  EXPECT_EQ(FormatByteCount(Bytes{std::int64_t{8} << 30}), "8 GiB");
  EXPECT_EQ(FormatByteCount(Bytes{1536}), "1.5 KiB");
}

}  // namespace
}  // namespace infimum
