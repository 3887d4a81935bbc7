// What every store promises, whatever keeps it.
#include "infimum/db/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "infimum/measurement/older_identity.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/store_rows.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;
using testing::FindRows;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeDevice;
using testing::MakeEnvironment;
using testing::MakeFailure;
using testing::MakePeak;
using testing::MakeRow;
using testing::MakeRun;
using testing::MakeSelection;
using testing::MakeWorkload;
using ::testing::SizeIs;

class StoreTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "PostgreSql") {
      testing::PostgreSqlServer* const server = testing::PostgreSqlServer::Get();
      if (server == nullptr) {
        ASSERT_EQ(std::getenv("CI"), nullptr) << testing::PostgreSqlServer::WhyNot();
        GTEST_SKIP() << testing::PostgreSqlServer::WhyNot();
      }
      address_ = server->NewDatabase();
    } else {
      address_ = GetParam() == "Memory" ? ":memory:" : folder_.File("infimum.db");
    }
    Result<std::unique_ptr<Store>> opened = OpenStore(address_, OpenMode::kReadWrite);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    store_ = std::move(*opened);
  }

  ImportCount Import(const std::vector<Measurement>& rows, const std::vector<PeakRate>& peaks = {},
                     const Device& device = MakeDevice(), const Environment& environment = MakeEnvironment()) {
    const Result<ImportCount> count = store_->Import(device, environment, rows, peaks);
    EXPECT_TRUE(count.ok()) << (count.ok() ? "" : count.error().message);
    return count.ok() ? *count : ImportCount{};
  }

  testing::TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<Store> store_;
};

// Stores that are there after they were closed.
class LastingStoreTest : public StoreTest {};

TEST_P(StoreTest, ImportedRowsAreFoundUnchanged) {
  const Measurement row = MakeRow(100, {10.5, 11.25});
  const ImportCount count = Import({row, MakeRow(200, {3})});
  EXPECT_EQ(count.added, 2);
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(MakeDevice())), ElementsAre(row));
  EXPECT_THAT(FindRows(*store_, 300, MakeSelection(MakeDevice())), IsEmpty());
}

TEST_P(StoreTest, ImportingAgainAddsNothing) {
  const std::vector<Measurement> rows = {MakeRow(100, {10}), MakeFailure(200, Outcome::kFailed, "signal 11")};
  Import(rows, {MakePeak(1e9)});
  const ImportCount again = Import(rows, {MakePeak(1e9)});
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(again.known, 3);
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(MakeDevice())), SizeIs(1));
}

TEST_P(StoreTest, ARowWithMoreRepetitionsReplacesOneWithFewerAndNotTheOtherWayRound) {
  Import({MakeRow(100, {10})});
  EXPECT_EQ(Import({MakeRow(100, {10, 12, 11})}).added, 1);
  EXPECT_EQ(Import({MakeRow(100, {9, 9})}).known, 1);
  const std::vector<Measurement> rows = FindRows(*store_, 100, MakeSelection(MakeDevice()));
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_THAT(rows[0].repetitions, SizeIs(3));
}

TEST_P(StoreTest, AMeasuredRowBeatsAnEarlierFailureAndIsNotBeatenByALaterOne) {
  Import({MakeFailure(100, Outcome::kSkipped, "no time left")});
  EXPECT_EQ(Import({MakeFailure(100, Outcome::kFailed, "signal 11")}).added, 1);
  EXPECT_EQ(Import({MakeFailure(100, Outcome::kSkipped, "no time left")}).known, 1);
  EXPECT_EQ(Import({MakeRow(100, {10})}).added, 1);
  EXPECT_EQ(Import({MakeFailure(100, Outcome::kFailed, "signal 11")}).known, 1);
  const std::vector<Measurement> rows = FindRows(*store_, 100, MakeSelection(MakeDevice()));
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].outcome, Outcome::kMeasured);
}

TEST_P(StoreTest, AFailureKeepsItsReason) {
  const Measurement row = MakeFailure(100, Outcome::kUnsupported, "no implementation for s4");
  Import({row});
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(MakeDevice())), ElementsAre(row));
}

