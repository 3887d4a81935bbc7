#include "reports/effects/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace infimum {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

EstimatedDifference Difference(double value, double half, double simultaneous) {
  return {Latency(value), Latency(half), Latency(simultaneous)};
}

Explanation Example() {
  Explanation explanation;
  explanation.model = "net";
  explanation.device = "a processor";
  explanation.level0 = "the best known kernels";
  explanation.level1 = "fused and timed like onnxruntime 1.31.1";
  explanation.factors = {
      {"conv1", FactorKind::kKernel, "onednn/jit", "onednn/gemm", {"conv1"}},
      {"conv2", FactorKind::kFusion, "onednn/graph", "onednn/jit + infimum/relu", {"conv2", "relu2"}}};
  Effects& effects = explanation.effects;
  effects.effects = {Difference(1, 2, 3), Difference(400, 20, 30)};
  effects.interactions = {Difference(-50, 10, 20)};
  effects.sum = Difference(401, 25, 25);
  effects.none = Latency(5000);
  effects.all = Latency(5390);
  effects.difference = Difference(390, 10, 10);
  effects.unexplained = Difference(-11, 27, 27);
  effects.deviation = Latency(50);
  effects.inferences = 256;
  effects.disturbed = 3;
  explanation.notes = {"verified: output y"};
  return explanation;
}

TEST(Explanation, ATerminalShowsTheLargestEffectFirstAndTheSumBesideTheEnds) {
  const std::string text = ExplanationText(Example(), 0);
  EXPECT_THAT(text, HasSubstr("level 1          5.39 ms  fused and timed like onnxruntime 1.31.1"));
  EXPECT_THAT(text, HasSubstr("sum of effects   +401 µs  +376 µs to +426 µs"));
  EXPECT_LT(text.find("conv2   fusion   +400 µs  +380 µs to +420 µs    yes"), text.find("conv1   kernel  +1.00 µs"));
  EXPECT_THAT(text, HasSubstr("conv1, conv2                       -50.0 µs"));
  EXPECT_THAT(text, HasSubstr("256 inferences; one deviates by 50.0 µs (1 %)"));
  EXPECT_THAT(text, HasSubstr("1.96 x 2 sigma / sqrt(N) = 12.2 µs"));
  EXPECT_THAT(text, HasSubstr("3 inferences far from all others left out"));
  EXPECT_THAT(text, Not(HasSubstr("do not add up")));
  EXPECT_THAT(text, Not(HasSubstr("lack of fit")));
}

TEST(Explanation, WhatDoesNotAddUpOrFitIsSaid) {
  Explanation explanation = Example();
  explanation.effects.unexplained = Difference(60, 27, 27);
  explanation.effects.lack_of_fit = 2.5;
  explanation.effects.interactions.clear();
  const std::string text = ExplanationText(explanation, 0);
  EXPECT_THAT(text, HasSubstr("do not add up to the difference of the ends: +60.0 µs"));
  EXPECT_THAT(text, HasSubstr("lack of fit: settings vary 2.50 times"));
  EXPECT_THAT(text, HasSubstr("too few inferences for the interactions of neighbours"));
}

TEST(Explanation, CsvHasALineForEachFactorInTheOrderOfTheProgram) {
  const std::string csv = ExplanationCsv(Example());
  EXPECT_THAT(csv, HasSubstr("conv1,kernel,onednn/jit,onednn/gemm,conv1,1,-1,3,3,0\r\n"
                             "conv2,fusion,onednn/graph,onednn/jit + infimum/relu,conv2 relu2,400,380,420,30,1\r\n"));
}

TEST(Explanation, JsonHasBothEndsAndEveryEffect) {
  const nlohmann::json json = nlohmann::json::parse(ExplanationJson(Example()));
  EXPECT_EQ(json.at("schema"), "infimum.explain/1");
  EXPECT_EQ(json.at("level1").at("latency_us"), 5390);
  EXPECT_EQ(json.at("adds_up"), true);
  EXPECT_TRUE(json.at("lack_of_fit").is_null());
  ASSERT_EQ(json.at("factors").size(), 2U);
  const nlohmann::json& second = json.at("factors")[1];
  EXPECT_EQ(second.at("kind"), "fusion");
  EXPECT_EQ(second.at("effect").at("interval_us"), (nlohmann::json{380, 420}));
  EXPECT_EQ(second.at("effect").at("is_real"), true);
  EXPECT_TRUE(second.at("with_next").is_null());
  EXPECT_EQ(json.at("factors")[0].at("with_next").at("latency_us"), -50);
}

TEST(Explanation, NamesAreHostile) {
  Explanation explanation = Example();
  explanation.model = explanation.factors[0].name = explanation.notes[0] = "a\x1b[31m\xff,=1";
  EXPECT_THAT(ExplanationText(explanation, 80), Not(HasSubstr("\x1b")));
  EXPECT_THAT(ExplanationCsv(explanation), Not(HasSubstr("\x1b")));
  EXPECT_TRUE(nlohmann::json::accept(ExplanationJson(explanation)));
}

}  // namespace
}  // namespace infimum
