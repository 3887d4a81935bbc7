#include "src/app/runners/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace infimum {
namespace {

using ::testing::HasSubstr;

class InstallationTest : public ::testing::Test {
 protected:
  InstallationTest() {
    std::filesystem::create_directories(prefix_ / "bin");
    std::filesystem::create_directories(prefix_ / "share/infimum/frameworks");
    std::ofstream(prefix_ / "bin/infimum-microbench-onednn") << "";
    std::ofstream(prefix_ / "share/infimum/frameworks/measure_onnxruntime.py") << "";
  }

  const testing::TemporaryFolder folder_;
  const std::filesystem::path prefix_ = folder_.path();
};

TEST_F(InstallationTest, FindsRunnersAndScriptsBesideTheProgram) {
  const Installation installation(prefix_ / "bin");
  EXPECT_EQ(installation.Runner("onednn").value(), prefix_ / "bin/infimum-microbench-onednn");
  EXPECT_EQ(installation.FrameworkScript("onnxruntime").value(),
            prefix_ / "share/infimum/frameworks/measure_onnxruntime.py");
}

TEST_F(InstallationTest, AnUnknownBackendIsAnErrorThatGuessesAndLists) {
  const Installation installation(prefix_ / "bin");
  EXPECT_EQ(installation.Runner("onednm").error().message,
            "unknown backend 'onednm', did you mean 'onednn'?; there is: onednn");
  EXPECT_FALSE(installation.Runner("../bin/infimum-microbench-onednn").ok());
  const std::string cuda = installation.Runner("cuda").error().message;
  EXPECT_TRUE(cuda.starts_with("unknown backend 'cuda'; there is: onednn. The runner for CUDA needs")) << cuda;
}

TEST_F(InstallationTest, AGpuWithADriverAndARunnerMeasuresUnlessItIsDeclined) {
  const Installation installation(prefix_ / "bin");
  const std::filesystem::path bare = prefix_ / "bare", with_driver = prefix_ / "with_driver", wsl = prefix_ / "wsl";
  std::filesystem::create_directories(bare / "dev");
  std::filesystem::create_directories(with_driver / "dev");
  std::ofstream(with_driver / "dev/nvidiactl") << "";
  std::filesystem::create_directories(wsl / "usr/lib/wsl/lib");
  std::ofstream(wsl / "usr/lib/wsl/lib/libcuda.so.1") << "";
  EXPECT_EQ(installation.DefaultBackend(with_driver), "onednn") << "nothing here measures on it";
  std::ofstream(prefix_ / "bin/infimum-microbench-cuda") << "";
  EXPECT_EQ(installation.DefaultBackend(with_driver), "cuda");
  EXPECT_EQ(installation.DefaultBackend(wsl), "cuda");
  EXPECT_EQ(installation.DefaultBackend(bare), "onednn");
  setenv("INFIMUM_GPU", "off", 1);
  EXPECT_EQ(installation.DefaultBackend(with_driver), "onednn");
  unsetenv("INFIMUM_GPU");
  for (const char* none : {"", "-1"}) {
    setenv("CUDA_VISIBLE_DEVICES", none, 1);
    EXPECT_EQ(installation.DefaultBackend(with_driver), "onednn");
  }
  setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  EXPECT_EQ(installation.DefaultBackend(with_driver), "cuda");
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST(BackendOfDevice, ContradictsAnotherBackend) {
  EXPECT_EQ(BackendOfDevice("cpu"), "onednn");
  EXPECT_EQ(BackendOfDevice("NVIDIA H200"), std::nullopt);
  EXPECT_TRUE(CheckBackend("cpu", "onednn").ok());
  EXPECT_THAT(CheckBackend("cpu", "fake").error().message, HasSubstr("contradict"));
}

TEST_F(InstallationTest, AGpuIsFoundByItsNamesAndByHowTheyBegin) {
  const std::filesystem::path gpus = prefix_ / "share/infimum/gpus";
  std::filesystem::create_directories(gpus);
  const auto write = [&](const char* name, const char* device) {
    std::ofstream(gpus / (std::string(name) + ".json")) << "{\"deviceName\": \"" << device << "\"}";
  };
  write("a100-sxm4-40gb", "NVIDIA A100-SXM4-40GB");
  write("b200", "NVIDIA B200");
  write("h100-sxm", "NVIDIA H100 80GB HBM3");
  write("h200", "NVIDIA H200");
  write("tesla-t4", "Tesla T4");
  const Installation installation(prefix_ / "bin");
  const auto found = [&](const char* name) {
    const Result<std::filesystem::path> file = installation.GpuProperties(name);
    return file.ok() ? file->stem().string() : file.error().message;
  };
  for (const char* name : {"h200", "H200", "NVIDIA H200", "nvidia h200"}) EXPECT_EQ(found(name), "h200") << name;
  for (const char* name : {"a100", "A100", "NVIDIA A100-SXM4-40GB"}) EXPECT_EQ(found(name), "a100-sxm4-40gb") << name;
  EXPECT_EQ(found("Tesla T4"), "tesla-t4");
  EXPECT_EQ(found("T4"), "tesla-t4");  // as its data sheet is called too
  EXPECT_EQ(found("NVIDIA H100 80GB HBM3"), "h100-sxm");
  EXPECT_EQ(found("h"), "GPU 'h' is not one but 2: h100-sxm, h200");
  EXPECT_EQ(found("H20O"),
            "unknown GPU 'H20O', did you mean 'h200'?; there are: a100-sxm4-40gb, b200, h100-sxm, h200, tesla-t4; or a "
            "file of its properties");
  EXPECT_THAT(found(""), HasSubstr("is needed"));
}

TEST_F(InstallationTest, TheUsersPythonComesFirst) {
  const Installation installation(prefix_ / "bin");
  EXPECT_EQ(installation.Python("/opt/python"), "/opt/python");
}

}  // namespace
}  // namespace infimum
