#include "infimum/base/quantity_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "infimum/reports/quantity_text.h"

namespace infimum {
namespace {

TEST(QuantityText, ACompositionErrorNamesWhereTheWeightsWereAndBothEnds) {
  EXPECT_EQ(CompositionText({1.17, 1.04, 0}),
            "1.040 times its parts alone with weights 0 % in the caches (1.170 times with all caches warm, 1.040 with "
            "weights from memory)");
  EXPECT_EQ(CompositionText({1.2, 1.0, 0.5}),
            "1.091 times its parts alone with weights 50 % in the caches (1.200 times with all caches warm, 1.000 with "
            "weights from memory)");
}

TEST(QuantityText, LatenciesHaveThreeDigitsAndAFittingUnit) {
  EXPECT_EQ(FormatLatency(Latency(0)), "0 µs");
  EXPECT_EQ(FormatLatency(Latency(0.0421)), "42.1 ns");
  EXPECT_EQ(FormatLatency(Latency(1.164)), "1.16 µs");
  EXPECT_EQ(FormatLatency(Latency(999.4)), "999 µs");
  EXPECT_EQ(FormatLatency(Latency(999.6)), "1.00 ms");
  EXPECT_EQ(FormatLatency(Latency(52123.4)), "52.1 ms");
  EXPECT_EQ(FormatLatency(Latency(3.2e6)), "3.20 s");
  EXPECT_EQ(FormatLatency(Latency(-80)), "-80.0 µs");
  EXPECT_EQ(FormatLatency(Latency(std::numeric_limits<double>::quiet_NaN())), "-");
}

TEST(QuantityText, SignedLatenciesShowThePlus) {
  EXPECT_EQ(SignedLatencyText(Latency(80)), "+80.0 µs");
  EXPECT_EQ(SignedLatencyText(Latency(-80)), "-80.0 µs");
  EXPECT_EQ(SignedLatencyText(Latency(0)), "0 µs");
}

TEST(QuantityText, CountsHaveDecimalPrefixes) {
  EXPECT_EQ(BytesText(Bytes{999}), "999 B");
  EXPECT_EQ(BytesText(Bytes{1536}), "1.54 kB");
  EXPECT_EQ(FlopsText(Flops{8178892800}), "8.18 GFLOP");
  EXPECT_EQ(CountText(1, "layer"), "1 layer");
  EXPECT_EQ(CountText(0, "layer"), "0 layers");
}

TEST(QuantityText, ALittleIsNotNothingAndNearlyAllIsNotAll) {
  EXPECT_EQ(PercentText(0), "0 %");
  EXPECT_EQ(PercentText(0.0001), "< 0.1 %");
  EXPECT_EQ(PercentText(0.1517), "15.2 %");
  EXPECT_EQ(PercentText(0.5), "50 %");
  EXPECT_EQ(PercentText(0.99999), "> 99.9 %");
  EXPECT_EQ(PercentText(1), "100 %");
}

}  // namespace
}  // namespace infimum