TEST_P(StoreTest, ColdWeightsAreRowsOfWhatHasConstantsAndWarmOnesOfTheRest) {
  const WorkloadKey product{"matmul dtype=f32:f32:f32 a=1x8x8 b=1x8x8 bias=no weights=const"};
  Measurement warm = MakeRow(100, {2}), cold = warm, product_warm = warm;
  cold.cache = CacheState::kCold;
  product_warm.workload = product;
  Measurement cold_weights = product_warm;
  cold_weights.cache = CacheState::kColdWeights;
  EXPECT_EQ(Import({warm, cold, product_warm, cold_weights}).added, 4);
  Selection selection = MakeSelection(MakeDevice());
  selection.cache = CacheState::kColdWeights;
  const std::vector<WorkloadKey> keys{warm.workload, product};
  const Result<std::vector<Measurement>> rows = store_->Find(keys, selection);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_THAT(*rows, ::testing::UnorderedElementsAre(warm, cold_weights));
  selection.cache.reset();  // in context
  const Result<std::vector<Measurement>> both = store_->Find(keys, selection);
  ASSERT_TRUE(both.ok()) << both.error().message;
  EXPECT_THAT(*both, ::testing::UnorderedElementsAre(warm, product_warm, cold_weights));
}

TEST_P(StoreTest, CandidatesLayoutsContractsAndCacheStatesAreRowsOfTheirOwn) {
  Measurement layout = MakeRow(100, {2}), contract = layout, cold = layout, algorithm = layout;
  layout.candidate.output_layout = "nhwc";
  contract.contract = NumericContract::kBf16;
  cold.cache = CacheState::kCold;
  algorithm.candidate.algorithm = "ref";
  EXPECT_EQ(Import({MakeRow(100, {2}), layout, contract, cold, algorithm}).added, 5);
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(MakeDevice())), SizeIs(3));  // not cold, the native contract
}

TEST_P(StoreTest, ADevicesRowsNeverEnterAnothersBound) {
  Import({MakeRow(100, {2})}, {MakePeak(1e9)});
  const Device other = MakeDevice("2");
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(other)), IsEmpty());
  EXPECT_THAT(store_->Peaks(other.Key())->rates, IsEmpty());
  Import({MakeRow(100, {3})}, {}, other);
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(other)), SizeIs(1));
}

TEST_P(StoreTest, WithoutAnEnvironmentTheNewestLibraryIsTaken) {
  Measurement newer = MakeRow(100, {5});
  newer.environment = MakeEnvironment("3.5.0").Key();
  newer.measured_at = "2026-12-01T00:00:00Z";
  Import({MakeRow(100, {2})});
  Import({newer}, {}, MakeDevice(), MakeEnvironment("3.5.0"));
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(MakeDevice())), ElementsAre(newer));
  Selection older = MakeSelection(MakeDevice());
  older.environment = MakeEnvironment().Key();
  EXPECT_THAT(FindRows(*store_, 100, older), ElementsAre(MakeRow(100, {2})));
}

TEST_P(StoreTest, RowsOfOtherThreadCountsAreNotTaken) {
  Import({MakeRow(100, {2})}, {}, MakeDevice(), MakeEnvironment("3.2.0", 4));
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(MakeDevice(), 1)), IsEmpty());
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(MakeDevice(), 4)), SizeIs(1));
}

TEST_P(StoreTest, OfAPeakTheBestEverSeenStays) {
  Import({}, {MakePeak(2e9), MakePeak(5e9, 4096)});
  Import({}, {MakePeak(3e9), MakePeak(4e9, 4096)});
  Result<DevicePeaks> peaks = store_->Peaks(MakeDevice().Key());
  ASSERT_TRUE(peaks.ok());
  EXPECT_THAT(peaks->rates, ::testing::UnorderedElementsAre(MakePeak(3e9), MakePeak(5e9, 4096)));
}

TEST_P(StoreTest, PeaksOfEveryKindAreKept) {
  std::vector<PeakRate> kept;
  for (const auto kind :
       {PeakRate::Kind::kRead, PeakRate::Kind::kWrite, PeakRate::Kind::kCopy, PeakRate::Kind::kArithmetic,
        PeakRate::Kind::kTf32, PeakRate::Kind::kLaunch, PeakRate::Kind::kRetention}) {
    kept.push_back(MakePeak(1e9));
    kept.back().kind = kind;
  }
  Import({}, kept);
  EXPECT_THAT(store_->Peaks(MakeDevice().Key())->rates, ::testing::UnorderedElementsAreArray(kept));
}

