// infimum candidates: what a library offers, of this machine's device and of GPUs that are not here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/commands/program.h"
#include "tests/support/folders.h"

namespace infimum::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kRelu = "pointwise kind=relu dtype=f16:-:f16 in=802816";

TEST(Candidates, OfThisMachineAreWhatTheRunnerLists) {
  const ProgramTest program;
  const nlohmann::json document = program.Json({"candidates", "--backend", "fake", "--format", "json", "--tier",
                                                "exhaustive", "pointwise kind=relu dtype=f32:-:f32 in=802816"});
  EXPECT_EQ(document["schema"], "infimum.candidates/1");
  EXPECT_EQ(document["library"], "fake");
  EXPECT_EQ(document["tier"], "exhaustive");
  EXPECT_FALSE(document["candidates"].empty());
  EXPECT_EQ(document["candidates"][0]["library_choice"], true);
}

TEST(Candidates, MistakesAreOneClearLine) {
  const ProgramTest program;
  const Ended unknown = program.Infimum({"candidates", "--device-properties", "h2000", kRelu});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("h2000"));
  const Ended nothing = program.Infimum({"candidates", "--device-properties", "", kRelu});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.errors, HasSubstr("--device-properties: a GPU's name or a file"));
  const Ended backend = program.Infimum({"candidates", "--backend", "foo", kRelu});
  EXPECT_EQ(backend.exit_code, 2);
  EXPECT_THAT(backend.errors, HasSubstr("unknown backend 'foo'"));
  const Ended mixed = program.Infimum({"candidates", "--backend", "onednn", "--device-properties", "h200", kRelu});
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_THAT(mixed.errors, HasSubstr("--device-properties needs --backend cuda"));
  EXPECT_EQ(program.Infimum({"candidates", "pointwise kind=rellu"}).exit_code, 2);
  EXPECT_EQ(program.Infimum({"candidates"}).exit_code, 2);
  const Ended tier = program.Infimum({"candidates", "--tier", "every", kRelu});
  EXPECT_EQ(tier.exit_code, 2);
  EXPECT_THAT(tier.errors, HasSubstr("'every' is none of heuristic, engine and exhaustive"));
}

TEST(Candidates, OfAContractThatTheWorkloadCannotMeetThereAreNone) {
  const ProgramTest program;
  for (const char* contract : {"bf16", "int8", "fp8"}) {
    const nlohmann::json document =
        program.Json({"candidates", "--backend", "fake", "--format", "json", "--contract", contract,
                      "matmul dtype=f16:f16:f16 a=1x8x16 b=1x16x32 bias=no weights=const"});
    EXPECT_TRUE(document["candidates"].empty()) << contract;
    EXPECT_THAT(document["refusal"].get<std::string>(), HasSubstr("it is stored as the contract f16 has it"))
        << contract;
  }
}

TEST(Candidates, OfAGpuThatIsNotHere) {
  if (!std::filesystem::exists(testing::Program("infimum-candidates-cuda")))
    GTEST_SKIP() << "built without the headers of cuDNN and its frontend";
  const ProgramTest program;
  const Ended ended =
      program.Infimum({"candidates", "--device-properties", "a100-sxm4-40gb", "--format", "json", kRelu});
  if (ended.exit_code != 0 && ended.errors.find("was not found") != std::string::npos)
    GTEST_SKIP() << "cuDNN is not here: " << ended.errors;
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const nlohmann::json document = nlohmann::json::parse(ended.output);
  EXPECT_EQ(document["device"], "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(document["contract"], "f16");
  const Ended softmax = program.Infimum({"candidates", "--device-properties", "NVIDIA A100-SXM4-40GB",
                                         "softmax kind=softmax dtype=f16:-:f16 in=96x128x1 axis=1"});
  EXPECT_EQ(softmax.exit_code, 0) << softmax.errors;
  EXPECT_THAT(softmax.errors, HasSubstr("cuDNN's graph has no operation for softmax layers"));
  EXPECT_THAT(softmax.output,
              AllOf(HasSubstr("cudnn-legacy/softmax/accurate/instance"), HasSubstr("infimum/softmax:")));
  const Ended product = program.Infimum({"candidates", "--device-properties", "h200",
                                         "matmul dtype=f16:f16:f16 a=1x8x16 b=1x16x8 bias=no weights=const"});
  EXPECT_THAT(product.errors, HasSubstr("cuBLASLt and cuBLAS may have the product too"));
  const Ended broken =
      program.Infimum({"candidates", "--device-properties", program.Write("broken.json", "{}"), kRelu});
  EXPECT_EQ(broken.exit_code, 1);
}

}  // namespace
}  // namespace infimum::testing
