// What a project holds, what it leaves out and why, and that nothing in a plan reaches beyond its folder.
#include "src/emit/project.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/emit/golden_folder.h"
#include "tests/support/random_layer.h"
#include "tests/support/temporary_folder.h"

namespace infimum::project_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kRelu = "pointwise kind=relu dtype=f32:-:f32 in=64";

Plan PlanOf(const std::vector<std::string>& workloads) {
  Plan plan;
  for (const std::string& text : workloads) {
    PlanEntry entry;
    const Result<Workload> workload = ParseWorkload(text);
    EXPECT_TRUE(workload.ok()) << text;
    entry.workload = *workload;
    plan.entries.push_back(std::move(entry));
  }
  return plan;
}

std::string ErrorOf(const Plan& plan, const EmitOptions& options) {
  const Result<EmittedProject> project = EmitProject(plan, options);
  return project.ok() ? "" : project.error().message;
}

// Of the one layer that the project has.
std::string SourceOf(const Plan& plan, const std::string& library) {
  const Result<EmittedProject> project = EmitProject(plan, {library, {}, "1.2.3"});
  EXPECT_TRUE(project.ok()) << (project.ok() ? "" : project.error().message);
  return project.ok() ? project->files.back().text : "";
}

// How a cuDNN source begins a tensor.
std::string Tensor(const std::string& name, const std::string& dims) {
  return "{.name = \"" + name + "\", .type = \"f16\", .dims = {" + dims + "}";
}

TEST(EmittedProject, LooksAsItDid) {
  testing::ExpectGoldenFolder("layers", "onednn", {});
  testing::ExpectGoldenFolder("candidates", "onednn",
                              {"onednn/jit:avx512_core", "onednn/jit:avx2/nhwc", "infimum/pooling:avx2"});
  testing::ExpectGoldenFolder("cudnn", "cudnn", {});
  testing::ExpectGoldenFolder("cudnn_candidates", "cudnn", {"cudnn-graph/eng62_k2=5_k13=1/acc=f16"});
  testing::ExpectGoldenFolder("cublaslt", "cublaslt", {});
}

TEST(EmittedProject, EachWorkloadHasASourceOrAReason) {
  testing::RandomLayers random(5);
  // Random GEMMs hardly ever have types that cuBLASLt multiplies.
  std::vector<std::string> texts{"matmul dtype=f16:f16:f16 a=1x8x16 b=1x16x32 bias=no weights=variable"};
  for (int i = 0; i < 500; ++i) texts.push_back(Format(random.Either()));
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  for (const std::string& library : EmittableLibraries()) {
    SCOPED_TRACE(library);
    const Result<EmittedProject> project = EmitProject(PlanOf(texts), {library, {}, "1.2.3"});
    ASSERT_TRUE(project.ok()) << project.error().message;
    EXPECT_EQ(project->layers + project->left_out.size(), texts.size());
    EXPECT_GT(project->layers, 0U);
    for (const LeftOut& left : project->left_out) EXPECT_GT(left.reason.size(), 10U) << left.what;
    const auto readme = std::find_if(project->files.begin(), project->files.end(),
                                     [](const EmittedFile& file) { return file.name == "README.md"; });
    ASSERT_NE(readme, project->files.end());
    for (const std::string& text : texts) EXPECT_THAT(readme->text, HasSubstr("    " + text + "\n"));
  }
}

TEST(EmittedProject, ALayerUnderTwoContractsIsOneSource) {
  const Result<EmittedProject> project = EmitProject(PlanOf({kRelu, kRelu}), {"onednn", {}, "1.2.3"});
  ASSERT_TRUE(project.ok());
  EXPECT_EQ(project->layers, 1U);
}

TEST(EmittedProject, ALayersContractsAreThoseOfThePlan) {
  const std::string text = "matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x3072 bias=no weights=variable";
  Plan plan = PlanOf({text, text});
  plan.entries[0].contract = NumericContract::kTf32;
  plan.entries[1].contract = NumericContract::kStrictF32;
  EXPECT_THAT(SourceOf(plan, "cudnn"), HasSubstr(".contracts = {\"tf32\", \"strict-f32\"},"));
  EXPECT_THAT(SourceOf(plan, "cublaslt"), AllOf(HasSubstr("{.contract = \"tf32\", .sums = \"tf32\"},"),
                                                HasSubstr("{.contract = \"strict-f32\", .sums = \"f32\"},")));
}

TEST(EmittedProject, AddendsAreSeenInTheShapeOfTheNormalizationBehindThem) {
  EXPECT_THAT(SourceOf(PlanOf({"region [pointwise kind=add dtype=f16:f16:f16 in=98304,98304](in0,in1) ; [normalization "
                               "kind=layer dtype=f16:f16:f16 in=128x768 axis=1 scale=yes bias=yes](%0,w0,w1)"}),
                       "cudnn"),
              AllOf(HasSubstr(Tensor("in0", "128, 768, 1, 1")), HasSubstr(Tensor("in1", "128, 768, 1, 1")),
                    HasSubstr(Tensor("w0", "1, 768, 1, 1")), HasSubstr("\"in1\"}, .dims = {128, 768, 1, 1}")));
}

