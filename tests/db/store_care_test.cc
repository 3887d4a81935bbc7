// What a store says about itself and hands over as a whole, on every database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "db/connection/postgresql_connection.h"
#include "db/connection/sqlite_connection.h"
#include "infimum/db/store.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/store_rows.h"

namespace infimum {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeDevice;
using testing::MakeEnvironment;
using testing::MakeRow;
using testing::MakeWorkload;
using ::testing::Pair;
using testing::PostgreSqlServer;
using ::testing::SizeIs;
using testing::TemporaryFolder;
using ::testing::UnorderedElementsAre;

class StoreCare : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    address_ = folder_.File("care.db");
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

  void Add(const CampaignOrigin& campaign, const Device& device, const std::vector<Measurement>& rows,
           const std::vector<PeakRate>& peaks = {}) {
    Result<std::unique_ptr<StoreImport>> import = store_->BeginImport(campaign);
    ASSERT_TRUE(import.ok()) << import.error().message;
    ASSERT_TRUE((*import)->Add(device, MakeEnvironment(), rows, peaks).ok());
    ASSERT_TRUE((*import)->Commit().ok());
  }

  // "campaign: algorithm,algorithm" of each batch.
  std::vector<std::string> Visited(const RowSelection& selection) {
    std::vector<std::string> batches;
    const Status visited = store_->VisitRows(selection, [&](const RowBatch& batch) {
      std::string text = batch.campaign.source + ":";
      for (const Measurement& row : batch.rows) {
        text += " " + row.candidate.algorithm;
        EXPECT_EQ(row.device, batch.device.Key());
        EXPECT_EQ(row.environment, batch.environment.Key());
        EXPECT_EQ(row.outcome == Outcome::kMeasured, !row.repetitions.empty());
      }
      if (!batch.peaks.empty()) text += " and " + std::to_string(batch.peaks.size()) + " peaks";
      batches.push_back(text);
      return Status();
    });
    EXPECT_TRUE(visited.ok()) << visited.error().message;
    return batches;
  }

  std::vector<std::string> Problems() {
    std::vector<std::string> problems;
    const Status checked = store_->Check([&](const std::string& problem) { problems.push_back(problem); });
    EXPECT_TRUE(checked.ok()) << checked.error().message;
    return problems;
  }

  // As somebody with another program would.
  void Execute(const std::string& sql) {
    if (GetParam() == "PostgreSql") {
      const Status done = (*PostgreSqlConnection::Open(address_, false))->Execute(sql);
      ASSERT_TRUE(done.ok()) << done.error().message;
    } else {
      const Status done = (*SqliteConnection::Open(address_, SqliteConnection::Mode::kReadWrite))->Execute(sql);
      ASSERT_TRUE(done.ok()) << done.error().message;
    }
  }

  static Measurement Row(const std::string& algorithm, std::vector<double> medians = {2}) {
    Measurement row = MakeRow(100, std::move(medians));
    row.candidate.algorithm = algorithm;
    return row;
  }

  static StoredModel Model(const std::string& name) {
    StoredModel model{name, "sha of " + name, {{"batch", 1}}, {}};
    model.layers.push_back({"relu", "Relu", "measurable", "", MakeWorkload(100).text, "strict-f32", 3, 800, 100});
    model.layers.push_back({"view", "Reshape", "free", "changes the shape", "", "", 1, 0, 0});
    return model;
  }

  TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<Store> store_;
};

