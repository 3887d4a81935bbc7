#include "analyzer/benanza2019/benanza_bracket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyzer/known_rows.h"
#include "tests/support/graph_builder.h"
#include "tests/support/parsed_workload.h"

namespace infimum::benanza_bracket_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kConvolution =
    "convolution dtype=f32:f32:f32 in=1x4x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 "
    "bias=yes weights=const";
constexpr const char* kWithoutBias =
    "convolution dtype=f32:f32:f32 in=1x4x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 "
    "bias=no weights=const";
constexpr const char* kBias = "movement kind=expand dtype=f32:-:f32 in=4x1 out=4x64";
constexpr const char* kRelu = "pointwise kind=relu dtype=f32:-:f32 in=256";

LayerConfig Config(const std::string& text) {
  Result<LayerConfig> config = ParseLayerConfig(text);
  INFIMUM_CHECK(config.ok(), "a test's configuration is one");
  return *std::move(config);
}

class Rows {
 public:
  Rows& Add(const std::string& workload, double us, const std::string& algorithm = "only") {
    source_.Add(testing::ParsedWorkload(workload), algorithm, {us});
    return *this;
  }

  Bracket Apply(const ModelGraph& model, BoundRules rules = BoundRules::kBenanza2019) {
    const Status valid = Validate(model);
    EXPECT_TRUE(valid.ok()) << valid.error().message;
    Bracket bracket = testing::BracketOf(model, source_);
    floor = bracket.dense_read().latency;
    Result<Bracket> applied = ApplyBenanzaRules(std::move(bracket), model, source_, rules);
    EXPECT_TRUE(applied.ok());
    return *std::move(applied);
  }

  Latency floor{0};  // of the bracket before

 private:
  testing::KnownRows source_;
};

// x -> conv (with a bias) -> relu -> y.
GraphBuilder ConvolutionAndRelu() {
  GraphBuilder model;
  const ValueId x = model.Input("x", {1, 4, 8, 8});
  const ValueId y = model.Measurable("conv", "Conv", {x, model.Weight("w", {4, 4, 3, 3}), model.Weight("b", {4})},
                                     Config(kConvolution));
  model.Unary("relu", PointwiseKind::kRelu, y);
  return model;
}

TEST(BenanzaBracket, AConvolutionWithABiasIsTwoRows) {
  const ModelGraph model = ConvolutionAndRelu().Take();
  Rows rows;
  // The row of both in one call is faster, and none of these rules.
  rows.Add(kWithoutBias, 5, "slow").Add(kWithoutBias, 3, "fast").Add(kBias, 2).Add(kConvolution, 1).Add(kRelu, 10);
  const Bracket bracket = rows.Apply(model);
  ASSERT_EQ(bracket.bounds.size(), 2u);
  EXPECT_EQ(Name(bracket.bounds[0].variant), "benanza-2019-serial");
  EXPECT_EQ(bracket.bounds[0].latency, Latency(15));
  EXPECT_EQ(Name(bracket.bounds[1].variant), "benanza-2019-parallel");
  EXPECT_EQ(bracket.bounds[1].latency, Latency(5));  // without the Relu, which is last
  EXPECT_THAT(bracket.bounds[1].assumptions, Contains("without-last-layer"));
  EXPECT_EQ(bracket.layers[0].status, LatencyStatus::kMeasured);
  EXPECT_EQ(bracket.layers[0].latency, Latency(5));
  EXPECT_EQ(bracket.layers[0].candidate->algorithm, "fast");
  EXPECT_EQ(bracket.layers[0].reason, "convolution 3.00 µs, bias 2.00 µs");
  EXPECT_TRUE(bracket.layers[0].on_critical_path);
  EXPECT_DOUBLE_EQ(bracket.coverage.measured, 1);
  EXPECT_EQ(bracket.dense_read().latency, rows.floor);
}

TEST(BenanzaBracket, AConvolutionWhoseBiasHasNoRowIsMissingAndInTheSerialBoundAlone) {
  GraphBuilder builder = ConvolutionAndRelu();
  builder.Unary("last", PointwiseKind::kTanh, ValueId(builder.graph().values.size() - 1));
  Rows rows;
  rows.Add(kWithoutBias, 3).Add(kRelu, 10).Add("pointwise kind=tanh dtype=f32:-:f32 in=256", 20);
  const Bracket bracket = rows.Apply(builder.graph());
  EXPECT_EQ(bracket.bounds[0].latency, Latency(33));
  EXPECT_THAT(bracket.bounds[0].assumptions, Contains("convolutions-without-their-bias"));
  EXPECT_THAT(bracket.bounds[0].assumptions, Contains("unmeasured-layers"));
  EXPECT_EQ(bracket.bounds[1].latency, Latency(10));
  EXPECT_EQ(bracket.layers[0].status, LatencyStatus::kMissing);
  EXPECT_EQ(bracket.layers[0].latency, std::nullopt);
  EXPECT_EQ(bracket.layers[0].reason, std::string("no row of its bias, ") + kBias);
  EXPECT_GT(bracket.coverage.missing, 0);
}

