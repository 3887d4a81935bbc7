// What-ifs end to end on the fake backend: other contracts, dimensions and layouts beside the model as it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/commands/program.h"

namespace infimum::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class WhatIfTest : public ::testing::Test {
 protected:
  Ended Run(std::vector<std::string> arguments, const std::vector<std::string>& more = {}) {
    arguments.insert(arguments.begin() + 1, ProgramTest::Light("resnet50"));
    arguments.insert(arguments.end(), {"--backend", "fake"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return program_.Infimum(arguments);
  }
  void Analyze(const std::vector<std::string>& more = {}) {
    const Ended ended = Run({"analyze", "--framework", "none", "--report", "report.json"}, more);
    ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  }
  Json Bound(const std::vector<std::string>& more = {}) {
    const Ended ended = Run({"bound", "--format", "json"}, more);
    EXPECT_EQ(ended.exit_code, 0) << ended.errors;
    return Json::parse(ended.output, nullptr, false);
  }
  static Json Find(const Json& bound, const std::string& what) {
    for (const Json& outcome : bound.at("what_ifs"))
      if (outcome.at("what_if") == what) return outcome;
    ADD_FAILURE() << "no " << what << " in " << bound.at("what_ifs");
    return {};
  }
  static double Latency(const Json& bounds, const std::string& variant) {
    for (const Json& one : bounds)
      if (one.at("variant") == variant) return one.at("latency_us");
    ADD_FAILURE() << "no " << variant;
    return 0;
  }

  ProgramTest program_;
};

TEST_F(WhatIfTest, ContractsThatWereMeasuredStandSideBySide) {
  Analyze();
  EXPECT_TRUE(Bound().at("what_ifs").empty());
  Analyze({"--contract", "bf16"});
  const Json f32 = Bound(), bf16 = Bound({"--contract", "bf16"});
  EXPECT_EQ(f32.at("contract"), "strict-f32");
  EXPECT_EQ(bf16.at("contract"), "bf16");
  ASSERT_EQ(f32.at("what_ifs").size(), 1U) << f32.at("what_ifs");
  const Json one = Find(f32, "contract:bf16"), other = Find(bf16, "contract:strict-f32");
  EXPECT_NEAR(one.at("coverage").at("measured"), 1, 1e-9);
  // Each is what the other says of itself, in every variant.
  ASSERT_EQ(one.at("bounds").size(), bf16.at("bounds").size());
  for (const Json& bound : bf16.at("bounds")) {
    const std::string variant = bound.at("variant");
    EXPECT_DOUBLE_EQ(Latency(one.at("bounds"), variant), bound.at("latency_us")) << variant;
    EXPECT_DOUBLE_EQ(Latency(other.at("bounds"), variant), Latency(f32.at("bounds"), variant)) << variant;
  }
  for (const Json& bound : one.at("bounds")) {
    const double before = Latency(f32.at("bounds"), bound.at("variant"));
    EXPECT_NEAR(bound.at("gain_us"), before - bound.at("latency_us").get<double>(), 1e-6);
  }
  const Json report = Json::parse(program_.Read("report.json"), nullptr, false);
  EXPECT_EQ(report.at("contract"), "bf16");
  EXPECT_EQ(report.at("what_ifs")[0].at("what_if"), "contract:strict-f32");
}

// One of the fake machine's kernels wants the channels last; the others take any layout.
TEST_F(WhatIfTest, OneLayoutLeavesOutWhatHasAnother) {
  Analyze();
  const Json bound = Bound({"--what-if", "layout:channels-last", "--what-if", "layout:row-major"});
  const Json last = Find(bound, "layout:channels-last"), first = Find(bound, "layout:row-major");
  const double free = Latency(bound.at("bounds"), "sequential");
  EXPECT_DOUBLE_EQ(Latency(last.at("bounds"), "sequential"), free);
  EXPECT_GT(Latency(first.at("bounds"), "sequential"), free * 1.01);
}

// A data sheet is enough.
TEST_F(WhatIfTest, OtherPeaksOfADeviceThatIsNotHere) {
  const Json bound = Bound({"--device", "h200", "--what-if", "peak:memory=2x", "--what-if", "peak:f32=2x"});
  const Json memory = Find(bound, "peak:memory=2x"), arithmetic = Find(bound, "peak:f32=2x");
  const auto floor = [](const Json& outcome, const std::string& name) {
    for (const Json& one : outcome.at("floors"))
      if (one.at("floor") == name) return one.at("latency_us").get<double>();
    return 0.0;
  };
  EXPECT_DOUBLE_EQ(floor(memory, "floor-dense-read"), bound.at("floor_us").get<double>() / 2);
  EXPECT_DOUBLE_EQ(floor(memory, "floor-textbook"), bound.at("conventional_floor_us").get<double>());
  EXPECT_DOUBLE_EQ(floor(arithmetic, "floor-textbook"), bound.at("conventional_floor_us").get<double>() / 2);
  EXPECT_LT(floor(arithmetic, "roofline"), bound.at("roofline_us").get<double>());
  const Ended table = Run({"bound", "--device", "h200", "--what-if", "peak:memory=2x"});
  EXPECT_THAT(table.output, HasSubstr("floors     of other peaks"));
  // So is a model as it could be, of which no row is there.
  const Json half = Find(Bound({"--device", "h200", "--what-if", "contract:f16"}), "contract:f16");
  EXPECT_GT(floor(half, "floor-textbook"), 0);
  EXPECT_LT(floor(half, "floor-textbook"), bound.at("conventional_floor_us").get<double>());
  EXPECT_LT(floor(half, "roofline"), bound.at("roofline_us").get<double>());
  EXPECT_THAT(Run({"bound", "--device", "h200", "--what-if", "peak:f61=2x"}).errors, HasSubstr("no peak of 'f61'"));
}

TEST_F(WhatIfTest, WhatCannotBeIsSaidInOneLine) {
  Analyze();
  const auto error = [&](const std::string& what) {
    const Ended ended = Run({"bound", "--what-if", what});
    EXPECT_EQ(ended.exit_code, 1) << what;
    EXPECT_EQ(std::count(ended.errors.begin(), ended.errors.end(), '\n'), 1) << ended.errors;
    return ended.errors;
  };
  EXPECT_THAT(error("contract:bf61"), HasSubstr("bf16"));
  EXPECT_THAT(error("layout:nhcw"), HasSubstr("layout:channels-last"));
  EXPECT_THAT(error("dim:batch=0"), HasSubstr("dim:NAME=N"));
  EXPECT_THAT(error("dim:batch=2"), HasSubstr("batch"));  // which this model does not have
  EXPECT_THAT(error("cache:hot"), HasSubstr("cold-weights"));
  EXPECT_THAT(error("faster:all"), HasSubstr("floor"));
}

// What one run has shown stays true when a later one, on a busy machine, is slower.
TEST_F(WhatIfTest, OfAFrameworksRunsTheFastestCounts) {
  Analyze();
  const Json before = Bound();
  const auto import = [&](const std::string& version, double time) {
    const Json run = {{"schema", "infimum.run/1"},
                      {"framework", "onnxruntime"},
                      {"framework_version", version},
                      {"model", "resnet50"},
                      {"model_sha256", before.at("model").at("sha256")},
                      {"threads", 1},
                      {"contract", "strict-f32"},
                      {"device", before.at("device")},
                      {"end_to_end", {{{"samples_us", {time}}}}}};
    program_.Write("run.json", run.dump());
    program_.Run({"import", "run.json"});
  };
  const double bound = Latency(before.at("bounds"), "fused-sequential");
  import("1", 3 * bound);
  import("1", 2 * bound);
  import("1", 4 * bound);
  import("0", 0.5 * bound);
  const Json after = Bound();
  ASSERT_EQ(after.at("upper").size(), 2U);
  EXPECT_DOUBLE_EQ(after.at("upper")[0].at("latency_us"), 0.5 * bound);
  EXPECT_DOUBLE_EQ(after.at("upper")[1].at("latency_us"), 2 * bound);
  EXPECT_FALSE(after.at("inversions").empty());
}

}  // namespace
}  // namespace infimum::testing
