// GEMMs as BLAS libraries take them, and its algorithms, from a recording of answers that was made up for this test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "microbench/gpu/bound_program.h"
#include "microbench/gpu/device/symmetric_values.h"
#include "microbench/libraries/cublaslt/calls/cublaslt_gemm.h"
#include "microbench/libraries/cublaslt/gemm_program.h"
#include "microbench/libraries/cublaslt/gemm_recording.h"
#include "microbench/reference/random_fill.h"
#include "tests/microbench/gpu/pretended_gpu.h"
#include "tests/microbench/gpu/recorded_gemm_library.h"
#include "tests/support/parsed_workload.h"

namespace infimum::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Result<BoundGemm> Bound(const std::string& text, NumericContract contract = NumericContract::kF16,
                        const GemmForm& form = {}) {
  return BindGemm(BenchmarkedRegion(testing::ParsedWorkload(text)), contract, form);
}

std::string Problem(const std::string& text, NumericContract contract = NumericContract::kF16,
                    const GemmForm& form = {}) {
  const Result<BoundGemm> gemm = Bound(text, contract, form);
  return gemm.ok() ? Format(gemm->problem) : gemm.error().message;
}

constexpr const char* kPlain = "matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x3072 bias=no weights=const";

TEST(GemmProblem, OfLayersAndRegions) {
  EXPECT_EQ(Problem(kPlain), "1x128x3072x768 f16:f16:f16 sums=f32");
  EXPECT_EQ(Problem(kPlain, NumericContract::kF16, {true, GemmSums::kF16}),
            "1x128x3072x768 f16:f16:f16 sums=f16 b=transposed");
  const std::string biased = "matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x3072 bias=column weights=const";
  EXPECT_EQ(Problem(biased, NumericContract::kStrictF32), "1x128x3072x768 f32:f32:f32 sums=f32 bias");
  EXPECT_EQ(Bound(biased, NumericContract::kStrictF32)->problem.bias, DataType::kF32);
  EXPECT_EQ(Bound("matmul dtype=f8e4m3:f8e4m3:f8e4m3 a=1x128x768 b=1x768x3072 bias=no weights=const",
                  NumericContract::kFp8, {true})
                ->problem.factor,
            1);
  EXPECT_EQ(
      Problem("matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x3072 bias=full weights=const", NumericContract::kTf32),
      "1x128x3072x768 f32:f32:f32 sums=tf32 addend");
  EXPECT_EQ(Problem("matmul dtype=f16:f16:f16 a=12x128x64 b=12x64x128 bias=no weights=variable"),
            "12x128x128x64 f16:f16:f16 sums=f32 strides=8192,8192");
  EXPECT_EQ(Problem("matmul dtype=f16:f16:f16 a=1x128x64 b=12x64x128 bias=no weights=variable"),
            "12x128x128x64 f16:f16:f16 sums=f32 strides=0,8192");
  EXPECT_EQ(Problem("region [matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x3072 bias=column weights=const](in0,w0,w1) ; "
                    "[pointwise kind=gelu_tanh dtype=f16:-:f16 in=393216](%0)"),
            "1x128x3072x768 f16:f16:f16 sums=f32 bias gelu_tanh");
  EXPECT_EQ(Problem("region [matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x768 bias=column weights=const](in0,w0,w1) ; "
                    "[pointwise kind=add dtype=f16:f16:f16 in=98304,98304](%0,in1)"),
            "1x128x768x768 f16:f16:f16 sums=f32 bias addend");
}

TEST(GemmProblem, TensorsInTheOrderInWhichTheyAreBound) {
  const Result<BoundGemm> gemm = Bound(
      "region [matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x768 bias=column weights=const](in0,w0,w1) ; "
      "[pointwise kind=add dtype=f16:f16:f16 in=98304,98304](in1,%0) ; [pointwise kind=relu dtype=f16:-:f16 "
      "in=98304](%1)",
      NumericContract::kF16, {true});
  ASSERT_TRUE(gemm.ok());
  std::vector<RegionOperand> tensors;
  for (const GpuBinding& binding : gemm->bindings) tensors.push_back(binding.tensor);
  using Source = RegionOperand::Source;
  EXPECT_THAT(tensors, ElementsAre(RegionOperand{Source::kInput, 0}, RegionOperand{Source::kWeight, 0},
                                   RegionOperand{Source::kWeight, 1}, RegionOperand{Source::kInput, 1},
                                   RegionOperand{Source::kMember, 2}));
  // The second operand lies column by column.
  EXPECT_EQ(gemm->bindings[1].placement.strides, (std::vector<std::int64_t>{589824, 1, 768}));
}