TEST_P(StoreTest, ManyWorkloadsAreAskedAtOnce) {
  std::vector<Measurement> rows;
  std::vector<WorkloadKey> keys;
  for (std::int64_t i = 1; i <= 3000; ++i) {
    rows.push_back(MakeRow(i, {2}));
    keys.push_back(testing::MakeWorkload(i));
  }
  Import(rows);
  keys.push_back(keys.front());  // asked twice, found once
  const Result<std::vector<Measurement>> found = store_->Find(keys, MakeSelection(MakeDevice()));
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(*found, SizeIs(3000));
}

TEST_P(StoreTest, EnvironmentsAreKnownByTheirKeys) {
  Measurement newer = MakeRow(100, {5});
  newer.environment = MakeEnvironment("3.5.0").Key();
  Import({MakeRow(100, {2})});
  Import({newer}, {}, MakeDevice(), MakeEnvironment("3.5.0"));
  const auto environments = store_->Environments();
  ASSERT_TRUE(environments.ok());
  Environment old_one = MakeEnvironment(), new_one = MakeEnvironment("3.5.0");
  old_one.evidence.clear();
  new_one.evidence.clear();
  const std::map<EnvironmentKey, Environment> expected{{old_one.Key(), old_one}, {new_one.Key(), new_one}};
  EXPECT_EQ(*environments, expected);
}

Environment OnHost(const std::string& host, const std::string& library_version = "3.2.0") {
  Environment environment = MakeEnvironment(library_version);
  environment.evidence[evidence::kHost] = host;
  return environment;
}

TEST_P(StoreTest, RowsOfSeveralHostsAreAllKeptAndTheFastestIsFoundInAnyOrder) {
  Import({MakeRow(100, {5, 6})}, {}, MakeDevice(), OnHost("a"));
  Import({MakeRow(100, {4, 4.5})}, {}, MakeDevice(), OnHost("b"));
  Import({MakeRow(100, {4.5, 5})}, {}, MakeDevice(), OnHost("c"));
  Import({MakeRow(200, {9})}, {}, MakeDevice(), OnHost("a"));
  Import({MakeRow(300, {9})}, {}, MakeDevice(), OnHost("c"));
  const std::vector<WorkloadKey> keys{MakeWorkload(100), MakeWorkload(200), MakeWorkload(300)};
  const Result<std::vector<Measurement>> found = store_->Find(keys, MakeSelection(MakeDevice()));
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(*found, SizeIs(3));  // no host hides what another has
  EXPECT_EQ(FindRows(*store_, 100, MakeSelection(MakeDevice())).at(0).evidence, OnHost("b").Told());
  EXPECT_EQ(store_->Environments()->size(), 1u);
  // Each row is handed on with its own, and is known when it comes again.
  std::map<std::string, std::size_t> rows;
  ASSERT_TRUE(store_
                  ->VisitRows({},
                              [&](const RowBatch& batch) -> Status {
                                rows[FactOf(batch.environment.evidence, evidence::kHost)] += batch.rows.size();
                                for (const Measurement& row : batch.rows)
                                  EXPECT_EQ(row.evidence, batch.environment.Told());
                                return {};
                              })
                  .ok());
  EXPECT_EQ(rows, (std::map<std::string, std::size_t>{{"a", 2}, {"b", 1}, {"c", 2}}));
  const std::vector<Measurement> again{MakeRow(100, {4, 4.5})};
  EXPECT_EQ(store_->Import(MakeDevice(), OnHost("b"), again, {})->added, 0);
}

TEST_P(StoreTest, LibrariesOfTwoVersionsAreNeverMixedHoweverManyHostsThereAre) {
  for (const char* host : {"a", "b", "c"}) {
    Import({MakeRow(100, {5})}, {}, MakeDevice(), OnHost(host));
    Import({MakeRow(200, {5})}, {}, MakeDevice(), OnHost(host));
    Import({MakeRow(100, {1})}, {}, MakeDevice(), OnHost(host, "3.3.0"));
  }
  const std::vector<WorkloadKey> keys{MakeWorkload(100), MakeWorkload(200)};
  const Result<std::vector<Measurement>> found = store_->Find(keys, MakeSelection(MakeDevice()));
  ASSERT_TRUE(found.ok());
  ASSERT_THAT(*found, SizeIs(2));
  for (const Measurement& row : *found) EXPECT_EQ(row.environment, MakeEnvironment("3.2.0").Key());
}