TEST(EmittedProject, AnElementWiseChainHasOneSplitOfDimensions) {
  // The last dimension stands as channels, which lie last.
  EXPECT_THAT(SourceOf(PlanOf({"region [pointwise kind=multiply dtype=f16:f16:f16 in=196608,1](in0,w0) ; [pointwise "
                               "kind=add dtype=f16:f16:f16 in=12x16384,16384](%0,in1)"}),
                       "cudnn"),
              AllOf(HasSubstr(Tensor("in0", "12, 16384, 1, 1")), HasSubstr(Tensor("w0", "1, 1, 1, 1")),
                    HasSubstr(Tensor("in1", "1, 16384, 1, 1"))));
  EXPECT_THAT(SourceOf(PlanOf({"region [pointwise kind=multiply dtype=f16:f16:f16 in=2x64x128,64x1](in0,w0) ; "
                               "[pointwise kind=add dtype=f16:f16:f16 in=128x128,128](%0,in1)"}),
                       "cudnn"),
              AllOf(HasSubstr(Tensor("in0", "2, 128, 64, 1")), HasSubstr(Tensor("w0", "1, 1, 64, 1")),
                    HasSubstr(Tensor("in1", "1, 128, 1, 1"))));
}

TEST(EmittedProject, WhatCudnnHasNoOperationForIsAChain) {
  EXPECT_THAT(SourceOf(PlanOf({"pointwise kind=hard_swish dtype=f16:-:f16 in=802816"}), "cudnn"),
              AllOf(HasSubstr(".number = 0.1666"), HasSubstr(".relu_high = 1.0F"),
                    HasSubstr("{.name = \"y0_3\", .type = \"f16\"}")));
  EXPECT_THAT(SourceOf(PlanOf({"pointwise kind=hard_sigmoid dtype=f16:-:f16 in=802816"}), "cudnn"),
              AllOf(HasSubstr(".number = 0.2"), HasSubstr("{.name = \"y0_2\", .type = \"f16\"}")));
  EXPECT_THAT(
      SourceOf(PlanOf({"normalization kind=batch dtype=f16:f16:f16 in=1x64x56x56 axis=1 scale=yes bias=yes"}), "cudnn"),
      AllOf(HasSubstr(".mode = \"RSQRT\""), HasSubstr(Tensor("w3", "1, 64, 1, 1")), HasSubstr(".low = 0.25, .high = 4"),
            HasSubstr(".layout = Layout::kChannels")));
}

TEST(EmittedProject, WhatCudnnHasNoEngineForIsLeftOutWithTheTrueReason) {
  EXPECT_THAT(
      ErrorOf(PlanOf({"matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x3072 bias=no weights=const"}), {"cudnn", {}, "1"}),
      HasSubstr("no matrix product in strict f32"));
  for (const char* text :
       {"pointwise kind=where dtype=f16:bool:f16 in=128x64,128x64,1", "pointwise kind=and dtype=bool:bool:bool in=8,8"})
    EXPECT_THAT(ErrorOf(PlanOf({text}), {"cudnn", {}, "1"}), HasSubstr("truth values are left to kernels of infimum"));
}

TEST(EmittedProject, OneCallOfCublasLtIsAProductWithABiasAnAddendAndAnActivation) {
  const auto region = [](const std::string& bias, const std::string& behind) {
    return PlanOf({"region [matmul dtype=f16:f16:f16 a=1x8x16 b=1x16x32 bias=" + bias + " weights=const](in0,w0" +
                   (bias == "no" ? "" : ",w1") + ") ; " + behind});
  };
  EXPECT_THAT(SourceOf(region("column",
                              "[pointwise kind=add dtype=f16:f16:f16 in=256,256](%0,in1) ; [pointwise "
                              "kind=relu dtype=f16:-:f16 in=256](%1)"),
                       "cublaslt"),
              AllOf(HasSubstr(".bias = \"f16\","), HasSubstr(".addend = true,"), HasSubstr(".activation = \"relu\",")));
  EXPECT_THAT(SourceOf(region("no", "[pointwise kind=add dtype=f16:f16:f16 in=8x32,32](%0,w1)"), "cublaslt"),
              AllOf(HasSubstr(".bias = \"f16\","), Not(HasSubstr(".addend"))));
  EXPECT_THAT(ErrorOf(region("no", "[pointwise kind=gelu_erf dtype=f16:-:f16 in=256](%0)"), {"cublaslt", {}, "1"}),
              HasSubstr("epilogue has additions, ReLU and GELU by tanh only"));
  EXPECT_THAT(ErrorOf(region("no",
                             "[pointwise kind=relu dtype=f16:-:f16 in=256](%0) ; [pointwise kind=add "
                             "dtype=f16:f16:f16 in=256,256](%1,in1)"),
                      {"cublaslt", {}, "1"}),
              HasSubstr("nothing follows the activation"));
}

