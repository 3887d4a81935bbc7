// ParaDnn's published sweep of fully connected models.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "infimum/base/text.h"
#include "src/synth/families.h"
#include "tests/support/shared_data.h"

namespace infimum::synth::families_data_test {
namespace {

std::filesystem::path Published() { return SharedData("traces/paradnn/tpu_fc.json"); }
nlohmann::json ReadPublished() {
  std::ifstream stream(Published());
  return nlohmann::json::parse(stream);
}

// "layer_32-node_512-input_8000-output_200-bs_1024"
Point PointOf(const Family& family, const std::string& label) {
  const std::map<std::string_view, std::string_view> ours{
      {"layer", "layers"}, {"node", "nodes"}, {"input", "inputs"}, {"output", "outputs"}, {"bs", "batch"}};
  Point point = DefaultsOf(family);
  for (const std::string_view part : Split(label, '-')) {
    const std::vector<std::string_view> pair = Split(part, '_');
    point[ours.at(pair[0])] = *ParseInteger(pair[1]);
  }
  return point;
}

constexpr int kCores = 8;

TEST(ParaDnn, WhatDidNotFitIntoMemoryIsToldFromWhatDid) {
  INFIMUM_NEEDS_DATA(Published());
  const nlohmann::json data = ReadPublished();
  const Family& family = *FindFamily("fc");
  std::size_t count = 0, right = 0;
  const auto hold = [&](const nlohmann::json& labels, bool fits) {
    for (const nlohmann::json& label : labels) {
      // Each core has a part of the batch, and 8 GiB.
      Point point = PointOf(family, label);
      point["batch"] = std::max<std::int64_t>(1, point["batch"] / kCores);
      const Result<Net> net = MakeNet(family, point, Blocks::kCounted);
      ASSERT_TRUE(net.ok()) << label;
      ++count;
      right += (TotalsOf(*net)->training_memory.value <= std::int64_t{8} << 30) == fits ? 1 : 0;
    }
  };
  for (const nlohmann::json& state : data["states"]) EXPECT_EQ(state, "OOM");
  hold(data["labels"], true);
  hold(data["err_jobs"], false);
  EXPECT_EQ(count, 1944U);
  EXPECT_GE(static_cast<double>(right), 0.97 * 1944);
}

TEST(ParaDnn, AllPublishedModelsHaveAsManyParametersAndFlops) {
  INFIMUM_NEEDS_DATA(Published());
  const nlohmann::json data = ReadPublished();
  const Family& family = *FindFamily("fc");
  ASSERT_EQ(data["labels"].size(), 1724U);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < data["labels"].size(); ++i) {
    const std::string label = data["labels"][i];
    const Result<Net> net = MakeNet(family, PointOf(family, label), Blocks::kCounted);
    ASSERT_TRUE(net.ok()) << label;
    const NetTotals totals = *TotalsOf(*net);
    EXPECT_NEAR(static_cast<double>(totals.parameters) / data["params"][i].get<double>(), 1, 0.01) << label;
    // Of one of eight cores; small models have more beside their products.
    const double flops =
        data["fl"][i].get<double>() * 1e9 / (static_cast<double>(totals.training_flops().value) / kCores);
    EXPECT_GT(flops, 0.98) << label;
    EXPECT_LT(flops, 1.13) << label;
    ratios.push_back(flops);
  }
  std::ranges::sort(ratios);
  EXPECT_NEAR(ratios[ratios.size() / 2], 1, 0.02);
}

}  // namespace
}  // namespace infimum::synth::families_data_test
