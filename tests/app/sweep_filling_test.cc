// The report of a sweep from a store that has results of an evaluation's cells.
#include "src/app/commands/report_sweep/sweep_filling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infimum/db/store.h"
#include "src/app/commands/evaluate/sweep_cells.h"
#include "tests/support/temporary_folder.h"

namespace infimum::sweep_filling_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kFile = R"({"schema": "infimum.evaluation/1", "name": "secret plan",
  "models": [{"family": "fc", "choices": {"nodes": [64, 128], "batch": [1, 8]}}, {"file": "secret.onnx", "dims": {"users": [1, 2]}}],
  "frameworks": [{"name": "onnxruntime"}], "threads": [1, 2]})";

class SweepFillingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.Write("secret.onnx", "no model, but it has a hash");
    options_.evaluation = folder_.Write("plan.json", kFile);
    options_.database = (folder_.path() / "store.db").string();
    device_.kind = DeviceKind::kCpu;
    device_.name = "A processor";
    device_.identity = {{"model", "1"}};
    Result<std::unique_ptr<Store>> store = OpenStore(options_.database, OpenMode::kReadWrite);
    ASSERT_TRUE(store.ok()) << store.error().message;
    Measurement row;
    row.workload.text = "pointwise kind=relu dtype=f32:-:f32 in=64";
    row.device = device_.Key();
    row.outcome = Outcome::kSkipped;
    row.reason = "too slow";
    Environment environment;
    row.environment = environment.Key();
    ASSERT_TRUE((*store)->Import(device_, environment, std::vector<Measurement>{row}, {}).ok());
    Result<EvaluationFile> file = ReadEvaluationFile(options_.evaluation);
    ASSERT_TRUE(file.ok()) << file.error().message;
    ASSERT_TRUE((*store)->SaveEvaluation(ToStored(*file)).ok());
    // Time grows with the place; the last cell fails, the one before it was never run.
    for (std::size_t i = 0; i < file->cells.size(); ++i) {
      if (i + 2 == file->cells.size()) continue;
      CellAttempt attempt;
      attempt.cell = file->cells[i].hash;
      attempt.device = device_.Key().text;
      attempt.begun_at = attempt.until = "2026-01-01T00:00:00Z";
      const auto id = (*store)->BeginCell(attempt, [](std::span<const CellAttempt>) { return true; });
      ASSERT_TRUE(id.ok()) << id.error().message;
      CellResult result;
      result.measured_at = "2026-01-01T00:00:0" + std::to_string(i % 10) + "Z";
      result.framework_version = "1.31";
      result.facts.parameters = static_cast<std::int64_t>(100 + i);
      if (i + 1 == file->cells.size()) {
        result.state = CellState::kFailed;
        result.reason = "cannot read /home/secret/x";
      } else {
        for (const double factor : {0.99, 1.0, 1.01}) {
          Repetition repetition;
          repetition.count = 1;
          repetition.minimum = repetition.median = repetition.p95 = Latency(factor * (10 + static_cast<double>(i)));
          result.repetitions.push_back(repetition);
        }
      }
      ASSERT_TRUE((*store)->EndCell(**id, result).ok());
    }
  }

  SweepReport Report() {
    ProgressLog log = ProgressLog::ToStandardError(Loudness::kQuiet);
    Result<SweepReport> report = MakeSweepReport(options_, log);
    EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().message);
    return report.ok() ? *std::move(report) : SweepReport();
  }

  testing::TemporaryFolder folder_;
  SweepOptions options_;
  Device device_;
};

TEST_F(SweepFillingTest, EveryCellStandsWithWhatBecameOfIt) {
  const SweepReport report = Report();
  ASSERT_THAT(report.cells, SizeIs(12));
  ASSERT_THAT(report.devices, SizeIs(1));
  EXPECT_EQ(report.devices[0].device, "A processor");
  EXPECT_EQ(report.devices[0].measured, 10U);
  EXPECT_EQ(report.cells[11].state, CellState::kFailed);
  EXPECT_FALSE(report.cells[10].state.has_value());
  EXPECT_NEAR(report.cells[0].time->count(), 10, 0.01);
  EXPECT_EQ(report.cells[0].fields.at("framework.name"), "onnxruntime");
  EXPECT_EQ(report.name, "secret plan");
  EXPECT_EQ(report.data_as_of, "2026-01-01T00:00:09Z");
  ASSERT_THAT(report.speed_ups, SizeIs(1));
  EXPECT_EQ(report.speed_ups[0].field, "threads");
  EXPECT_THAT(report.speed_ups[0].pairs, SizeIs(5));
  EXPECT_EQ(SweepPage(report), SweepPage(Report()));
}

TEST_F(SweepFillingTest, AnonymizedItHasNoNameThatAnOwnerGave) {
  const std::string named = SweepJson(Report());
  for (const char* name : {"secret", "users"}) EXPECT_THAT(named, HasSubstr(name));
  options_.anonymize = true;
  const SweepReport report = Report();
  for (const std::string& text : {SweepJson(report), SweepCsv(report), SweepMarkdown(report), SweepPage(report)}) {
    EXPECT_THAT(text, Not(HasSubstr("secret")));
    EXPECT_THAT(text, Not(HasSubstr("users")));
    EXPECT_THAT(text, HasSubstr("model-1"));
    EXPECT_THAT(text, HasSubstr("fc nodes=64"));
  }
  EXPECT_EQ(report.cells[0].hash, "");
}

TEST_F(SweepFillingTest, ADataSheetsDeviceShowsFloorsBesideWhatWasMeasured) {
  options_.devices = {"A processor", "h200"};
  const SweepReport report = Report();
  ASSERT_THAT(report.devices, SizeIs(2));
  EXPECT_EQ(report.devices[1].measured, 0U);
  // Each model once, on whatever threads; the file is no model.
  ASSERT_EQ(report.devices[1].count, 6U);
  for (const SweepCell& cell : report.CellsOf(report.devices[1]).first(4)) EXPECT_TRUE(cell.facts.floor.has_value());
  EXPECT_EQ(report.cells.back().state, CellState::kSkipped);
  EXPECT_THAT(report.remarks,
              ElementsAre(HasSubstr("'h200' may also be NVIDIA H200 NVL"), HasSubstr("no cell was measured there")));
}

TEST_F(SweepFillingTest, WithoutResultsTheErrorSaysWhatMakesThem) {
  options_.database = (folder_.path() / "none.db").string();
  ProgressLog log = ProgressLog::ToStandardError(Loudness::kQuiet);
  const Result<SweepReport> report = MakeSweepReport(options_, log);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().message, HasSubstr("plan.json: the store has no result of its cells: `infimum evaluate"));
}

}  // namespace
}  // namespace infimum::sweep_filling_test
