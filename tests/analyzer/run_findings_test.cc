// Findings about runs whose model and bound are known: each fires on its cause, and not without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "analyzer/findings/run_rows.h"
#include "tests/analyzer/built_run.h"
#include "tests/support/parsed_workload.h"

namespace infimum::run_findings_test {
namespace {

using testing::BuiltRun;
using ::testing::ElementsAre;
using testing::Find;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Ran;

using RunFindings = BuiltRun;

TEST_F(RunFindings, ARunAtItsBestHasOnlyItsSerialBranches) {
  const std::vector<Finding> findings = Findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "serial-branches");
  EXPECT_EQ(findings[0].gain, Latency(100));
  EXPECT_THAT(findings[0].layers, ElementsAre("left"));
  EXPECT_THAT(findings[0].action, HasSubstr("at once"));
}

TEST_F(RunFindings, WhatRunsAtOnceAlreadyIsNoSerialBranch) {
  run.idle = DeviceIdle{Latency(0), Latency(0), Latency(0), Latency(100)};
  run.end_to_end = {{{Latency(207)}}};
  EXPECT_FALSE(FindingOf("serial-branches"));
}

TEST_F(RunFindings, ASlowerKernelIsNamedWithTheCandidateThatIsFaster) {
  run.framework = "onnxruntime";
  run.layers[5].samples = {Latency(30 + 45)};
  run.layers[5].algorithm = "sgemm_128x64";
  const std::optional<Finding> finding = FindingOf("slower-algorithm");
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->gain.count(), 45, 1e-9);
  EXPECT_THAT(finding->layers, ElementsAre("fc2"));
  EXPECT_THAT(finding->evidence,
              HasSubstr("matmul: 1 of 4 rows takes 75.0 µs where the best candidates known need 30.0 µs"));
  EXPECT_THAT(finding->evidence, HasSubstr("sgemm_128x64"));
  ASSERT_EQ(finding->cases.size(), 1u);
  EXPECT_EQ(finding->cases[0].candidate, "test/best");
  EXPECT_EQ(finding->cases[0].workload, Format(*graph.layers[6].workload));
  EXPECT_EQ(finding->cases[0].best, Latency(30));
}

TEST_F(RunFindings, ARowThatOneRegionRunsNamesThatRegion) {
  run.layers[0].samples = {Latency(testing::kFused + 30)};
  const std::optional<Finding> finding = FindingOf("slower-algorithm");
  ASSERT_TRUE(finding);
  EXPECT_THAT(finding->layers, ElementsAre("fc1 (+1)"));
  EXPECT_EQ(finding->cases[0].candidate, "test/fused");
  EXPECT_THAT(finding->cases[0].workload, HasSubstr("region ["));
}

TEST_F(RunFindings, AHundredthIsNotWorthTelling) {
  run.layers[5].samples = {Latency(30 + 3)};
  EXPECT_FALSE(FindingOf("slower-algorithm"));
}

TEST_F(RunFindings, ConvolutionsOfAGpuNameTheSettingOfTheirFramework) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {1, 8, 16, 16}, DataType::kF32), w = model.Weight("w", {8, 8, 3, 3});
  const Workload workload = testing::ParsedWorkload(
      "convolution dtype=f32:f32:f32 in=1x8x16x16 out_channels=8 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
      "groups=1 bias=no weights=const");
  model.Output(model.Measurable("conv", "Conv", {x, w}, std::get<LayerConfig>(workload)));
  graph = model.Take();
  const DeviceKey gpu{"gpu/NVIDIA/compute_capability=8.0/multiprocessors=108"};
  source = testing::KnownRows(gpu);
  source.Add(graph.layers[0], "eng1", {40});
  Selection selection;
  selection.device = gpu;
  run = RunProfile();
  run.layers = {Ran("conv", "Conv", {"x"}, {"conv_out"}, 100)};
  run.end_to_end = {{{Latency(100)}}};
  bracket = testing::BracketOf(graph, source, selection);
  for (const auto& [framework, setting] :
       {std::pair("onnxruntime", "cudnn_conv_algo_search"), std::pair("pytorch", "cudnn.benchmark"),
        std::pair("tensorrt", "builderOptimizationLevel")}) {
    run.framework = framework;
    const Waterfall waterfall = Against(bracket);
    const std::optional<Finding> finding =
        Find(FindingsOf(RunFacts{graph, bracket, run, waterfall}), "slower-algorithm");
    ASSERT_TRUE(finding) << framework;
    EXPECT_THAT(finding->action, HasSubstr(setting));
  }
}