// Scales of both operands, where cuBLAS's documentation has them.
TEST(GemmProblem, ScalesOfBlocks) {
  const auto text = [](const char* type, const char* scales) {
    return std::string("matmul dtype=") + type + ":" + type +
           ":bf16 a=1x200x512 b=1x512x384 bias=column weights=const " + scales;
  };
  const GemmForm form{true};
  const std::string f8 = "1x200x384x512 f8e4m3:f8e4m3:bf16 sums=f32 b=transposed scales=";
  EXPECT_EQ(Problem(text("f4e2m1", "scales=16x1:f8e4m3 a_scales=1x16:f8e4m3"), NumericContract::kFp8, form),
            "1x200x384x512 f4e2m1:f4e2m1:bf16 sums=f32 b=transposed scales=vec16_ue4m3,vec16_ue4m3 bias");
  EXPECT_EQ(Problem(text("f8e4m3", "scales=32x1:f8e8m0 a_scales=1x32:f8e8m0"), NumericContract::kFp8, form),
            f8 + "vec32_ue8m0,vec32_ue8m0 bias");
  EXPECT_EQ(Problem(text("f8e4m3", "scales=512x1:f32 a_scales=1x512:f32"), NumericContract::kFp8, form),
            f8 + "outer_vec_32f,outer_vec_32f bias");
  const std::string by_128 = text("f8e4m3", "scales=128x128:f32 a_scales=1x128:f32");
  EXPECT_EQ(Problem(by_128, NumericContract::kFp8, form), f8 + "vec128_32f,blk128x128_32f bias");

  // Blocks that the matrix cuts, and a depth of one of them.
  EXPECT_EQ(Problem("matmul dtype=f8e4m3:f8e4m3:bf16 a=1x128x128 b=1x128x64 bias=no weights=const scales=128x64:f32 "
                    "a_scales=1x128:f32",
                    NumericContract::kFp8, form),
            "1x128x64x128 f8e4m3:f8e4m3:bf16 sums=f32 b=transposed scales=vec128_32f,blk128x128_32f");

  const Result<BoundGemm> gemm = Bound(by_128, NumericContract::kFp8, form);
  ASSERT_TRUE(gemm.ok());
  std::vector<std::int64_t> operands;  // a, b, their scales, bias, result
  for (const GpuBinding& binding : gemm->bindings) operands.push_back(binding.tensor.index);
  EXPECT_EQ(operands, (std::vector<std::int64_t>{0, 1, 4, 3, 2, 0}));
  // Rows of a lie together; blocks of b's depth do, filled up to four.
  EXPECT_EQ(gemm->bindings[2].placement.strides, (std::vector<std::int64_t>{800, 1, 200}));
  EXPECT_EQ(gemm->bindings[3].placement.strides[1], 1);
  EXPECT_EQ(gemm->bindings[3].placement.strides[2], 4);
  const Result<BoundGemm> tiled =
      Bound(text("f4e2m1", "scales=16x1:f8e4m3 a_scales=1x16:f8e4m3"), NumericContract::kFp8, form);
  ASSERT_TRUE(tiled.ok());
  EXPECT_EQ(tiled->bindings[2].placement, TensorPlacement::InScaleTiles(Shape{{1, 200, 32}}, false));
  EXPECT_EQ(tiled->bindings[3].placement, TensorPlacement::InScaleTiles(Shape{{1, 32, 384}}, true));

  // What is in memory, in emitted programs, is as much.
  for (const std::string& layer : {by_128, text("f4e2m1", "scales=16x1:f8e4m3 a_scales=1x16:f8e4m3"),
                                   text("f8e4m3", "scales=32x1:f8e8m0 a_scales=1x32:f8e8m0"),
                                   text("f8e4m3", "scales=512x1:f32 a_scales=1x512:f32")}) {
    const Result<BoundGemm> bound = Bound(layer, NumericContract::kFp8, form);
    ASSERT_TRUE(bound.ok()) << layer;
    for (const bool of_b : {false, true}) {
      const cublaslt::ScaleMemory memory =
          cublaslt::ScalesOf(cublaslt::Gemm{.rows = 200, .columns = 384, .depth = 512},
                             std::string(Name(of_b ? bound->problem.b_scales : bound->problem.a_scales)), of_b);
      const GpuBinding& binding = bound->bindings[of_b ? 3 : 2];
      EXPECT_EQ(memory.count, binding.placement.elements()) << layer;
      EXPECT_EQ(memory.type, Name(binding.type));
    }
  }

  for (const char* scales : {"scales=32x1:f32 a_scales=1x32:f32", "scales=32x1:f8e8m0",
                             "scales=128x1:f32 a_scales=1x512:f32", "scales=16x1:f8e8m0 a_scales=1x16:f8e8m0"})
    EXPECT_THAT(Problem(text("f8e4m3", scales), NumericContract::kFp8, form), HasSubstr("unsupported: ")) << scales;
  EXPECT_THAT(Problem("matmul dtype=f4e2m1:f4e2m1:bf16 a=1x200x512 b=1x512x384 bias=no weights=const",
                      NumericContract::kFp8, form),
              HasSubstr("unsupported: 4-bit floats without"));
}

