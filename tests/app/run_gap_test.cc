// A run's gap with what the store keeps of `infimum explain`: its effects become gains that were observed.
#include "src/app/model_report/run_gap.h"

#include <gtest/gtest.h>

#include "reports/effects/explanation.h"
#include "tests/analyzer/built_run.h"

namespace infimum {
namespace {

class RunGapTest : public testing::BuiltRun {
 protected:
  RunGapTest() : store_(*OpenStore(":memory:", OpenMode::kReadWrite)) {
    graph.sha256 = std::string(64, 'a');
    run.framework = "onnxruntime";
    run.framework_version = "1.31.1";
    run.layers[5].samples = {Latency(30 + 45)};
    Account();

    explanation_.level1 = ProgramLike(run.framework, run.framework_version);
    explanation_.factors = {{"fc2", FactorKind::kKernel, "onednn/jit", "onednn/gemm", {"fc2"}},
                            {"gone", FactorKind::kKernel, "onednn/jit", "onednn/gemm", {"a layer of another model"}}};
    explanation_.effects.effects = {{Latency(38), Latency(4), Latency(6)}, {Latency(500), Latency(4), Latency(6)}};
    explained_.framework = kExplainFramework;
    explained_.framework_version = "1.0.0";
    explained_.model_name = "branches";
    explained_.model_sha256 = graph.sha256;
    explained_.dims = dims_;
    explained_.threads = bracket.selection.threads;
    explained_.contract = Name(bracket.contract);
    explained_.device = bracket.selection.device.text;
    explained_.end_to_end = {{{Latency(300)}}};
  }

  void Store() {
    explained_.settings["level1"] = explanation_.level1;
    if (!explained_.settings.contains("explanation"))
      explained_.settings["explanation"] = ExplanationJson(explanation_);
    const Result<ImportCount> stored = store_->ImportRun(explained_);
    ASSERT_TRUE(stored.ok()) << stored.error().message;
  }

  Finding SlowerKernel(bool is_alike = true) {
    const std::filesystem::path path = "branches.onnx";
    const ModelAsItIs model{path, dims_, std::nullopt, graph, bracket};
    Result<AlignedForGap> aligned = AlignForGap(model, run, *store_);
    EXPECT_TRUE(aligned.ok()) << (aligned.ok() ? "" : aligned.error().message);
    if (!aligned.ok()) return {};
    const RunGap gap = MakeGap(graph, bracket, run, *std::move(aligned), is_alike);
    return testing::Find(gap.findings, "slower-algorithm").value_or(Finding());
  }

  std::map<std::string, std::int64_t> dims_ = {{"batch", 8}};
  std::unique_ptr<infimum::Store> store_;
  Explanation explanation_;
  RunProfile explained_;
};

TEST_F(RunGapTest, WithoutAnExplanationAGainIsGuessed) {
  EXPECT_EQ(SlowerKernel().known, Known::kGuessed);
  EXPECT_NEAR(SlowerKernel().gain.count(), 45, 1e-9);
}

TEST_F(RunGapTest, AnExplanationMakesItObservedWithItsInterval) {
  Store();
  for (const char* version : {"1.31.1", ""}) {  // a profile may not tell its version
    run.framework_version = version;
    const Finding finding = SlowerKernel();
    EXPECT_EQ(finding.known, Known::kObserved);
    EXPECT_NEAR(finding.gain.count(), 38, 1e-9);
    ASSERT_TRUE(finding.gain_interval);
    EXPECT_NEAR(finding.gain_interval->low.count(), 34, 1e-9);
    EXPECT_NEAR(finding.gain_interval->high.count(), 42, 1e-9);
  }
  EXPECT_EQ(SlowerKernel(false).known, Known::kGuessed) << "the run is of something else than the bracket";
}

TEST_F(RunGapTest, OneOfOtherConditionsSaysNothing) {
  const RunProfile alike = explained_;
  explained_.contract = "f16";
  Store();
  explained_ = alike;
  explained_.threads = 1;
  Store();
  explained_ = alike;
  explained_.dims = {{"batch", 1}};
  Store();
  explained_ = alike;
  explained_.model_sha256 = std::string(64, 'b');
  Store();
  explained_ = alike;
  explained_.settings["explanation"] = "{\"factors\":[{\"kind\":7}]}";
  Store();
  explained_ = alike;
  for (const char* like : {"fused and timed like onnxruntime 1.30.0", "fused and timed like pytorch 1.31.1",
                           "the libraries' own choices, layer by layer"}) {
    explanation_.level1 = like;
    Store();
  }
  EXPECT_EQ(SlowerKernel().known, Known::kGuessed);
}

}  // namespace
}  // namespace infimum