TEST_P(StoreCare, RowsAreVisitedByCampaignAndOnceEach) {
  Add({"k1", "one.json"}, MakeDevice(), {Row("a"), Row("b")}, {testing::MakePeak(1e9)});
  Add({"k2", "two.json"}, MakeDevice(), {Row("a", {3})});
  Add({"k1", "one.json"}, MakeDevice(), {Row("a", {2, 4})});  // says more than the first
  Device other = MakeDevice("2");
  other.name = "Another";
  Add({"", ""}, other, {}, {testing::MakePeak(1e9)});
  EXPECT_THAT(Visited({}), UnorderedElementsAre("one.json: b a and 1 peaks", "two.json: a", ": and 1 peaks"));
  EXPECT_THAT(Visited({.device = "Another"}), ElementsAre(": and 1 peaks"));
  EXPECT_THAT(Visited({.campaign = "two.json"}), ElementsAre("two.json: a and 1 peaks"));
  EXPECT_THAT(Visited({.campaign = "k2"}), SizeIs(1));
  EXPECT_THAT(Visited({.library = "none"}), IsEmpty());
  EXPECT_THAT(Visited({.layer = MakeWorkload(100).text, .outcome = "measured"}), SizeIs(2));
  EXPECT_THAT(Visited({.outcome = "failed"}), IsEmpty());
  EXPECT_THAT(Visited({.family = "pointwise", .contract = "strict-f32"}), SizeIs(2));
}

TEST_P(StoreCare, ManyRowsAreVisitedPageByPage) {
  std::vector<Measurement> rows;
  for (int i = 0; i < 1234; ++i) rows.push_back(Row("a" + std::to_string(i)));
  Add({"k", "many.json"}, MakeDevice(), rows);
  std::size_t seen = 0, batches = 0;
  ASSERT_TRUE(store_
                  ->VisitRows({},
                              [&](const RowBatch& batch) {
                                seen += batch.rows.size();
                                ++batches;
                                return Status();
                              })
                  .ok());
  EXPECT_EQ(seen, rows.size());
  EXPECT_GT(batches, 1u);
}

TEST_P(StoreCare, ClocksAndBeatsComeBackAsTheyWere) {
  Measurement row = Row("a", {2, 3, 4});
  row.repetitions[0].clocks = ClockRange{1312, 1530.5};
  row.repetitions[1].beat = Beat{Latency(100.5), Latency(1.0 / 3)};
  Add({"", ""}, MakeDevice(), {row});
  EXPECT_EQ(testing::FindRows(*store_, 100, testing::MakeSelection(MakeDevice())), std::vector<Measurement>{row});
}

TEST_P(StoreCare, AModelIsKeptOnceAndItsNewestReadingIsTheOneThatQueriesSee) {
  EXPECT_EQ(store_->ImportModel(Model("net"))->added, 1);
  EXPECT_EQ(store_->ImportModel(Model("net"))->added, 0);
  StoredModel better = Model("net");
  better.layers[1] = {"mean", "ReduceMean", "measurable", "", MakeWorkload(7).text, "strict-f32", 1, 8, 0};
  EXPECT_EQ(store_->ImportModel(better)->added, 1);
  std::vector<StoredModel> models;
  ASSERT_TRUE(store_
                  ->VisitModels([&](const StoredModel& model) {
                    models.push_back(model);
                    return Status();
                  })
                  .ok());
  EXPECT_THAT(models, ElementsAre(Model("net"), better));
  Add({"", ""}, MakeDevice(), {Row("a", {2})});
  const Result<QueryTable> bounds = store_->Ask(*FindQuery("model-bounds"), {{"model", "net"}});
  ASSERT_TRUE(bounds.ok()) << bounds.error().message;
  ASSERT_THAT(bounds->rows, SizeIs(1));
  // Three executions of 2 us; of two layers one was measured.
  EXPECT_EQ(std::get<double>(bounds->rows[0][7]), 6);
  EXPECT_EQ(std::get<std::int64_t>(bounds->rows[0][5]), 1);
  EXPECT_EQ(std::get<std::int64_t>(bounds->rows[0][6]), 2);
}