constexpr const char* kSparse = "matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x3072 bias=no weights=const sparsity=2:4";

// Libraries that multiply zeros have the product as any other; one of sparse weights has no other.
TEST(GemmProblem, SparseWeights) {
  EXPECT_EQ(Problem(kSparse), "1x128x3072x768 f16:f16:f16 sums=f32");
  EXPECT_EQ(Problem(kSparse, NumericContract::kF16, {true, std::nullopt, true}),
            "1x128x3072x768 f16:f16:f16 sums=f32 b=transposed b=2:4");
  EXPECT_THAT(Problem(kPlain, NumericContract::kF16, {false, std::nullopt, true}), HasSubstr("are not sparse"));
  const auto forms = [](const std::string& text, NumericContract contract = NumericContract::kF16,
                        CandidateTier tier = CandidateTier::kEngine) {
    return GemmFormsOf(cpu::RegionOf(testing::ParsedWorkload(text)), contract, tier, true);
  };
  EXPECT_THAT(forms(kPlain), IsEmpty());
  EXPECT_THAT(forms(kSparse), ElementsAre(GemmForm{false, std::nullopt, true}, GemmForm{true, std::nullopt, true}));
  EXPECT_THAT(forms(kSparse, NumericContract::kF16, CandidateTier::kHeuristic), SizeIs(1));
  EXPECT_THAT(forms("matmul dtype=s8:s8:s32 a=1x128x768 b=1x768x3072 bias=no weights=const sparsity=2:4",
                    NumericContract::kInt8),
              ElementsAre(GemmForm{true, std::nullopt, true}));
  for (const char* types : {"f32:f32:f32", "f64:f64:f64"})
    EXPECT_THAT(
        Problem("matmul dtype=" + std::string(types) + " a=1x128x768 b=1x768x3072 bias=no weights=const sparsity=2:4",
                NumericContract::kStrictF32, {false, std::nullopt, true}),
        HasSubstr("unsupported: "))
        << types;
}

TEST(GemmProblem, WhatBlasCannot) {
  for (const char* text : {
           "convolution dtype=f16:f16:f16 in=1x64x56x56 out_channels=64 kernel=1x1 stride=1x1 dilation=1x1 pad=0,0,0,0 "
           "groups=1 bias=no weights=const",
           "matmul dtype=u8:s8:s32 a=1x128x768 b=1x768x768 bias=no weights=const",
           "matmul dtype=f16:f16:f16 a=2x3x16x16 b=1x3x16x16 bias=no weights=variable",
           "region [matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x768 bias=no weights=const](in0,w0) ; "
           "[pointwise kind=tanh dtype=f16:-:f16 in=98304](%0)",
           "region [matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x768 bias=no weights=const](in0,w0) ; "
           "[pointwise kind=relu dtype=f16:-:f16 in=98304](%0) ; "
           "[pointwise kind=add dtype=f16:f16:f16 in=98304,98304](%1,in1)",
       })
    EXPECT_THAT(Problem(text), HasSubstr("unsupported: ")) << text;
}

