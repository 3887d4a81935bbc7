// infimum bound --estimate: a device of which the store has nothing, by the rows of others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/commands/program.h"

namespace infimum::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class EstimateTest : public ::testing::Test {
 protected:
  // Of each workload of the model twice its bytes over the GPU's bandwidth.
  void Import(const std::string& name, double gigabytes_per_second, const std::string& also = "") {
    Json benchmarks = Json::array();
    const Json bound = Bound({"--device", "T4"});
    for (const Json& layer : bound.at("layers")) {
      if (!layer.at("config").is_string()) continue;
      const std::string config = layer.at("config");
      // The T4's 320 GB/s, and as long for what its caches hold.
      const double seconds = 2e-6 + layer.at("floor_us").get<double>() * 1e-6 * 320 / gigabytes_per_second;
      benchmarks.push_back({{"name", config + "/kernel"},
                            {"run_type", "iteration"},
                            {"iterations", 100},
                            {"real_time", seconds * 1e9},
                            {"cpu_time", seconds * 1e9},
                            {"time_unit", "ns"}});
    }
    const Json file = {{"context",
                        {{"date", "2026-11-20T10:00:00+00:00"},
                         {"executable", "./bench"},
                         {"num_cpus", 1},
                         {"infimum_device", "gpu/NVIDIA/name=" + name + also}}},
                       {"benchmarks", benchmarks}};
    program_.Run({"import", program_.Write("results.json", file.dump())});
  }
  Ended Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"bound", ProgramTest::Light("squeezenet")});
    return program_.Infimum(arguments);
  }
  Json Bound(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const Ended ended = Run(arguments);
    EXPECT_EQ(ended.exit_code, 0) << ended.errors;
    return Json::parse(ended.output, nullptr, false);
  }

  ProgramTest program_;
};

TEST_F(EstimateTest, IsNeverShownWithoutTheWordAndSaysWhatItIsMadeOf) {
  EXPECT_THAT(Run({"--device", "L40S", "--estimate"}).errors, HasSubstr("no rows of other devices"));
  Import("Tesla%20P40", 346);
  EXPECT_THAT(Run({"--device", "L40S", "--estimate"}).output, HasSubstr("no interval: too few devices"));
  Import("Tesla%20M60", 160);
  Import("Tesla%20V100-SXM2-16GB", 900);
  Import("Quadro%20RTX%206000", 672);
  Import("NVIDIA%20A10", 600);
  const Json bound = Bound({"--device", "L40S", "--estimate"});
  const Json& estimate = bound.at("estimate");
  EXPECT_EQ(estimate.at("variant"), "sequential");
  EXPECT_EQ(estimate.at("devices"), 5);
  EXPECT_DOUBLE_EQ(estimate.at("level"), 0.8);
  EXPECT_NEAR(estimate.at("transferred"), 1, 1e-9);
  EXPECT_LT(estimate.at("interval_us")[0], estimate.at("latency_us"));
  EXPECT_GT(estimate.at("interval_us")[1], estimate.at("latency_us"));
  EXPECT_TRUE(bound.at("bounds").empty());
  const std::string table = Run({"--device", "L40S", "--advise", "20m"}).output;
  EXPECT_THAT(table, HasSubstr("estimated, sequential"));
  EXPECT_THAT(table, HasSubstr("80 % interval of 5 devices left out"));
  EXPECT_THAT(table, Not(HasSubstr("bound, sequential")));
  EXPECT_THAT(Run({"--device", "L40S", "--estimate", "--format", "csv"}).output, HasSubstr("estimated-sequential,"));
  EXPECT_TRUE(Bound({"--device", "L40S"}).at("estimate").is_null());
}

// A Xeon knows nothing of a GPU, and a GPU without a data sheet has no roofline.
TEST_F(EstimateTest, WhatSaysNothingIsSaid) {
  Import("Tesla%20P40", 346);
  Import("Tesla%20M60", 160);
  const Ended cpu = Run({"--device", "Intel(R) Xeon(R) Platinum 8480+", "--estimate"});
  EXPECT_EQ(cpu.exit_code, 1);
  EXPECT_THAT(cpu.errors, HasSubstr("no device of this kind has rows"));
  Import("Strange%20GPU", 100);
  EXPECT_THAT(Run({"--device", "Strange GPU", "--estimate"}).errors, HasSubstr("no peak rates are known"));
  EXPECT_EQ(Run({"--device", "L40S", "--advise", "soon"}).exit_code, 2);
}

}  // namespace
}  // namespace infimum::testing
