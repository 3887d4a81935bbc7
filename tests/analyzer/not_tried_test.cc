#include "analyzer/bracket/not_tried.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyzer/known_rows.h"
#include "tests/support/graph_builder.h"

namespace infimum::not_tried_test {
namespace {

using testing::BracketOf;
using ::testing::ElementsAre;
using testing::GraphBuilder;
using ::testing::IsEmpty;
using testing::KnownRows;
using testing::MeasuredRow;
using testing::TestEnvironment;

constexpr const char* kProducts = "products of one input as one";
constexpr const char* kCopies = "Concat, Split and Slice without a copy";
constexpr const char* kDepthwise = "depthwise convolutions with the pointwise one behind them";
constexpr const char* kPooled = "convolutions with the pooling behind them";
constexpr const char* kFiltered = "3x3 convolutions by Winograd filtering";

std::string Convolution(int channels, int out, const std::string& kernel, int groups, const std::string& pad,
                        const std::string& dtype = "f32:f32:f32") {
  return "convolution dtype=" + dtype + " in=1x" + std::to_string(channels) +
         "x8x8 out_channels=" + std::to_string(out) + " kernel=" + kernel + " stride=1x1 dilation=1x1 pad=" + pad +
         " groups=" + std::to_string(groups) + " bias=no weights=const";
}
const std::string kPointwise16 = Convolution(16, 32, "1x1", 1, "0,0,0,0");
const std::string kDepthwise16 = Convolution(16, 16, "3x3", 16, "1,1,1,1");
const std::string kFull16 = Convolution(16, 16, "3x3", 1, "1,1,1,1");
constexpr const char* kRelu = "pointwise kind=relu dtype=f32:-:f32 in=1024";
constexpr const char* kMultiply = "pointwise kind=multiply dtype=f32:f32:f32 in=1024,1024";
constexpr const char* kPool =
    "pooling kind=max dtype=f32:-:f32 in=1x16x8x8 out=1x16x4x4 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,0,0";

std::vector<NotTried> Found(GraphBuilder& model, std::vector<RegionLatency> regions = {}) {
  for (Layer& layer : model.graph().layers) layer.operand_inputs = {0};
  return FindNotTried(model.graph(), std::vector<bool>(model.graph().layers.size(), false), regions);
}

TEST(NotTried, ProductsOfOneInputAreOnePlaceWhereTheyDifferInColumnsAlone) {
  const auto product = [](int k, int n, const char* weights = "const") {
    return "matmul dtype=f32:f32:f32 a=1x4x" + std::to_string(k) + " b=1x" + std::to_string(k) + "x" +
           std::to_string(n) + " bias=no weights=" + weights;
  };
  GraphBuilder model;
  model.Input("x");
  model.Input("other");
  model.Layer("q", {"x"}, {"a"}, product(64, 64));
  model.Layer("k", {"x"}, {"b"}, product(64, 16));
  model.Layer("v", {"x"}, {"c"}, product(64, 16));
  model.Layer("elsewhere", {"other"}, {"d"}, product(64, 64));
  model.Layer("variable", {"other"}, {"e"}, product(64, 64, "variable"));
  model.Layer("one", {"a"}, {"f"}, kPointwise16);
  model.Layer("two", {"a"}, {"g"}, Convolution(16, 8, "1x1", 1, "0,0,0,0"));
  model.Layer("three", {"a"}, {"h"}, kFull16);
  EXPECT_THAT(Found(model), ElementsAre(NotTried{kProducts, 2}));
}

TEST(NotTried, CopiesAreThoseThatOffsetsCouldReplace) {
  GraphBuilder model;
  constexpr const char* kConcat = "movement kind=concat dtype=f32:-:f32 in=8,8 out=16 axis=0";
  model.Input("x");
  model.Layer("one", {"x"}, {"p"}, kRelu);
  model.Layer("two", {"x"}, {"q"}, kRelu);
  model.Layer("concat", {"p", "q"}, {"a"}, kConcat);
  model.Layer("transpose", {"a"}, {"b"}, "movement kind=transpose dtype=f32:-:f32 in=4x4 out=4x4 perm=1,0");
  EXPECT_THAT(Found(model), ElementsAre(NotTried{kCopies, 1}));
  // Its own buffer, one that somebody else reads, and one twice.
  model.Layer("of an input", {"x", "b"}, {"c"}, kConcat);
  model.Layer("of one", {"c", "c"}, {"d"}, kConcat);
  EXPECT_THAT(Found(model), ElementsAre(NotTried{kCopies, 1}));
  model.Layer("elsewhere", {"p"}, {"e"}, kRelu);
  EXPECT_THAT(Found(model), IsEmpty());
}

TEST(NotTried, PairsMayHaveElementWiseLayersBetweenThemAndNoOtherReader) {
  GraphBuilder model;
  model.Input("x");
  model.Layer("depthwise", {"x"}, {"a"}, kDepthwise16);
  model.Layer("sigmoid", {"a"}, {"b"}, kRelu);
  model.Layer("swish", {"a", "b"}, {"c"}, kMultiply);
  model.Layer("pointwise", {"c"}, {"d"}, kPointwise16);
  model.Layer("pool", {"d"}, {"e"}, kPool);
  EXPECT_THAT(Found(model), ElementsAre(NotTried{kDepthwise, 1}, NotTried{kPooled, 1}));
  RegionLatency region;
  region.layers = {LayerId(0), LayerId(1), LayerId(2), LayerId(3)};
  EXPECT_THAT(Found(model, {region}), ElementsAre(NotTried{kPooled, 1}));
  // Somebody else reads what is between, or it leaves the graph.
  model.Layer("other", {"b"}, {"f"}, kRelu);
  EXPECT_THAT(Found(model), ElementsAre(NotTried{kPooled, 1}));
  model.Output("d");
  EXPECT_THAT(Found(model), IsEmpty());
}

TEST(NotTried, AGateAndWeightsAreNoPair) {
  GraphBuilder model;
  model.Input("x");
  model.Layer("depthwise", {"x"}, {"gate"}, kDepthwise16);
  model.Layer("other", {"x"}, {"image"}, kRelu);
  model.Layer("gated", {"image", "gate"}, {"y"}, kMultiply);
  model.graph().value(model.Value("y")).shape = Shape{{16, 64}};
  model.Layer("pointwise", {"y"}, {"z"}, kPointwise16);
  model.Layer("weights", {"z"}, {"w"}, kDepthwise16);
  model.Layer("reads them", {"image", "w"}, {"u"}, kPointwise16);
  EXPECT_THAT(Found(model), IsEmpty());
}

TEST(NotTried, FilteringIsNotTriedWhereAllCandidatesAreDirect) {
  GraphBuilder model;
  model.Input("x");
  model.Layer("full", {"x"}, {"a"}, kFull16);
  model.Layer("depthwise", {"a"}, {"b"}, kDepthwise16);
  model.Output("b");
  const ModelGraph& graph = model.graph();
  const auto of = [&](const std::string& library, const std::string& algorithm) {
    KnownRows rows;
    for (const Layer& layer : graph.layers) {
      Measurement row = MeasuredRow(KeyOf(*layer.workload), algorithm, {Latency(10), Latency(11)});
      row.candidate.library = library;
      row.contract = NumericContract::kStrictF32;
      rows.Add(std::move(row), TestEnvironment(1));
    }
    return BracketOf(graph, rows).not_tried;
  };
  EXPECT_THAT(of("onednn", "jit:avx512_core"), ElementsAre(NotTried{kFiltered, 1}));
  EXPECT_THAT(of("onednn", "jit_wino:avx512_core"), IsEmpty());
  EXPECT_THAT(of("cudnn-graph", "eng45"), IsEmpty());  // a name that does not say what it does
  KnownRows none;
  EXPECT_THAT(BracketOf(graph, none).not_tried, ElementsAre(NotTried{kFiltered, 1}));
  GraphBuilder others;
  others.Input("x");
  others.Layer("f16", {"x"}, {"a"}, Convolution(16, 16, "3x3", 1, "1,1,1,1", "f16:f16:f16"));
  others.Layer("few channels", {"a"}, {"b"}, Convolution(4, 16, "3x3", 1, "1,1,1,1"));
  EXPECT_THAT(FindNotTried(others.graph(), {true, true}, {}), IsEmpty());
}

// A graph in which every layer reads all before it.
TEST(NotTried, ManyReadersTakeNoLongTime) {
  GraphBuilder model;
  model.Input("x");
  std::vector<std::string> made = {"x"};
  for (int i = 0; i < 400; ++i) {
    const std::string name = "v" + std::to_string(i);
    model.Layer("layer" + std::to_string(i), made, {name}, i % 2 == 0 ? std::string(kRelu) : kDepthwise16);
    made.push_back(name);
  }
  EXPECT_THAT(Found(model), IsEmpty());
}

}  // namespace
}  // namespace infimum::not_tried_test