TEST(GemmForms, EightBitsAreTransposedAndOnlyConstantsMayBe) {
  const auto forms = [](const std::string& text, NumericContract contract) {
    return GemmFormsOf(cpu::RegionOf(testing::ParsedWorkload(text)), contract, CandidateTier::kEngine);
  };
  EXPECT_THAT(forms(kPlain, NumericContract::kF16), SizeIs(4));
  EXPECT_THAT(forms("matmul dtype=s8:s8:s32 a=1x128x768 b=1x768x768 bias=no weights=const", NumericContract::kInt8),
              ElementsAre(GemmForm{true}));
  const std::string f8 = "matmul dtype=f8e4m3:f8e4m3:bf16 a=1x128x768 b=1x768x768 bias=no weights=";
  EXPECT_THAT(forms(f8 + "const", NumericContract::kFp8), ElementsAre(GemmForm{true}, GemmForm{true, GemmSums::kFast}));
  EXPECT_THAT(forms(f8 + "variable", NumericContract::kFp8),
              ElementsAre(GemmForm{false}, GemmForm{false, GemmSums::kFast}));
  EXPECT_EQ(Suffix({true, GemmSums::kFast}), "/b=transposed/acc=fast");
  EXPECT_THAT(
      forms("matmul dtype=f32:f32:f32 a=12x128x64 b=12x64x128 bias=no weights=variable", NumericContract::kTf32),
      ElementsAre(GemmForm{false}));
  EXPECT_THAT(
      forms("matmul dtype=f32:f32:f32 a=12x128x64 b=12x64x128 bias=no weights=variable", NumericContract::kStrictF32),
      ElementsAre(GemmForm{false}, GemmForm{false, GemmSums::kBf16x9}));
}

TEST(GemmAlgorithm, ItsNameSaysAllOfIt) {
  const cublaslt::Algorithm algorithm{21, 20, 7, 3, 2, 1, 5, 4, 6};
  EXPECT_EQ(cublaslt::Format(algorithm), "algo=21_tile=20_stages=7_splitk=3_red=2_swz=1_custom=5_inner=4_cluster=6");
  EXPECT_EQ(cublaslt::ParseAlgorithm(cublaslt::Format(algorithm)), algorithm);
  for (const char* wrong : {"", "algo=", "algo=1", "algo=1_tile=x", "gemm"})
    EXPECT_FALSE(cublaslt::ParseAlgorithm(wrong));
  EXPECT_FALSE(cublaslt::ParseAlgorithm(cublaslt::Format(algorithm) + "_more=1"));
}

// Answers of a library with three algorithms, of which the heuristic knows two and the device refuses some settings.
constexpr const char* kRecording = R"({"schema":"infimum.gemm-recording/2","library":"13.0.0","problems":{
  "1x128x3072x768 f16:f16:f16 sums=f32":{
    "heuristic":["algo=7_tile=20_stages=2_splitk=1_red=0_swz=0_custom=0_inner=0_cluster=0",
                 "algo=7_tile=18_stages=2_splitk=1_red=0_swz=0_custom=0_inner=0_cluster=0",
                 "algo=3_tile=5_stages=1_splitk=1_red=0_swz=0_custom=0_inner=0_cluster=0",
                 "algo=7_tile=20_stages=2_splitk=1_red=0_swz=0_custom=0_inner=0_cluster=0"],
    "ids":[3,7,9,11],
    "capabilities":{
      "3":{"tiles":[5],"stages":[1],"splits_k":false,"reductions":[],"swizzles":0,"custom":0},
      "7":{"tiles":[18,20],"stages":[2,3],"splits_k":false,"reductions":[],"swizzles":1,"custom":0},
      "9":{"tiles":[4],"stages":[0],"splits_k":true,"reductions":[1,2],"swizzles":0,"custom":1}},
    "accepted":["algo=9_tile=4_stages=0_splitk=2_red=1_swz=0_custom=0_inner=0_cluster=0",
                "algo=9_tile=4_stages=0_splitk=1_red=0_swz=0_custom=1_inner=0_cluster=0",
                "algo=9_tile=4_stages=0_splitk=2_red=2_swz=0_custom=1_inner=0_cluster=0",
                "algo=7_tile=18_stages=3_splitk=1_red=0_swz=1_custom=0_inner=0_cluster=0"]}}})";