TEST_P(StoreTest, ProcessorsThatDifferOnlyInCoresAreMergedOnRequest) {
  const Device one = WithCores(MakeDevice(), 1), two = WithCores(MakeDevice(), 2);
  Measurement slow = MakeRow(100, {5, 6}), fast = MakeRow(100, {4, 4});
  slow.device = one.Key();
  fast.device = two.Key();
  RunProfile run = testing::MakeRun();
  run.device = one.Key().text;
  Import({slow, MakeRow(200, {7})}, {testing::MakePeak(1e9)}, one);
  Import({fast}, {testing::MakePeak(2e9), testing::MakePeak(1e9)}, two);
  ASSERT_TRUE(store_->ImportRun(run).ok());
  EXPECT_THAT(store_->MergeDevices({"cpu/x/a=b"}, two.Key()).error().message, HasSubstr("has no device"));
  const Result<std::string> merged = store_->MergeDevices(one.Key(), two.Key());
  ASSERT_TRUE(merged.ok()) << merged.error().message;
  ASSERT_THAT(*store_->Devices(), SizeIs(1));
  EXPECT_EQ(store_->Devices()->front().Key(), two.Key());
  EXPECT_EQ(store_->Devices()->front().cores, 2);
  const std::vector<Measurement> rows = FindRows(*store_, 100, MakeSelection(two));
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].repetitions[0].median, Latency(4));
  EXPECT_THAT(FindRows(*store_, 200, MakeSelection(two)), SizeIs(1));
  EXPECT_EQ(store_->Peaks(two.Key())->rates.front().per_second, 2e9);
  EXPECT_TRUE(store_->FindRun(run.model_sha256, two.Key(), run.dims, 1, run.framework)->has_value());
  std::string problems;
  ASSERT_TRUE(store_->Check([&](const std::string& problem) { problems += problem + "; "; }).ok());
  EXPECT_EQ(problems, "");
}

TEST_P(StoreTest, TwoProcessorsAreNotMerged) {
  Import({MakeRow(100, {5})});
  Device other = WithCores(MakeDevice("2"), 2);
  Import({MakeRow(100, {5})}, {}, other);
  EXPECT_THAT(store_->MergeDevices(MakeDevice().Key(), other.Key()).error().message, HasSubstr("different devices"));
  EXPECT_THAT(*store_->Devices(), SizeIs(2));
}

TEST_P(StoreTest, DevicesAreListedWithTheirRows) {
  Measurement later = MakeRow(200, {2});
  later.measured_at = "2026-11-22T00:00:00Z";
  Import({MakeRow(100, {2}), later});
  Import({}, {MakePeak(1)}, MakeDevice("2"));
  Result<std::vector<DeviceRows>> devices = store_->CountRows();
  ASSERT_TRUE(devices.ok());
  ASSERT_THAT(*devices, SizeIs(2));
  EXPECT_EQ((*devices)[0].device, MakeDevice());
  EXPECT_EQ((*devices)[0].measurements, 2);
  EXPECT_EQ((*devices)[0].newest, "2026-11-22T00:00:00Z");
  EXPECT_EQ((*devices)[1].measurements, 0);
}

TEST_P(StoreTest, HostileTextsAreKeptUnchanged) {
  const std::string hostile = "'); DROP TABLE measurements; -- \" \\ \n \xc3\xa9 ?1 %s";
  Measurement row = MakeRow(100, {2});
  row.candidate.algorithm = row.candidate.input_layout = hostile;
  row.flags = {hostile};
  Device device = MakeDevice();
  device.name = device.identity["family"] = hostile;
  row.device = device.Key();
  Import({row}, {}, device);
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(device)), ElementsAre(row));
  const std::vector<WorkloadKey> keys{{hostile}};
  EXPECT_THAT(*store_->Find(keys, MakeSelection(device)), IsEmpty());
}

