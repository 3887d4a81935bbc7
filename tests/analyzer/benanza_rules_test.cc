#include "analyzer/benanza2019/benanza_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

namespace infimum::benanza_rules_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

BenanzaLayer Timed(std::string op, double forward, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  return {std::move(op), std::move(inputs), std::move(outputs), Latency(forward), false, std::nullopt};
}

BenanzaLayer Untimed(std::string op, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  return {std::move(op), std::move(inputs), std::move(outputs), std::nullopt, false, std::nullopt};
}

BenanzaLayer WithBias(BenanzaLayer layer, std::optional<Latency> bias) {
  layer.has_bias_row = true;
  layer.bias = bias;
  return layer;
}

// The header's.
std::vector<BenanzaLayer> Example() {
  return {WithBias(Timed("Conv", 2.0, {"x"}, {"a"}), Latency(0.5)),
          Timed("Relu", 1.0, {"a"}, {"b"}),
          Timed("Conv", 4.0, {"b"}, {"c"}),
          WithBias(Timed("Conv", 0.7, {"b"}, {"d"}), std::nullopt),
          Timed("Concat", 100, {"c", "d"}, {"e"}),
          Timed("MaxPool", 0.2, {"e"}, {"f"}),
          Timed("Gemm", 0.8, {"f"}, {"g"})};
}

TEST(BenanzaRules, TheExampleOfTheHeader) {
  const BenanzaTotals totals = ComputeBenanzaTotals(Example());
  EXPECT_DOUBLE_EQ(totals.serial.count(), 9.2);
  EXPECT_DOUBLE_EQ(totals.serial_unlisted.count(), 0.7);
  ASSERT_TRUE(totals.parallel);
  EXPECT_DOUBLE_EQ(totals.parallel->count(), 7.7);
  EXPECT_THAT(totals.path, ElementsAre(0, 1, 2, 4, 5, 6));
  EXPECT_THAT(totals.unlisted, ElementsAre(3));
  EXPECT_DOUBLE_EQ(ComputeBenanzaTotals(Example(), LastLayer::kIncluded).parallel->count(), 8.5);
}

TEST(BenanzaRules, AnUnlistedConvolutionAddsToTheSerialTotalAndToNoPath) {
  std::vector<BenanzaLayer> layers = Example();
  layers[3].forward = Latency(50);
  const BenanzaTotals totals = ComputeBenanzaTotals(layers);
  EXPECT_DOUBLE_EQ(totals.serial.count(), 58.5);
  EXPECT_DOUBLE_EQ(totals.parallel->count(), 7.7);
  layers[3].bias = Latency(1);
  const BenanzaTotals listed = ComputeBenanzaTotals(layers);
  EXPECT_DOUBLE_EQ(listed.serial.count(), 59.5);
  EXPECT_EQ(listed.serial_unlisted, Latency(0));
  EXPECT_DOUBLE_EQ(listed.parallel->count(), 54.7);
  EXPECT_THAT(listed.path, ElementsAre(0, 1, 3, 4, 5, 6));
}

TEST(BenanzaRules, WithoutAListedLayerThereIsNoParallelTotal) {
  const std::vector<std::vector<BenanzaLayer>> cases = {{},
                                                        {Untimed("Conv", {"x"}, {"y"})},
                                                        {Timed("Reshape", 3, {"x"}, {"y"})},
                                                        {WithBias(Timed("Conv", 3, {"x"}, {"y"}), std::nullopt)}};
  for (const std::vector<BenanzaLayer>& layers : cases) {
    const BenanzaTotals totals = ComputeBenanzaTotals(layers);
    EXPECT_EQ(totals.parallel, std::nullopt);
    EXPECT_THAT(totals.path, IsEmpty());
    EXPECT_EQ(totals.serial, totals.serial_unlisted);
  }
  EXPECT_EQ(ComputeBenanzaTotals(cases[3]).serial, Latency(3));
}

