#include "src/planner/replay_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/graph_builder.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;
using testing::GraphBuilder;
using ::testing::HasSubstr;

constexpr char kRelu[] = "pointwise kind=relu dtype=f32:-:f32 in=8";
constexpr char kAdd[] = "pointwise kind=add dtype=f32:f32:f32 in=8,8";

// A layer of an operator whose operands are its inputs in order.
Layer& AddLayer(GraphBuilder& model, const std::string& name, const std::string& op,
                const std::vector<std::string>& inputs, const std::string& output, const std::string& workload) {
  Layer& layer = model.Layer(name, inputs, {output}, workload);
  layer.op = op;
  for (std::size_t i = 0; i < OperandsOf(*layer.workload).size(); ++i) layer.operand_inputs.push_back(i);
  return layer;
}

void SetConstant(GraphBuilder& model, const std::string& name, const std::vector<std::int64_t>& elements) {
  Value& value = model.graph().value(model.Value(name));
  value.kind = ValueKind::kWeight;
  value.type = DataType::kS64;
  value.shape = Shape{{static_cast<std::int64_t>(elements.size())}};
  value.constant = Tensor{DataType::kS64, *value.shape, {}};
  value.constant->bytes.resize(elements.size() * 8);
  std::memcpy(value.constant->bytes.data(), elements.data(), value.constant->bytes.size());
}

Result<ReplaySchedule> ScheduleOf(const ModelGraph& graph, const std::vector<ReplayCandidate>& candidates = {}) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<ReplayUnit> units, UnitsOf(graph, candidates));
  return BuildReplaySchedule(graph, units);
}

std::string ErrorOf(const ModelGraph& graph) {
  const Result<ReplaySchedule> schedule = ScheduleOf(graph);
  return schedule.ok() ? "" : schedule.error().message;
}

TEST(ReplayPlanner, AViewIsAnotherNameOfItsTensorAndAResidualIsReadTwice) {
  GraphBuilder model;
  model.Input("x");
  AddLayer(model, "act", "Relu", {"x"}, "a", kRelu);
  model.Layer("view", {"a"}, {"v"});
  AddLayer(model, "sum", "Add", {"v", "a"}, "y", kAdd);
  model.Output("y");
  const Result<ReplaySchedule> schedule = ScheduleOf(model.graph(), {"onednn/jit:avx2", "", ""});
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  ASSERT_EQ(schedule->steps.size(), 2U);
  EXPECT_EQ(schedule->steps[0].candidate.name, "onednn/jit:avx2");
  const std::size_t a = schedule->steps[0].outputs[0];
  EXPECT_THAT(schedule->steps[1].operands, ElementsAre(a, a));
  EXPECT_TRUE(schedule->tensors[schedule->steps[1].outputs[0]].is_output);
}

TEST(ReplayPlanner, AnOutputThatIsAViewNamesTheTensorThatItLooksAt) {
  GraphBuilder model;
  model.Input("x");
  AddLayer(model, "act", "Relu", {"x"}, "a", kRelu);
  model.Layer("view", {"a"}, {"y"});
  model.Output("y");
  const Result<ReplaySchedule> schedule = ScheduleOf(model.graph());
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  EXPECT_EQ(schedule->tensors[schedule->steps[0].outputs[0]].name, "y");
}

TEST(ReplayPlanner, AMatrixThatIsStoredTransposedIsTurnedOnceForAllWhoReadIt) {
  GraphBuilder model;
  model.Input("x");
  model.Weight("w");
  model.graph().value(model.Value("x")).shape = Shape{{1, 4}};
  model.graph().value(model.Value("w")).shape = Shape{{2, 4}};
  for (const char* const name : {"p", "q"}) {
    model.graph().value(model.Value(name)).shape = Shape{{1, 2}};
    AddLayer(model, name, "Gemm", {"x", "w"}, name, "matmul dtype=f32:f32:f32 a=1x1x4 b=1x4x2 bias=no weights=const")
        .attributes["transB"] = std::int64_t{1};
    model.Output(name);
  }
  const Result<ReplaySchedule> schedule = ScheduleOf(model.graph());
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  ASSERT_EQ(schedule->steps.size(), 3U);
  EXPECT_TRUE(RunsOnce(*schedule, schedule->steps[0]));
  EXPECT_EQ(schedule->steps[1].operands[1], schedule->steps[0].outputs[0]);
  EXPECT_EQ(schedule->steps[2].operands[1], schedule->steps[0].outputs[0]);
}

