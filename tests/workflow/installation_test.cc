#include "infimum/workflow/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace infimum {
namespace {

using ::testing::HasSubstr;

class InstallationTest : public ::testing::Test {
 protected:
  InstallationTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "infimum-installation-XXXXXX").string();
    prefix_ = mkdtemp(pattern.data());
    std::filesystem::create_directories(prefix_ / "bin");
    std::filesystem::create_directories(prefix_ / "share/infimum/frameworks");
    std::ofstream(prefix_ / "bin/infimum-microbench-onednn") << "";
    std::ofstream(prefix_ / "share/infimum/frameworks/measure_onnxruntime.py") << "";
  }
  ~InstallationTest() override { std::filesystem::remove_all(prefix_); }

  std::filesystem::path prefix_;
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
}

TEST_F(InstallationTest, TheUsersPythonComesFirst) {
  const Installation installation(prefix_ / "bin");
  EXPECT_EQ(installation.Python("/opt/python"), "/opt/python");
}

}  // namespace
}  // namespace infimum