TEST(BenanzaRules, ASingleLayerIsFirstAndLast) {
  const std::vector<BenanzaLayer> layers = {Timed("Conv", 3, {"x"}, {"y"})};
  EXPECT_EQ(ComputeBenanzaTotals(layers).serial, Latency(3));
  EXPECT_EQ(ComputeBenanzaTotals(layers).parallel, Latency(0));
  EXPECT_EQ(ComputeBenanzaTotals(layers, LastLayer::kIncluded).parallel, Latency(3));
  EXPECT_THAT(ComputeBenanzaTotals(layers).path, ElementsAre(0));
}

TEST(BenanzaRules, OfSeveralEndsTheLastListedLayerCounts) {
  const std::vector<BenanzaLayer> layers = {Timed("Conv", 1, {"x"}, {"a"}), Timed("Conv", 90, {"a"}, {"end_1"}),
                                            Timed("Relu", 2, {"a"}, {"b"}), Timed("Relu", 5, {"b"}, {"end_2"}),
                                            Untimed("Relu", {"a"}, {"end_3"})};
  const BenanzaTotals totals = ComputeBenanzaTotals(layers);
  EXPECT_EQ(totals.serial, Latency(98));
  EXPECT_EQ(totals.parallel, Latency(3));
  EXPECT_THAT(totals.path, ElementsAre(0, 2, 3));
}

TEST(BenanzaRules, WithoutAPathFromFirstToLastThereIsNoParallelTotal) {
  const std::vector<BenanzaLayer> layers = {Timed("Conv", 1, {"x"}, {"a"}), Timed("Conv", 2, {"y"}, {"b"})};
  EXPECT_EQ(ComputeBenanzaTotals(layers).serial, Latency(3));
  EXPECT_EQ(ComputeBenanzaTotals(layers).parallel, std::nullopt);
}

// A second input of the model may feed a slower branch, which the rule does not see.
TEST(BenanzaRules, APathBeginsAtTheFirstListedLayerOnly) {
  const std::vector<BenanzaLayer> layers = {Timed("Conv", 1, {"x"}, {"a"}), Timed("Conv", 50, {"y"}, {"b"}),
                                            Timed("Add", 2, {"a", "b"}, {"c"})};
  EXPECT_EQ(ComputeBenanzaTotals(layers, LastLayer::kIncluded).parallel, Latency(3));
}

TEST(BenanzaRules, TimesThatAreNoneAreAbsent) {
  for (const double none : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const std::vector<BenanzaLayer> layers = {Timed("Conv", 1, {"x"}, {"a"}), Timed("Relu", none, {"a"}, {"b"}),
                                              WithBias(Timed("Conv", 2, {"b"}, {"c"}), Latency(none)),
                                              Timed("Relu", 3, {"c"}, {"d"})};
    const BenanzaTotals totals = ComputeBenanzaTotals(layers);
    EXPECT_EQ(totals.serial, Latency(6));
    EXPECT_EQ(totals.parallel, Latency(1));
    EXPECT_THAT(totals.unlisted, ElementsAre(1, 2));
  }
}

TEST(BenanzaRules, NamesThatMakeNoGraphAreTaken) {
  // Its own output, one of a later layer, a name twice made, an empty name, a layer without tensors.
  const std::vector<BenanzaLayer> layers = {
      Timed("Conv", 1, {"a", "c"}, {"a"}), Timed("Relu", 2, {"a", "a", "later"}, {"b", ""}),
      Timed("Relu", 4, {"", "b"}, {"b"}), Timed("Relu", 8, {"b"}, {"later"}), Untimed("Relu", {}, {})};
  const BenanzaTotals totals = ComputeBenanzaTotals(layers);
  EXPECT_EQ(totals.serial, Latency(15));
  EXPECT_EQ(totals.parallel, Latency(7));
  EXPECT_THAT(totals.path, ElementsAre(0, 1, 2, 3));
}

TEST(BenanzaRules, AnEmptyNameIsAnInputThatIsNotGiven) {
  const std::vector<BenanzaLayer> layers = {Timed("Conv", 1, {"x"}, {"a", ""}), Timed("Relu", 2, {""}, {"b"})};
  EXPECT_EQ(ComputeBenanzaTotals(layers).parallel, std::nullopt);
}