TEST(ReplayPlanner, FactorsOfAGemmGoIntoItsConstants) {
  GraphBuilder model;
  model.Input("x");
  model.Weight("w");
  model.Weight("b");
  model.graph().value(model.Value("x")).shape = Shape{{1, 4}};
  model.graph().value(model.Value("w")).shape = Shape{{4, 2}};
  model.graph().value(model.Value("b")).shape = Shape{{2}};
  model.graph().value(model.Value("y")).shape = Shape{{1, 2}};
  Layer& layer = AddLayer(model, "fc", "Gemm", {"x", "w", "b"}, "y",
                          "matmul dtype=f32:f32:f32 a=1x1x4 b=1x4x2 bias=column weights=const");
  layer.attributes["alpha"] = 0.5;
  layer.attributes["beta"] = 3.0;
  model.Output("y");
  const Result<ReplaySchedule> schedule = ScheduleOf(model.graph());
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  ASSERT_EQ(schedule->steps.size(), 3U);
  for (const std::size_t i : {0U, 1U}) {
    const ReplayStep& step = schedule->steps[i];
    EXPECT_TRUE(RunsOnce(*schedule, step));
    EXPECT_EQ(schedule->tensors[step.operands[1]].fill, i == 0 ? 0.5 : 3.0);
    EXPECT_EQ(schedule->steps[2].operands[i + 1], step.outputs[0]);
  }

  model.graph().value(model.Value("w")).kind = ValueKind::kGraphInput;
  model.graph().inputs.push_back(model.Value("w"));
  EXPECT_THAT(ErrorOf(model.graph()), HasSubstr("'alpha' is not 1"));
}

// y = conv(x): 3 channels to 2 with a 1x1 kernel.
GraphBuilder ConvolutionModel(const std::string& op, bool bias) {
  GraphBuilder model;
  model.Input("x");
  model.Weight("w");
  model.Weight("b");
  for (const char* const name : {"scale", "shift", "mean", "variance"}) {
    model.Weight(name);
    model.graph().value(model.Value(name)).shape = Shape{{2}};
  }
  model.graph().value(model.Value("x")).shape = Shape{{1, 3, 4, 4}};
  model.graph().value(model.Value("w")).shape = op == "Conv" ? Shape{{2, 3, 1, 1}} : Shape{{3, 2, 1, 1}};
  model.graph().value(model.Value("b")).shape = Shape{{2}};
  model.graph().value(model.Value("y")).shape = Shape{{1, 2, 4, 4}};
  Layer& layer = AddLayer(model, "conv", op, {"x", "w", "b"}, "y",
                          std::string("convolution dtype=f32:f32:f32 in=1x3x4x4 out_channels=2 kernel=1x1 stride=1x1 "
                                      "dilation=1x1 pad=0,0,0,0 groups=1 bias=yes weights=const") +
                              (op == "Conv" ? "" : " transposed=yes"));
  layer.folded.push_back(
      {model.Value("scale"), model.Value("shift"), model.Value("mean"), model.Value("variance"), 0.25});
  layer.bias_is_folded = !bias;
  model.Output("y");
  return model;
}

TEST(ReplayPlanner, AFoldedNormalizationIsAppliedToWeightsAndBiasOnce) {
  for (const char* const op : {"Conv", "ConvTranspose"}) {
    for (const bool bias : {true, false}) {
      SCOPED_TRACE(std::string(op) + (bias ? " with" : " without") + " a bias");
      const Result<ReplaySchedule> schedule = ScheduleOf(ConvolutionModel(op, bias).graph());
      ASSERT_TRUE(schedule.ok()) << schedule.error().message;
      ASSERT_EQ(schedule->steps.size(), 3U);
      const ReplayStep &weights = schedule->steps[0], &shift = schedule->steps[1], &conv = schedule->steps[2];
      EXPECT_TRUE(RunsOnce(*schedule, weights) && RunsOnce(*schedule, shift));
      EXPECT_EQ(Format(weights.workload), std::string("normalization kind=batch dtype=f32:f32:f32 in=") +
                                              (std::string(op) == "Conv" ? "1x2x3" : "3x2x1") +
                                              " axis=1 scale=yes bias=no");
      EXPECT_EQ(Format(shift.workload), "normalization kind=batch dtype=f32:f32:f32 in=1x2 axis=1 scale=yes bias=yes");
      EXPECT_THAT(weights.values[0].at("epsilon"), ElementsAre(0.25));
      EXPECT_THAT(shift.values[0].at("epsilon"), ElementsAre(0.25));
      // The mean of weights is none; a bias that the model has not is zero.
      EXPECT_EQ(schedule->tensors[weights.operands[2]].fill, 0);
      EXPECT_EQ(schedule->tensors[shift.operands[0]].fill.has_value(), !bias);
      EXPECT_EQ(conv.operands[1], weights.outputs[0]);
      EXPECT_EQ(conv.operands[2], shift.outputs[0]);
    }
  }
}