TEST(GemmAlgorithms, Tiers) {
  const std::shared_ptr<GemmLibrary> library = *ReadGemmRecording(kRecording, "made-up.json");
  const GemmProblem problem = Bound(kPlain)->problem;
  const auto names = [&](CandidateTier tier, std::size_t most = 1000) {
    std::vector<std::string> texts;
    const Result<std::vector<cublaslt::Algorithm>> algorithms = GemmAlgorithms(*library, problem, tier, most);
    for (const cublaslt::Algorithm& algorithm : *algorithms)
      texts.push_back(std::to_string(algorithm.id) + "/" + std::to_string(algorithm.tile) + "/" +
                      std::to_string(algorithm.stages) + "/" + std::to_string(algorithm.split_k) + "/" +
                      std::to_string(algorithm.reduction) + "/" + std::to_string(algorithm.custom));
    return texts;
  };
  EXPECT_THAT(names(CandidateTier::kHeuristic), ElementsAre("7/20/2/1/0/0", "7/18/2/1/0/0", "3/5/1/1/0/0"));
  // Also of 9, which the heuristic does not have, the first settings that are accepted.
  EXPECT_THAT(names(CandidateTier::kEngine), ElementsAre("7/20/2/1/0/0", "7/18/2/1/0/0", "3/5/1/1/0/0", "9/4/0/1/0/1"));
  EXPECT_THAT(names(CandidateTier::kExhaustive),
              ElementsAre("7/20/2/1/0/0", "7/18/2/1/0/0", "3/5/1/1/0/0", "9/4/0/1/0/1", "7/18/3/1/0/0", "9/4/0/2/1/0",
                          "9/4/0/2/2/1"));
  EXPECT_THAT(names(CandidateTier::kExhaustive, 4), SizeIs(4));
}

TEST(GemmRecording, WhatIsRecordedAnswersTheSame) {
  const GemmProblem problem = Bound(kPlain)->problem;
  RecordingGemmLibrary recorder(*ReadGemmRecording(kRecording, "made-up.json"));
  const auto asked = *GemmAlgorithms(recorder, problem, CandidateTier::kExhaustive, 1000);
  const std::shared_ptr<GemmLibrary> again = *ReadGemmRecording(recorder.Text(), "again.json");
  EXPECT_EQ(*GemmAlgorithms(*again, problem, CandidateTier::kExhaustive, 1000), asked);
  EXPECT_EQ(again->version(), "13.0.0");
}

TEST(GemmRecording, AProblemThatWasNotAskedAboutAndFilesThatAreNone) {
  const std::shared_ptr<GemmLibrary> library = *ReadGemmRecording(kRecording, "made-up.json");
  GemmProblem other = Bound(kPlain)->problem;
  other.rows = 5;
  EXPECT_THAT(library->Ask(other).error().message, HasSubstr("no answers about 1x5x3072x768"));
  for (const std::string text : {"", "{}", R"({"schema":"x"})", R"({"schema":"infimum.gemm-recording/2"})",
                                 R"({"schema":"infimum.gemm-recording/2","library":"1","problems":{"a":{}}})"})
    EXPECT_THAT(ReadGemmRecording(text, "wrong.json").error().message, HasSubstr("wrong.json"));
}

TEST(GemmOffers, CandidatesByNameAndBack) {
  const std::shared_ptr<GemmLibrary> library = *ReadGemmRecording(kRecording, "made-up.json");
  const Workload workload = testing::ParsedWorkload(kPlain);
  const std::vector<GpuOffer> offers = GemmOffers(library, workload, NumericContract::kF16, CandidateTier::kEngine);
  ASSERT_THAT(offers, SizeIs(4));
  EXPECT_TRUE(offers[0].candidate.library_choice);
  EXPECT_EQ(offers[0].candidate.name(),
            "cublaslt/algo=7_tile=20_stages=2_splitk=1_red=0_swz=0_custom=0_inner=0_cluster=0");
  EXPECT_EQ(offers[0].candidate.input_layout, "abc");
  for (const GpuOffer& offer : offers) {
    const auto found = FindGemmOffer(library, workload, NumericContract::kF16, offer.candidate);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->candidate.name(), offer.candidate.name());
  }
  EXPECT_FALSE(FindGemmOffer(library, workload, NumericContract::kF16, {"cublaslt", "gemm", "", "", false}));
  EXPECT_FALSE(FindGemmOffer(library, workload, NumericContract::kF16, {"cublas", "gemm", "", "", false}));
}