TEST_P(StoreTest, ABatchWithARowThatCannotBeKeptIsRefusedAsAWhole) {
  Measurement bad = MakeRow(200, {2});
  bad.repetitions[0].count = -1;
  const std::vector<Measurement> rows = {MakeRow(100, {2}), bad};
  const Result<ImportCount> count = store_->Import(MakeDevice(), MakeEnvironment(), rows, {});
  ASSERT_FALSE(count.ok());
  EXPECT_THAT(count.error().message, HasSubstr(address_.substr(0, address_.find('?'))));
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(MakeDevice())), IsEmpty());
  EXPECT_EQ(Import({MakeRow(100, {2})}).added, 1);  // the store goes on
}

TEST_P(StoreTest, ARunThatTellsNoThreadsIsRefused) {
  RunProfile run = MakeRun();
  run.threads.reset();
  const Result<ImportCount> count = store_->ImportRun(run);
  ASSERT_FALSE(count.ok());
  EXPECT_THAT(count.error().message, HasSubstr("--threads N"));
}

TEST_P(StoreTest, ARunIsFoundAsItWas) {
  EXPECT_EQ(store_->ImportRun(MakeRun())->added, 1);
  EXPECT_EQ(store_->ImportRun(MakeRun())->known, 1);
  const Result<std::optional<RunProfile>> found =
      store_->FindRun("ab12", MakeDevice().Key(), {{"batch", 8}, {"seq", 128}}, 1, "onnxruntime");
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_TRUE(found->has_value());
  const RunProfile& run = **found;
  EXPECT_EQ(run.framework_version, "1.31.1");
  EXPECT_EQ(run.dims, MakeRun().dims);
  EXPECT_EQ(run.settings, MakeRun().settings);
  EXPECT_EQ(run.warnings, MakeRun().warnings);
  ASSERT_THAT(run.end_to_end, SizeIs(2));
  EXPECT_EQ(run.end_to_end[0].samples, MakeRun().end_to_end[0].samples);
  ASSERT_THAT(run.layers, SizeIs(1));
  EXPECT_EQ(run.layers[0].outputs, std::vector<std::string>{"y"});
  EXPECT_EQ(run.layers[0].samples, MakeRun().layers[0].samples);
}

TEST_P(StoreTest, TheLayersOfAProfileAreKept) {
  RunProfile run = MakeRun();
  run.layers[0].input_tensors = {{"f16", {1, 64, 56, 56}, "NHWC8"}, {"", {}, ""}};
  run.layers[0].output_tensors = {{"f32", {}, ""}};
  run.layers[0].algorithm = "sm80_xmma";
  run.layers[0].serves = "conv2";
  run.profiled = {Latency(110.5), Latency(1.0 / 3)};
  run.idle = DeviceIdle{Latency(1), Latency(0.5), Latency(0), Latency(2)};
  ASSERT_EQ(store_->ImportRun(run)->added, 1);
  const auto found = store_->FindRun("ab12", MakeDevice().Key(), run.dims, 1, "onnxruntime");
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->layers[0].input_tensors, run.layers[0].input_tensors);
  EXPECT_EQ((*found)->layers[0].output_tensors, run.layers[0].output_tensors);
  EXPECT_EQ((*found)->layers[0].algorithm, "sm80_xmma");
  EXPECT_EQ((*found)->layers[0].serves, "conv2");
  EXPECT_EQ((*found)->profiled, run.profiled);
  EXPECT_EQ((*found)->idle, run.idle);
}

TEST_P(StoreTest, ANoisyRunIsKeptWithItsReasonAndWithoutATime) {
  RunProfile noisy = MakeRun();
  noisy.noisy = "other programs ran on its cores";
  ASSERT_TRUE(store_->ImportRun(noisy).ok());
  const auto found = store_->FindRun("ab12", MakeDevice().Key(), MakeRun().dims, 1, "onnxruntime");
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->noisy, noisy.noisy);
  EXPECT_EQ((*found)->end_to_end[0].samples, noisy.end_to_end[0].samples);
}