TEST(ReplayPlanner, AFoldedProductOrSumIsAppliedOnce) {
  for (const bool bias : {true, false}) {
    GraphBuilder model = ConvolutionModel("Conv", bias);
    Layer& layer = model.graph().layers[0];
    FoldedConstants scale, shift;
    scale.scale = model.Value("scale");
    shift.bias = model.Value("shift");
    layer.folded = {scale, shift};
    const Result<ReplaySchedule> schedule = ScheduleOf(model.graph());
    ASSERT_TRUE(schedule.ok()) << schedule.error().message;
    ASSERT_EQ(schedule->steps.size(), 4U);
    const ReplayStep &weights = schedule->steps[0], &times = schedule->steps[1], &plus = schedule->steps[2];
    EXPECT_EQ(Format(weights.workload), "pointwise kind=multiply dtype=f32:f32:f32 in=2x3,2x1");
    EXPECT_EQ(Format(times.workload), "pointwise kind=multiply dtype=f32:f32:f32 in=2,2");
    EXPECT_EQ(Format(plus.workload), "pointwise kind=add dtype=f32:f32:f32 in=2,2");
    for (const ReplayStep* step : {&weights, &times, &plus}) EXPECT_TRUE(RunsOnce(*schedule, *step));
    EXPECT_EQ(plus.operands[0], times.outputs[0]);
    EXPECT_EQ(schedule->tensors[times.operands[0]].fill.has_value(), !bias);
    EXPECT_EQ(schedule->steps[3].operands[1], weights.outputs[0]);
    EXPECT_EQ(schedule->steps[3].operands[2], plus.outputs[0]);
  }
}

TEST(ReplayPlanner, ANormalizationInAGroupedTransposedConvolutionIsRefused) {
  GraphBuilder model = ConvolutionModel("ConvTranspose", true);
  model.graph().layers[0].attributes["group"] = std::int64_t{3};
  EXPECT_THAT(ErrorOf(model.graph()), HasSubstr("grouped transposed"));
}

TEST(ReplayPlanner, ScalesAndZeroPointsAreTensorsOfTheirStep) {
  GraphBuilder model;
  model.Input("x");
  const std::vector<std::string> inputs = {"x", "xs", "xz", "w", "ws", "wz", "ys"};
  for (const std::string& name : inputs) {
    if (name == "x") continue;
    model.Weight(name);
    Value& value = model.graph().value(model.Value(name));
    value.type = name.back() == 's' ? DataType::kF32 : DataType::kS8;
    value.shape = name == "w" ? Shape{{4, 2}} : name == "ws" ? Shape{{2}} : Shape{};
  }
  Value& x = model.graph().value(model.Value("x"));
  x.type = DataType::kS8;
  x.shape = Shape{{1, 4}};
  Layer& layer = model.Layer("fc", inputs, {"y"}, "matmul dtype=s8:s8:s8 a=1x1x4 b=1x4x2 bias=no weights=const");
  layer.op = "QLinearMatMul";
  layer.operand_inputs = {0, 3};
  Value& y = model.graph().value(model.Value("y"));
  y.type = DataType::kS8;
  y.shape = Shape{{1, 2}};
  model.Output("y");
  const Result<ReplaySchedule> schedule = ScheduleOf(model.graph());
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  const ReplayStep& step = schedule->steps[0];
  std::map<std::string, std::string> names;
  for (const auto& [name, tensor] : step.value_tensors[0]) names[name] = schedule->tensors[tensor].name;
  EXPECT_EQ(
      names,
      (std::map<std::string, std::string>{
          {"in0_scale", "xs"}, {"in0_zero", "xz"}, {"in1_scale", "ws"}, {"in1_zero", "wz"}, {"out_scale", "ys"}}));
  EXPECT_EQ(step.values[0], (ReplayValues{{"out_zero", {0}}}));  // not given, hence zero

  model.graph().value(model.Value("ys")).kind = ValueKind::kGraphInput;
  model.graph().inputs.push_back(model.Value("ys"));
  EXPECT_THAT(ErrorOf(model.graph()), HasSubstr("out_scale is known only at run time"));
}