TEST_P(StoreCare, RunsAreHandedOverInTheirOrder) {
  RunProfile first = testing::MakeRun(), second = testing::MakeRun();
  second.framework = "another";
  second.end_to_end[1].beat = Beat{Latency(100.5), Latency(1.0 / 3)};
  ASSERT_TRUE(store_->ImportRun(first).ok());
  ASSERT_TRUE(store_->ImportRun(second).ok());
  std::vector<std::string> frameworks;
  ASSERT_TRUE(store_
                  ->VisitRuns([&](const RunProfile& run) {
                    frameworks.push_back(run.framework);
                    EXPECT_EQ(run.end_to_end, (frameworks.size() == 1 ? first : second).end_to_end);
                    return Status();
                  })
                  .ok());
  EXPECT_THAT(frameworks, ElementsAre(first.framework, "another"));
  // A run without beats is kept in the text that earlier versions wrote, by which it is known.
  const Result<QueryTable> with_beats = store_->AskSql(
      "SELECT framework FROM runs WHERE details LIKE '%\"beats_us\":[null,[100.5,%'", testing::AsAnyone());
  ASSERT_TRUE(with_beats.ok()) << with_beats.error().message;
  ASSERT_THAT(with_beats->rows, SizeIs(1));
  EXPECT_EQ(std::get<std::string>(with_beats->rows[0][0]), "another");
}

TEST_P(StoreCare, FactsCountTheTables) {
  Add({"k", "one.json"}, MakeDevice(), {Row("a"), Row("b")});
  const Result<StoreFacts> facts = store_->Facts();
  ASSERT_TRUE(facts.ok()) << facts.error().message;
  EXPECT_GT(facts->bytes, 0);
  EXPECT_THAT(facts->tables, Contains(Pair("measurements", 2)));
  EXPECT_THAT(facts->tables, Contains(Pair("devices", 1)));
  EXPECT_EQ(SchemaOfStore(address_).ok(), true);
  EXPECT_EQ(*SchemaOfStore(address_), facts->schema);
}