TEST_F(RunFindings, AnUnfusedChainNamesTheRegionAndItsTime) {
  run.framework = "onnxruntime";
  run.settings = {{"graph_optimization_level", "disabled"}};
  run.layers[0] = Ran("fc1", "MatMul", {"x"}, {"fc1_out"}, 50);
  run.layers.insert(run.layers.begin() + 1, Ran("relu1", "Relu", {"fc1_out"}, {"relu1_out"}, 5));
  const std::optional<Finding> finding = FindingOf("unfused-chain");
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->gain.count(), 4, 1e-9);
  EXPECT_THAT(finding->layers, ElementsAre("fc1 + relu1"));
  EXPECT_THAT(finding->action, HasSubstr("it was disabled"));
  ASSERT_EQ(finding->cases.size(), 1u);
  EXPECT_EQ(finding->cases[0].measured, Latency(55));
  EXPECT_EQ(finding->cases[0].best, Latency(51));
  EXPECT_EQ(finding->cases[0].candidate, "test/fused");
}

TEST(RankFindings, HowAGainIsKnownComesBeforeItsSize) {
  std::vector<Finding> findings(4);
  for (std::size_t i = 0; i < findings.size(); ++i) findings[i].gain = Latency(10.0 + static_cast<double>(i));
  findings[0].known = Known::kObserved;
  findings[1].known = Known::kBounded;
  RankFindings(findings);
  std::vector<double> gains;
  for (const Finding& finding : findings) gains.push_back(finding.gain.count());
  EXPECT_THAT(gains, ElementsAre(10, 11, 13, 12));
}

// Nothing that a run alone shows was won as promised when it was acted on (analyzer/README.md).
TEST_F(RunFindings, OfARunAloneAreGuessedTheLargestFirst) {
  run.profiled = {Latency(500)};
  run.layers[5].samples = {Latency(30 + 45)};
  run.layers.push_back(Ran("Reorder_1", "ReorderInput", {"add_out"}, {"reordered"}, 12));
  run.layers.push_back(Ran("Reorder_2", "ReorderOutput", {"reordered"}, {"back"}, 10));
  std::vector<std::string> told;
  for (const Finding& finding : Findings(40)) told.push_back(std::string(Name(finding.known)) + " " + finding.kind);
  EXPECT_THAT(told, ElementsAre("guessed serial-branches", "guessed slower-algorithm", "guessed framework-overhead",
                                "guessed layout-changes"));
}