TEST(ReplayPlanner, AnAttentionHasTheValuesThatItsRuleFound) {
  GraphBuilder model;
  for (const char* const name : {"q", "k", "v"}) model.Input(name);
  for (const char* const name : {"q", "k", "v", "y"}) model.graph().value(model.Value(name)).shape = Shape{{2, 4, 4}};
  // Layers of which only the region knows what they are together.
  AddLayer(model, "softmax", "Softmax", {"q"}, "s", kRelu);
  AddLayer(model, "values", "MatMul", {"s"}, "y", kRelu);
  model.Output("y");
  FusableRegion region;
  region.rule = "attention";
  region.layers = {LayerId(0), LayerId(1)};
  region.members = {region.layers};
  region.workload = *ParseWorkload("attention dtype=f32:-:f32 n=1 heads=2 kv_heads=2 q=4 kv=4 head=4 mask=no");
  region.operands = {model.Value("q"), model.Value("k"), model.Value("v")};
  region.outputs = {model.Value("y")};
  region.values = {{{"keys_transposed", {1}}}};
  EXPECT_FALSE(CanReplay(region));
  region.values[0]["scale"] = {0.5};
  EXPECT_TRUE(CanReplay(region));
  FusableRegion rotary = region;
  rotary.rule = "rotary";
  EXPECT_FALSE(CanReplay(rotary));
  const auto units = UnitsOf(model.graph(), {}, {{region, "infimum/attention-heads:avx512"}});
  ASSERT_TRUE(units.ok()) << units.error().message;
  const Result<ReplaySchedule> schedule = BuildReplaySchedule(model.graph(), *units);
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  ASSERT_EQ(schedule->steps.size(), 1U);
  EXPECT_EQ(schedule->steps[0].values[0], (ReplayValues{{"keys_transposed", {1}}, {"scale", {0.5}}}));
}

TEST(ReplayPlanner, ResizesAreReplayedWhereAllWaysOfRoundingAgreeOrCountFromTheFront) {
  GraphBuilder model;
  model.graph().opset = 18;
  model.Input("x");
  Layer& layer =
      AddLayer(model, "grow", "Resize", {"x"}, "y", "resample kind=nearest dtype=f32:-:f32 in=1x1x2x2 out=1x1x4x4");
  model.graph().value(model.Value("x")).shape = Shape{{1, 1, 2, 2}};
  model.graph().value(model.Value("y")).shape = Shape{{1, 1, 4, 4}};
  model.Output("y");
  EXPECT_EQ(ErrorOf(model.graph()), "");
  layer.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
  EXPECT_THAT(ErrorOf(model.graph()), HasSubstr("nearest element is not supported"));
  layer.attributes["nearest_mode"] = std::string("floor");
  EXPECT_EQ(ErrorOf(model.graph()), "");
  EXPECT_EQ(*ReplayValuesOf(model.graph(), layer), ReplayValues());
  model.graph().value(model.Value("y")).shape = Shape{{1, 1, 5, 5}};
  EXPECT_EQ(*ReplayValuesOf(model.graph(), layer), (ReplayValues{{"nearest_shift", {0}}})) << "by no whole factor";
  model.graph().value(model.Value("y")).shape = Shape{{1, 1, 4, 4}};
  layer.attributes["mode"] = std::string("linear");
  EXPECT_THAT(ErrorOf(model.graph()), HasSubstr("'asymmetric'"));
  layer.attributes["coordinate_transformation_mode"] = std::string("half_pixel");
  EXPECT_EQ(ErrorOf(model.graph()), "");
  layer.attributes["antialias"] = std::int64_t{1};
  EXPECT_THAT(ErrorOf(model.graph()), HasSubstr("'antialias' is not 0"));
}

