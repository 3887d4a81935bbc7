#include "infimum/planner/replay_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/graph/graph_builder.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;
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
  Value& value = model.graph.value(model.Value(name));
  value.kind = ValueKind::kWeight;
  value.type = DataType::kS64;
  value.shape = Shape{{static_cast<std::int64_t>(elements.size())}};
  value.constant = Tensor{DataType::kS64, *value.shape, {}};
  value.constant->bytes.resize(elements.size() * 8);
  std::memcpy(value.constant->bytes.data(), elements.data(), value.constant->bytes.size());
}

Result<ReplaySchedule> ScheduleOf(const ModelGraph& graph, const std::vector<std::string>& candidates = {}) {
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
  const Result<ReplaySchedule> schedule = ScheduleOf(model.graph, {"onednn/jit:avx2", "", ""});
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  ASSERT_EQ(schedule->steps.size(), 2U);
  EXPECT_EQ(schedule->steps[0].candidate, "onednn/jit:avx2");
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
  const Result<ReplaySchedule> schedule = ScheduleOf(model.graph);
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  EXPECT_EQ(schedule->tensors[schedule->steps[0].outputs[0]].name, "y");
}

TEST(ReplayPlanner, AMatrixThatIsStoredTransposedIsTurnedOnceForAllWhoReadIt) {
  GraphBuilder model;
  model.Input("x");
  model.Weight("w");
  model.graph.value(model.Value("x")).shape = Shape{{1, 4}};
  model.graph.value(model.Value("w")).shape = Shape{{2, 4}};
  for (const char* const name : {"p", "q"}) {
    model.graph.value(model.Value(name)).shape = Shape{{1, 2}};
    AddLayer(model, name, "Gemm", {"x", "w"}, name, "matmul dtype=f32:f32:f32 a=1x1x4 b=1x4x2 bias=no weights=const")
        .attributes["transB"] = std::int64_t{1};
    model.Output(name);
  }
  const Result<ReplaySchedule> schedule = ScheduleOf(model.graph);
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  ASSERT_EQ(schedule->steps.size(), 3U);
  EXPECT_TRUE(RunsOnce(*schedule, schedule->steps[0]));
  EXPECT_EQ(schedule->steps[1].operands[1], schedule->steps[0].outputs[0]);
  EXPECT_EQ(schedule->steps[2].operands[1], schedule->steps[0].outputs[0]);

  model.graph.layers[0].attributes["alpha"] = 0.5;
  EXPECT_THAT(ErrorOf(model.graph), HasSubstr("'alpha' is not 1"));
}

TEST(ReplayPlanner, ASliceStartsWhereItsInputsSayInTheMergedShape) {
  // 3x4x5 [1:2, 1:3, :] is 1x2x5: the last dimension stays whole and merges with the one before.
  GraphBuilder model;
  model.Input("x");
  model.graph.value(model.Value("x")).shape = Shape{{3, 4, 5}};
  model.graph.value(model.Value("y")).shape = Shape{{1, 2, 5}};
  SetConstant(model, "starts", {-2, 1});
  SetConstant(model, "ends", {2, 3});
  SetConstant(model, "axes", {0, -2});
  Layer& layer = model.Layer("cut", {"x", "starts", "ends", "axes"}, {"y"},
                             "movement kind=slice dtype=f32:-:f32 in=3x20 out=1x10");
  layer.op = "Slice";
  layer.operand_inputs = {0};
  model.Output("y");
  const Result<ReplaySchedule> schedule = ScheduleOf(model.graph);
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  EXPECT_THAT(schedule->steps[0].values[0].at("starts"), ElementsAre(1, 5));

  SetConstant(model, "steps", {1, 2});
  model.graph.layers[0].inputs.emplace_back(model.Value("steps"));
  EXPECT_THAT(ErrorOf(model.graph), HasSubstr("between others"));
}

TEST(ReplayPlanner, EpsilonIsTheAttributesOrOnnxsOwn) {
  GraphBuilder model;
  model.Input("x");
  Layer& layer = AddLayer(model, "norm", "LayerNormalization", {"x"}, "y",
                          "normalization kind=layer dtype=f32:-:f32 in=1x8 axis=1 scale=no bias=no");
  model.Output("y");
  EXPECT_THAT(ReplayValuesOf(model.graph, layer)->at("epsilon"), ElementsAre(1e-5));
  layer.attributes["epsilon"] = 1e-12;
  EXPECT_THAT(ReplayValuesOf(model.graph, layer)->at("epsilon"), ElementsAre(1e-12));
}

TEST(ReplayPlanner, ClipBoundsAreTheAttributesOfOldModels) {
  GraphBuilder model;
  model.Input("x");
  Layer& layer = AddLayer(model, "clip", "Clip", {"x"}, "y", "pointwise kind=clip dtype=f32:-:f32 in=8");
  layer.attributes["min"] = 0.0;
  layer.attributes["max"] = 6.0;
  const Result<ReplayValues> values = ReplayValuesOf(model.graph, layer);
  ASSERT_TRUE(values.ok());
  EXPECT_THAT(values->at("clip_low"), ElementsAre(0));
  EXPECT_THAT(values->at("clip_high"), ElementsAre(6));
}

TEST(ReplayPlanner, WhatCannotBeReplayedIsNamedWithTheReason) {
  GraphBuilder unknown;
  unknown.Input("x");
  Layer& layer = AddLayer(unknown, "mystery", "NonZero", {"x"}, "y", kRelu);
  layer.status = LayerStatus::kUnknown;
  layer.workload.reset();
  layer.reason = "depends on the data";
  EXPECT_THAT(ErrorOf(unknown.graph), HasSubstr("layer 'mystery' (NonZero) cannot be replayed: depends on the data"));

  GraphBuilder values;
  values.Input("x");
  AddLayer(values, "grow", "Resize", {"x"}, "y", kRelu);
  EXPECT_THAT(ErrorOf(values.graph), HasSubstr("values of operator Resize are not carried over yet"));

  GraphBuilder folded;
  folded.Input("x");
  AddLayer(folded, "act", "Relu", {"x"}, "y", kRelu);
  folded.graph.passes.push_back({"fold-batch-normalization", "", {"bn into conv"}});
  EXPECT_THAT(ErrorOf(folded.graph), HasSubstr("fold-batch-normalization"));
}

}  // namespace
}  // namespace infimum
