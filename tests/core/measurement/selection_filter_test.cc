#include "src/core/measurement/selection_filter.h"

#include <gmock/gmock.h>

#include "tests/core/measurement/row_builder.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Selection Here() {
  Selection selection;
  selection.device = TestDevice().Key();
  return selection;
}

// Names of the candidates that are found for the relu.
std::vector<std::string> Found(MemorySource& source, const Selection& selection) {
  const std::vector<WorkloadKey> keys = {{kReluText}};
  const auto rows = source.Find(keys, selection);
  std::vector<std::string> names;
  if (!rows.ok()) ADD_FAILURE() << rows.error().message;
  for (const Measurement& row : *rows) names.push_back(row.candidate.algorithm);
  return names;
}

TEST(MemorySource, FindsEveryOutcomeOfTheAskedWorkloadsOnly) {
  MemorySource source;
  source.Add(TestRow(), TestEnvironment());
  Measurement failed = TestRow(kReluText, "failed");
  failed.outcome = Outcome::kFailed;
  failed.repetitions.clear();
  source.Add(failed, TestEnvironment());
  source.Add(TestRow(kMatMulText, "other"), TestEnvironment());
  EXPECT_THAT(Found(source, Here()), UnorderedElementsAre("jit:avx2", "failed"));
}

TEST(MemorySource, GivesARowOnceHoweverOftenItIsAddedOrAskedFor) {
  MemorySource source;
  source.Add(TestRow(), TestEnvironment());
  source.Add(TestRow(), TestEnvironment());
  const std::vector<WorkloadKey> twice = {{kReluText}, {kReluText}};
  EXPECT_EQ(source.Find(twice, Here())->size(), 1U);
}

TEST(MemorySource, KnowsThePeaksThatWereSet) {
  MemorySource source;
  DevicePeaks peaks;
  peaks.rates.push_back({PeakRate::Kind::kCopy, Bytes{1024}, DataType::kF32, 1, 1e10, "measured"});
  source.SetPeaks(TestDevice().Key(), peaks);
  EXPECT_EQ(source.Peaks(TestDevice().Key())->rates, peaks.rates);
  EXPECT_THAT(source.Peaks(DeviceKey{"another"})->rates, IsEmpty());
}

TEST(Selection, KeepsDeviceThreadsAndCacheStateApart) {
  MemorySource source;
  source.Add(TestRow(), TestEnvironment());
  Selection other = Here();
  other.device.text = "cpu/another";
  EXPECT_THAT(Found(source, other), IsEmpty());
  other = Here();
  other.threads = 2;
  EXPECT_THAT(Found(source, other), IsEmpty());
  other = Here();
  other.cache = CacheState::kCold;
  EXPECT_THAT(Found(source, other), IsEmpty());
}

TEST(Selection, OfColdWeightsTakesWarmRowsOfWhatHasNone) {
  MemorySource source;
  const auto add = [&](const char* workload, const char* algorithm, CacheState cache) {
    Measurement row = TestRow(workload, algorithm);
    row.cache = cache;
    source.Add(row, TestEnvironment());
  };
  add(kReluText, "relu-warm", CacheState::kWarm);
  add(kReluText, "relu-cold", CacheState::kCold);
  add(kMatMulText, "matmul-warm", CacheState::kWarm);
  add(kMatMulText, "matmul-cold", CacheState::kCold);
  add(kMatMulText, "matmul-cold-weights", CacheState::kColdWeights);
  Selection selection = Here();
  selection.cache = CacheState::kColdWeights;
  const std::vector<WorkloadKey> both{{kReluText}, {kMatMulText}};
  for (const bool with_contract : {false, true}) {
    if (with_contract) selection.contract = NumericContract::kStrictF32;
    std::vector<std::string> found;
    const Result<std::vector<Measurement>> rows = source.Find(both, selection);
    ASSERT_TRUE(rows.ok());
    for (const Measurement& row : *rows) found.push_back(row.candidate.algorithm);
    EXPECT_THAT(found, UnorderedElementsAre("relu-warm", "matmul-cold-weights"));
  }
  // In context: both states, but never all caches cold.
  selection.cache.reset();
  for (const bool with_contract : {true, false}) {
    if (!with_contract) selection.contract.reset();
    std::vector<std::string> found;
    const Result<std::vector<Measurement>> rows = source.Find(both, selection);
    ASSERT_TRUE(rows.ok());
    for (const Measurement& row : *rows) found.push_back(row.candidate.algorithm);
    EXPECT_THAT(found, UnorderedElementsAre("relu-warm", "matmul-warm", "matmul-cold-weights"));
  }
}

TEST(Selection, WithoutAContractTakesTheWorkloadsOwn) {
  MemorySource source;
  Measurement bf16 = TestRow(kReluText, "bf16");
  bf16.contract = NumericContract::kBf16;
  source.Add(bf16, TestEnvironment());
  source.Add(TestRow(), TestEnvironment());
  EXPECT_THAT(Found(source, Here()), ElementsAre("jit:avx2"));
  Selection asked = Here();
  asked.contract = NumericContract::kBf16;
  EXPECT_THAT(Found(source, asked), ElementsAre("bf16"));
}

