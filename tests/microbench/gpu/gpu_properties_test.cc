#include "microbench/gpu/device/gpu_properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/support/folders.h"

namespace infimum::cuda {
namespace {

using ::testing::HasSubstr;

std::string Shipped(const std::string& name) {
  std::ifstream file(testing::SourceFolder() + "/db/data/gpus/" + name + ".json");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST(GpuProperties, TheShippedOnesAreRead) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(testing::SourceFolder() + "/db/data/gpus")) {
    const std::string name = entry.path().stem().string();
    const Result<GpuProperties> gpu = GpuProperties::Parse(Shipped(name), name);
    ASSERT_TRUE(gpu.ok()) << gpu.error().message;
    EXPECT_GE(gpu->compute_capability(), 750);
    ++count;
  }
  EXPECT_GE(count, 5u);
  const GpuProperties h200 = *GpuProperties::Parse(Shipped("h200"), "h200.json");
  EXPECT_EQ(h200.name(), "NVIDIA H200");
  EXPECT_EQ(h200.compute_capability(), 900);
  EXPECT_EQ(h200.multiprocessors(), 132);
}

TEST(GpuProperties, EveryKeyIsAskedFor) {
  const nlohmann::json whole = nlohmann::json::parse(Shipped("h200"));
  // Two that cuDNN itself does without, and one that it asks for from 9.28 on.
  const std::set<std::string> optional = {"pciDeviceId", "isTccDriver", "memoryBusWidth"};
  for (const auto& [key, value] : whole.items()) {
    if (optional.contains(key)) continue;
    nlohmann::json document = whole;
    document.erase(key);
    const Result<GpuProperties> missing = GpuProperties::Parse(document.dump(), "h.json");
    ASSERT_FALSE(missing.ok()) << key;
    EXPECT_THAT(missing.error().message, HasSubstr("h.json: '" + key + "' is missing"));
    document[key] = nullptr;
    const Result<GpuProperties> empty = GpuProperties::Parse(document.dump(), "h.json");
    ASSERT_FALSE(empty.ok()) << key;
    EXPECT_THAT(empty.error().message, HasSubstr("'" + key + "'"));
  }
}

TEST(GpuProperties, WhatIsNoDeviceIsRefused) {
  for (const char* text : {"", "[]", "{", "\"h200\"", "{\"deviceName\":7}"})
    EXPECT_FALSE(GpuProperties::Parse(text, "x.json").ok()) << text;
  nlohmann::json document = nlohmann::json::parse(Shipped("h200"));
  document["deviceVer"] = 90;
  const Result<GpuProperties> wrong = GpuProperties::Parse(document.dump(), "x.json");
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message, HasSubstr("900 for 9.0"));
}

}  // namespace
}  // namespace infimum::cuda