TEST_F(RunFindings, WhatWasSwitchedInWholeInferencesIsObserved) {
  run.layers[1].samples = {Latency(100 + 60)};
  run.layers[5].samples = {Latency(30 + 45)};
  effects = {{{LayerId(6)}, false, {.value = Latency(38), .half_width = Latency(4)}}};
  const std::vector<Finding> findings = Findings();
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].kind, "slower-algorithm");
  EXPECT_EQ(findings[0].known, Known::kObserved);
  EXPECT_EQ(findings[0].gain, Latency(38));
  EXPECT_EQ(findings[0].gain_interval->low, Latency(34));
  EXPECT_EQ(findings[0].gain_interval->high, Latency(42));
  EXPECT_THAT(findings[0].layers, ElementsAre("fc2"));
  EXPECT_THAT(findings[0].evidence, HasSubstr("`infimum explain` switched in whole inferences"));
  // What was not switched stays what it was.
  EXPECT_EQ(findings[2].kind, "slower-algorithm");
  EXPECT_EQ(findings[2].known, Known::kGuessed);
  EXPECT_NEAR(findings[2].gain.count(), 60, 1e-9);
  EXPECT_THAT(findings[2].layers, ElementsAre("left"));
  EXPECT_FALSE(findings[2].gain_interval);

  effects.push_back({{LayerId(2)}, false, {.value = Latency(50), .half_width = Latency(3)}});
  const std::optional<Finding> both = FindingOf("slower-algorithm");
  EXPECT_EQ(both->gain, Latency(88));
  EXPECT_NEAR(both->gain_interval->high.count(), 88 + 5, 1e-9) << "two independent effects of 4 and 3";
  effects[0].effect.value = effects[1].effect.value = Latency(0.5);
  EXPECT_FALSE(FindingOf("slower-algorithm")) << "it was tried, and wins nothing";
  // fc2 loses 45 and left 60: what surely wins more was slower than what ran, what is less certain tells nothing.
  effects[0].effect = {.value = Latency(50), .half_width = Latency(4)};
  effects[1].effect = {.value = Latency(50), .half_width = Latency(61)};
  EXPECT_EQ(FindingOf("slower-algorithm")->known, Known::kGuessed);
  EXPECT_NEAR(FindingOf("slower-algorithm")->gain.count(), 105, 1e-9);
}

TEST_F(RunFindings, AnObservedFusionIsTheChainsGainAndNotItsRowsToo) {
  run.layers[0] = Ran("fc1", "MatMul", {"x"}, {"fc1_out"}, 90);
  run.layers.insert(run.layers.begin() + 1, Ran("relu1", "Relu", {"fc1_out"}, {"relu1_out"}, 5));
  EXPECT_EQ(FindingOf("unfused-chain")->known, Known::kGuessed);
  EXPECT_NEAR(FindingOf("slower-algorithm")->gain.count(), 40, 1e-9);
  effects = {{{LayerId(0), LayerId(1)}, true, {.value = Latency(30), .half_width = Latency(2)}}};
  const std::optional<Finding> chain = FindingOf("unfused-chain");
  ASSERT_TRUE(chain);
  EXPECT_EQ(chain->known, Known::kObserved);
  EXPECT_EQ(chain->gain, Latency(30));
  EXPECT_FALSE(FindingOf("slower-algorithm"));
  effects[0].effect.value = Latency(42);
  EXPECT_EQ(FindingOf("unfused-chain")->gain, Latency(42));
  EXPECT_FALSE(FindingOf("slower-algorithm")) << "more than its row alone could win";
  effects[0].effect.value = Latency(30);
  effects[0].layers = {LayerId(0)};
  EXPECT_EQ(FindingOf("unfused-chain")->known, Known::kGuessed) << "one layer of the chain was not switched";
  EXPECT_EQ(FindingOf("slower-algorithm")->known, Known::kGuessed) << "the effect is of more than the kernel";
}

TEST_F(RunFindings, AFusedChainIsNone) { EXPECT_FALSE(FindingOf("unfused-chain")); }

TEST_F(RunFindings, TimeOutsideTheLayersIsTheFrameworksOwn) {
  run.profiled = {Latency(500)};
  const std::optional<Finding> finding = FindingOf("framework-overhead", 60);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->gain, Latency(60));
  EXPECT_THAT(finding->evidence, HasSubstr("outside the 6 layers, 10.0 µs for each"));
  EXPECT_FALSE(FindingOf("launch-bound"));
}

