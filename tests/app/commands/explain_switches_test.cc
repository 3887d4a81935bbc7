// `infimum explain --switches` as a user would call it; its parts: tests/app/switches_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/commands/program.h"

namespace infimum::testing {
namespace {

using ::testing::HasSubstr;

TEST(ExplainSwitches, AnUnknownFrameworkIsUsageAndListsThoseThatThereAre) {
  const ProgramTest program;
  const Ended ended = program.Infimum({"explain", "model.onnx", "--switches", "onnxruntim"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.errors, HasSubstr("unknown framework 'onnxruntim', did you mean 'onnxruntime'?; there are: "
                                      "onnxruntime, pytorch"));
}

TEST(ExplainSwitches, OfPyTorchNeedItsModule) {
  const ProgramTest program;
  const Ended without = program.Infimum({"explain", ProgramTest::Light("squeezenet"), "--switches", "pytorch"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.errors, HasSubstr("--module"));
  const Ended alone = program.Infimum({"explain", "model.onnx", "--module", "models.py:squeezenet"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.errors, HasSubstr("--switches"));
}

TEST(ExplainSwitches, WhatSaysHowALayerRunsIsUsageBesideThem) {
  const ProgramTest program;
  const Ended ended = program.Infimum({"explain", "model.onnx", "--switches", "onnxruntime", "--heuristic"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.errors, HasSubstr("--heuristic"));
}

TEST(ExplainSwitches, AreOfAProcessor) {
  const ProgramTest program;
  const Ended ended = program.Infimum(
      {"explain", ProgramTest::Light("squeezenet"), "--switches", "onnxruntime", "--backend", "cuda-rehearsal"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.errors, HasSubstr("onnxruntime is switched on a processor, not on Pretended GPU"));
}

TEST(ExplainSwitches, ALightModelsSwitchesAddUpAndAreKept) {
  const ProgramTest program;
  const Ended ended = program.Infimum({"explain", ProgramTest::Light("squeezenet"), "--switches", "onnxruntime",
                                       "--budget", "6s", "--format", "json", "-o", "e.json"});
  if (LacksFramework(ended)) GTEST_SKIP() << "no Python with ONNX Runtime is known; nothing is switched";
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const nlohmann::json json = nlohmann::json::parse(program.Read("e.json"), nullptr, false);
  ASSERT_TRUE(json.is_object());
  double sum = 0;
  bool has_arena = false;
  for (const auto& factor : json.at("factors")) {
    EXPECT_EQ(factor.at("kind"), "switch");
    EXPECT_NE(factor.at("level0"), factor.at("level1"));
    sum += factor.at("effect").at("latency_us").get<double>();
    has_arena = has_arena || factor.at("name") == "memory arena";
  }
  EXPECT_TRUE(has_arena);
  EXPECT_NEAR(sum, json.at("sum").at("latency_us").get<double>(), 1e-6);
  EXPECT_THAT(json.at("level0").at("program").get<std::string>(), HasSubstr("onnxruntime"));
  EXPECT_THAT(program.Run({"query", "--sql", "SELECT framework FROM runs"}), HasSubstr("infimum-explain"));
}

}  // namespace
}  // namespace infimum::testing
