// Clocks that are wrong or go back: what the store promises does not hang on any of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "db/connection/postgresql_connection.h"
#include "db/connection/sqlite_connection.h"
#include "infimum/db/store.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/store_rows.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;
using testing::FindRows;
using testing::MakeDevice;
using testing::MakeEnvironment;
using testing::MakePeak;
using testing::MakeRow;
using testing::MakeRun;
using testing::MakeSelection;
using testing::PostgreSqlServer;

constexpr const char* kTimes[] = {"2026-11-21T10:47:44Z",
                                  "1970-01-01T00:00:00Z",
                                  "9999-12-31T23:59:59Z",
                                  "2026-11-21T10:47:43Z",
                                  "0000-00-00T00:00:00Z",
                                  "",
                                  "tomorrow"};

class StoreClock : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    address_ = folder_.File("infimum.db");
    if (GetParam() == "PostgreSql") {
      PostgreSqlServer* const server = PostgreSqlServer::Get();
      if (server == nullptr) {
        ASSERT_EQ(std::getenv("CI"), nullptr) << PostgreSqlServer::WhyNot();
        GTEST_SKIP() << PostgreSqlServer::WhyNot();
      }
      address_ = server->NewDatabase();
    }
    Result<std::unique_ptr<Store>> opened = OpenStore(address_, OpenMode::kReadWrite);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    store_ = std::move(*opened);
  }

  std::int64_t Import(const CampaignOrigin& campaign, const std::vector<Measurement>& rows,
                      const Environment& environment = MakeEnvironment(), const std::vector<PeakRate>& peaks = {}) {
    Result<std::unique_ptr<StoreImport>> import = store_->BeginImport(campaign);
    EXPECT_TRUE(import.ok() && (*import)->Add(MakeDevice(), environment, rows, peaks).ok());
    const Result<ImportCount> count = (*import)->Commit();
    EXPECT_TRUE(count.ok()) << (count.ok() ? "" : count.error().message);
    return count.ok() ? count->added : -1;
  }

  // As if all that is there had been imported at another time than it says.
  void SetImportTimes(const std::string& time) {
    if (GetParam() == "PostgreSql") {
      const auto connection = PostgreSqlConnection::Open(address_, false);
      ASSERT_TRUE(connection.ok() && (*connection)->Execute("UPDATE campaigns SET imported_at = '" + time + "'").ok());
    } else {
      const auto connection = SqliteConnection::Open(address_, SqliteConnection::Mode::kReadWrite);
      ASSERT_TRUE(connection.ok() && (*connection)->Execute("UPDATE campaigns SET imported_at = '" + time + "'").ok());
    }
  }

  std::int64_t Ask(const std::string& sql) {
    const Result<QueryTable> table = store_->AskSql(sql, testing::AsAnyone());
    EXPECT_TRUE(table.ok()) << (table.ok() ? "" : table.error().message);
    return table.ok() ? std::get<std::int64_t>(table->rows[0][0]) : -1;
  }

  static Measurement RowOf(const std::string& time, std::vector<double> medians) {
    Measurement row = MakeRow(100, std::move(medians));
    row.measured_at = time;
    return row;
  }

  const testing::TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<Store> store_;
};

TEST_P(StoreClock, AFullerRowWinsWheneverItWasMeasured) {
  std::vector<double> medians;
  for (const char* time : kTimes) {
    medians.push_back(2);
    const Measurement row = RowOf(time, medians);
    EXPECT_EQ(Import({}, {row}), 1) << time;
    EXPECT_THAT(FindRows(*store_, 100, MakeSelection(MakeDevice())), ElementsAre(row)) << time;
    // One that says no more is known, however new it claims to be.
    EXPECT_EQ(Import({}, {RowOf("9999-12-31T23:59:59Z", medians)}), 0);
  }
  EXPECT_EQ(Ask("SELECT count(*) FROM measurements"), 1);
  EXPECT_EQ(Ask("SELECT count(*) FROM repetitions"), static_cast<std::int64_t>(medians.size()));
}