TEST_P(StoreCare, ACheckFindsNoProblemInWrittenRows) {
  Add({"k", "one.json"}, MakeDevice(), {Row("a", {2, 3}), testing::MakeFailure(200, Outcome::kFailed, "signal 11")},
      {testing::MakePeak(1e9)});
  ASSERT_TRUE(store_->ImportRun(testing::MakeRun()).ok());
  ASSERT_TRUE(store_->ImportModel(Model("net")).ok());
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_P(StoreCare, ACheckFindsChangesByOtherPrograms) {
  Add({"k", "one.json"}, MakeDevice(), {Row("a", {2, 3}), testing::MakeFailure(200, Outcome::kFailed, "signal 11")});
  ASSERT_TRUE(store_->ImportRun(testing::MakeRun()).ok());
  const auto finds = [&](const std::string& damage, const std::string& repair, const std::string& problem) {
    Execute(damage);
    EXPECT_THAT(Problems(), Contains(HasSubstr(problem))) << damage;
    Execute(repair);
    EXPECT_THAT(Problems(), IsEmpty()) << repair;
  };
  finds("UPDATE measurements SET best_us = 1.5, low_us = 1 WHERE outcome = 'measured'",
        "UPDATE measurements SET best_us = 2, low_us = (SELECT min(minimum_us) FROM repetitions) WHERE outcome = "
        "'measured'",
        "1 row whose best_us does not");
  finds("UPDATE measurements SET reason = '' WHERE outcome = 'failed'",
        "UPDATE measurements SET reason = 'signal 11' WHERE outcome = 'failed'", "without a time and without a reason");
  finds("UPDATE measurements SET repetition_count = 3 WHERE outcome = 'measured'",
        "UPDATE measurements SET repetition_count = 2 WHERE outcome = 'measured'",
        "repetition_count is not the number");
  finds("UPDATE workloads SET text = text || ' x' WHERE text LIKE '%in=100'",
        "UPDATE workloads SET text = replace(text, ' x', '') WHERE text LIKE '%in=100 x'", "workloads: 1 row wrong");
  finds("UPDATE devices SET vendor = vendor || '?'", "UPDATE devices SET vendor = replace(vendor, '?', '')",
        "its key does not match its identity");
  finds("UPDATE runs SET details = replace(details, '{\"end_to_end\"', '{\"beats_us\":[[-1,1]],\"end_to_end\"')",
        "UPDATE runs SET details = replace(details, '\"beats_us\":[[-1,1]],', '')", "runs: 1 row wrong");
  finds("UPDATE runs SET details = details || '}'", "UPDATE runs SET details = substr(details, 1, length(details) - 1)",
        "runs: 1 row wrong");
}

TEST(PostgreSqlRoles, AreMadeByTheOwnerAndHeldToByTheServer) {
  PostgreSqlServer* const server = PostgreSqlServer::Get();
  if (server == nullptr) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << PostgreSqlServer::WhyNot();
    GTEST_SKIP() << PostgreSqlServer::WhyNot();
  }
  const std::string address = server->NewDatabase();
  EXPECT_THAT(MakeRoles(address).error().message, HasSubstr("has no store yet; `infimum db init`"));
  ASSERT_TRUE(OpenStore(address, OpenMode::kReadWrite).ok());
  ASSERT_TRUE(MakeRoles(address).ok());
  ASSERT_TRUE(MakeRoles(address).ok());  // again, at no cost
  const auto owner = PostgreSqlConnection::Open(address, false);
  ASSERT_TRUE((*owner)
                  ->Execute("CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; GRANT infimum_writer TO alice; "
                            "GRANT infimum_reader TO bob")
                  .ok());
  const auto alice = OpenStore(PostgreSqlServer::As("alice", address), OpenMode::kReadWrite);
  ASSERT_TRUE(alice.ok()) << alice.error().message;
  const std::vector<Measurement> rows = {MakeRow(100, {2})};
  const std::vector<PeakRate> peaks = {testing::MakePeak(1)}, better = {testing::MakePeak(2)};
  const Result<ImportCount> count = (*alice)->Import(MakeDevice(), MakeEnvironment(), rows, peaks);
  ASSERT_TRUE(count.ok()) << count.error().message;
  EXPECT_EQ(count->added, 2);
  ASSERT_TRUE((*alice)->ImportRun(testing::MakeRun()).ok());
  EXPECT_EQ((*alice)->ImportModel({"net", "sha", {}, {}})->added, 1);
  const auto as_alice = PostgreSqlConnection::Open(PostgreSqlServer::As("alice", address), false);
  for (const char* sql : {"DELETE FROM measurements", "UPDATE models SET name = ''", "TRUNCATE runs",
                          "INSERT INTO schema_versions (version) VALUES (99)", "DROP VIEW current_models"}) {
    const Status status = (*as_alice)->Execute(sql);
    ASSERT_FALSE(status.ok()) << sql;
    EXPECT_THAT(status.error().message, HasSubstr("this role lacks the permission")) << sql;
  }
  const auto bob = OpenStore(PostgreSqlServer::As("bob", address), OpenMode::kReadWrite);
  ASSERT_TRUE(bob.ok()) << bob.error().message;
  EXPECT_FALSE((*bob)->Import(MakeDevice(), MakeEnvironment(), {}, better).ok());
  for (const NamedQuery& query : NamedQueries()) {
    std::map<std::string, std::string> given;
    for (const QueryParameter& parameter : query.parameters)
      if (!parameter.otherwise) given[parameter.name] = "1";
    const Result<QueryTable> answer = (*bob)->Ask(query, given);
    EXPECT_TRUE(answer.ok()) << query.name << ": " << (answer.ok() ? "" : answer.error().message);
  }
}

TEST(Roles, AreOfPostgreSqlAlone) {
  EXPECT_THAT(MakeRoles("team.db").error().message, HasSubstr("team.db: a SQLite file has no roles"));
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreCare, ::testing::Values("Sqlite", "PostgreSql"), testing::ParamName);

}  // namespace
}  // namespace infimum