TEST(ReplayPlanner, ARecurrentLayersFirstStateIsAValueAndItsLastIsLeftOut) {
  GraphBuilder model;
  model.Input("x");
  for (const char* const name : {"w", "r", "state"}) model.Weight(name);
  model.graph().value(model.Value("x")).shape = Shape{{3, 1, 2}};
  model.graph().value(model.Value("w")).shape = Shape{{1, 16, 2}};
  model.graph().value(model.Value("r")).shape = Shape{{1, 16, 4}};
  model.graph().value(model.Value("state")).shape = Shape{{1, 1, 4}};
  Layer& layer = model.Layer("lstm", {"x", "w", "r", "", "", "state"}, {"y", "last"},
                             "recurrent kind=lstm dtype=f32:f32:f32 sequence=3 batch=1 input=2 hidden=4 directions=1 "
                             "bias=no weights=const");
  layer.op = "LSTM";
  layer.operand_inputs = {0, 1, 2};
  layer.inputs[3].reset();
  layer.inputs[4].reset();
  model.graph().value(model.Value("y")).shape = Shape{{3, 1, 1, 4}};
  model.graph().value(model.Value("last")).shape = Shape{{1, 1, 4}};
  model.Output("y");
  const Result<ReplaySchedule> schedule = ScheduleOf(model.graph());
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  EXPECT_EQ(schedule->steps[0].outputs.size(), 1U);
  EXPECT_EQ(schedule->tensors[schedule->steps[0].value_tensors[0].at("initial_h")].name, "state");

  layer.attributes["direction"] = std::string("reverse");
  EXPECT_THAT(ErrorOf(model.graph()), HasSubstr("in reverse"));
}

TEST(ReplayPlanner, ASliceHasItsStartsInTheMergedShape) {
  // 3x4x5 [1:2, 1:3, :] is 1x2x5: the last dimension stays whole and merges with the one before.
  GraphBuilder model;
  model.Input("x");
  model.graph().value(model.Value("x")).shape = Shape{{3, 4, 5}};
  model.graph().value(model.Value("y")).shape = Shape{{1, 2, 5}};
  SetConstant(model, "starts", {-2, 1});
  SetConstant(model, "ends", {2, 3});
  SetConstant(model, "axes", {0, -2});
  Layer& layer = model.Layer("cut", {"x", "starts", "ends", "axes"}, {"y"},
                             "movement kind=slice dtype=f32:-:f32 in=3x20 out=1x10");
  layer.op = "Slice";
  layer.operand_inputs = {0};
  model.Output("y");
  const Result<ReplaySchedule> schedule = ScheduleOf(model.graph());
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  EXPECT_THAT(schedule->steps[0].values[0].at("starts"), ElementsAre(1, 5));

  // Every second: in the model's own shape, since merged dimensions cannot be stepped over one by one.
  SetConstant(model, "steps", {1, 2});
  model.graph().layers[0].inputs.emplace_back(model.Value("steps"));
  model.graph().value(model.Value("y")).shape = Shape{{1, 2, 5}};
  SetConstant(model, "starts", {-2, 0});
  const Result<ReplaySchedule> stepped = ScheduleOf(model.graph());
  ASSERT_TRUE(stepped.ok()) << stepped.error().message;
  EXPECT_EQ(Format(stepped->steps[0].workload), "movement kind=slice dtype=f32:-:f32 in=3x4x5 out=1x2x5");
  EXPECT_THAT(stepped->steps[0].values[0].at("starts"), ElementsAre(1, 0, 0));
  EXPECT_THAT(stepped->steps[0].values[0].at("steps"), ElementsAre(1, 2, 1));

  SetConstant(model, "steps", {1, -1});
  EXPECT_THAT(ErrorOf(model.graph()), HasSubstr("has a negative step"));
}

TEST(ReplayPlanner, EpsilonIsTheAttributesOrOnnxsOwn) {
  GraphBuilder model;
  model.Input("x");
  Layer& layer = AddLayer(model, "norm", "LayerNormalization", {"x"}, "y",
                          "normalization kind=layer dtype=f32:-:f32 in=1x8 axis=1 scale=no bias=no");
  model.Output("y");
  EXPECT_THAT(ReplayValuesOf(model.graph(), layer)->at("epsilon"), ElementsAre(1e-5));
  layer.attributes["epsilon"] = 1e-12;
  EXPECT_THAT(ReplayValuesOf(model.graph(), layer)->at("epsilon"), ElementsAre(1e-12));
}