TEST_P(StoreTest, RunsOfOneModelAreAllFoundTheNewestFirst) {
  RunProfile faster = MakeRun();
  faster.end_to_end[0].samples = {Latency(7)};
  ASSERT_TRUE(store_->ImportRun(faster).ok());
  ASSERT_TRUE(store_->ImportRun(MakeRun()).ok());
  const auto runs = store_->FindRuns("ab12", MakeDevice().Key(), MakeRun().dims, 1, "onnxruntime");
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  ASSERT_THAT(*runs, SizeIs(2));
  EXPECT_EQ((*runs)[0].end_to_end[0].samples, MakeRun().end_to_end[0].samples);
  EXPECT_EQ((*runs)[1].end_to_end[0].samples, faster.end_to_end[0].samples);
  EXPECT_THAT(*store_->FindRuns("other", MakeDevice().Key(), MakeRun().dims, 1, "onnxruntime"), IsEmpty());
}

TEST_P(StoreTest, ARunOfOtherDimensionsThreadsModelsOrFrameworksIsNotFound) {
  ASSERT_TRUE(store_->ImportRun(MakeRun()).ok());
  const DeviceKey device = MakeDevice().Key();
  const std::map<std::string, std::int64_t> dims = MakeRun().dims;
  EXPECT_FALSE(store_->FindRun("other", device, dims, 1, "onnxruntime")->has_value());
  EXPECT_FALSE(store_->FindRun("ab12", MakeDevice("2").Key(), dims, 1, "onnxruntime")->has_value());
  EXPECT_FALSE(store_->FindRun("ab12", device, {{"batch", 8}}, 1, "onnxruntime")->has_value());
  EXPECT_FALSE(store_->FindRun("ab12", device, dims, 2, "onnxruntime")->has_value());
  EXPECT_FALSE(store_->FindRun("ab12", device, dims, 1, "pytorch")->has_value());
}

TEST_P(StoreTest, TheNewestRunIsTaken) {
  RunProfile newer = MakeRun();
  newer.framework_version = "2.0.0";
  ASSERT_TRUE(store_->ImportRun(MakeRun()).ok());
  ASSERT_TRUE(store_->ImportRun(newer).ok());
  const auto found = store_->FindRun("ab12", MakeDevice().Key(), MakeRun().dims, 1, "onnxruntime");
  EXPECT_EQ((**found).framework_version, "2.0.0");
}

TEST_P(LastingStoreTest, ImportedRowsAreThereAfterReopening) {
  Import({MakeRow(100, {2})});
  store_.reset();
  for (OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite}) {
    Result<std::unique_ptr<Store>> again = OpenStore(address_, mode);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_THAT(FindRows(**again, 100, MakeSelection(MakeDevice())), SizeIs(1));
  }
}

TEST_P(LastingStoreTest, AReaderSeesWhatAWriterSavesMeanwhile) {
  Result<std::unique_ptr<Store>> reader = OpenStore(address_, OpenMode::kReadOnly);
  ASSERT_TRUE(reader.ok());
  EXPECT_THAT(FindRows(**reader, 100, MakeSelection(MakeDevice())), IsEmpty());
  Import({MakeRow(100, {2})});
  EXPECT_THAT(FindRows(**reader, 100, MakeSelection(MakeDevice())), SizeIs(1));
}

TEST_P(LastingStoreTest, AReaderMayNotWrite) {
  Result<std::unique_ptr<Store>> reader = OpenStore(address_, OpenMode::kReadOnly);
  ASSERT_TRUE(reader.ok());
  const std::vector<Measurement> rows = {MakeRow(100, {2})};
  EXPECT_FALSE((*reader)->Import(MakeDevice(), MakeEnvironment(), rows, {}).ok());
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(MakeDevice())), IsEmpty());
}

TEST_P(StoreTest, AnImportIsSeenAtOnceWhenItIsCommitted) {
  Result<std::unique_ptr<StoreImport>> import = store_->BeginImport({"sha256:1", "1.json"});
  ASSERT_TRUE(import.ok()) << import.error().message;
  const std::vector<Measurement> first = {MakeRow(100, {2})}, second = {MakeRow(200, {2})};
  ASSERT_TRUE((*import)->Add(MakeDevice(), MakeEnvironment(), first, {}).ok());
  ASSERT_TRUE((*import)->Add(MakeDevice(), MakeEnvironment(), second, {}).ok());
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(MakeDevice())), IsEmpty());
  const Result<ImportCount> count = (*import)->Commit();
  ASSERT_TRUE(count.ok()) << count.error().message;
  EXPECT_EQ(count->added, 2);
  EXPECT_THAT(FindRows(*store_, 200, MakeSelection(MakeDevice())), SizeIs(1));
}

