#include "src/synth/families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infimum::synth::families_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Family& Named(std::string_view name) { return *FindFamily(name); }

NetTotals Totals(std::string_view family, const Point& changed, Blocks blocks = Blocks::kCounted) {
  Point point = DefaultsOf(Named(family));
  for (const auto& [name, value] : changed) point[name] = value;
  const Result<Net> net = MakeNet(Named(family), point, blocks);
  EXPECT_TRUE(net.ok()) << (net.ok() ? "" : net.error().message);
  const Result<NetTotals> totals = TotalsOf(*net);
  EXPECT_TRUE(totals.ok()) << (totals.ok() ? "" : totals.error().message);
  return *totals;
}

std::string Refusal(std::string_view family, const Point& changed) {
  Point point = DefaultsOf(Named(family));
  for (const auto& [name, value] : changed) point[name] = value;
  const Result<Net> net = MakeNet(Named(family), point, Blocks::kCounted);
  if (!net.ok()) return net.error().message;
  const Result<NetTotals> totals = TotalsOf(*net);
  return totals.ok() ? "" : totals.error().message;
}

std::vector<std::int64_t> Values(std::string_view family, std::string_view parameter, std::string_view text) {
  const auto& parameters = Named(family).parameters;
  const Result<std::vector<std::int64_t>> values =
      ParseValues(*std::ranges::find(parameters, parameter, &Parameter::name), text);
  EXPECT_TRUE(values.ok()) << (values.ok() ? "" : values.error().message);
  return values.ok() ? *values : std::vector<std::int64_t>();
}

std::string ValuesError(std::string_view family, std::string_view parameter, std::string_view text) {
  const auto& parameters = Named(family).parameters;
  const auto values = ParseValues(*std::ranges::find(parameters, parameter, &Parameter::name), text);
  return values.ok() ? "no error" : values.error().message;
}

TEST(Values, AreNumbersRangesAndWords) {
  EXPECT_THAT(Values("fc", "layers", "4"), ElementsAre(4));
  EXPECT_THAT(Values("fc", "layers", "4..64*2"), ElementsAre(4, 8, 16, 32, 64));
  EXPECT_THAT(Values("fc", "layers", "4..63*2"), ElementsAre(4, 8, 16, 32));
  EXPECT_THAT(Values("fc", "layers", "1..9+4,100"), ElementsAre(1, 5, 9, 100));
  EXPECT_THAT(Values("rnn", "cell", "lstm,gru"), ElementsAre(1, 2));
  EXPECT_THAT(Values("fc", "type", "bf16"), ElementsAre(2));
}

TEST(Values, ThatCannotBeAreNamed) {
  EXPECT_EQ(ValuesError("fc", "layers", "0"),
            "--layers: '0' is not a number from 1 to 65536, or a range such as 4..64*2 or 16..64+16");
  for (const char* const text : {"", "x", "4..", "4..8", "4..8*1", "8..4*2", "4..8*x", "4..8+0", "-1", "1e3",
                                 "99999999999999999999", "4..8*99999999999999999999"})
    EXPECT_THAT(ValuesError("fc", "layers", text), HasSubstr("is not a number")) << text;
  EXPECT_EQ(ValuesError("rnn", "cell", "lstn"), "--cell: 'lstn' is not one of rnn, lstm, gru");
  EXPECT_THAT(ValuesError("rnn", "cell", "rnn..gru+1"), HasSubstr("is not one of"));
  EXPECT_EQ(ValuesError("fc", "layers", "4,2..8*2"), "--layers: '4,2..8*2' names a value twice");
  EXPECT_THAT(ValuesError("fc", "nodes", "1..2000000000+1"), HasSubstr("more than 100,000 values"));
}

