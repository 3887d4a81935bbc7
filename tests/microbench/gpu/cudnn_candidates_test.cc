// cuDNN itself, which answers for devices that are not here. A process of its own: it loads the stub of libcuda.
#include "microbench/libraries/cudnn/cudnn_candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "microbench/gpu/device/symmetric_values.h"
#include "microbench/libraries/cudnn/cudnn_graph.h"
#include "microbench/libraries/cudnn/cudnn_library.h"
#include "tests/support/folders.h"
#include "tests/support/temporary_folder.h"

namespace infimum::cuda {
namespace {

using std::string_literals::operator""s;
using ::testing::HasSubstr;

GpuProperties PropertiesOf(const std::string& name) {
  std::ifstream file(testing::SourceFolder() + "/db/data/gpus/" + name + ".json");
  return *GpuProperties::Parse(std::string(std::istreambuf_iterator<char>(file), {}), name);
}

class CudnnCandidatesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const Result<CudnnLibrary> cudnn = CudnnLibrary::Load();
    if (!cudnn.ok()) GTEST_SKIP() << cudnn.error().message;
    has_compiler_ = LoadDriverOrStub();
  }

  // Of the workload's own contract.
  static CandidateList List(const std::string& text, const std::string& gpu = "h200",
                            CandidateTier tier = CandidateTier::kEngine,
                            std::optional<NumericContract> contract = std::nullopt) {
    const Result<Workload> workload = ParseWorkload(text);
    EXPECT_TRUE(workload.ok()) << text;
    const Result<CandidateList> list = CudnnCandidates(*workload, contract.value_or(NativeContract(*workload)), tier,
                                                       CudnnTarget::Of(PropertiesOf(gpu)));
    EXPECT_TRUE(list.ok()) << (list.ok() ? "" : list.error().message);
    return list.ok() ? *list : CandidateList();
  }

  static std::string Convolution(const std::string& type) {
    return "convolution dtype=" + type + ":" + type + ":" + type +
           " in=1x64x56x56 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 bias=no "
           "weights=const";
  }

  bool has_compiler_ = false;
};

// A model's own values: the weights of each output channel have a scale.
TEST_F(CudnnCandidatesTest, ScalesForEachChannelAreATensorOfTheGraph) {
  const GpuProperties gpu = PropertiesOf("h200");
  for (const std::string& text : {Convolution("s8"), std::string("matmul dtype=s8:s8:s8 a=1x128x768 b=1x768x64 bias=no "
                                                                 "weights=const")}) {
    SCOPED_TRACE(text);
    cpu::ValuedRegion problem = BenchmarkedRegion(*ParseWorkload(text));
    cpu::LayerValues& values = problem.values.front();
    const double output = values.output->scale();
    values.operands[1] = {std::vector<double>(64, 1.0 / 72), std::vector<double>(64, 0)};
    for (std::size_t c = 0; c < 64; ++c) values.operands[1].scales[c] /= static_cast<double>(c + 1);
    const CudnnForm form{.channels_last = text.starts_with("convolution")};
    Result<CudnnGraph> graph = CudnnGraph::Build(problem, form, gpu);
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    const auto scales =
        std::ranges::find_if(graph->tensors(), [](const auto& tensor) { return !tensor.own_values.empty(); });
    ASSERT_NE(scales, graph->tensors().end());
    ASSERT_EQ(scales->own_values.size(), 64U);
    EXPECT_EQ(ElementCount(scales->binding.placement.shape), 64);
    EXPECT_NEAR(scales->own_values[1] * output, 1.0 / 64 / 72 / 2, 1e-12);
    const Result<std::vector<cudnn::Plan>> plans = graph->Plans(CandidateTier::kEngine, 100);
    ASSERT_TRUE(plans.ok()) << plans.error().message;
    EXPECT_GE(plans->size(), has_compiler_ ? 1U : 0U);
    values.operands[0].zeros = {3};
    EXPECT_THAT(CudnnGraph::Build(problem, form, gpu).error().message, HasSubstr("zero points"));
  }
}

TEST_F(CudnnCandidatesTest, EveryGenerationHasEnginesForConvolutions) {
  for (const char* gpu : {"tesla-t4", "a100-sxm4-40gb", "h100-sxm", "h200", "b200"}) {
    EXPECT_GE(List(Convolution("f16"), gpu).candidates.size(), 20u) << gpu;
    EXPECT_GE(List(Convolution("f32"), gpu).candidates.size(), 5u) << gpu;
  }
  // Turing has no Tensor Cores for bf16, Ampere has.
  const auto count = [](const CandidateList& list) {
    return std::ranges::count_if(list.candidates, [](const OfferedCandidate& offered) {
      return offered.notes.find("tensor-core") != std::string::npos;
    });
  };
  EXPECT_GT(count(List(Convolution("bf16"), "a100-sxm4-40gb")), count(List(Convolution("bf16"), "tesla-t4")));
}