// Refuses what it is asked, or is broken.
class SilentGemmLibrary : public GemmLibrary {
 public:
  explicit SilentGemmLibrary(std::string words) : words_(std::move(words)) {}
  std::string version() const override { return "0"; }
  std::string_view name() const override { return kCublasLt; }
  Result<std::unique_ptr<cublaslt::Answers>> Ask(const GemmProblem&) override { return Error{words_}; }
  Result<std::unique_ptr<GemmCall>> Make(const GemmProblem&, const cublaslt::Algorithm&) override {
    return Error{words_};
  }

 private:
  std::string words_;
};

// Of sparse weights.
class SparseGemmLibrary : public SilentGemmLibrary {
 public:
  SparseGemmLibrary() : SilentGemmLibrary("") {}
  std::string_view name() const override { return kCusparseLt; }
  bool is_sparse() const override { return true; }
  std::string NameOf(const cublaslt::Algorithm& algorithm) const override { return cublaslt::Format(algorithm, true); }
  std::optional<cublaslt::Algorithm> Named(const std::string& name) const override {
    return cublaslt::ParseAlgorithm(name, true);
  }
  Result<std::unique_ptr<cublaslt::Answers>> Ask(const GemmProblem&) override {
    return std::unique_ptr<cublaslt::Answers>(std::make_unique<Two>());
  }
  Result<std::unique_ptr<GemmCall>> Make(const GemmProblem&, const cublaslt::Algorithm&) override {
    return std::unique_ptr<GemmCall>(std::make_unique<Call>());
  }

 private:
  class Two : public cublaslt::Answers {
   public:
    std::vector<cublaslt::Algorithm> Suggestions() override { return {cublaslt::Algorithm{.id = 1}}; }
    std::vector<std::int32_t> Ids() override { return {0, 1}; }
    std::optional<cublaslt::Capabilities> CapabilitiesOf(std::int32_t) override { return cublaslt::Capabilities(); }
    bool Accepts(const cublaslt::Algorithm&) override { return true; }
  };
  // Compressed is b's first byte; what runs adds one to what it finds there.
  class Call : public GemmCall {
   public:
    Bytes workspace() const override { return {}; }
    Bytes compressed() const override { return Bytes{1}; }
    Bytes compression_memory() const override { return Bytes{8}; }
    Status Compress(const std::vector<void*>& tensors, void* memory, Gpu::Stream) override {
      *static_cast<char*>(memory) = static_cast<char>(*static_cast<char*>(tensors[1]) + 10);
      return {};
    }
    Status Enqueue(const std::vector<void*>& tensors, void*, Gpu::Stream) override {
      *static_cast<char*>(tensors.back()) = static_cast<char>(*static_cast<char*>(tensors[1]) + 1);
      return {};
    }
  };
};

TEST(GemmOffers, SparseWeightsAreCompressedInTheirPlace) {
  const auto library = std::make_shared<SparseGemmLibrary>();
  const Workload workload = testing::ParsedWorkload(kSparse);
  EXPECT_THAT(GemmOffers(library, testing::ParsedWorkload(kPlain), NumericContract::kF16, CandidateTier::kEngine),
              IsEmpty());
  const std::vector<GpuOffer> offers = GemmOffers(library, workload, NumericContract::kF16, CandidateTier::kEngine);
  std::vector<std::string> names;
  for (const GpuOffer& offer : offers) {
    names.push_back(offer.candidate.name());
    const auto found = FindGemmOffer(library, workload, NumericContract::kF16, offer.candidate);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->candidate.name(), names.back());
  }
  EXPECT_THAT(names,
              ElementsAre("cusparselt/alg=1_splitk=1_mode=0_buffers=0", "cusparselt/alg=0_splitk=1_mode=0_buffers=0",
                          "cusparselt/alg=1_splitk=1_mode=0_buffers=0/b=transposed",
                          "cusparselt/alg=0_splitk=1_mode=0_buffers=0/b=transposed"));
  PretendedGpu gpu({});
  Result<std::unique_ptr<GpuProgram>> made = offers[0].make(gpu);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ((*made)->bindings()[1].rewritten, Bytes{1});
  // Copies of the constant, for caches that have none of it, are copies of what was compressed, and as small.
  char a = 0, b[2] = {5, 7}, result = 0;
  BoundProgram program(gpu, *std::move(made), {&a, &b, &result}, nullptr, {1});
  EXPECT_EQ(program.constants(), Bytes{1});
  ASSERT_TRUE(program.Prepare().ok());
  EXPECT_EQ(b[0], 15);
  EXPECT_EQ(b[1], 7);
  ASSERT_TRUE(program.RotateConstants(3).ok());
  b[0] = 0;
  for (const int expected : {16, 16, 1}) {
    ASSERT_TRUE(program.Enqueue(gpu.stream()).ok());
    EXPECT_EQ(result, expected);
  }
}

