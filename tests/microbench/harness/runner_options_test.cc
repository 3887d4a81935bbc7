#include "microbench/harness/supervisor/runner_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infimum {
namespace {

std::variant<RunnerOptions, EarlyExit> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "infimum-microbench-fake");
  return ParseRunnerOptions(static_cast<int>(arguments.size()), arguments.data(), "fake");
}

RunnerOptions Parsed(std::vector<const char*> arguments) {
  auto parsed = Parse(std::move(arguments));
  if (const auto* early = std::get_if<EarlyExit>(&parsed)) {
    ADD_FAILURE() << early->output;
    return {};
  }
  return std::get<RunnerOptions>(std::move(parsed));
}

std::string UsageError(std::vector<const char*> arguments) {
  const auto parsed = Parse(std::move(arguments));
  const auto* early = std::get_if<EarlyExit>(&parsed);
  if (early == nullptr) return "accepted";
  EXPECT_EQ(early->code, 2);
  return early->output;
}

TEST(RunnerOptions, AreReadFromTheCommandLine) {
  const RunnerOptions options = Parsed({"resnet.plan",
                                        "-o",
                                        "r.jsonl",
                                        "--budget",
                                        "3m",
                                        "--candidate-budget",
                                        "50ms",
                                        "--rounds",
                                        "5",
                                        "--cache",
                                        "both",
                                        "--tier",
                                        "heuristic",
                                        "--max-memory",
                                        "8G",
                                        "--seed",
                                        "7",
                                        "--backend-option",
                                        "noise=0.1",
                                        "--peaks",
                                        "--candidate",
                                        "fake/gemm",
                                        "--time-limit",
                                        "2s"});
  EXPECT_EQ(options.plan_path, "resnet.plan");
  EXPECT_EQ(options.output, "r.jsonl");
  EXPECT_EQ(options.campaign.budget, std::chrono::minutes(3));
  EXPECT_EQ(options.campaign.sampler.budget, std::chrono::milliseconds(50));
  EXPECT_EQ(options.campaign.rounds, 5);
  EXPECT_THAT(options.campaign.caches, ::testing::ElementsAre(CacheState::kWarm, CacheState::kCold));
  EXPECT_EQ(options.campaign.tier, CandidateTier::kHeuristic);
  EXPECT_EQ(options.worker.most_memory, Bytes{std::int64_t{8} << 30});
  EXPECT_EQ(options.worker.backend.seed, 7u);
  EXPECT_EQ(options.worker.backend.settings.at("noise"), "0.1");
  EXPECT_EQ(options.campaign.peaks, PeakDetail::kWhole);
  EXPECT_EQ(options.campaign.candidates, std::vector<std::string>{"fake/gemm"});
  EXPECT_EQ(options.campaign.time_limit, std::chrono::seconds(2));
  EXPECT_EQ(options.worker.backend.cores.size(), 1u);
  EXPECT_EQ(options.affinity, "pinned");
}

TEST(RunnerOptions, OfThePeaksAFirstLookOrTheWholeIsMeasured) {
  EXPECT_EQ(Parsed({"p"}).campaign.peaks, std::nullopt);
  EXPECT_EQ(Parsed({"--first-peaks"}).campaign.peaks, PeakDetail::kFirst);
  EXPECT_EQ(Parsed({"--first-peaks", "--peaks"}).campaign.peaks, PeakDetail::kWhole);
}

TEST(RunnerOptions, CacheStatesAreNamedOneByOne) {
  const auto caches = [](const char* text) { return Parsed({"p", "--cache", text}).campaign.caches; };
  EXPECT_THAT(caches("cold-weights"), ::testing::ElementsAre(CacheState::kColdWeights));
  EXPECT_THAT(caches("warm,cold-weights,warm"), ::testing::ElementsAre(CacheState::kWarm, CacheState::kColdWeights));
  EXPECT_THAT(caches("both"), ::testing::ElementsAre(CacheState::kWarm, CacheState::kCold));
}