TEST(BenanzaBracket, FusedTakesTheFastestRowOfBothInOneCall) {
  const ModelGraph model = ConvolutionAndRelu().Take();
  const std::string region =
      std::string("region [") + kConvolution + "](in0,w0,w1) ; [pointwise kind=relu dtype=f32:-:f32 in=256](%0)";
  Rows rows;
  rows.Add(kWithoutBias, 1).Add(kBias, 1).Add(kConvolution, 6).Add(kRelu, 10);
  EXPECT_EQ(rows.Apply(model, BoundRules::kBenanza2019Fused).bounds[0].latency, Latency(16));
  rows.Add(region, 4);
  const Bracket bracket = rows.Apply(model, BoundRules::kBenanza2019Fused);
  EXPECT_EQ(Name(bracket.bounds[0].variant), "benanza-2019-fused-serial");
  EXPECT_EQ(bracket.bounds[0].latency, Latency(14));  // the Relu after it counts as before
  EXPECT_EQ(Name(bracket.bounds[1].variant), "benanza-2019-fused-parallel");
  EXPECT_EQ(bracket.bounds[1].latency, Latency(4));
  EXPECT_EQ(rows.Apply(model).bounds[0].latency, Latency(12));
}

TEST(BenanzaBracket, WhatIsOfZeroCostWeighsNothingWhateverWasMeasured) {
  GraphBuilder builder = ConvolutionAndRelu();
  builder.last().op = "Transpose";
  Rows rows;
  const Bracket bracket =
      rows.Add(kConvolution, 3).Add(kRelu, 10).Apply(builder.graph(), BoundRules::kBenanza2019Fused);
  EXPECT_EQ(bracket.bounds[0].latency, Latency(3));
  EXPECT_EQ(bracket.layers[1].status, LatencyStatus::kFree);
  EXPECT_EQ(bracket.layers[1].latency, Latency(0));
  EXPECT_EQ(bracket.layers[1].reason, "zero cost by the rules of 2019");
}

TEST(BenanzaBracket, WhatHasNoRowIsMissingAndNeverEstimated) {
  GraphBuilder builder = ConvolutionAndRelu();
  const ValueId y(builder.graph().values.size() - 1);
  const ValueId dropped = builder.Free("drop", "Dropout", {y}, {1, 4, 8, 8}, DataType::kF32);
  builder.Unknown("strange", dropped);
  Rows rows;
  const Bracket bracket = rows.Add(kConvolution, 3).Apply(builder.graph(), BoundRules::kBenanza2019Fused);
  EXPECT_EQ(bracket.bounds[0].latency, Latency(3));
  EXPECT_EQ(bracket.coverage.estimated, 0);
  for (std::size_t layer : {1u, 2u, 3u}) {
    EXPECT_EQ(bracket.layers[layer].status, LatencyStatus::kMissing) << layer;
    EXPECT_EQ(bracket.layers[layer].latency, std::nullopt) << layer;
  }
  EXPECT_EQ(bracket.layers[1].reason, std::string("no row of ") + kRelu);
  EXPECT_EQ(bracket.layers[2].reason, "the rules of 2019 have no benchmark for it (by the test)");
  EXPECT_THAT(bracket.bounds[0].assumptions, Contains("unmeasured-layers"));
}

TEST(BenanzaBracket, ConstantsAreNoLayers) {
  GraphBuilder builder;
  const ValueId shape = builder.Free("zeros", "ConstantOfShape", {}, {256}, DataType::kF32);
  builder.graph().value(shape).kind = ValueKind::kWeight;
  builder.Unary("relu", PointwiseKind::kRelu, builder.Input("x", {256}));
  Rows rows;
  const Bracket bracket = rows.Add(kRelu, 10).Apply(builder.graph());
  EXPECT_EQ(bracket.layers[0].status, LatencyStatus::kFree);
  EXPECT_THAT(bracket.bounds[0].assumptions, Not(Contains("unmeasured-layers")));
}