TEST_F(RunFindings, ADeviceThatWaitsForTheHostIsLaunchBound) {
  run.idle = DeviceIdle{Latency(40), Latency(10), Latency(25), Latency(0)};
  run.end_to_end = {{{Latency(307 + 75)}}};
  const std::optional<Finding> finding = FindingOf("launch-bound");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->gain, Latency(50)) << "what waits for queued work is no launch's fault";
  EXPECT_THAT(finding->action, HasSubstr("CUDA graph"));
  run.idle = DeviceIdle{Latency(1), Latency(1), Latency(73), Latency(0)};
  EXPECT_FALSE(FindingOf("launch-bound"));
}

TEST_F(RunFindings, WhatAProfilerAddsToTheHostsPartIsNoLaunchsFault) {
  run.idle = DeviceIdle{Latency(4000), Latency(1000), Latency(25), Latency(0)};
  run.end_to_end = {{{Latency(307 + 75)}}};
  const std::optional<Finding> finding = FindingOf("launch-bound");
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->gain.count(), 50, 1e-9) << "the run without the profiler is 75 µs longer than its layers";
  EXPECT_THAT(finding->evidence, HasSubstr("under the profiler 5.03 ms"));
  EXPECT_NEAR(Account().Of(GapCause::kHostGaps).count(), 75, 1e-9);
  EXPECT_NEAR(Account().Of(GapCause::kUnexplained).count(), 0, 1e-9);
  run.end_to_end = {{}};
  run.profiled = {Latency(307 + 5025)};
  EXPECT_THAT(FindingOf("launch-bound")->evidence, HasSubstr("time the run without it too"));
}

TEST_F(RunFindings, ALayerFasterThanItsBoundIsSaidOfTheBound) {
  run.layers[5].samples = {Latency(20)};
  const std::optional<Finding> finding = FindingOf("under-bound");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->gain, Latency(0));
  EXPECT_THAT(finding->layers, ElementsAre("fc2"));
  EXPECT_THAT(finding->evidence, HasSubstr("by 10.0 µs in all"));
  run.layers[5].samples = {Latency(29)};
  run.end_to_end.clear();
  EXPECT_FALSE(FindingOf("under-bound")) << "within what a time varies by";
}

TEST_F(RunFindings, ARunOfPerhapsOtherThreadsSaysNothingAboutTheBound) {
  run.layers[5].samples = {Latency(20)};
  const Waterfall waterfall = Account();
  EXPECT_TRUE(Find(FindingsOf(RunFacts{graph, bracket, run, waterfall, true}), "under-bound"));
  EXPECT_FALSE(Find(FindingsOf(RunFacts{graph, bracket, run, waterfall, false}), "under-bound"));
}

TEST_F(RunFindings, WhatARunTellsOfItsTypesIsHeldAgainstTheContract) {
  const std::vector<ComparedRow> rows = Account().rows;
  const auto compute_in = [this](const char* type) {
    for (ProfiledLayer& layer : run.layers) layer.input_tensors = {{type, {1}, ""}};
  };
  run.contract = "";
  EXPECT_FALSE(IsNarrower(run, rows, NumericContract::kStrictF32)) << "no type is told";
  compute_in("f32");
  EXPECT_FALSE(IsNarrower(run, rows, NumericContract::kStrictF32));
  compute_in("f16");
  EXPECT_TRUE(IsNarrower(run, rows, NumericContract::kStrictF32));
  EXPECT_FALSE(IsNarrower(run, rows, NumericContract::kF16));
  run.contract = "strict-f32";
  EXPECT_FALSE(IsNarrower(run, rows, NumericContract::kStrictF32)) << "what it says of itself counts";
}

TEST_F(RunFindings, WithoutABoundOnlyTheRunItselfIsSpokenOf) {
  source = testing::KnownRows();
  run.layers[5].samples = {Latency(3000)};
  EXPECT_THAT(Findings(), IsEmpty());
}