TEST_F(CudnnCandidatesTest, EachHasANameOfItsOwn) {
  for (const std::string& text :
       {Convolution("f16"), std::string("matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x3072 bias=no weights=const")}) {
    std::set<std::string> names;
    for (const OfferedCandidate& offered : List(text).candidates)
      EXPECT_TRUE(names
                      .insert(offered.candidate.name() + " " + offered.candidate.input_layout + " " +
                              offered.candidate.output_layout)
                      .second)
          << offered.candidate.name();
  }
}

TEST_F(CudnnCandidatesTest, OneIsTheLibrarysChoiceAndAnswersRepeat) {
  const CandidateList list = List(Convolution("f16"), "h200", CandidateTier::kHeuristic);
  ASSERT_GE(list.candidates.size(), 16u);
  for (std::size_t i = 0; i < list.candidates.size(); ++i)
    EXPECT_EQ(list.candidates[i].candidate.library_choice, i == 0) << i;
  EXPECT_EQ(list, List(Convolution("f16"), "h200", CandidateTier::kHeuristic));
}

TEST_F(CudnnCandidatesTest, StrictProductsHaveNoTensorCoresAndTf32OnesHaveNothingElse) {
  const std::string attention = "attention dtype=f16:-:f16 n=4 heads=2 kv_heads=2 q=128 kv=128 head=64 mask=full ";
  EXPECT_THAT(List(attention + "masks=2x1x128x128").refusal, HasSubstr("repeated over the batch"));
  EXPECT_THAT(List(attention + "masks=4x1x128x128,1x2x128x128").refusal, HasSubstr("one mask"));
  const CandidateList strict = List(Convolution("f32"));
  const CandidateList tf32 = List(Convolution("f32"), "h200", CandidateTier::kEngine, NumericContract::kTf32);
  ASSERT_FALSE(strict.candidates.empty());
  ASSERT_FALSE(tf32.candidates.empty());
  for (const OfferedCandidate& offered : strict.candidates)
    EXPECT_EQ(offered.notes.find("tensor-core"), std::string::npos);
  for (const OfferedCandidate& offered : tf32.candidates)
    EXPECT_TRUE(offered.notes.find("tensor-core") != std::string::npos ||
                offered.notes.find("down-converts-inputs") != std::string::npos)
        << offered.candidate.name();
}

TEST_F(CudnnCandidatesTest, IntegerProductsAreExactUnderEveryContract) {
  const CandidateList own = List(Convolution("s8"));
  ASSERT_FALSE(own.candidates.empty());
  for (const NumericContract contract : {NumericContract::kStrictF32, NumericContract::kTf32, NumericContract::kF16})
    EXPECT_EQ(List(Convolution("s8"), "h200", CandidateTier::kEngine, contract).candidates, own.candidates)
        << Name(contract);
}

TEST_F(CudnnCandidatesTest, EachTierHoldsTheOneBeforeIt) {
  const auto names = [](const std::string& type, CandidateTier tier) {
    std::set<std::string> found;
    for (const OfferedCandidate& offered : List(Convolution(type), "h200", tier).candidates)
      found.insert(offered.candidate.name() + " " + offered.candidate.input_layout);
    return found;
  };
  for (const char* type : {"f16", "f32"}) {
    const std::set<std::string> heuristic = names(type, CandidateTier::kHeuristic);
    const std::set<std::string> engine = names(type, CandidateTier::kEngine);
    EXPECT_TRUE(std::ranges::includes(engine, heuristic)) << type;
    EXPECT_GT(engine.size(), heuristic.size()) << type;
    EXPECT_TRUE(std::ranges::includes(names(type, CandidateTier::kExhaustive), engine)) << type;
  }
}

