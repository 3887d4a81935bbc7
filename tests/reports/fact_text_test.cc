#include "reports/text/fact_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "infimum/base/quantity_text.h"

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

TEST(QuantityText, WhatIsMissingIsToldByTheLargerShare) {
  EXPECT_EQ(CoverageText({1, 0, 0, 0, 0}), "measured 100 %, estimated 0 %, missing 0 %");
  const Coverage hidden{0.979, 0.012, 0, 0.009, 0.161};
  EXPECT_EQ(CoverageText(hidden), "measured 97.9 %, estimated 1.2 %, missing 0.9 % and with it 16.1 % of the FLOPs");
  EXPECT_EQ(LackingText(hidden), "16.1 % of its work by FLOPs");
  EXPECT_EQ(LackingText({0.8, 0, 0, 0.2, 0.1}), "20 % of its work");
  EXPECT_EQ(ShareText(0.009, 0.161), "0.9 % of the time, 16.1 % of the FLOPs");
  EXPECT_EQ(ShareText(0.009, 0), "0.9 % of the time");
}

TEST(QuantityText, ATimeStandsInItsInterval) {
  EXPECT_EQ(WithInterval(Latency(5790), std::nullopt), "5.79 ms");
  EXPECT_EQ(WithInterval(Latency(5790), Interval{Latency(1820), Latency(9750)}),
            "5.79 ms, between 1.82 ms and 9.75 ms");
}

TEST(QuantityText, ARegretThatIsNoneIsNoise) {
  EXPECT_EQ(RegretText({Latency(382), 70, true}), "382 µs over 70 layers");
  EXPECT_EQ(RegretText({Latency(382), 1, false}), "382 µs over 1 layer, not measured apart from noise");
  EXPECT_EQ(RegretText({Latency(-2100), 3, true}), "nothing that could be told from noise (-2.10 ms over 3 layers)");
}

}  // namespace
}  // namespace infimum
