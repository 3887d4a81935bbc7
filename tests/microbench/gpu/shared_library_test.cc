#include "microbench/gpu/device/shared_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace infimum::cuda {
namespace {

using ::testing::HasSubstr;

class SharedLibraryTest : public ::testing::Test {
 protected:
  void TearDown() override {
    unsetenv("INFIMUM_CUDA_LIBRARIES");
    unsetenv("VIRTUAL_ENV");
  }

  const testing::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

TEST_F(SharedLibraryTest, OneOfTheSystemIsFound) {
  const Result<SharedLibrary> math = SharedLibrary::Open({"libm.so.6"}, "none", "the mathematical library");
  ASSERT_TRUE(math.ok()) << math.error().message;
  EXPECT_NE(math->Find("cos"), nullptr);
  EXPECT_EQ(math->Find("no_such_function_of_anyone"), nullptr);
  EXPECT_EQ(math->path().filename(), "libm.so.6");
}

TEST_F(SharedLibraryTest, WhatIsMissingIsNamedWithWhatToDo) {
  const Result<SharedLibrary> missing = SharedLibrary::Open({"libnothing_of_the_kind.so.9"}, "nothing", "Nothing 9");
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("Nothing 9 (libnothing_of_the_kind.so.9) was not found"));
  EXPECT_THAT(missing.error().message, HasSubstr("INFIMUM_CUDA_LIBRARIES"));
}

TEST_F(SharedLibraryTest, ADriverOfCuda12GetsItsLibrariesAndTheirWheels) {
  EXPECT_EQ(NamesForDriver("libcublas", 12090), (std::vector<std::string>{"libcublas.so.12", "libcublas.so.13"}));
  EXPECT_EQ(NamesForDriver("libcublas", 13000), (std::vector<std::string>{"libcublas.so.13", "libcublas.so.12"}));
  const auto advice = [](const std::vector<std::string>& names, const char* package) {
    return SharedLibrary::Open(names, package, "It").error().message;
  };
  EXPECT_THAT(advice({"libnone.so.12"}, "cuda_nvrtc"), HasSubstr("pip install nvidia-cuda-nvrtc-cu12,"));
  EXPECT_THAT(advice({"libnone.so.13"}, "cuda_nvrtc"), HasSubstr("pip install nvidia-cuda-nvrtc,"));
  EXPECT_THAT(advice({"libnone.so.9"}, "cudnn"), HasSubstr("nvidia-cudnn-cu12"));
}

TEST_F(SharedLibraryTest, BuiltinsOfNvrtcAreLoadedOnceOfEachVersion) {
  const std::filesystem::path math = SharedLibrary::Open({"libm.so.6"}, "none", "the mathematical library")->path();
  const std::filesystem::path other = folder_ / "other";
  std::filesystem::create_directory(other);
  for (const char* name : {"libnvrtc-builtins.so.77.0", "libnvrtc-builtins.so.77.1", "libnvrtc.so.77"})
    std::filesystem::create_symlink(math, folder_ / name);
  std::filesystem::create_symlink(math, other / "libnvrtc-builtins.so.77.0");
  std::ofstream(other / "libnvrtc-builtins.so.78.0") << "no library";
  setenv("INFIMUM_CUDA_LIBRARIES", (folder_.string() + ":" + other.string() + ":/nowhere").c_str(), 1);
  std::vector<std::string> loaded = LoadNvrtcBuiltins();
  std::erase_if(loaded, [](const std::string& name) { return name.find(".so.7") == std::string::npos; });
  EXPECT_THAT(loaded, ::testing::UnorderedElementsAre("libnvrtc-builtins.so.77.0", "libnvrtc-builtins.so.77.1"));
}

TEST_F(SharedLibraryTest, AFileThatIsNoLibrarySaysSo) {
  std::ofstream(folder_ / "libbroken_thing.so.9") << "no library";
  setenv("INFIMUM_CUDA_LIBRARIES", folder_.c_str(), 1);
  const Result<SharedLibrary> broken = SharedLibrary::Open({"libbroken_thing.so.9"}, "broken", "Broken 9");
  ASSERT_FALSE(broken.ok());
  EXPECT_THAT(broken.error().message, HasSubstr("the loader says"));
}

TEST_F(SharedLibraryTest, PackagesOfThePythonEnvironmentComeBeforeTheSystems) {
  const auto packages = folder_ / "lib/python3.11/site-packages/nvidia/cudnn/lib";
  std::filesystem::create_directories(packages);
  setenv("VIRTUAL_ENV", folder_.c_str(), 1);
  const std::vector<std::filesystem::path> folders = LibraryFolders("cudnn");
  EXPECT_THAT(folders, ::testing::Contains(packages));
}

}  // namespace
}  // namespace infimum::cuda