TEST_F(CudnnCandidatesTest, FamiliesThatTheGraphHas) {
  if (!has_compiler_)
    GTEST_SKIP() << "neither a driver nor the toolkit's stub: engines compiled at run time are missing";
  for (const char* text : {
           "convolution dtype=f16:f16:f16 in=1x64x56 out_channels=64 kernel=3 stride=1 dilation=1 pad=1,1 groups=1 "
           "bias=no "
           "weights=const",
           "convolution dtype=f16:f16:f16 in=1x64x16x56x56 out_channels=64 kernel=3x3x3 stride=1x1x1 dilation=1x1x1 "
           "pad=1,1,1,1,1,1 groups=1 bias=no weights=const",
           "convolution dtype=f16:f16:f16 in=1x96x56x56 out_channels=96 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
           "groups=96 bias=no weights=const",
           "convolution dtype=f16:f16:f16 in=1x64x28x28 out_channels=32 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,0,0 "
           "groups=1 bias=no weights=const transposed=yes",
           "convolution dtype=s8:s8:s8 in=1x64x56x56 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
           "groups=1 bias=no weights=const",
           "matmul dtype=bf16:bf16:bf16 a=1x128x768 b=1x768x3072 bias=column weights=const",
           "matmul dtype=f16:f16:f16 a=12x128x64 b=12x64x128 bias=no weights=variable",
           "pointwise kind=relu dtype=f32:-:f32 in=802816",
           "pointwise kind=gelu_erf dtype=f16:-:f16 in=802816",
           "pointwise kind=add dtype=f16:f16:f16 in=128x768,768",
           "reduction kind=sum dtype=f32:-:f32 in=1280x49 axes=1",
           "reduction kind=mean dtype=f32:-:f32 in=1280x49 axes=1",
           "pooling kind=max dtype=f16:-:f16 in=1x64x112x112 out=1x64x56x56 kernel=3x3 stride=2x2 dilation=1x1 "
           "pad=1,1,1,1",
           "normalization kind=layer dtype=f32:f32:f32 in=128x768 axis=1 scale=yes bias=yes",
           "normalization kind=rms dtype=f16:f16:f16 in=128x768 axis=1 scale=yes bias=no",
           "attention dtype=f16:-:f16 n=1 heads=12 kv_heads=12 q=128 kv=128 head=64 mask=causal",
           "attention dtype=f16:-:f16 n=1 heads=12 kv_heads=12 q=128 kv=128 head=64 mask=causal window=64",
           "attention dtype=bf16:-:bf16 n=1 heads=32 kv_heads=8 q=1024 kv=2048 head=128 mask=causal window=512",
           "attention dtype=f16:-:f16 n=1 heads=12 kv_heads=12 q=128 kv=128 head=64 mask=full",
           "attention dtype=f16:-:f16 n=2 heads=12 kv_heads=4 q=128 kv=128 head=64 mask=full masks=1x12x128x128",
           "attention dtype=f16:-:f16 n=2 heads=12 kv_heads=4 q=128 kv=128 head=64 mask=full masks=2x1x128x128",
           "region [convolution dtype=f16:f16:f16 in=1x64x56x56 out_channels=256 kernel=1x1 stride=1x1 dilation=1x1 "
           "pad=0,0,0,0 groups=1 bias=yes weights=const](in0,w0,w1) ; [pointwise kind=add dtype=f16:f16:f16 "
           "in=802816,802816](%0,in1) ; [pointwise kind=relu dtype=f16:-:f16 in=802816](%1)",
           "region [pointwise kind=add dtype=f16:f16:f16 in=98304,98304](in0,in1) ; [normalization kind=layer "
           "dtype=f16:f16:f16 in=128x768 axis=1 scale=yes bias=yes](%0,w0,w1)",
           "region [pointwise kind=add dtype=f16:f16:f16 in=98304,98304](in0,in1) ; [normalization kind=rms "
           "dtype=f16:f16:f16 in=128x768 axis=1 scale=yes bias=no](%0,w0)",
           "region [pointwise kind=multiply dtype=f16:f16:f16 in=196608,1](in0,w0) ; [pointwise kind=add "
           "dtype=f16:f16:f16 in=12x16384,16384](%0,in1)",
           "region [matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x3072 bias=column weights=const](in0,w0,w1) ; "
           "[pointwise "
           "kind=gelu_erf dtype=f16:-:f16 in=393216](%0)",
       }) {
    const CandidateList list = List(text);
    EXPECT_FALSE(list.candidates.empty()) << text << "\n" << list.refusal;
  }
}