TEST_P(StoreTest, AnImportThatIsNotCommittedLeavesNothing) {
  const std::vector<Measurement> rows = {MakeRow(100, {2})};
  {
    Result<std::unique_ptr<StoreImport>> import = store_->BeginImport({});
    ASSERT_TRUE((*import)->Add(MakeDevice(), MakeEnvironment(), rows, {}).ok());
  }
  EXPECT_EQ(Import({MakeRow(200, {3})}).added, 1);
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(MakeDevice())), IsEmpty());
}

TEST_P(StoreTest, RowsOfTwoCampaignsAreBothKeptAndTheFastestIsFound) {
  const auto import = [&](const char* key, std::vector<double> medians) {
    Result<std::unique_ptr<StoreImport>> begun = store_->BeginImport({key, key});
    const std::vector<Measurement> rows = {MakeRow(100, std::move(medians))};
    EXPECT_TRUE((*begun)->Add(MakeDevice(), MakeEnvironment(), rows, {}).ok());
    const Result<ImportCount> count = (*begun)->Commit();
    EXPECT_TRUE(count.ok()) << (count.ok() ? "" : count.error().message);
    return count.ok() ? count->added : -1;
  };
  EXPECT_EQ(import("first", {2, 3}), 1);
  EXPECT_EQ(import("second", {1}), 1);
  EXPECT_EQ(import("second", {1}), 0);
  EXPECT_EQ(import("third", {5, 6, 7}), 1);
  EXPECT_EQ(store_->CountRows()->at(0).measurements, 3);
  // A later and slower campaign never raises a bound.
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(MakeDevice())), ElementsAre(MakeRow(100, {1})));
}

// A journal has a row again whenever it got another repetition.
TEST_P(StoreTest, OfARowThatComesSeveralTimesInOneImportTheLastCounts) {
  const ImportCount count = Import({MakeRow(100, {2}), MakeRow(100, {2, 3}), MakeRow(100, {2, 3, 4})});
  EXPECT_EQ(count.added, 1);
  EXPECT_EQ(count.known, 2);
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(MakeDevice())), ElementsAre(MakeRow(100, {2, 3, 4})));
}

TEST_P(StoreTest, BytesThatAreNoTextBecomeReplacementCharacters) {
  Measurement row = MakeFailure(100, Outcome::kFailed, std::string("caf\xe9\0!", 6));
  row.candidate.algorithm = "\xff";
  Import({row});
  const std::vector<Measurement> found = FindRows(*store_, 100, MakeSelection(MakeDevice()));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason, "caf\xef\xbf\xbd\xef\xbf\xbd!");
  EXPECT_EQ(found[0].candidate.algorithm, "\xef\xbf\xbd");
}

// Longer than an entry of a usual index may be.
TEST_P(StoreTest, TextsOfAMegabyteAreKept) {
  const std::string reason(1 << 20, 'r');
  Measurement row = MakeFailure(100, Outcome::kFailed, reason);
  row.workload.text += std::string(20'000, '1');
  Device device = MakeDevice();
  device.identity["family"] = std::string(5000, 'f');
  row.device = device.Key();
  Import({row}, {}, device);
  const std::vector<WorkloadKey> keys = {row.workload};
  const Result<std::vector<Measurement>> found = store_->Find(keys, MakeSelection(device));
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_THAT(store_->CountRows()->at(0).measurements, 1);
}

TEST(MemoryStore, KeepsNothingOnDisk) {
  Result<std::unique_ptr<Store>> store = OpenStore(":memory:", OpenMode::kReadWrite);
  ASSERT_TRUE(store.ok());
  const std::vector<Measurement> rows = {MakeRow(100, {2})};
  ASSERT_TRUE((*store)->Import(MakeDevice(), MakeEnvironment(), rows, {}).ok());
  EXPECT_THAT(FindRows(**store, 100, MakeSelection(MakeDevice())), SizeIs(1));
  EXPECT_FALSE(std::filesystem::exists(":memory:"));
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreTest, ::testing::Values("Memory", "Sqlite", "PostgreSql"), testing::ParamName);
INSTANTIATE_TEST_SUITE_P(Stores, LastingStoreTest, ::testing::Values("Sqlite", "PostgreSql"), testing::ParamName);

}  // namespace
}  // namespace infimum