TEST(BenanzaRules, ZeroCostOperatorsByBothNames) {
  for (const char* op : {"LRN", "Reshape", "Concat", "Unsqueeze", "Flatten", "GlobalPooling", "GlobalAveragePool",
                         "GlobalMaxPool", "GlobalLpPool", "Identity", "Transpose", "Scale", "ImageScaler"})
    EXPECT_TRUE(IsZeroCostInBenanza(op)) << op;
  for (const char* op : {"Conv", "Dropout", "Squeeze", "Slice", "ReduceMean", "concat", ""})
    EXPECT_FALSE(IsZeroCostInBenanza(op)) << op;
}

// Every path from the first to the last listed layer, one by one.
std::optional<double> ParallelByBruteForce(const std::vector<BenanzaLayer>& layers, bool with_last) {
  const auto weight = [&](std::size_t i) -> std::optional<double> {
    const BenanzaLayer& layer = layers[i];
    if (layer.op == "Concat" || !layer.forward || (layer.has_bias_row && !layer.bias)) return std::nullopt;
    return layer.forward->count() + (layer.has_bias_row ? layer.bias->count() : 0);
  };
  std::vector<std::size_t> listed;
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (weight(i)) listed.push_back(i);
  if (listed.empty()) return std::nullopt;
  std::optional<double> longest;
  const std::function<void(std::size_t, double)> walk = [&](std::size_t at, double before) {
    const double after = before + weight(at).value_or(0);
    if (at == listed.back()) longest = std::max(longest.value_or(0), with_last ? after : before);
    for (std::size_t next = at + 1; next < layers.size(); ++next)
      if (std::ranges::count(layers[next].inputs, layers[at].outputs[0]) > 0) walk(next, after);
  };
  walk(listed.front(), 0);
  return longest;
}

TEST(BenanzaRules, SmallRandomGraphsEqualBruteForce) {
  int absent = 0, shorter = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    std::mt19937_64 random(seed);
    const auto one_in = [&](std::uint64_t n) { return random() % n == 0; };
    std::vector<BenanzaLayer> layers(random() % 10);
    double serial = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      BenanzaLayer& layer = layers[i];
      layer.op = one_in(6) ? "Concat" : "Conv";
      layer.outputs = {std::to_string(i)};
      for (std::size_t k = random() % 3; i > 0 && k > 0; --k) layer.inputs.push_back(std::to_string(random() % i));
      if (!one_in(5)) layer.forward = Latency(static_cast<double>(1 + random() % 100));
      layer.has_bias_row = one_in(3);
      if (!one_in(3)) layer.bias = Latency(static_cast<double>(1 + random() % 100));
      if (layer.op == "Concat" || !layer.forward) continue;
      serial += layer.forward->count() + (layer.has_bias_row && layer.bias ? layer.bias->count() : 0);
    }
    for (const bool with_last : {false, true}) {
      const BenanzaTotals totals =
          ComputeBenanzaTotals(layers, with_last ? LastLayer::kIncluded : LastLayer::kExcluded);
      const std::optional<double> expected = ParallelByBruteForce(layers, with_last);
      ASSERT_EQ(totals.parallel.has_value(), expected.has_value()) << seed;
      // Whole microseconds are exact.
      if (expected) {
        ASSERT_EQ(totals.parallel->count(), *expected) << seed;
        ASSERT_LE(*totals.parallel, totals.serial - totals.serial_unlisted) << seed;
      }
      ASSERT_EQ(totals.serial.count(), serial) << seed;
      absent += expected ? 0 : 1;
      shorter += expected && *expected < serial ? 1 : 0;
    }
  }
  // Both kinds of graphs are among them.
  EXPECT_GT(absent, 500);
  EXPECT_GT(shorter, 500);
}

TEST(BenanzaRules, AHundredThousandLayersWithFarReachingEdgesAreOneAfterAnother) {
  std::mt19937_64 random(1);
  std::vector<BenanzaLayer> layers = {Timed("Conv", 1, {"x"}, {"0"})};
  for (std::size_t i = 1; i < 100'000; ++i) {
    layers.push_back(Timed("Conv", 1, {std::to_string(i - 1), std::to_string(random() % i), "0"}, {std::to_string(i)}));
  }
  EXPECT_EQ(ComputeBenanzaTotals(layers, LastLayer::kIncluded).parallel, Latency(100'000));
}

}  // namespace
}  // namespace infimum::benanza_rules_test
