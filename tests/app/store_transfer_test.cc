#include "src/app/commands/store/store_transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "infimum/results/results_journal.h"
#include "tests/support/temporary_folder.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class StoreTransfer : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = *OpenStore(":memory:", OpenMode::kReadWrite);
    Add({"sha256:1", "1.json"}, {Row("gemm", {10.5, 10.25}), Row("fft", {})});
    Add({"sha256:2", "2.json"}, {Row("gemm", {11})});
    Add({"", ""}, {Row("direct", {12})});
  }

  static Device MakeDevice() {
    Device device;
    device.kind = DeviceKind::kGpu;
    device.name = "Tesla V100-SXM2-16GB";
    device.vendor = "NVIDIA";
    device.generation = "Volta";
    device.identity["compute_capability"] = "7.0";
    return device;
  }
  static Environment MakeEnvironment() {
    Environment environment;
    environment.libraries["cudnn"] = "7.6.3";
    return environment;
  }

  // A failure where there are no times.
  static Measurement Row(const std::string& algorithm, const std::vector<double>& times_us) {
    Measurement row;
    row.workload = {"pointwise kind=relu dtype=f32:-:f32 in=64"};
    row.candidate = {"cudnn-legacy", algorithm, "nchw", "nchw", false};
    row.device = MakeDevice().Key();
    row.environment = MakeEnvironment().Key();
    row.measured_at = "2019-10-06T14:50:20Z";
    for (const double time : times_us) {
      const Latency samples[] = {Latency(time), Latency(time * 2)};
      row.repetitions.push_back(Summarize(samples));
    }
    if (times_us.empty()) {
      row.outcome = Outcome::kFailed;
      row.reason = "CUDNN_STATUS_ALLOC_FAILED \"quoted\"";
    }
    return row;
  }

  void Add(const CampaignOrigin& campaign, const std::vector<Measurement>& rows) {
    const auto import = store_->BeginImport(campaign);
    PeakRate peak;
    peak.kind = PeakRate::Kind::kCopy;
    peak.working_set = Bytes{1 << 20};
    peak.per_second = 7e11;
    peak.source = "measured";
    const std::vector<PeakRate> peaks = {peak};
    ASSERT_TRUE((*import)->Add(MakeDevice(), MakeEnvironment(), rows, peaks).ok());
    ASSERT_TRUE((*import)->Commit().ok());
  }

  std::string File(const std::string& name) const { return folder_.File(name); }

  // Everything that a store hands over, as text.
  static std::vector<std::string> ContentOf(Store& store) {
    std::vector<std::string> content;
    EXPECT_TRUE(store
                    .VisitRows({},
                               [&](const RowBatch& batch) {
                                 for (const Measurement& row : batch.rows)
                                   content.push_back(batch.campaign.key + batch.campaign.source + FormatRecord(row));
                                 for (const PeakRate& peak : batch.peaks) content.push_back(FormatRecord(peak));
                                 return Status();
                               })
                    .ok());
    std::sort(content.begin(), content.end());
    return content;
  }

  const testing::TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
  ProgressLog log_{Loudness::kQuiet, false, [](std::string_view) {}};
};

TEST_F(StoreTransfer, AnExportImportsAgainToTheSameRows) {
  for (const char* name : {"all.jsonl", "all.json"}) {
    const Result<ExportCount> count = ExportRows(*store_, {}, File(name));
    ASSERT_TRUE(count.ok()) << count.error().message;
    EXPECT_EQ(count->rows, 4);
    EXPECT_EQ(count->peaks, 1);
    const auto other = *OpenStore(":memory:", OpenMode::kReadWrite);
    const Result<ImportCount> imported = ImportFileOf(File(name), {}, *other, log_);
    ASSERT_TRUE(imported.ok()) << imported.error().message;
    EXPECT_EQ(imported->added, 5);
    EXPECT_EQ(ContentOf(*other), ContentOf(*store_)) << name;
    EXPECT_EQ(ImportFileOf(File(name), {}, *store_, log_)->added, 0);
  }
}

TEST_F(StoreTransfer, ASelectionIsExportedAlone) {
  EXPECT_EQ(ExportRows(*store_, {.campaign = "1.json"}, File("one.jsonl"))->rows, 2);
  EXPECT_EQ(ExportRows(*store_, {.outcome = "measured"}, File("measured.jsonl"))->rows, 3);
  EXPECT_THAT(ExportRows(*store_, {.device = "T4"}, File("none.jsonl")).error().message,
              HasSubstr("nothing in the store matches the selection"));
  EXPECT_FALSE(fs::exists(File("none.jsonl")));
  EXPECT_FALSE(fs::exists(File("none.jsonl.part")));
}

TEST_F(StoreTransfer, AnExportThatCannotBeWrittenSaysSo) {
  EXPECT_THAT(ExportRows(*store_, {}, File("missing/all.jsonl")).error().message,
              StartsWith(File("missing/all.jsonl") + ": cannot be written: "));
  EXPECT_THAT(ExportRows(*store_, {}, "/dev/full/all.jsonl").error().message, HasSubstr("cannot be written"));
}

TEST_F(StoreTransfer, AMergeTakesRowsRunsAndModelsOnce) {
  RunProfile run;
  run.framework = "onnxruntime";
  run.model_sha256 = "abc";
  run.threads = 1;
  run.end_to_end = {{{Latency(70)}}};
  ASSERT_TRUE(store_->ImportRun(run).ok());
  ASSERT_TRUE(store_->ImportModel({"net", "abc", {{"batch", 1}}, {}}).ok());
  const auto other = *OpenStore(File("other.db"), OpenMode::kReadWrite);
  const Result<ImportCount> merged = MergeStores(*store_, *other, log_);
  ASSERT_TRUE(merged.ok()) << merged.error().message;
  EXPECT_EQ(merged->added, 7);
  EXPECT_EQ(ContentOf(*other), ContentOf(*store_));
  const Result<ImportCount> again = MergeStores(*store_, *other, log_);
  EXPECT_EQ(again->added, 0);
  EXPECT_EQ(again->known, 7);
}

}  // namespace
}  // namespace infimum
