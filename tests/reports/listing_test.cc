// What `bound` and `inspect` print, on a small graph that has every kind of layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/bound/bound_json.h"
#include "reports/bound/bound_table.h"
#include "reports/inspect/inspect.h"
#include "tests/reports/golden.h"

namespace infimum::listing_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Value MakeValue(const std::string& name, ValueKind kind, std::vector<std::int64_t> dims) {
  Value value;
  value.name = name;
  value.kind = kind;
  value.type = DataType::kF32;
  value.shape = Shape{std::move(dims)};
  return value;
}

Layer MakeLayer(const std::string& name, const std::string& op, const std::string& config) {
  Layer layer;
  layer.name = name;
  layer.op = op;
  layer.origins = {name};
  if (config.empty()) return layer;
  Result<Workload> workload = ParseWorkload(config);
  EXPECT_TRUE(workload.ok()) << (workload.ok() ? "" : workload.error().message);
  layer.status = LayerStatus::kMeasurable;
  layer.workload = *workload;
  layer.work = WorkOf(*workload);
  return layer;
}

ModelGraph SmallGraph() {
  ModelGraph graph;
  graph.name = "small";
  graph.sha256 = "00ff";
  graph.opset = 18;
  graph.values = {
      MakeValue("x", ValueKind::kGraphInput, {1, 3, 8, 8}),   MakeValue("w", ValueKind::kWeight, {4, 3, 3, 3}),
      MakeValue("y", ValueKind::kIntermediate, {1, 4, 8, 8}), MakeValue("z", ValueKind::kIntermediate, {1, 256}),
      MakeValue("q", ValueKind::kIntermediate, {1, 256}),     MakeValue("r", ValueKind::kIntermediate, {1, 256})};
  graph.inputs = {ValueId(0)};
  graph.outputs = {ValueId(5)};
  graph.values[5].is_graph_output = true;
  Layer conv = MakeLayer("Conv_0", "Conv",
                         "convolution dtype=f32:f32:f32 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 "
                         "pad=1,1,1,1 groups=1 bias=no weights=const");
  conv.inputs = {ValueId(0), ValueId(1)};
  conv.outputs = {ValueId(2)};
  conv.operand_inputs = {0, 1};
  conv.parameters = Bytes{432};
  conv.origins = {"Conv_0", "BatchNormalization_1"};
  Layer view = MakeLayer("Flatten_2", "Flatten", "");
  view.status = LayerStatus::kFree;
  view.reason = "a view";
  view.inputs = {ValueId(2)};
  view.outputs = {ValueId(3)};
  Layer relu = MakeLayer("Relu_3, \"last\"", "Relu", "pointwise kind=relu dtype=f32:-:f32 in=256");
  relu.inputs = {ValueId(3)};
  relu.outputs = {ValueId(4)};
  relu.operand_inputs = {0};
  Layer custom = MakeLayer("Blend_4", "com.acme.Blend", "");
  custom.reason = "no configuration is known for com.acme.Blend";
  custom.inputs = {ValueId(4)};
  custom.outputs = {ValueId(5)};
  SubGraph body;
  body.name = "body";
  body.least_executions = 1;
  body.graph = std::make_unique<ModelGraph>();
  body.graph->layers.push_back(MakeLayer("Inner", "Relu", "pointwise kind=relu dtype=f32:-:f32 in=16"));
  custom.bodies.push_back(std::move(body));
  graph.layers.push_back(std::move(conv));
  graph.layers.push_back(std::move(view));
  graph.layers.push_back(std::move(relu));
  graph.layers.push_back(std::move(custom));
  graph.passes = {{"fold-channel-constants", "into the convolution before it", {"BatchNormalization_1 into Conv_0"}}};
  return graph;
}