TEST(ReplayPlanner, ClipBoundsAreTheAttributesOfOldModels) {
  GraphBuilder model;
  model.Input("x");
  Layer& layer = AddLayer(model, "clip", "Clip", {"x"}, "y", "pointwise kind=clip dtype=f32:-:f32 in=8");
  layer.attributes["min"] = 0.0;
  layer.attributes["max"] = 6.0;
  const Result<ReplayValues> values = ReplayValuesOf(model.graph(), layer);
  ASSERT_TRUE(values.ok());
  EXPECT_THAT(values->at("clip_low"), ElementsAre(0));
  EXPECT_THAT(values->at("clip_high"), ElementsAre(6));
}

TEST(ReplayPlanner, AnElementWiseOperatorHasTheParametersOfItsFormulaAndNoOtherAttribute) {
  GraphBuilder model;
  model.Input("x");
  Layer& layer = AddLayer(model, "selu", "Selu", {"x"}, "y", "pointwise kind=selu dtype=f32:-:f32 in=8");
  layer.attributes["alpha"] = 1.5;
  EXPECT_THAT(ReplayValuesOf(model.graph(), layer)->at("selu_alpha"), ElementsAre(1.5));
  EXPECT_THAT(ReplayValuesOf(model.graph(), layer)->at("selu_gamma"), ElementsAre(PointwiseParameters().selu_gamma));

  Layer& plain = AddLayer(model, "atan", "Atan", {"y"}, "z", "pointwise kind=arc_tangent dtype=f32:-:f32 in=8");
  EXPECT_EQ(*ReplayValuesOf(model.graph(), plain), ReplayValues());

  Layer& modulo = AddLayer(model, "mod", "Mod", {"y", "z"}, "w", "pointwise kind=modulo dtype=f32:f32:f32 in=8,8");
  EXPECT_TRUE(ReplayValuesOf(model.graph(), modulo).ok());
  modulo.attributes["fmod"] = std::int64_t{1};
  const Result<ReplayValues> truncated = ReplayValuesOf(model.graph(), modulo);
  ASSERT_FALSE(truncated.ok());
  EXPECT_EQ(truncated.error().message, "its 'fmod' is not carried over yet");
}

TEST(ReplayPlanner, AnUnsupportedLayerIsNamedWithTheReason) {
  GraphBuilder unknown;
  unknown.Input("x");
  Layer& layer = AddLayer(unknown, "mystery", "NonZero", {"x"}, "y", kRelu);
  layer.status = LayerStatus::kUnknown;
  layer.workload.reset();
  layer.reason = "depends on the data";
  EXPECT_THAT(ErrorOf(unknown.graph()), HasSubstr("layer 'mystery' (NonZero) cannot be replayed: depends on the data"));

  GraphBuilder values;
  values.Input("x");
  AddLayer(values, "choose", "NonMaxSuppression", {"x"}, "y", kRelu);
  EXPECT_THAT(ErrorOf(values.graph()), HasSubstr("operator NonMaxSuppression is not supported yet"));
}

std::vector<std::string> Steps(const ReplaySchedule& schedule) {
  std::vector<std::string> steps;
  for (const ReplayStep& step : schedule.steps) {
    std::string text = step.layers.empty() ? step.name : "";
    for (const std::string& layer : step.layers) text += (text.empty() ? "" : "+") + layer;
    text += " " + step.candidate.name;
    if (step.level) text += " at " + schedule.factors[step.level->factor] + "=" + std::to_string(step.level->level);
    steps.push_back(text);
  }
  return steps;
}

class Choices : public ::testing::Test {
 protected:
  Choices() {
    model_.Input("x");
    AddLayer(model_, "one", "Relu", {"x"}, "a", kRelu);
    AddLayer(model_, "two", "Relu", {"a"}, "b", kRelu);
    AddLayer(model_, "sum", "Add", {"b", "x"}, "c", kAdd);
    AddLayer(model_, "last", "Relu", {"c"}, "y", kRelu);
    model_.Output("y");
  }