// fc of a type on a GPU with Tensor Cores, run by a kernel.
struct OnGpu {
  OnGpu(DataType type, std::int64_t inner, const char* kernel, const char* capability = "9.0") {
    GraphBuilder model;
    const ValueId x = model.Input("x", {8, inner}, type), w = model.Weight("w", {inner, 64}, type);
    const auto config =
        MakeMatMul({type, type, type}, Shape{{8, inner}}, Shape{{inner, 64}}, MatMulBias::kNone, Constness::kConstant);
    model.Output(model.Measurable("fc", "MatMul", {x, w}, *config));
    graph = model.Take();
    Selection selection;
    selection.device = {"gpu/NVIDIA/compute_capability=" + std::string(capability) + "/multiprocessors=132"};
    testing::KnownRows source(selection.device);
    source.Add(graph.layers[0], "algo=66", {20});
    run.framework = "pytorch";
    run.layers = {Ran("fc", "MatMul", {"x"}, {"fc_out"}, 100)};
    run.layers[0].algorithm = kernel;
    run.end_to_end = {{{Latency(100)}}};
    bracket = testing::BracketOf(graph, source, selection);
    Judge();
  }
  // Again, after a change of the run.
  void Judge() {
    waterfall = MakeWaterfall({graph, bracket, run, AlignRun(graph, run)});
    findings = FindingsOf(RunFacts{graph, bracket, run, waterfall});
  }
  ModelGraph graph;
  RunProfile run;
  Bracket bracket;
  Waterfall waterfall;
  std::vector<Finding> findings;
};

TEST(TensorCoresFinding, AProductOnAPlainKernelIsNamedOnceWithItsEligibility) {
  const OnGpu plain(DataType::kF16, 128, "volta_hgemm_64x64_nn");
  const std::optional<Finding> finding = Find(plain.findings, "tensor-cores-unused");
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->gain.count(), 80, 1e-9);
  EXPECT_THAT(finding->evidence, HasSubstr("1 of them are eligible"));
  EXPECT_FALSE(Find(plain.findings, "slower-algorithm")) << "the same time twice";
  const OnGpu odd(DataType::kF16, 127, "volta_hgemm_64x64_nn");
  ASSERT_TRUE(Find(odd.findings, "tensor-cores-unused"));
  EXPECT_THAT(Find(odd.findings, "tensor-cores-unused")->evidence, HasSubstr("channels of 127"));
  EXPECT_THAT(Find(odd.findings, "tensor-cores-unused")->action, HasSubstr("multiple of 8"));
}

TEST(TensorCoresFinding, KernelsThatUseThemDevicesWithoutAndStrictF32AreNone) {
  EXPECT_FALSE(Find(OnGpu(DataType::kF16, 128, "sm90_xmma_gemm_f16f16_f16f32_f32_tn").findings, "tensor-cores-unused"));
  EXPECT_TRUE(Find(OnGpu(DataType::kF16, 128, "sm90_xmma_gemm_f16f16_f16f32_f32_tn").findings, "slower-algorithm"));
  EXPECT_FALSE(Find(OnGpu(DataType::kF16, 128, "volta_hgemm_64x64_nn", "6.1").findings, "tensor-cores-unused"));
  EXPECT_FALSE(Find(OnGpu(DataType::kF32, 128, "ampere_sgemm_64x64_nn").findings, "tensor-cores-unused"));
  EXPECT_FALSE(Find(OnGpu(DataType::kF16, 128, "my_own_kernel").findings, "tensor-cores-unused")) << "it does not tell";
}

TEST(TensorCoresFinding, KernelNames) {
  for (const char* kernel :
       {"sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32",
        "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_tn", "volta_h884gemm_64x64_ldg8_nn",
        "cutlass_80_tensorop_s1688gemm_128x128_16x5_tn_align4", "turing_fp16_s1688cudnn_fp16_128x128"})
    EXPECT_EQ(findings::UsesTensorCores(kernel), true) << kernel;
  for (const char* kernel :
       {"ampere_sgemm_128x64_nn", "volta_scudnn_128x64_relu_xregs_large_nn_v1", "gemv2T_kernel_val",
        "cutlass_80_simt_sgemm_128x64_8x5_nn_align1", "conv2d_grouped_depthwise_direct_kernel"})
    EXPECT_EQ(findings::UsesTensorCores(kernel), false) << kernel;
  EXPECT_EQ(findings::UsesTensorCores("vectorized_elementwise_kernel"), std::nullopt);
}