TEST(RunnerOptions, ABackendOptionDoesNotSwallowThePlan) {
  const RunnerOptions options = Parsed({"--backend-option", "a=1", "--backend-option", "b=2", "x.plan"});
  EXPECT_EQ(options.plan_path, "x.plan");
  EXPECT_EQ(options.worker.backend.settings.size(), 2u);
}

TEST(RunnerOptions, WrongUsageIsOneLineThatHelps) {
  EXPECT_EQ(UsageError({"x.plan", "--budgett", "3m"}),
            "infimum: error: unknown option '--budgett', did you mean '--budget'?\n");
  EXPECT_EQ(UsageError({"x.plan", "--tier", "engin"}),
            "infimum: error: --tier: 'engin' is not one of heuristic, engine, exhaustive, did you mean 'engine'?\n");
  EXPECT_EQ(UsageError({"x.plan", "--budget", "90"}),
            "infimum: error: --budget: '90' is no time, write it like 500ms, 90s, 3m or 1h30m\n");
  EXPECT_EQ(UsageError({}),
            "infimum: error: nothing to measure; give a PLAN, --layer or --peaks (--help shows examples)\n");
  EXPECT_THAT(UsageError({"x.plan", "--results", "r.jsonl"}), ::testing::HasSubstr("--results needs --replay"));
  EXPECT_THAT(UsageError({"x.plan", "--tensors", "d"}), ::testing::HasSubstr("--tensors needs --replay"));
  EXPECT_THAT(UsageError({"x.plan", "--replay", "s.json", "--tensors", "d"}), ::testing::HasSubstr("leave out"));
  EXPECT_EQ(UsageError({"a.plan", "b.plan"}), "infimum: error: expected one plan; unexpected argument 'b.plan'\n");
  EXPECT_EQ(UsageError({"x.plan", "--rounds", "0"}), "infimum: error: --rounds must be from 1 to 1000\n");
  EXPECT_THAT(UsageError({"x.plan", "--threads", "100000"}), ::testing::HasSubstr("--threads: 100000 threads need"));
  EXPECT_THAT(UsageError({"x.plan", "--cores", "0-99"}), ::testing::StartsWith("infimum: error: --cores: core "));
  EXPECT_THAT(UsageError({"x.plan", "--backend-option", "noise"}), ::testing::HasSubstr("NAME=VALUE"));
  EXPECT_THAT(UsageError({"x.plan", "--layer", "y"}), ::testing::HasSubstr("exclude each other"));
  EXPECT_THAT(UsageError({"x.plan", "--max-memory", "lots"}), ::testing::HasSubstr("--max-memory: 'lots' is no size"));
  EXPECT_THAT(UsageError({"x.plan", "--format", "xml"}), ::testing::HasSubstr("not one of jsonl, google-benchmark"));
}

TEST(RunnerOptions, HelpShowsEveryOptionAndAnExample) {
  const auto parsed = Parse({"--help"});
  const auto& help = std::get<EarlyExit>(parsed);
  EXPECT_EQ(help.code, 0);
  for (const char* text : {"--budget", "--cache", "--progress-fd", "Examples:", "Exit codes"})
    EXPECT_THAT(help.output, ::testing::HasSubstr(text));
}

TEST(RunnerOptions, ALayerIsAPlanOfOne) {
  const Result<Plan> plan = ReadPlanOf(Parsed({"--layer", "pointwise kind=relu dtype=f32:-:f32 in=8"}));
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->entries.size(), 1u);
  EXPECT_EQ(plan->entries[0].contract, NumericContract::kStrictF32);
  EXPECT_THAT(ReadPlanOf(Parsed({"--layer", "poin"})).error().message, ::testing::StartsWith("--layer: "));
  EXPECT_THAT(ReadPlanOf(Parsed({"/no/such.plan"})).error().message,
              ::testing::HasSubstr("/no/such.plan: cannot be read: No such file"));
}

}  // namespace
}  // namespace infimum