// Whose results are of 16 bits on Blackwell alone.
TEST_F(CudnnCandidatesTest, AttentionOfEightBitFloats) {
  const std::string shapes = " n=2 heads=12 kv_heads=4 q=512 kv=512 head=128 mask=";
  for (const char* mask : {"no", "causal"}) {
    const std::string text = "attention dtype=f8e4m3:-:f8e4m3" + shapes + mask;
    for (const char* gpu : {"h200", "b200"}) EXPECT_EQ(List(text, gpu).candidates.empty(), !has_compiler_) << text;
  }
  const std::string half = "attention dtype=f8e4m3:-:f16" + shapes + "no";
  EXPECT_EQ(List(half, "b200").candidates.empty(), !has_compiler_);
  EXPECT_THAT(List(half, "h200").refusal, HasSubstr("only supported on Blackwell"));
  EXPECT_TRUE(List("attention dtype=f8e4m3:-:f8e4m3" + shapes + "no", "a100-sxm4-40gb").candidates.empty());
  EXPECT_THAT(List("attention dtype=f8e4m3:f16:f8e4m3" + shapes + "full").refusal,
              HasSubstr("8-bit floats with a mask that is added"));
  EXPECT_THAT(List("attention dtype=f4e2m1:-:f16" + shapes + "no", "b200").refusal, HasSubstr("4-bit floats"));
}

// NVFP4 and MX are Blackwell's.
TEST_F(CudnnCandidatesTest, ProductsOfBlocksWithScales) {
  const std::string shapes = " a=1x128x768 b=1x768x3072 bias=no weights=const scales=";
  for (const std::string& text :
       {"matmul dtype=f4e2m1:f4e2m1:f16" + shapes + "16x1:f8e4m3 a_scales=1x16:f8e4m3",
        "matmul dtype=f4e2m1:f4e2m1:bf16" + shapes + "32x1:f8e8m0 a_scales=1x32:f8e8m0",
        "matmul dtype=f8e4m3:f8e4m3:f16" + shapes + "32x1:f8e8m0 a_scales=1x32:f8e8m0",
        "region [matmul dtype=f8e4m3:f8e4m3:f16 a=1x100x768 b=1x768x3072 bias=column weights=const scales=32x1:f8e8m0 "
        "a_scales=1x32:f8e8m0](in0,w0,w1,w2,in1) ; [pointwise kind=relu dtype=f16:-:f16 in=307200](%0)"s}) {
    const CandidateList blackwell = List(text, "b200");
    EXPECT_EQ(blackwell.candidates.empty(), !has_compiler_) << text << "\n" << blackwell.refusal;
    EXPECT_TRUE(List(text, "h200").candidates.empty()) << text;
  }
  const std::string by_rows = "matmul dtype=f8e4m3:f8e4m3:f16" + shapes + "768x1:f32 a_scales=1x768:f32";
  EXPECT_THAT(List(by_rows, "b200").refusal, HasSubstr("scales of blocks other than f8e4m3 and f8e8m0"));
}

TEST_F(CudnnCandidatesTest, WhatTheGraphLacksIsRefusedWithTheReason) {
  const CandidateList softmax = List("softmax kind=softmax dtype=f32:-:f32 in=1536x128x1 axis=1");
  EXPECT_TRUE(softmax.candidates.empty());
  EXPECT_THAT(softmax.refusal, HasSubstr("no operation for softmax"));
  const CandidateList unsigned_bytes = List(
      "convolution dtype=u8:s8:u8 in=1x64x56x56 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
      "groups=1 "
      "bias=no weights=const");
  EXPECT_TRUE(unsigned_bytes.candidates.empty());
  EXPECT_THAT(unsigned_bytes.refusal, HasSubstr("no tensors of u8"));
  const CandidateList strict = List("matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x3072 bias=no weights=const");
  EXPECT_TRUE(strict.candidates.empty());
  EXPECT_FALSE(strict.refusal.empty());
}

TEST_F(CudnnCandidatesTest, WhatIsNotListedOfAllSettingsIsSaid) {
  const Result<CandidateList> list =
      CudnnCandidates(*ParseWorkload(Convolution("bf16")), NumericContract::kBf16, CandidateTier::kExhaustive,
                      CudnnTarget::Of(PropertiesOf("h200")), 10);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->candidates.size(), 20U);
  EXPECT_THAT(list->refusal, HasSubstr("2 forms may have more settings than the 10 that are listed"));
}

TEST_F(CudnnCandidatesTest, AContractOfOtherStorageHasNone) {
  const CandidateList list = List(Convolution("f16"), "h200", CandidateTier::kEngine, NumericContract::kBf16);
  EXPECT_TRUE(list.candidates.empty());
  EXPECT_THAT(list.refusal, HasSubstr("bf16 asks for"));
}