Bracket SmallBracket() {
  Bracket bracket;
  bracket.selection.device = {"cpu/AuthenticAMD/25.17.1"};
  bracket.floors = {{ProgramClass::kAny, Latency(0), "", {}},
                    {ProgramClass::kLaunched, Latency(1.25), "one launch", {}},
                    {ProgramClass::kDenseRead, Latency(1.5), "bandwidth memory", {"estimated"}},
                    {ProgramClass::kTextbook, Latency(2.25), "arithmetic f32", {}}};
  bracket.bounds = {
      {BoundVariant::kSequential, Latency(10), {Latency(9.5), Latency(11)}, {"free-layouts", "warm-caches"}},
      {BoundVariant::kParallel, Latency(8), {Latency(7.5), Latency(9)}, {"free-layouts"}},
      {BoundVariant::kFusedSequential, Latency(8.75), {Latency(8.25), Latency(9.5)}, {"free-layouts"}}};
  bracket.coverage = {0.75, 0.125, 0, 0.125};
  bracket.layers.resize(4);
  for (std::size_t i = 0; i < 4; ++i) bracket.layers[i].layer = LayerId(i);
  Candidate kernel{"onednn", "brgconv:avx512_core", "any", "any", true};
  LayerLatency& conv = bracket.layers[0];
  conv.status = LatencyStatus::kMeasured;
  conv.latency = Latency(8.5);
  conv.interval = Interval{Latency(8), Latency(9)};
  conv.candidate = kernel;
  conv.choice = LibraryChoice{{"onednn", "jit:avx2", "any", "any", true}, Latency(9.25), Latency(0.5), true};
  conv.floor = Latency(1);
  conv.on_critical_path = true;
  conv.parallel_gain_if_free = Latency(6);
  conv.parallel_gain_at_floor = Latency(5.5);
  bracket.layers[1].status = LatencyStatus::kFree;
  bracket.layers[1].latency = Latency(0);
  bracket.layers[2].status = LatencyStatus::kEstimated;
  bracket.layers[2].latency = Latency(1.5);
  bracket.layers[2].floor = Latency(0.25);
  bracket.layers[2].on_critical_path = true;
  bracket.layers[3].floor = Latency(1.25);
  bracket.layers[3].on_critical_path = true;
  bracket.regret = AlgorithmRegret{Latency(0.5), 1, true};
  bracket.regions = {{"product-epilogue",
                      {LayerId(0), LayerId(1), LayerId(2)},
                      std::nullopt,
                      Latency(8.75),
                      {Latency(8.25), Latency(9.5)},
                      kernel,
                      Latency(10),
                      false,
                      true}};
  bracket.what_ifs = {{"free:Conv_0", 1, {{BoundVariant::kSequential, Latency(1.5), Latency(8.5)}}}};
  AddUpperLimit({"onnxruntime 1.31.1", Latency(9.75), {Latency(9.7), Latency(9.9)}}, bracket);
  return bracket;
}

TEST(Inspect, IsAsTheGoldenTexts) {
  ModelGraph graph = SmallGraph();
  ExpectGolden("inspect.json", InspectJson(graph));
  ExpectGolden("inspect.txt", InspectTable(graph, 100));
  ExpectGolden("inspect.csv", InspectCsv(graph));
}

TEST(Inspect, HasTheKeysThatUsersRelyOn) {
  nlohmann::json json = nlohmann::json::parse(InspectJson(SmallGraph()));
  EXPECT_EQ(json["schema"], "infimum.inspect/1");
  for (const char* key : {"name", "sha256", "opset", "inputs"}) EXPECT_TRUE(json["model"].contains(key)) << key;
  EXPECT_EQ(json["model"]["inputs"][0]["shape"], (std::vector<int>{1, 3, 8, 8}));
  for (const nlohmann::json& layer : json["layers"]) {
    for (const char* key :
         {"name", "op", "status", "config", "reason", "flops", "bytes_read", "bytes_written", "parameters"}) {
      EXPECT_TRUE(layer.contains(key)) << key;
    }
  }
  EXPECT_EQ(json["layers"][0]["parameters"], 4 * 3 * 3 * 3);
  EXPECT_EQ(json["layers"][3]["bodies"][0]["layers"][0]["name"], "Inner");
  EXPECT_EQ(json["totals"]["unknown"], 1);
}

TEST(Inspect, ShowsWhatASampleOfTheStoredWeightsSays) {
  ModelGraph graph = SmallGraph();
  EXPECT_THAT(InspectTable(graph, 100), Not(HasSubstr("stored weights")));
  graph.weights = WeightSample{Bytes{102'000'000}, 0.305, 0.54};
  EXPECT_THAT(InspectTable(graph, 100),
              HasSubstr("stored weights, 102 MB, by a sample: 30.5 % zeros; they need at most 54 % of their bits\n"));
  EXPECT_EQ(nlohmann::json::parse(InspectJson(graph))["totals"]["stored_weights"],
            (nlohmann::json{{"bytes", 102'000'000}, {"zero_share", 0.305}, {"information_share", 0.54}}));
}

TEST(Inspect, CountsProductsOfSparseWeights) {
  ModelGraph graph = SmallGraph();
  EXPECT_THAT(InspectTable(graph, 100), Not(HasSubstr("2:4")));
  graph.layers[1].workload =
      *ParseWorkload("matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x4 bias=no weights=const sparsity=2:4");
  EXPECT_THAT(InspectTable(graph, 100), HasSubstr("2:4 sparse: the weights of 1 product; "));
  EXPECT_EQ(nlohmann::json::parse(InspectJson(graph))["totals"]["sparse_products"], 1);
}

TEST(Bound, IsAsTheGoldenTexts) {
  ModelGraph graph = SmallGraph();
  Bracket bracket = SmallBracket();
  ExpectGolden("bound.json", BoundJson(graph, bracket));
  ExpectGolden("bound.txt", BoundTable(graph, bracket, true, 100));
  ExpectGolden("bound.csv", BoundCsv(graph, bracket, false));
  ExpectGolden("bound_layers.csv", BoundCsv(graph, bracket, true));
}