TEST(WiderPrecisionFinding, NamesTheTypeThatItRanIn) {
  OnGpu gpu(DataType::kF16, 128, "sm90_xmma_gemm_f32f32_tf32f32_f32");
  gpu.run.layers[0].input_tensors = {{"f32", {8, 128}, ""}, {"f32", {128, 64}, ""}};
  gpu.Judge();
  const std::optional<Finding> finding = Find(gpu.findings, "wider-precision");
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->gain.count(), 80, 1e-9);
  EXPECT_THAT(finding->evidence, HasSubstr("(f32) than the contract f16"));
  EXPECT_FALSE(Find(OnGpu(DataType::kF16, 128, "sm90_xmma_gemm_f16f16").findings, "wider-precision"));
  // A plain kernel for values of f32 is one cause, not two.
  gpu.run.layers[0].algorithm = "ampere_sgemm_64x64_nn";
  gpu.Judge();
  EXPECT_TRUE(Find(gpu.findings, "wider-precision"));
  EXPECT_FALSE(Find(gpu.findings, "tensor-cores-unused"));
}

// Which types a quantized model's layers have is the exporter's choice: no provider that lacks kernels is to blame.
TEST(WiderPrecisionFinding, OfAQuantizedModelNamesWhatRunsOnDequantizedValues) {
  OnGpu quantized(DataType::kS8, 128, "gemm_kernel", "6.1");
  RunProfile& run = quantized.run;
  run.framework = "onnxruntime";
  run.layers[0].input_tensors = {{"f32", {8, 128}, ""}, {"f32", {128, 64}, ""}};
  run.layers.push_back(Ran("other", "QLinearMatMul", {"z"}, {"other_out"}, 40));
  quantized.Judge();
  EXPECT_FALSE(Find(quantized.findings, "wider-precision"));
  const std::optional<Finding> finding = Find(quantized.findings, "quantized-layers-in-float");
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->gain.count(), 80, 1e-9);
  EXPECT_FALSE(finding->is_part) << "what 8 bits take was measured";
  ASSERT_EQ(finding->cases.size(), 1u);
  EXPECT_EQ(finding->cases[0].best, Latency(20));
  EXPECT_THAT(finding->evidence, HasSubstr("1 of the 2 convolutions and matmuls among them: 100 µs, 80.0 µs more"));
  EXPECT_THAT(finding->action, HasSubstr("a quantized output of its own"));

  // What the row loses to conversions shows as a slower kernel of wide arithmetic too: it is the same cause, told once.
  ASSERT_EQ(quantized.waterfall.steps.front().cause, GapCause::kPrecision);
  GapStep slower{GapCause::kAlgorithmRegret, Latency(30), quantized.waterfall.steps.front().parts};
  slower.parts.front().latency = Latency(30);
  quantized.waterfall.steps.front().latency -= Latency(30);
  quantized.waterfall.steps.front().parts.front().latency -= Latency(30);
  quantized.waterfall.steps.insert(quantized.waterfall.steps.begin(), slower);
  const std::vector<Finding> split = FindingsOf(RunFacts{quantized.graph, quantized.bracket, run, quantized.waterfall});
  EXPECT_NEAR(Find(split, "quantized-layers-in-float")->gain.count(), 80, 1e-9);
  EXPECT_FALSE(Find(split, "slower-algorithm"));
}