TEST(EmittedProject, SaysWhatCannotBeEmitted) {
  EXPECT_THAT(ErrorOf(PlanOf({"scan kind=sum dtype=f32:-:f32 in=64x1000x1 axis=1"}), {"onednn", {}, "1"}),
              AllOf(HasSubstr("nothing of the plan can be emitted"), HasSubstr("'scan kind=sum"),
                    HasSubstr("kernels of its own")));
  EXPECT_EQ(ErrorOf(Plan(), {"onednn", {}, "1"}), "the plan has no workloads, so there is nothing to emit");
  EXPECT_EQ(ErrorOf(PlanOf({kRelu}), {"onednm", {}, "1"}),
            "--library: no sources can be written for 'onednm', did you mean 'onednn'?");
  EXPECT_EQ(ErrorOf(PlanOf({kRelu}), {"onednn", {"infimum/relu:avx2"}, "1"}),
            "--candidate infimum/relu:avx2: a kernel of infimum's own, which is not emitted; nothing is left to emit");
  EXPECT_THAT(ErrorOf(PlanOf({kRelu}), {"onednn", {"onednn/graph/partition"}, "1"}), HasSubstr("not emitted yet"));
  for (const std::string library : {"onednn", "cudnn", "cublaslt"}) {
    const std::string name = (library == "cudnn" ? "cudnn-graph" : library) + "/as-matmul/any";
    EXPECT_THAT(ErrorOf(PlanOf({kRelu}), {library, {name}, "1"}), HasSubstr("a product with a constant")) << name;
  }
  EXPECT_THAT(ErrorOf(PlanOf({kRelu}), {"onednn", {"cublas/gemm"}, "1"}), HasSubstr("begin with 'onednn/'"));
  EXPECT_THAT(ErrorOf(PlanOf({kRelu}), {"cudnn", {"onednn/ref"}, "1"}), HasSubstr("begin with 'cudnn-graph/'"));
  EXPECT_THAT(ErrorOf(PlanOf({kRelu}), {"cudnn", {"x"}, "1"}), HasSubstr("like 'cudnn-graph/eng62_k2=5_k13=1'"));
  EXPECT_THAT(ErrorOf(PlanOf({"scan kind=sum dtype=f32:-:f32 in=64x1000x1 axis=1"}), {"cudnn", {}, "1"}),
              HasSubstr("cuDNN's graph has no operation for scan layers"));
  EXPECT_THAT(ErrorOf(PlanOf({kRelu}), {"cublaslt", {}, "1"}), HasSubstr("BLAS libraries run matrix products only"));
  EXPECT_THAT(
      ErrorOf(PlanOf({"matmul dtype=s8:s8:s32 a=2x8x16 b=2x16x32 bias=no weights=variable"}), {"cublaslt", {}, "1"}),
      HasSubstr("takes the second operand transposed"));
}

TEST(EmittedProject, HostileNamesStayInTheirPlaces) {
  for (const char* name : {"onednn/x y", "onednn/x\n#include \"y\"", "", "x", "onednn/\xff"})
    EXPECT_THAT(ErrorOf(PlanOf({kRelu}), {"onednn", {name}, "1"}), HasSubstr("is no candidate's name"));
  Plan plan = PlanOf({kRelu});
  plan.comments = {"model ```\n\n# Title\n<script>", "model ../../etc/passwd"};
  const Result<EmittedProject> project =
      EmitProject(plan, {"onednn", {"onednn/\");system(\"x\");//\\", "onednn/../../x"}, "1"});
  ASSERT_TRUE(project.ok()) << project.error().message;
  for (const EmittedFile& file : project->files) {
    EXPECT_EQ(file.name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."),
              std::string::npos);
    EXPECT_THAT(file.name, Not(HasSubstr("..")));
    EXPECT_THAT(file.text, Not(HasSubstr("\n# Title")));
    if (!file.name.starts_with("onednn_pointwise")) continue;
    EXPECT_THAT(file.text, HasSubstr("        \"onednn/\\\");system(\\\"x\\\");//\\\\\",\n"));
  }
}

TEST(EmittedProject, IsWrittenIntoANewOrEmptyFolderAlone) {
  const testing::TemporaryFolder folder;
  const Result<EmittedProject> project = EmitProject(PlanOf({kRelu}), {"onednn", {}, "1"});
  ASSERT_TRUE(project.ok());
  ASSERT_TRUE(WriteProject(*project, folder.path()).ok());
  for (const EmittedFile& file : project->files) EXPECT_EQ(testing::ReadText(folder.path() / file.name), file.text);
  const Status again = WriteProject(*project, folder.path());
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().message, HasSubstr("is not empty, and may hold sources that were changed"));
  const Status on_file = WriteProject(*project, folder.path() / "timing.h");
  ASSERT_FALSE(on_file.ok());
  EXPECT_THAT(on_file.error().message, HasSubstr("is there already and no folder"));
  EXPECT_TRUE(WriteProject(*project, folder.path() / "deep" / "er").ok());
}

}  // namespace
}  // namespace infimum::project_test
