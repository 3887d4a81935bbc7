// The checks of a first visit, on a pretended GPU that is as it should be, and on ones that are not.
#include "microbench/gpu/checklist/checklist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>

#include "microbench/gpu/gpu_backend.h"
#include "tests/microbench/gpu/pretended_gpu.h"
#include "tests/microbench/gpu/reference_library.h"
#include "tests/support/temporary_folder.h"

namespace infimum::cuda {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::vector<std::string> kLayers = {
    "pointwise kind=relu dtype=f32:-:f32 in=4096",
    "convolution dtype=f32:f32:f32 in=1x3x6x6 out_channels=5 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 "
    "bias=no weights=const"};

Finding FindingOf(const std::string& name, bool captures = true, const char* faults = "") {
  const auto open = [=](const GpuOptions& options) -> Result<std::unique_ptr<Gpu>> {
    setenv("PRETENDED_GPU", faults, 1);
    auto gpu = std::make_unique<PretendedGpu>(options);
    unsetenv("PRETENDED_GPU");
    gpu->captures = captures;
    return std::unique_ptr<Gpu>(std::move(gpu));
  };
  const auto libraries = [](Gpu& gpu) { return MakeReferenceLibrary(static_cast<PretendedGpu&>(gpu)); };
  GpuBackend backend(BackendOptions{}, GpuParts{open, libraries});
  const std::vector<Check> checks = BackendChecks();
  const auto check = std::find_if(checks.begin(), checks.end(), [&](const Check& one) { return one.name == name; });
  EXPECT_NE(check, checks.end());
  Result<Finding> finding = check->run({backend, "", kLayers});
  EXPECT_TRUE(finding.ok()) << (finding.ok() ? "" : finding.error().message);
  return *std::move(finding);
}

TEST(Checklist, ADeviceThatIsAsItShouldBe) {
  for (const Check& check : BackendChecks()) {
    const Finding finding = FindingOf(check.name);
    EXPECT_TRUE(finding.holds) << check.name << ": " << FormatFinding(check.name, finding);
    EXPECT_FALSE(finding.details.empty()) << check.name;
  }
  const Finding timing = FindingOf("timing");
  // An element-wise layer by kernels of ours, a convolution by the reference.
  EXPECT_THAT(timing.details, SizeIs(2));
  EXPECT_THAT(timing.details, Contains(HasSubstr("2.00 us warm, 3.00 us cold, error ")));
}

TEST(Checklist, NothingHoldsWhereNothingCouldBeMeasured) {
  const auto open = [](const GpuOptions&) -> Result<std::unique_ptr<Gpu>> { return Error{"there is no driver"}; };
  const auto libraries = [](Gpu&) { return MakeOwnLibrary(); };
  for (const Check& check : BackendChecks()) {
    GpuBackend backend(BackendOptions{}, GpuParts{open, libraries});
    const Result<Finding> finding = check.run({backend, "", kLayers});
    EXPECT_FALSE(finding.ok() && finding->holds) << check.name;
  }
}

TEST(Checklist, WhatCannotBeCapturedOrIsSlowedDownIsTold) {
  const Finding uncaptured = FindingOf("timing", false);
  EXPECT_FALSE(uncaptured.holds);
  EXPECT_THAT(uncaptured.details, Contains(HasSubstr("uncaptured")));
  const Finding slowed = FindingOf("timing", true, "slow");
  EXPECT_FALSE(slowed.holds);
  EXPECT_THAT(slowed.details, Contains(HasSubstr("throttled")));
}

TEST(Checklist, ALineIsJsonWhateverStandsInIt) {
  EXPECT_EQ(FormatFinding("noise", Finding{false, {"a \"b\""}}),
            R"({"check":"noise","details":["a \"b\""],"holds":false})");
  EXPECT_EQ(FormatFinding("noise", Error{"no\xff"}),
            "{\"check\":\"noise\",\"details\":[\"no\xEF\xBF\xBD\"],\"holds\":false}");
}

#ifdef INFIMUM_GPU_CHECKLIST
TEST(Checklist, ListsItsChecksAndWithoutADeviceEachSaysWhy) {
  const std::string program = INFIMUM_GPU_CHECKLIST;
  EXPECT_EQ(std::system((program + " --list | grep -q cupti").c_str()), 0);
  if (std::system("nvidia-smi -L >/dev/null 2>&1") == 0) GTEST_SKIP() << "there is a GPU";
  const testing::TemporaryFolder temporary;
  const std::string folder = temporary.path();
  EXPECT_NE(std::system((program + " --check floor -o " + folder + " >/dev/null 2>&1").c_str()), 0);
  const std::string found = "grep -q '\"holds\":false' " + folder + "/checklist.jsonl";
  EXPECT_EQ(std::system(found.c_str()), 0);
  const auto code_of = [&](const std::string& arguments) {
    return WEXITSTATUS(std::system((program + arguments + " 2>" + folder + "/said").c_str()));
  };
  EXPECT_EQ(code_of(" --check colour -o " + folder), 2);
  EXPECT_EQ(code_of(" --bogus"), 2);
  EXPECT_EQ(code_of(""), 2);
  EXPECT_EQ(std::system(("grep -q -- '-o DIR is needed' " + folder + "/said").c_str()), 0);
  // What is there of the libraries is told all the same.
  EXPECT_EQ(code_of(" --check libraries -o " + folder + " >" + folder + "/libraries"), 1);
  EXPECT_EQ(std::system(("grep -q 'driver.*cudnn.*cublas' " + folder + "/libraries").c_str()), 0);
}
#endif

}  // namespace
}  // namespace infimum::cuda
