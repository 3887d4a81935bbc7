// infimum report sweep: floors on devices that are not here, in every form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/commands/program.h"

namespace infimum::testing::report_sweep_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kFile = R"({"schema": "infimum.evaluation/1", "name": "small nets",
  "models": [{"family": "fc", "choices": {"nodes": [64, 4096], "batch": [1, 512]}}], "threads": [1, 2]})";

TEST(ReportSweep, FloorsAreThoseOfTheModelsFiles) {
  const ProgramTest program;
  program.Write("fc.json", kFile);
  const nlohmann::json sweep = program.Json(
      {"report", "sweep", "fc.json", "--backend", "fake", "--device", "h200", "--device", "a100", "--format", "json"});
  EXPECT_EQ(sweep["schema"], "infimum.sweep/1");
  EXPECT_EQ(sweep["quantity"], "floor");
  ASSERT_EQ(sweep["cells"].size(), 8u);
  ASSERT_EQ(sweep["devices"].size(), 2u);
  EXPECT_EQ(sweep["speed_ups"][0]["of"], "floor");
  EXPECT_EQ(sweep["speed_ups"][0]["pairs"].size(), 4u);
  EXPECT_GT(sweep["speed_ups"][0]["mean_ratio"], 1);  // the older one takes longer
  program.Run({"synth", "fc", "--nodes", "4096", "--batch", "512", "-o", "models"});
  const nlohmann::json bound =
      program.Json({"bound", "models/fc_layers-4_nodes-4096_inputs-2000_outputs-1000_batch-512_type-f32.onnx",
                    "--backend", "fake", "--device", "h200", "--format", "json"});
  for (const nlohmann::json& floor : bound["floors"]) {
    if (floor["class"] != "textbook") continue;
    EXPECT_EQ(sweep["cells"][3]["facts"]["floor_us"], floor["latency_us"]);
    EXPECT_EQ(sweep["cells"][3]["facts"]["decided_by"], floor["decided_by"]);
  }
  EXPECT_EQ(sweep["cells"][3]["fields"]["model.choices.nodes"], "4096");
}

TEST(ReportSweep, OtherPeaksStandBesideTheDevicesOwn) {
  const ProgramTest program;
  program.Write("fc.json", kFile);
  const nlohmann::json sweep = program.Json({"report", "sweep", "fc.json", "--backend", "fake", "--device", "h200",
                                             "--what-if", "peak:memory=1.5x", "--format", "json"});
  ASSERT_EQ(sweep["devices"].size(), 2u);
  EXPECT_EQ(sweep["devices"][1]["device"], "NVIDIA H200, peak:memory=1.5x");
  ASSERT_EQ(sweep["cells"].size(), 8u);
  for (int i = 0; i < 4; ++i) {
    const nlohmann::json &own = sweep["cells"][i]["facts"], &other = sweep["cells"][i + 4]["facts"];
    const double ratio = other["floor_us"].get<double>() / own["floor_us"].get<double>();
    EXPECT_NEAR(ratio, own["decided_by"].get<std::string>().starts_with("bandwidth") ? 1 / 1.5 : 1, 1e-9) << own;
  }
  const Ended refused = program.Infimum(
      {"report", "sweep", "fc.json", "--backend", "fake", "--device", "h200", "--what-if", "contract:bf16"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("peak"));
}

TEST(ReportSweep, EveryFormIsWrittenAndTheSameTwice) {
  const ProgramTest program;
  program.Write("fc.json", kFile);
  for (const char* form : {"html", "md", "csv", "json"}) {
    std::string before;
    for (const char* name : {"one.", "two."}) {
      const std::string path = std::string(name) + form;
      program.Run({"report", "sweep", "fc.json", "--backend", "fake", "--device", "h200", "-o", path});
      const std::string text = program.Read(path);
      EXPECT_THAT(text, HasSubstr("fc nodes=4096 batch=512")) << form;
      EXPECT_EQ(before.empty() ? text : before, text) << form;
      before = text;
    }
  }
}

TEST(ReportSweep, MistakesAreSaid) {
  const ProgramTest program;
  program.Write("fc.json", kFile);
  const auto refusal = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"report", "sweep", "--backend", "fake"});
    const Ended ended = program.Infimum(arguments);
    EXPECT_EQ(ended.exit_code, 1) << ended.errors;
    return ended.errors;
  };
  EXPECT_THAT(refusal({"none.json"}), HasSubstr("none.json: cannot be read"));
  EXPECT_THAT(refusal({"fc.json"}), HasSubstr("`infimum evaluate fc.json` makes them"));
  EXPECT_THAT(refusal({"fc.json", "--device", "h2000"}), HasSubstr("unknown device 'h2000'"));
  EXPECT_THAT(refusal({"fc.json", "--device", "h200", "--x", "node"}), HasSubstr("did you mean 'nodes'"));
}

}  // namespace
}  // namespace infimum::testing::report_sweep_test