// What a benchmark multiplies has the zeros that its layer says.
TEST(GemmOffers, RandomWeightsHaveTheirZeros) {
  const LayerConfig layer = std::get<LayerConfig>(
      testing::ParsedWorkload("matmul dtype=f16:f16:f16 a=1x4x64 b=2x64x48 bias=no weights=const sparsity=2:4"));
  cpu::HostTensor b = *cpu::HostTensor::Make(Shape{{2, 64, 48}}, DataType::kF16);
  cpu::FillOperand(layer, 1, 7, b);
  std::set<std::string> patterns;
  for (std::int64_t i = 0; i < 2 * 16 * 48; ++i) {
    std::string pattern;
    for (std::int64_t k = 0; k < 4; ++k) pattern += b.Get((i / 48 * 4 + k) * 48 + i % 48) == 0 ? '0' : '1';
    EXPECT_EQ(std::ranges::count(pattern, '0'), 2) << i;
    patterns.insert(pattern);
  }
  EXPECT_THAT(patterns, SizeIs(6));
}

// Is broken for transposed operands alone.
class HalfBrokenGemmLibrary : public SilentGemmLibrary {
 public:
  HalfBrokenGemmLibrary() : SilentGemmLibrary("cuBLASLt: asking: CUBLAS_STATUS_INTERNAL_ERROR") {}
  Result<std::unique_ptr<cublaslt::Answers>> Ask(const GemmProblem& problem) override {
    return problem.b_transposed ? SilentGemmLibrary::Ask(problem) : recording_->Ask(problem);
  }

 private:
  std::shared_ptr<GemmLibrary> recording_ = *ReadGemmRecording(kRecording, "made-up.json");
};

TEST(GemmOffers, AFaultOfOneFormStandsBesideTheCandidatesOfOthers) {
  const std::vector<GpuOffer> offers =
      GemmOffers(std::make_shared<HalfBrokenGemmLibrary>(), testing::ParsedWorkload(kPlain), NumericContract::kF16,
                 CandidateTier::kEngine);
  ASSERT_GT(offers.size(), 1U);
  EXPECT_TRUE(offers.front().candidate.library_choice);
  EXPECT_EQ(offers.back().candidate.name(), "cublaslt/any");
}

TEST(GemmOffers, ABrokenLibraryIsARowAndARefusalIsNone) {
  const Workload workload = testing::ParsedWorkload(kPlain);
  const auto offers = [&](const char* words) {
    return GemmOffers(std::make_shared<SilentGemmLibrary>(words), workload, NumericContract::kF16,
                      CandidateTier::kEngine);
  };
  EXPECT_THAT(offers("unsupported: cuBLASLt refuses it"), IsEmpty());
  const std::vector<GpuOffer> broken = offers("cuBLASLt: asking: CUBLAS_STATUS_INTERNAL_ERROR");
  ASSERT_THAT(broken, SizeIs(1));
  EXPECT_EQ(broken[0].candidate.name(), "cublaslt/any");
  EXPECT_FALSE(broken[0].candidate.library_choice);
  PretendedGpu gpu({});
  EXPECT_THAT(broken[0].make(gpu).error().message, HasSubstr("CUBLAS_STATUS_INTERNAL_ERROR"));
}

}  // namespace
}  // namespace infimum::cuda