TEST_F(CudnnCandidatesTest, ADeviceOlderThanCudnnHasNoCandidates) {
  GpuProperties gpu = PropertiesOf("h200");
  std::string text = gpu.json();
  text.replace(text.find("\"deviceVer\":900"), 15, "\"deviceVer\":300");
  const Result<GpuProperties> kepler = GpuProperties::Parse(text, "kepler");
  ASSERT_TRUE(kepler.ok());
  const Workload workload = *ParseWorkload(Convolution("f16"));
  const Result<CandidateList> list =
      CudnnCandidates(workload, NumericContract::kF16, CandidateTier::kHeuristic, CudnnTarget::Of(*kepler));
  // Refused as a whole, or no engine: never one that such a device has not.
  if (list.ok()) {
    EXPECT_TRUE(list->candidates.empty()) << list->candidates.front().candidate.name();
  }
}

// Of an engine that is compiled already: for the others cuDNN asks the device's driver.
TEST_F(CudnnCandidatesTest, APlanThatWasKeptIsReadByTheNextProcess) {
  const testing::TemporaryFolder folder;
  const CodeCache cache(folder.path());
  const auto graph_of = [](const std::string& layer, double slope = cpu::LayerValues().leaky_slope) {
    cpu::ValuedRegion problem = BenchmarkedRegion(*ParseWorkload(layer));
    problem.values[0].leaky_slope = slope;
    return *CudnnGraph::Build(problem, CudnnForm(), PropertiesOf("h200"));
  };
  CudnnGraph first = graph_of(Convolution("f16"));
  const Result<std::vector<cudnn::Plan>> plans = first.Plans(CandidateTier::kEngine, 1000);
  ASSERT_TRUE(plans.ok()) << plans.error().message;
  const auto precompiled =
      std::ranges::find_if(*plans, [](const cudnn::Plan& plan) { return !plan.notes.compiles_at_run_time; });
  ASSERT_NE(precompiled, plans->end());
  EXPECT_FALSE(first.CompilesAtRunTime(precompiled->name));
  const auto is_read = [&](CudnnGraph& graph) {
    const Result<bool> chosen = graph.Choose(precompiled->name, cache);
    EXPECT_TRUE(chosen.ok()) << chosen.error().message;
    return chosen.ok() && *chosen;
  };
  EXPECT_FALSE(is_read(first));
  CudnnGraph second = graph_of(Convolution("f16"));
  EXPECT_TRUE(is_read(second));
  EXPECT_EQ(second.workspace(), first.workspace());

  CudnnGraph other = graph_of(Convolution("bf16"));
  EXPECT_FALSE(is_read(other)) << "another layer's";
  for (int turn = 0; turn < 2; ++turn) {
    CudnnGraph of_model = graph_of(Convolution("f16"), 0.3);
    EXPECT_FALSE(is_read(of_model)) << "with values of its own";
  }
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) std::ofstream(file.path()) << "damaged";
  CudnnGraph third = graph_of(Convolution("f16"));
  EXPECT_FALSE(is_read(third)) << "damaged";
  CudnnGraph fourth = graph_of(Convolution("f16"));
  EXPECT_TRUE(is_read(fourth));
}

TEST_F(CudnnCandidatesTest, ANameSaysWhichPlanItIs) {
  const Workload workload = *ParseWorkload(Convolution("f16"));
  const GpuProperties gpu = PropertiesOf("h200");
  int compiled = 0;
  const CandidateList list = List(Convolution("f16"));
  for (const OfferedCandidate& offered : list.candidates) {
    const std::optional<CudnnChoice> choice = FindChoice(workload, NumericContract::kF16, offered.candidate);
    ASSERT_TRUE(choice) << offered.candidate.name();
    // Precompiled engines become plans without a device; the others would need its driver.
    if (offered.notes.find("compiled-at-run-time") != std::string::npos || compiled == 6) continue;
    Result<CudnnGraph> graph = CudnnGraph::Build(BenchmarkedRegion(workload), choice->form, gpu);
    ASSERT_TRUE(graph.ok());
    const Result<bool> chosen = graph->Choose(choice->plan);
    EXPECT_TRUE(chosen.ok()) << offered.candidate.name() << ": " << (chosen.ok() ? "" : chosen.error().message);
    ++compiled;
  }
  EXPECT_GT(compiled, 0);
  Candidate other = list.candidates.front().candidate;
  other.output_layout = "abdc";
  EXPECT_FALSE(FindChoice(workload, NumericContract::kF16, other));
  Result<CudnnGraph> graph = CudnnGraph::Build(BenchmarkedRegion(workload), {true, false, 1}, gpu);
  ASSERT_TRUE(graph.ok());
  for (const char* wrong : {"", "eng", "eng1x", "eng1_k2", "eng1_k2=", "engine", "eng9999", "eng0_k2=-7"})
    EXPECT_FALSE(graph->Choose(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace infimum::cuda
