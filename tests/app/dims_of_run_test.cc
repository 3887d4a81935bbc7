#include "src/app/commands/compare/dims_of_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infimum {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

DeclaredInput Image() {
  return {"input",
          DataType::kF32,
          {{std::nullopt, "batch"}, {3, ""}, {std::nullopt, "height"}, {std::nullopt, "width"}},
          {{"Conv", 0}}};
}

RunProfile RunThatReads(std::string op, std::vector<ProfiledTensor> tensors) {
  RunProfile run;
  run.layers.emplace_back();
  run.layers.back().op = std::move(op);
  run.layers.back().input_tensors = std::move(tensors);
  return run;
}

TEST(DimsOfRun, AreThoseOfTheOperandThatTheInputIs) {
  // The weights have three channels too.
  RunProfile run = RunThatReads("FusedConv", {{"f32", {4, 3, 224, 160}, ""}, {"f32", {64, 3, 7, 7}, ""}});
  EXPECT_THAT(DimsOfRun({Image()}, run, {}), ElementsAre(Pair("batch", 4), Pair("height", 224), Pair("width", 160)));
  EXPECT_THAT(DimsOfRun({Image()}, run, {{"batch", 4}, {"height", 224}}), ElementsAre(Pair("width", 160)));
  EXPECT_THAT(DimsOfRun({Image()}, run, {{"batch", 8}}), IsEmpty());
}

TEST(DimsOfRun, AreThoseOfAnInputThatTheEngineCast) {
  DeclaredInput half = Image();
  half.type = DataType::kF16;
  const RunProfile run = RunThatReads("Conv", {{"f32", {4, 3, 224, 160}, ""}});
  EXPECT_THAT(DimsOfRun({half}, run, {}), ElementsAre(Pair("batch", 4), Pair("height", 224), Pair("width", 160)));
}

TEST(DimsOfRun, AreNotGuessed) {
  EXPECT_THAT(DimsOfRun({Image()}, RunThatReads("Conv", {{"s8", {4, 3, 224, 160}, ""}}), {}), IsEmpty());
  EXPECT_THAT(DimsOfRun({Image()}, RunThatReads("Conv", {{"f32", {4, 64, 224, 160}, ""}}), {}), IsEmpty());
  EXPECT_THAT(DimsOfRun({Image()}, RunThatReads("MaxPool", {{"f32", {4, 3, 224, 160}, ""}}), {}), IsEmpty());
  // Two that could be it.
  RunProfile run = RunThatReads("Conv", {{"f32", {4, 3, 224, 160}, ""}});
  run.layers.push_back(run.layers.front());
  run.layers.back().input_tensors.front().dims[0] = 8;
  EXPECT_THAT(DimsOfRun({Image()}, run, {}), ElementsAre(Pair("height", 224), Pair("width", 160)));
  // A matrix of floats looks like every other.
  const DeclaredInput matrix{"x", DataType::kF32, {{std::nullopt, "rows"}, {std::nullopt, "columns"}}, {{"MatMul", 0}}};
  EXPECT_THAT(DimsOfRun({matrix}, RunThatReads("MatMul", {{"f32", {4, 3}, ""}}), {}), IsEmpty());
}

TEST(DimsOfRun, OfIndicesAndOfSymbolsThatStandTwice) {
  const DeclaredInput ids{
      "ids", DataType::kS64, {{std::nullopt, "batch"}, {std::nullopt, "length"}}, {{"Gather", 1}, {"Shape", 0}}};
  const RunProfile run = RunThatReads("Gather", {{"f32", {30522, 768}, ""}, {"s64", {1, 128}, ""}});
  EXPECT_THAT(DimsOfRun({ids}, run, {}), ElementsAre(Pair("batch", 1), Pair("length", 128)));
  const DeclaredInput square{"x", DataType::kS64, {{std::nullopt, "n"}, {std::nullopt, "n"}}, {{"Gather", 1}}};
  EXPECT_THAT(DimsOfRun({square}, run, {}), IsEmpty());
}

}  // namespace
}  // namespace infimum