TEST_P(StoreClock, TheFastestRowOfSeveralCampaignsIsFoundWheneverItWasMeasuredOrImported) {
  double fastest = 10;
  std::int64_t campaigns = 0;
  for (const char* time : kTimes) {
    const std::string name = std::to_string(++campaigns);
    // As a row of one campaign the next one is faster, and was imported by a clock that has gone back.
    fastest -= 1;
    EXPECT_EQ(Import({name, name + ".json"}, {RowOf(time, {fastest})}), 1) << time;
    SetImportTimes("9999-12-31T23:59:59Z");
    EXPECT_THAT(FindRows(*store_, 100, MakeSelection(MakeDevice())), ElementsAre(RowOf(time, {fastest}))) << time;
  }
  // The same files again, by a clock that says that nothing was ever imported yet: nothing is added.
  for (std::int64_t campaign = 1; campaign <= campaigns; ++campaign)
    EXPECT_EQ(
        Import({std::to_string(campaign), ""}, {RowOf(kTimes[campaign - 1], {10.0 - static_cast<double>(campaign)})}),
        0);
  // And a slower one of the future does not raise the bound.
  EXPECT_EQ(Import({"slower", ""}, {RowOf("9999-12-31T23:59:59Z", {50})}), 1);
  EXPECT_EQ(FindRows(*store_, 100, MakeSelection(MakeDevice())).at(0).repetitions[0].median, Latency(fastest));
  EXPECT_EQ(Ask("SELECT count(*) FROM measurements"), campaigns + 1);
  EXPECT_EQ(Ask("SELECT count(*) FROM campaigns"), campaigns + 1);
}

TEST_P(StoreClock, TheNewestEnvironmentIsTheDefaultAndOthersCanBeSelected) {
  int version = 0;
  for (const char* time : kTimes) {
    const Environment environment = MakeEnvironment("3." + std::to_string(++version));
    Measurement row = RowOf(time, {static_cast<double>(version)});
    row.environment = environment.Key();
    EXPECT_EQ(Import({}, {row}, environment), 1);
    Selection selection = MakeSelection(MakeDevice());
    selection.environment = environment.Key();
    EXPECT_THAT(FindRows(*store_, 100, selection), ElementsAre(row)) << time;
  }
  // Times of one format compare as texts, and "tomorrow" is one that comes after all of them: a wrong clock chooses
  // another environment, and hides no row of any.
  EXPECT_THAT(FindRows(*store_, 100, MakeSelection(MakeDevice())), ::testing::SizeIs(1));
  EXPECT_EQ(FindRows(*store_, 100, MakeSelection(MakeDevice())).at(0).measured_at, "tomorrow");
  EXPECT_EQ(Ask("SELECT count(*) FROM measurements"), version);
}

TEST_P(StoreClock, PeaksAndRunsKnowNoTime) {
  EXPECT_EQ(Import({"one", ""}, {RowOf("9999-12-31T23:59:59Z", {2})}, MakeEnvironment(), {MakePeak(2e9)}), 2);
  SetImportTimes("9999-12-31T23:59:59Z");
  EXPECT_EQ(Import({"two", ""}, {}, MakeEnvironment(), {MakePeak(1e9)}), 0);
  EXPECT_EQ(Import({"three", ""}, {}, MakeEnvironment(), {MakePeak(3e9)}), 1);
  EXPECT_THAT(store_->Peaks(MakeDevice().Key())->rates, ElementsAre(MakePeak(3e9)));
  // The newest run is the one that was imported last, by whichever clock.
  RunProfile newer = MakeRun();
  newer.framework_version = "2.0.0";
  ASSERT_EQ(store_->ImportRun(MakeRun())->added, 1);
  SetImportTimes("9999-12-31T23:59:59Z");
  ASSERT_EQ(store_->ImportRun(newer)->added, 1);
  ASSERT_EQ(store_->ImportRun(MakeRun())->known, 1);
  const auto found = store_->FindRun("ab12", MakeDevice().Key(), MakeRun().dims, 1, "onnxruntime");
  EXPECT_EQ((**found).framework_version, "2.0.0");
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreClock, ::testing::Values("Sqlite", "PostgreSql"), testing::ParamName);

}  // namespace
}  // namespace infimum