TEST(Selection, WithoutAnEnvironmentTakesEachLibrarysNewest) {
  MemorySource source;
  source.Add(TestRow(kReluText, "old"), TestEnvironment("3.2"));
  Measurement newer = TestRow(kReluText, "new");
  newer.measured_at = "2026-05-03T00:00:00Z";
  source.Add(newer, TestEnvironment("3.3"));
  Measurement ours = TestRow(kReluText, "copy");
  ours.candidate.library = "infimum";
  source.Add(ours, TestEnvironment("3.2"));
  EXPECT_THAT(Found(source, Here()), UnorderedElementsAre("new", "copy"));

  Selection old = Here();
  old.environment = TestEnvironment("3.2").Key();
  EXPECT_THAT(Found(source, old), UnorderedElementsAre("old", "copy"));
}

// A campaign that has only begun, or one about other layers, does not hide one that is complete.
TEST(Selection, PrefersTheEnvironmentInWhichMostWasTriedToTheNewest) {
  constexpr const char* kOtherText = "pointwise kind=relu dtype=f32:-:f32 in=64";
  MemorySource source;
  source.Add(TestRow(kReluText, "old"), TestEnvironment("3.2"));
  Measurement unsupported = TestRow(kOtherText, "old");
  unsupported.outcome = Outcome::kUnsupported;
  unsupported.reason = "no such thing";
  unsupported.repetitions.clear();
  source.Add(unsupported, TestEnvironment("3.2"));
  Measurement newer = TestRow(kReluText, "new");
  newer.measured_at = "2026-05-03T00:00:00Z";
  source.Add(newer, TestEnvironment("3.3"));
  const std::vector<WorkloadKey> both = {{kReluText}, {kOtherText}};
  const auto algorithms = [&] {
    std::vector<std::string> names;
    const Result<std::vector<Measurement>> rows = source.Find(both, Here());
    EXPECT_TRUE(rows.ok());
    for (const Measurement& row : *rows) names.push_back(row.candidate.algorithm);
    return names;
  };
  EXPECT_THAT(algorithms(), ElementsAre("old", "old"));
  // What was passed over was not tried.
  Measurement skipped = unsupported;
  skipped.outcome = Outcome::kSkipped;
  skipped.candidate.algorithm = "new";
  source.Add(skipped, TestEnvironment("3.3"));
  EXPECT_THAT(algorithms(), ElementsAre("old", "old"));
  unsupported.candidate.algorithm = "new";
  source.Add(unsupported, TestEnvironment("3.3"));
  EXPECT_THAT(algorithms(), UnorderedElementsAre("new", "new", "new"));
}

TEST(Selection, TakesAllRowsOfTheNewestEnvironmentAlsoItsOlderOnes) {
  MemorySource source;
  source.Add(TestRow(kReluText, "first"), TestEnvironment());
  Measurement second = TestRow(kReluText, "second");
  second.measured_at = "2026-05-03T00:00:00Z";
  source.Add(second, TestEnvironment());
  EXPECT_THAT(Found(source, Here()), UnorderedElementsAre("first", "second"));
}

TEST(Selection, LetsRowsOfOtherThreadsNotDecideWhatIsNewest) {
  MemorySource source;
  source.Add(TestRow(kReluText, "one"), TestEnvironment());
  Measurement two = TestRow(kReluText, "two");
  two.measured_at = "2026-05-03T00:00:00Z";
  Environment threads = TestEnvironment();
  threads.threads = 2;
  source.Add(two, threads);
  EXPECT_THAT(Found(source, Here()), ElementsAre("one"));
}

TEST(Selection, OfEquallyNewEnvironmentsDoesNotDependOnTheOrderOfRows) {
  std::map<EnvironmentKey, Environment> environments;
  std::vector<Measurement> rows;
  for (const char* version : {"3.3", "3.2"}) {
    const Environment environment = TestEnvironment(version);
    environments[environment.Key()] = environment;
    rows.push_back(TestRow(kReluText, version));
    rows.back().environment = environment.Key();
  }
  const auto forwards = Admitted(rows, environments, Here());
  std::swap(rows[0], rows[1]);
  ASSERT_EQ(forwards.size(), 1U);
  EXPECT_EQ(Admitted(rows, environments, Here()), forwards);
  EXPECT_EQ(forwards.front().candidate.algorithm, "3.3");
}

TEST(Selection, DropsRowsOfUnknownEnvironmentsAndInvalidWorkloads) {
  Measurement invalid = TestRow("no workload");
  const Environment environment = TestEnvironment();
  const std::map<EnvironmentKey, Environment> known = {{environment.Key(), environment}};
  EXPECT_THAT(Admitted({invalid}, known, Here()), IsEmpty());
  EXPECT_THAT(Admitted({TestRow()}, {}, Here()), IsEmpty());
  EXPECT_EQ(Admitted({TestRow()}, known, Here()).size(), 1U);
}

}  // namespace
}  // namespace infimum