  ReplayRegion Region(std::vector<std::size_t> layers, const std::string& text,
                      const std::vector<std::string>& operands, const std::string& output) {
    ReplayRegion made;
    for (const std::size_t layer : layers) {
      made.region.layers.emplace_back(layer);
      made.region.members.push_back({LayerId(layer)});
    }
    made.region.workload = *ParseWorkload(text);
    for (const std::string& operand : operands) made.region.operands.push_back(model_.Value(operand));
    made.region.outputs = {model_.Value(output)};
    made.candidate = {"fused"};
    return made;
  }
  ReplayRegion OneTwo() {
    return Region({0, 1}, std::string("region [") + kRelu + "](in0) ; [" + kRelu + "](%0)", {"x"}, "b");
  }
  ReplayRegion TwoSum() {
    return Region({1, 2}, std::string("region [") + kRelu + "](in0) ; [" + kAdd + "](%0,in1)", {"a", "x"}, "c");
  }

  std::vector<std::string> Between(const std::vector<ReplayRegion>& plan, const std::vector<ReplayRegion>& other,
                                   const std::vector<ReplayCandidate>& candidates) {
    const auto best = UnitsOf(model_.graph(), {"fast", "fast", "fast", "fast"}, plan);
    const auto like = UnitsOf(model_.graph(), candidates, other);
    EXPECT_TRUE(best.ok() && like.ok());
    const Result<ReplayChoices> choices = ChoicesBetween(model_.graph(), *best, *like);
    EXPECT_TRUE(choices.ok()) << (choices.ok() ? "" : choices.error().message);
    const Result<ReplaySchedule> schedule = BuildReplaySchedule(model_.graph(), *choices);
    EXPECT_TRUE(schedule.ok()) << (schedule.ok() ? "" : schedule.error().message);
    return schedule.ok() ? Steps(*schedule) : std::vector<std::string>();
  }

  GraphBuilder model_;
};

TEST_F(Choices, AKernelAndAFusionAreFactorsAndWhatIsAlikeAlwaysRuns) {
  EXPECT_THAT(Between({OneTwo()}, {}, {"slow", "fast", "fast", "slow"}),
              ElementsAre("one+two fused at one=0", "one slow at one=1", "two fast at one=1", "sum fast",
                          "last fast at last=0", "last slow at last=1"));
}

TEST_F(Choices, RegionsThatOverlapAreOneFactor) {
  EXPECT_THAT(Between({OneTwo()}, {TwoSum()}, {"fast", "fast", "fast", "fast"}),
              ElementsAre("one+two fused at one=0", "sum fast at one=0", "one fast at one=1", "two+sum fused at one=1",
                          "last fast"));
}

TEST_F(Choices, TwoEqualWaysHaveNoFactor) {
  EXPECT_THAT(Between({OneTwo()}, {OneTwo()}, {"slow", "slow", "fast", "fast"}),
              ElementsAre("one+two fused", "sum fast", "last fast"));
}

TEST(ReplayPlanner, BothLevelsOfAFactorReadTheWeightsThatWereChangedOnce) {
  GraphBuilder model;
  model.Input("x");
  model.Weight("w");
  model.graph().value(model.Value("x")).shape = Shape{{1, 4}};
  model.graph().value(model.Value("w")).shape = Shape{{4, 2}};
  model.graph().value(model.Value("p")).shape = Shape{{1, 2}};
  AddLayer(model, "p", "Gemm", {"x", "w"}, "p", "matmul dtype=f32:f32:f32 a=1x1x4 b=1x4x2 bias=no weights=const")
      .attributes["alpha"] = 2.0;
  model.Output("p");
  const auto best = UnitsOf(model.graph(), {"fast"}), like = UnitsOf(model.graph(), {"slow"});
  ASSERT_TRUE(best.ok() && like.ok());
  const Result<ReplayChoices> choices = ChoicesBetween(model.graph(), *best, *like);
  ASSERT_TRUE(choices.ok());
  const Result<ReplaySchedule> schedule = BuildReplaySchedule(model.graph(), *choices);
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  ASSERT_EQ(schedule->steps.size(), 3U);
  EXPECT_TRUE(RunsOnce(*schedule, schedule->steps[0]));
  EXPECT_EQ(schedule->steps[1].operands[1], schedule->steps[0].outputs[0]);
  EXPECT_EQ(schedule->steps[2].operands, schedule->steps[1].operands);
}

}  // namespace
}  // namespace infimum
