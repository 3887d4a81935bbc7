#include "src/synth/families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infimum::synth::families_test {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Family& Named(std::string_view name) { return *FindFamily(name); }

Net Made(std::string_view family, const Point& changed, Blocks blocks) {
  Point point = DefaultsOf(Named(family));
  for (const auto& [name, value] : changed) point[name] = value;
  const Result<Net> net = MakeNet(Named(family), point, blocks);
  EXPECT_TRUE(net.ok()) << (net.ok() ? "" : net.error().message);
  return *net;
}

NetTotals Totals(std::string_view family, const Point& changed, Blocks blocks = Blocks::kCounted) {
  const Result<NetTotals> totals = TotalsOf(Made(family, changed, blocks));
  EXPECT_TRUE(totals.ok()) << (totals.ok() ? "" : totals.error().message);
  return *totals;
}

struct CacheBytes {
  std::int64_t read = 0, left = 0;
};
CacheBytes CacheOf(const Net& net) {
  CacheBytes bytes;
  const auto add = [&](const NetTensor& tensor, std::string_view prefix, std::int64_t& to) {
    if (tensor.name.starts_with(prefix)) to += SizeOf(tensor.type, ElementCount(tensor.shape)).value * tensor.copies;
  };
  for (const NetTensor& tensor : net.tensors()) add(tensor, "past_key_values.", bytes.read);
  for (const NetValue output : net.outputs()) add(net.tensors()[output.index], "present.", bytes.left);
  return bytes;
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

TEST(Families, HaveTheParametersOfKnownLanguageModels) {
  EXPECT_EQ(Totals("decoder", {}).parameters, 1'100'048'384) << "TinyLlama";
  const Point llama2{{"layers", 32}, {"hidden", 4096}, {"kv-heads", 0}};
  EXPECT_EQ(Totals("decoder", llama2).parameters, 6'738'415'616) << "Llama 2 7B";
  const Point mistral{{"layers", 32}, {"hidden", 4096}, {"kv-heads", 8}, {"feed-forward", 14336}};
  EXPECT_EQ(Totals("decoder", mistral).parameters, 7'241'732'096) << "Mistral 7B";
  Point llama3 = mistral;
  llama3["vocabulary"] = 128'256;
  EXPECT_EQ(Totals("decoder", llama3).parameters, 8'030'261'248) << "Llama 3 8B";
  Point mixtral = mistral;
  mixtral["heads"] = 32;
  EXPECT_EQ(Totals("moe", mixtral).parameters, 46'702'792'704) << "Mixtral 8x7B";
  // 26 tables, and perceptrons of 13-512-512-64 and 64 + 27 * 26 / 2-512-512-1.
  EXPECT_EQ(Totals("recommender", {}).parameters,
            26 * 100'000 * 64 + 14 * 512 + 513 * 512 + 513 * 64 + (64 + 351 + 1) * 512 + 513 * 512 + 513);
}

TEST(Families, ADecodingStepReadsTheCacheAndLeavesOneOfTheContext) {
  const std::int64_t layers = 3, kv_heads = 2, width = 32;
  for (const std::int64_t batch : {1, 4}) {
    for (std::int64_t context = 128; context <= 4096; context *= 2) {
      for (const bool is_half : {false, true}) {
        const Point point{{"layers", layers}, {"hidden", 256},      {"heads", 8},      {"kv-heads", kv_heads},
                          {"batch", batch},   {"context", context}, {"type", is_half}, {"vocabulary", 100}};
        const std::int64_t token = 2 * layers * batch * kv_heads * width * (is_half ? 2 : 4);
        for (const Blocks blocks : {Blocks::kCounted, Blocks::kUnrolled}) {
          const CacheBytes cache = CacheOf(Made("decoder", point, blocks));
          EXPECT_EQ(cache.read, token * (context - 1)) << context;
          EXPECT_EQ(cache.left, token * context) << context;
        }
        Point prefill = point;
        prefill["tokens"] = 0;
        EXPECT_EQ(CacheOf(Made("decoder", prefill, Blocks::kCounted)).read, 0);
        EXPECT_EQ(CacheOf(Made("decoder", prefill, Blocks::kCounted)).left, token * context);
      }
    }
  }
}

TEST(Families, AWindowLimitsTheCacheAndTheWork) {
  const auto step = [](std::int64_t context, std::int64_t window) {
    return Point{{"layers", 2}, {"hidden", 64}, {"heads", 4}, {"context", context}, {"window", window}};
  };
  const NetTotals short_one = Totals("decoder", step(512, 0)), long_one = Totals("decoder", step(4096, 512));
  EXPECT_EQ(long_one.flops, short_one.flops);
  EXPECT_EQ(long_one.moved, short_one.moved);
  EXPECT_EQ(long_one.memory, short_one.memory);
  EXPECT_GT(Totals("decoder", step(4096, 0)).moved, long_one.moved);
  EXPECT_EQ(Totals("decoder", step(512, 4096)).moved, short_one.moved);
  const auto cache = [&](std::int64_t context, std::int64_t window) {
    return CacheOf(Made("decoder", step(context, window), Blocks::kCounted));
  };
  EXPECT_EQ(cache(4096, 512).read, cache(512, 0).read);
  EXPECT_EQ(cache(4096, 512).left, cache(512, 0).left);
  // New tokens attend to what the first of them reaches.
  Point several = step(4096, 512);
  several["tokens"] = 16;
  EXPECT_EQ(CacheOf(Made("decoder", several, Blocks::kCounted)).read, cache(512, 0).read);
  EXPECT_EQ(CacheOf(Made("decoder", several, Blocks::kCounted)).left, cache(512, 0).left);
}

TEST(Families, CountQuantizedWeightsAsTheyAreStored) {
  const std::int64_t hidden = 64, inner = 96, vocabulary = 100, layers = 2;
  const auto totals = [&](std::int64_t weights) {
    return Totals("decoder", {{"layers", layers},
                              {"hidden", hidden},
                              {"heads", 4},
                              {"kv-heads", 0},
                              {"feed-forward", inner},
                              {"vocabulary", vocabulary},
                              {"weights", weights}});
  };
  const std::int64_t products = layers * (4 * hidden * hidden + 3 * hidden * inner) + hidden * vocabulary;
  const std::int64_t columns = layers * (5 * hidden + 2 * inner) + vocabulary;
  const NetTotals plain = totals(0), bytes = totals(1), halves = totals(2);
  EXPECT_EQ(bytes.parameters, plain.parameters);
  EXPECT_EQ(plain.weights.value - bytes.weights.value, 3 * products - 4 * columns);
  EXPECT_EQ(plain.weights.value - halves.weights.value, 7 * products / 2 - 4 * products / 32);
  // A step reads each weight once, and its scales.
  EXPECT_EQ((plain.moved - bytes.moved).value, 3 * products - 4 * columns);
  EXPECT_EQ((plain.moved - halves.moved).value, 7 * products / 2 - 4 * products / 32);
  EXPECT_EQ(plain.flops, halves.flops);
}

TEST(Families, AMixtureComputesWithTheChosenExpertsAlone) {
  const auto totals = [](std::int64_t experts, std::int64_t chosen) {
    return Totals("moe", {{"layers", 2}, {"experts", experts}, {"top-k", chosen}});
  };
  // Of a block, beside the experts' own: the router's product, softmax and choice.
  const std::int64_t expert = 3 * 1024 * 2816, router = 2 * 1024 + 5 + 1;
  EXPECT_EQ(totals(64, 2).parameters - totals(8, 2).parameters, 2 * 56 * (expert + 1024));
  EXPECT_EQ((totals(64, 2).flops - totals(8, 2).flops).value, 2 * 56 * router);
  const std::int64_t more = (totals(8, 4).flops - totals(8, 2).flops).value;
  EXPECT_NEAR(static_cast<double>(more) / static_cast<double>(2 * 2 * 2 * expert), 1, 0.01);
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
  EXPECT_EQ(Refusal("decoder", {{"hidden", 100}}), "hidden 100 is not divisible by 32 heads");
  EXPECT_EQ(Refusal("decoder", {{"kv-heads", 5}}), "32 heads are not divisible by 5 kv-heads");
  EXPECT_EQ(Refusal("decoder", {{"head-width", 3}}), "a head-width of 3 is not an even number up to 65536");
  EXPECT_EQ(Refusal("decoder", {{"tokens", 2000}}), "2000 tokens are more than the context of 1024");
  EXPECT_EQ(Refusal("moe", {{"top-k", 9}}), "top-k 9 is more than the 8 experts");
  const std::int64_t most = std::int64_t{1} << 31;
  EXPECT_NE(Refusal("fc", {{"nodes", most}}), "");
  EXPECT_NE(Refusal("fc", {{"batch", most}, {"inputs", most}}), "");
  EXPECT_NE(Refusal("transformer", {{"sequence", most}, {"hidden", 12 * 64}}), "");
  EXPECT_EQ(Refusal("fc", {{"nodes", 1 << 20}, {"inputs", 1 << 20}, {"batch", 1 << 20}, {"layers", 1 << 16}}),
            "its FLOPs or bytes exceed 64 bits");
  for (const Family& family : Families()) {
    for (const Parameter& parameter : family.parameters) {
      Refusal(family.name, {{parameter.name, parameter.most}});
      const std::string refusal = Refusal(family.name, {{parameter.name, parameter.least}});
      EXPECT_THAT(refusal, AnyOf("", HasSubstr("divisible"), HasSubstr("experts")))
          << family.name << " " << parameter.name;
    }
  }
}

}  // namespace
}  // namespace infimum::synth::families_test
