// infimum bench --emitted: the sources of a layer written, built, run and imported, beside the runner's times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/commands/program.h"

namespace infimum::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRelu = "pointwise kind=relu dtype=f32:-:f32 in=4096";

TEST(BenchEmitted, ShowsBothTimesAndKeepsTheRows) {
#ifndef INFIMUM_HAS_BENCHMARK
  GTEST_SKIP() << "Google Benchmark is not installed (Debian: libbenchmark-dev), which emitted sources need";
#endif
  const ProgramTest program;
  const Ended bench = program.Infimum(
      {"bench", "--layer", kRelu, "--budget", "20s", "--emitted", "sources", "--format", "json", "--db", "store.db"});
  ASSERT_EQ(bench.exit_code, 0) << bench.errors;
  EXPECT_THAT(bench.errors, HasSubstr("sources/onednn: compiling 1 source"));
  EXPECT_THAT(bench.errors, HasSubstr("in the median of 1 candidate"));
  std::size_t emitted = 0;
  const auto answer = nlohmann::json::parse(bench.output);
  for (const auto& row : answer.at("rows")) {
    const bool is_ours = row.at("candidate").get<std::string>().starts_with("infimum/");
    EXPECT_EQ(row.at("emitted_us").is_null(), is_ours) << row;
    emitted += is_ours ? 0 : 1;
  }
  EXPECT_EQ(emitted, 1U);
  // Of the very device that the runner measured on: rows without a name would belong to another.
  EXPECT_EQ(program.Json({"query", "outcomes", "--db", "store.db", "--format", "json"}).at("rows").size(), 2U)
      << "a device's rows of oneDNN, and of ours";

  const Ended again = program.Infimum({"bench", "--layer", kRelu, "--budget", "20s", "--emitted", "sources"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.errors, HasSubstr("sources exists and is no empty folder"));
  EXPECT_THAT(again.errors, ::testing::Not(HasSubstr("measuring"))) << "before the budget is spent";
}

TEST(BenchEmitted, SaysWhatStopsIt) {
  const ProgramTest program;
  const Ended fake = program.Infimum({"bench", "--backend", "fake", "--layer", kRelu, "--emitted", "sources"});
  EXPECT_EQ(fake.exit_code, 2);
  EXPECT_THAT(fake.errors, HasSubstr("no sources are emitted for the backend 'fake'"));
  EXPECT_FALSE(std::filesystem::exists(program.folder() / "sources"));
  const Ended cold = program.Infimum({"bench", "--layer", kRelu, "--cache", "cold", "--emitted", "sources"});
  EXPECT_EQ(cold.exit_code, 2);
  EXPECT_THAT(cold.errors, HasSubstr("warm caches alone"));
  // Before anything is measured.
  const Ended none =
      program.Infimum({"bench", "--layer", kRelu, "--candidate", "infimum/relu", "--emitted", "sources"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.errors, HasSubstr("nothing is left to emit"));
  EXPECT_FALSE(std::filesystem::exists(program.folder() / "infimum.db"));
}

}  // namespace
}  // namespace infimum::testing