TEST(Bound, SaysHowFarItsPartsExplainTheDemonstratedRun) {
  Bracket bracket = SmallBracket();
  bracket.demonstrated = Latency(11);
  bracket.composition = CompositionError{1.17, 1.04, 0};
  const nlohmann::json json = nlohmann::json::parse(BoundJson(SmallGraph(), bracket));
  EXPECT_EQ(json["composition_error"],
            (nlohmann::json{{"value", 1.04}, {"resident_share", 0.0}, {"warm", 1.17}, {"cold-weights", 1.04}}));
  EXPECT_NE(
      BoundTable(SmallGraph(), bracket, false, 100).find("R          1.040 times its parts alone with weights 0 %"),
      std::string::npos);
}

TEST(Bound, HasTheKeysThatUsersRelyOn) {
  nlohmann::json json = nlohmann::json::parse(BoundJson(SmallGraph(), SmallBracket()));
  EXPECT_EQ(json["schema"], "infimum.bound/2");
  for (const char* key : {"device", "selection", "contract", "floor_us", "conventional_floor_us", "bounds",
                          "demonstrated_us", "composition_error", "coverage", "layers"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_TRUE(json["demonstrated_us"].is_null());
  double sum = 0;
  for (const char* part : {"measured", "estimated", "free", "missing"}) sum += json["coverage"][part].get<double>();
  EXPECT_DOUBLE_EQ(sum, 1);
  EXPECT_TRUE(json["layers"][3]["latency_us"].is_null());
  EXPECT_EQ(json["layers"][0]["candidate"], "onednn/brgconv:avx512_core");
  EXPECT_EQ(json["bounds"][0]["interval_us"], (std::vector<double>{9.5, 11}));
}

TEST(Bound, AReasonOfTheRulesGoesBeforeTheLayersOwn) {
  const ModelGraph graph = SmallGraph();
  Bracket bracket = SmallBracket();
  const std::string own = graph.layers[1].reason;
  ASSERT_FALSE(own.empty());
  EXPECT_THAT(BoundTable(graph, bracket, true, 0), HasSubstr(own));
  bracket.layers[1].reason = "zero cost by the rules of 2019";
  EXPECT_THAT(BoundTable(graph, bracket, true, 0), AllOf(HasSubstr(bracket.layers[1].reason), Not(HasSubstr(own))));
  EXPECT_EQ(nlohmann::json::parse(BoundJson(graph, bracket))["layers"][1]["reason"], bracket.layers[1].reason);
}

TEST(Bound, TheSelectionIsPrintedInWords) {
  Selection selection;
  EXPECT_EQ(SelectionText(selection),
            "1 thread, weights in context, cross-fitted, the model's own types, fullest, then newest libraries");
  selection.threads = 4;
  selection.cache = CacheState::kWarm;
  selection.contract = NumericContract::kBf16;
  EXPECT_EQ(SelectionText(selection), "4 threads, warm caches, cross-fitted, bf16, fullest, then newest libraries");
  selection.device.text = "gpu/NVIDIA/compute_capability=9.0";  // has none to speak of
  EXPECT_EQ(SelectionText(selection), "warm caches, cross-fitted, bf16, fullest, then newest libraries");
}

TEST(Bound, SaysHowNearTheWeightsAreAndWhereRLoses) {
  const ModelGraph graph = SmallGraph();
  Bracket bracket = SmallBracket();
  bracket.context = ModelContext{110e6, 100e6, 10e6, 85e6};
  bracket.shown_loss = ShownLoss{Latency(490),
                                 Latency(80),
                                 Latency(-6),
                                 {{{LayerId(0)}, Latency(402), Latency(371)}, {{}, Latency(80), Latency(0)}}};
  const std::string text = BoundTable(graph, bracket, false, 0);
  EXPECT_THAT(text,
              HasSubstr("context    110 MB an inference; 10 % of the weights count as near, 85 % were measured from "
                        "memory or need not be\n"));
  EXPECT_THAT(text,
              HasSubstr("R loses    layers with weights +490 µs, changes of layout +80.0 µs, other layers -6.00 µs; "
                        "most: " +
                        graph.layers[0].name + " 402 µs for 371 µs, a change of layout 80.0 µs for 0 µs\n"));
  const nlohmann::json json = nlohmann::json::parse(BoundJson(graph, bracket));
  EXPECT_EQ(json["context"],
            (nlohmann::json{
                {"working_set_bytes", 110e6}, {"weight_bytes", 100e6}, {"near_share", 0.1}, {"cold_share", 0.85}}));
  EXPECT_EQ(json["shown_loss"]["most"][0],
            (nlohmann::json{{"layers", {graph.layers[0].name}}, {"shown_us", 402.0}, {"known_us", 371.0}}));
}

}  // namespace
}  // namespace infimum::listing_test