// Two runs of Branches: each layer of the second as many times as long as the first's.
class TwoPrecisions : public BuiltRun {
 protected:
  std::optional<Finding> Compare(std::vector<double> factors, double casts) {
    RunProfile narrow = run;
    run.contract = "strict-f32";
    narrow.contract = "f16";
    for (std::size_t i = 0; i < narrow.layers.size(); ++i)
      narrow.layers[i].samples = {run.layers[i].samples.front() * factors[i]};
    if (casts > 0) narrow.layers.push_back(Ran("InsertedPrecisionFreeCast_x", "Cast", {}, {}, casts));
    const std::vector<ComparedRow> wide_rows = Account().rows;
    const std::vector<ComparedRow> rows = CompareRows(graph, bracket, AlignRun(graph, narrow));
    EXPECT_TRUE(IsNarrower(narrow, rows, run, wide_rows));
    EXPECT_FALSE(IsNarrower(run, wide_rows, narrow, rows));
    return PrecisionThatDoesNotPay(graph, run, wide_rows, narrow, rows);
  }
};

TEST_F(TwoPrecisions, LayersThatLoseAndCastsAreTheGain) {
  const std::optional<Finding> finding = Compare({0.5, 0.5, 1.4, 0.5, 0.5, 0.5}, 12);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->kind, "low-precision-losses");
  EXPECT_NEAR(finding->gain.count(), 40 + 12, 1e-9);
  EXPECT_THAT(finding->layers, ElementsAre("right"));
  EXPECT_THAT(finding->evidence, HasSubstr("5 rows win 104 µs, 1 lose 40.0 µs, 0 are within 5 %"));
  EXPECT_THAT(finding->evidence, HasSubstr("takes 12.0 µs more; in all it wins 51.5 µs"));
  EXPECT_THAT(finding->action, HasSubstr("keep the layers named here"));
}

TEST_F(TwoPrecisions, WhereMoreIsLostThanWonItDoesNotPay) {
  const std::optional<Finding> finding = Compare({0.9, 0.9, 1.4, 0.9, 0.9, 0.9}, 30);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->kind, "low-precision-does-not-pay");
  EXPECT_THAT(finding->evidence, HasSubstr("in all it loses"));
}

TEST_F(TwoPrecisions, WithinTheNoiseNothingIsWonOrLost) {
  const std::optional<Finding> finding = Compare({0.5, 1.04, 1.4, 0.96, 1.0, 0.5}, 0);
  ASSERT_TRUE(finding);
  EXPECT_THAT(finding->evidence, HasSubstr("2 rows win 40.5 µs, 1 lose 40.0 µs, 3 are within 5 %"));
  EXPECT_EQ(finding->held_against, "in strict-f32");
  EXPECT_EQ(finding->cases.at(0).engine, "right");
  EXPECT_EQ(finding->cases.at(0).candidate, "right");
  EXPECT_TRUE(finding->overlaps);
}

TEST_F(TwoPrecisions, WhatIsComputedAsWideAndSlowerIsAdvisedToRunSo) {
  for (ProfiledLayer& layer : run.layers) layer.input_tensors = {{"f32", {}, ""}};
  EXPECT_THAT(Compare({1.0, 1.0, 1.4, 1.0, 1.0, 1.0}, 12)->action, HasSubstr("run strict-f32 here"));
  // What wins in all is not to be given up for the layers that are as wide as before.
  const std::optional<Finding> finding = Compare({0.5, 0.5, 1.4, 1.0, 1.0, 1.0}, 12);
  EXPECT_EQ(finding->kind, "low-precision-losses");
  EXPECT_THAT(finding->action, HasSubstr("keep the layers named here"));
  EXPECT_THAT(Compare({0.5, 0.5, 1.1, 0.5, 0.5, 0.5}, 12)->action, HasSubstr("keep the values in one precision"));
}

TEST_F(TwoPrecisions, WhereEveryLayerGainsThereIsNothingToSay) {
  EXPECT_FALSE(Compare({0.5, 0.6, 0.7, 0.8, 0.9, 1.0}, 0));
}

}  // namespace
}  // namespace infimum::run_findings_test