TEST(BenanzaBracket, RowsStandForLayersThatTheyAreNotQuite) {
  const struct {
    const char *op, *layer, *row;
    std::size_t operands;
  } cases[] = {
      {"LeakyRelu", "pointwise kind=leaky_relu dtype=f32:-:f32 in=256", kRelu, 1},
      {"Add", "pointwise kind=add dtype=f32:f32:f32 in=4x64,4x1", "pointwise kind=add dtype=f32:f32:f32 in=256,256", 2},
      {"Mul", "pointwise kind=multiply dtype=f32:f32:f32 in=4x64,64",
       "pointwise kind=multiply dtype=f32:f32:f32 in=256,256", 2},
      {"Gemm", "matmul dtype=f32:f32:f32 a=1x2x8 b=1x8x5 bias=column weights=const",
       "matmul dtype=f32:f32:f32 a=1x2x8 b=1x8x5 bias=full weights=const", 3},
      {"Gemm", "matmul dtype=f32:f32:f32 a=1x1x8 b=1x8x5 bias=column weights=const",
       "matmul dtype=f32:f32:f32 a=1x1x8 b=1x8x5 bias=column weights=const", 3},
  };
  for (const auto& [op, layer, row, operands] : cases) {
    GraphBuilder builder;
    std::vector<ValueId> inputs;
    const std::vector<Operand> shapes = OperandsOf(Config(layer));
    ASSERT_EQ(shapes.size(), operands) << layer;
    for (std::size_t i = 0; i < operands; ++i)
      inputs.push_back(builder.Input("x" + std::to_string(i), shapes[i].shape.dims));
    builder.Measurable("layer", op, inputs, Config(layer));
    Rows rows;
    const Bracket bracket = rows.Add(row, 7).Apply(builder.graph());
    ASSERT_EQ(bracket.bounds.size(), 2u) << layer;
    EXPECT_EQ(bracket.bounds[0].latency, Latency(7)) << layer;
    EXPECT_EQ(bracket.bounds[1].latency, Latency(0)) << layer;  // the only layer is the last
  }
}

TEST(BenanzaBracket, WithoutAnyRowThereIsNoBound) {
  Rows rows;
  const Bracket bracket = rows.Apply(ConvolutionAndRelu().Take());
  EXPECT_THAT(bracket.bounds, IsEmpty());
  EXPECT_DOUBLE_EQ(bracket.coverage.missing, 1);
  EXPECT_THAT(rows.Apply(GraphBuilder().Take()).layers, IsEmpty());
}

TEST(BenanzaBracket, WithoutAPathFromFirstToLastThereIsTheSerialBoundAlone) {
  GraphBuilder builder;
  builder.Unary("one", PointwiseKind::kRelu, builder.Input("x", {256}));
  builder.Unary("two", PointwiseKind::kRelu, builder.Input("y", {256}));
  Rows rows;
  const Bracket bracket = rows.Add(kRelu, 10).Apply(builder.graph());
  ASSERT_EQ(bracket.bounds.size(), 1u);
  EXPECT_EQ(bracket.bounds[0].latency, Latency(20));
  EXPECT_THAT(bracket.bounds[0].assumptions, Contains("no-path-from-first-to-last-layer"));
}

TEST(BenanzaBracket, IntervalsAreThoseOfTheLayersTakenTogether) {
  const ModelGraph model = ConvolutionAndRelu().Take();
  testing::KnownRows source;
  // The rounds have nothing in common.
  source.Add(testing::ParsedWorkload(kWithoutBias), "only", {10, 11, 13});
  source.Add(testing::ParsedWorkload(kBias), "only", {11, 13, 10});
  source.Add(testing::ParsedWorkload(kRelu), "only", {13, 10, 11});
  const Result<Bracket> bracket =
      ApplyBenanzaRules(testing::BracketOf(model, source), model, source, BoundRules::kBenanza2019);
  ASSERT_TRUE(bracket.ok());
  const Bound &serial = bracket->bounds[0], &parallel = bracket->bounds[1];
  const Interval one = bracket->layers[1].interval.value();
  EXPECT_LT(one.low, one.high);
  const auto middle = [](const Interval& interval) { return (interval.low + interval.high).count() / 2; };
  const auto width = [](const Interval& interval) { return (interval.high - interval.low).count(); };
  EXPECT_EQ(serial.latency, Latency(30));
  // Three workloads, whose errors partly cancel; the parallel total leaves one of them out.
  EXPECT_NEAR(middle(serial.interval), 3 * middle(one), 1e-9);
  EXPECT_LT(width(serial.interval), 2 * width(one));
  EXPECT_GT(width(serial.interval), width(one));
  EXPECT_EQ(parallel.latency, Latency(20));
  EXPECT_NEAR(middle(parallel.interval), 2 * middle(one), 1e-9);
  EXPECT_LT(width(parallel.interval), width(serial.interval));
}

TEST(BoundRules, AreFoundByName) {
  for (const std::string_view name : BoundRulesNames()) EXPECT_EQ(Name(FindBoundRules(name).value()), name);
  EXPECT_THAT(BoundRulesNames(), ElementsAre("bracket", "benanza-2019", "benanza-2019-fused"));
  EXPECT_EQ(FindBoundRules("benanza-2020"), std::nullopt);
}

}  // namespace
}  // namespace infimum::benanza_bracket_test
