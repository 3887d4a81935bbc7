// What was measured on an H100 (db/data/campaigns/h100-sxm), read again: peaks near the data sheet's, and bounds of a
// ResNet-50 below what PyTorch took there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/commands/program.h"
#include "tests/support/folders.h"
#include "tests/support/shared_data.h"

namespace infimum::testing {
namespace {

using Json = nlohmann::json;

constexpr const char* kDevice = "gpu/NVIDIA/compute_capability=9.0/multiprocessors=132/memory=79G/l1=63888K/l2=50M";
constexpr const char* kSheet =
    "gpu/NVIDIA/compute_capability=9.0/multiprocessors=132/data_sheet=NVIDIA%20H100%2080GB%20HBM3";

class H100Campaign : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* file : {"peaks", "resnet50-b1-f16", "resnet50-b32-f16"})
      program_.Run({"import", File(std::string(file) + ".jsonl.gz")});
  }
  static std::string File(const std::string& name) { return SourceFolder() + "/db/data/campaigns/h100-sxm/" + name; }
  // Of a list of floors or bounds, by the name that each has in `key`.
  static double Microseconds(const Json& list, const std::string& key, const std::string& name) {
    for (const Json& one : list)
      if (one.at(key) == name) return one.at("latency_us");
    ADD_FAILURE() << name << " is missing";
    return 0;
  }
  Json Bound(const std::string& model, const std::string& device, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"bound", model, "--device", device, "--contract", "f16", "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return program_.Json(arguments);
  }

  ProgramTest program_;
};

TEST_F(H100Campaign, PeaksAreNearTheDataSheets) {
  const Json measured = Bound(ProgramTest::Light("vgg19"), kDevice), sheet = Bound(ProgramTest::Light("vgg19"), kSheet);
  const double ratio =
      Microseconds(measured.at("floors"), "class", "textbook") / Microseconds(sheet.at("floors"), "class", "textbook");
  EXPECT_GT(ratio, 0.95);
  EXPECT_LT(ratio, 1.2);
}

// PyTorch 2.11, one inference replayed as a CUDA graph: the median of 1,560.
TEST_F(H100Campaign, BoundsAreBelowWhatPyTorchTook) {
  const std::filesystem::path model = SharedData("models/resnet50.onnx");
  INFIMUM_NEEDS_DATA(model);
  const Json bound = Bound(model.string(), kDevice, {"--dim", "batch=1"});
  EXPECT_GT(bound.at("coverage").at("measured").get<double>(), 0.99);
  const double sequential = Microseconds(bound.at("bounds"), "variant", "sequential");
  EXPECT_LT(sequential, 927);
  EXPECT_LT(Microseconds(bound.at("bounds"), "variant", "fused-sequential"), sequential);
  EXPECT_GT(sequential, bound.at("conventional_floor_us").get<double>());
}

}  // namespace
}  // namespace infimum::testing