TEST(Points, AreAllCombinationsTheLastParameterFirst) {
  const Result<std::vector<Point>> points = PointsOf(Named("fc"), {{"batch", "1,2"}, {"layers", "4..8*2"}}, 100);
  ASSERT_TRUE(points.ok());
  ASSERT_EQ(points->size(), 4U);
  EXPECT_EQ(NameOf(Named("fc"), (*points)[1]), "fc_layers-4_nodes-1024_inputs-2000_outputs-1000_batch-2_type-f32");
  EXPECT_EQ((*points)[2].at("layers"), 8);
  EXPECT_EQ(PointsOf(Named("fc"), {{"nodes", "1..1000+1"}, {"inputs", "1..1000+1"}}, 10'000).error().message,
            "the ranges make more than 10000 models: give fewer values");
  EXPECT_EQ(PointsOf(Named("fc"), {{"depth", "1"}}, 10).error().message, "'fc' has no parameter 'depth'");
}

TEST(Families, HaveTheTotalsOfTheModelsThatTheyAreNamedAfter) {
  // 4 layers of 1,024 from 2,000 to 1,000, with biases.
  EXPECT_EQ(Totals("fc", {}).parameters, 2001 * 1024 + 3 * 1025 * 1024 + 1025 * 1000);
  EXPECT_EQ(Totals("fc", {{"batch", 8}}).flops.value,
            8 * (2001 * 1024 + 3 * 1025 * 1024 + 1025 * 1000 + 1024 * (2000 + 3 * 1024 + 4) + 1024 * 1000));
  // ResNet-50 has 25.56 million with its normalizations, of which 26,560 are their scales.
  EXPECT_EQ(Totals("cnn", {}).parameters, 25'557'032 - 26'560);
  EXPECT_NEAR(static_cast<double>(Totals("cnn", {}).flops.value), 8.2e9, 0.1e9);
  // ResNet-18 and its 4,800 scales.
  EXPECT_EQ(
      Totals("cnn", {{"block", 0}, {"blocks-1", 2}, {"blocks-2", 2}, {"blocks-3", 2}, {"blocks-4", 2}}).parameters,
      11'689'512 - 4'800);
  // BERT-base has 109.48 million, of which 589,824 + 768 are its pooler's, 1,536 of token types, and 384 x 768 of
  // positions behind the first 128.
  EXPECT_EQ(Totals("transformer", {}).parameters, 109'482'240 - 590'592 - 1'536 - 384 * 768);
  // Two LSTMs: four gates of the input, the state and two biases.
  EXPECT_EQ(Totals("rnn", {}).parameters, 2 * 4 * 512 * (512 + 512 + 2));
  EXPECT_EQ(Totals("fc", {{"type", 1}}).weights.value, 2 * Totals("fc", {}).parameters);
}

TEST(Families, CountABlockAsOftenAsItWouldStandThere) {
  for (const Family& family : Families()) {
    const Result<Net> counted = MakeNet(family, DefaultsOf(family), Blocks::kCounted);
    const Result<Net> unrolled = MakeNet(family, DefaultsOf(family), Blocks::kUnrolled);
    ASSERT_TRUE(counted.ok() && unrolled.ok()) << family.name;
    const NetTotals a = *TotalsOf(*counted), b = *TotalsOf(*unrolled);
    EXPECT_EQ(a.parameters, b.parameters) << family.name;
    EXPECT_EQ(a.weights, b.weights) << family.name;
    EXPECT_EQ(a.flops, b.flops) << family.name;
    EXPECT_EQ(a.moved, b.moved) << family.name;
    EXPECT_EQ(a.memory, b.memory) << family.name;
  }
}

TEST(Families, MemoryIsThatOfWeightsAndWhatLivesAtOnce) {
  // The first layer's product lives with its ReLU and the input.
  const NetTotals totals = Totals("fc", {{"nodes", 4096}, {"batch", 512}});
  EXPECT_EQ((totals.memory - totals.weights).value, 4 * 512 * (2000 + 2 * 4096));
  // A shortcut lives as long as its block.
  const NetTotals residual = Totals("cnn", {{"batch", 1}, {"filters", 64}});
  EXPECT_EQ((residual.memory - residual.weights).value, 4 * (3 * 224 * 224 + 3 * 256 * 56 * 56));
}

TEST(Families, RefuseWhatDoesNotFitTogetherOrCannotBeCounted) {
  EXPECT_EQ(Refusal("transformer", {{"hidden", 100}}), "hidden 100 is not divisible by 12 heads");
  const std::int64_t most = std::int64_t{1} << 31;
  EXPECT_NE(Refusal("fc", {{"nodes", most}}), "");
  EXPECT_NE(Refusal("fc", {{"batch", most}, {"inputs", most}}), "");
  EXPECT_NE(Refusal("transformer", {{"sequence", most}, {"hidden", 12 * 64}}), "");
  EXPECT_EQ(Refusal("fc", {{"nodes", 1 << 20}, {"inputs", 1 << 20}, {"batch", 1 << 20}, {"layers", 1 << 16}}),
            "its FLOPs or bytes exceed 64 bits");
  for (const Family& family : Families()) {
    for (const Parameter& parameter : family.parameters) {
      Refusal(family.name, {{parameter.name, parameter.most}});
      EXPECT_EQ(Refusal(family.name, {{parameter.name, parameter.least}}).find("hidden 1 is not divisible") == 0 ||
                    Refusal(family.name, {{parameter.name, parameter.least}}).empty(),
                true)
          << family.name << " " << parameter.name;
    }
  }
}

}  // namespace
}  // namespace infimum::synth::families_test
