#include "infimum/db/queries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "infimum/db/store.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/store_rows.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeDevice;
using testing::MakeEnvironment;
using testing::MakeRow;
using ::testing::SizeIs;

TEST(NamedQuery, IsReadFromItsHeadAndItsSql) {
  const Result<NamedQuery> query = ParseQuery("example",
                                              "-- What it\n-- tells.\n-- :layer      the layer's\n--             text\n"
                                              "-- :cache=warm  warm or cold\nSELECT :cache, :layer, :cache\n");
  ASSERT_TRUE(query.ok()) << query.error().message;
  EXPECT_EQ(query->what, "What it tells.");
  ASSERT_THAT(query->parameters, SizeIs(2));
  EXPECT_EQ(query->parameters[0].name, "layer");
  EXPECT_EQ(query->parameters[0].what, "the layer's text");
  EXPECT_FALSE(query->parameters[0].otherwise.has_value());
  EXPECT_EQ(query->parameters[1].otherwise, "warm");
  EXPECT_EQ(query->sql, "SELECT $2, $1, $2\n");
}

TEST(NamedQuery, WhoseHeadAndSqlDisagreeIsAnError) {
  EXPECT_THAT(ParseQuery("q", "-- x\nSELECT :a\n").error().message, HasSubstr("does not document :a"));
  EXPECT_THAT(ParseQuery("q", "-- x\n-- :a  is\nSELECT 1\n").error().message,
              HasSubstr(":a is documented but not used"));
  EXPECT_FALSE(ParseQuery("q", "SELECT 1\n").ok());
}

// Known data: two devices, two versions of a library, two campaigns.
class Queries : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::string address = ":memory:";
    if (GetParam() == "PostgreSql") {
      testing::PostgreSqlServer* const server = testing::PostgreSqlServer::Get();
      if (server == nullptr) {
        ASSERT_EQ(std::getenv("CI"), nullptr) << testing::PostgreSqlServer::WhyNot();
        GTEST_SKIP() << testing::PostgreSqlServer::WhyNot();
      }
      address = server->NewDatabase();
    }
    Result<std::unique_ptr<Store>> opened = OpenStore(address, OpenMode::kReadWrite);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    store_ = std::move(*opened);
    Device other = MakeDevice("2");
    other.name = "Another processor";
    other.generation = "Second";
    Add("first", MakeDevice(), "3.2.0", {Row("a", 10, true), Row("b", 8)});
    Add("first", other, "3.2.0", {Row("a", 5, true)});
    Add("second", MakeDevice(), "3.2.0", {Row("a", 15, true)});
    Add("third", MakeDevice(), "3.5.0", {Row("a", 20, true), Row("b", 16)});
  }

  static Measurement Row(const std::string& algorithm, double microseconds, bool choice = false) {
    Measurement row = MakeRow(100, {microseconds, microseconds});
    row.candidate.algorithm = algorithm;
    row.candidate.library_choice = choice;
    for (Repetition& repetition : row.repetitions) repetition.minimum = repetition.p95 = repetition.median;
    return row;
  }

  void Add(const std::string& campaign, const Device& device, const std::string& version,
           const std::vector<Measurement>& rows) {
    Result<std::unique_ptr<StoreImport>> import = store_->BeginImport({campaign, campaign + ".json"});
    ASSERT_TRUE(import.ok()) << import.error().message;
    ASSERT_TRUE((*import)->Add(device, MakeEnvironment(version), rows, {}).ok());
    const Result<ImportCount> count = (*import)->Commit();
    ASSERT_TRUE(count.ok()) << count.error().message;
  }

  QueryTable Ask(const std::string& name, const std::map<std::string, std::string>& given = {}) {
    const NamedQuery* const query = FindQuery(name);
    EXPECT_NE(query, nullptr) << name;
    Result<QueryTable> table = store_->Ask(*query, given);
    EXPECT_TRUE(table.ok()) << name << ": " << (table.ok() ? "" : table.error().message);
    return table.ok() ? std::move(*table) : QueryTable{};
  }

  // A column's cells, each as text.
  static std::vector<std::string> Column(const QueryTable& table, const std::string& name) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i] != name) continue;
      for (const std::vector<QueryCell>& row : table.rows) {
        if (const auto* text = std::get_if<std::string>(&row[i])) texts.push_back(*text);
        if (const auto* number = std::get_if<double>(&row[i])) texts.push_back(::testing::PrintToString(*number));
        if (const auto* integer = std::get_if<std::int64_t>(&row[i])) texts.push_back(std::to_string(*integer));
        if (std::holds_alternative<std::nullptr_t>(row[i])) texts.emplace_back("NULL");
      }
    }
    return texts;
  }

  const std::string layer_ = testing::MakeWorkload(100).text;
  std::unique_ptr<Store> store_;
};

TEST_P(Queries, TheBestCandidateOfALayerOnEveryDevice) {
  const QueryTable table = Ask("best-candidate", {{"layer", layer_}});
  EXPECT_THAT(Column(table, "device"), ElementsAre("Another processor", "A processor of a test"));
  EXPECT_THAT(Column(table, "candidate"), ElementsAre("onednn/a", "onednn/b"));
  EXPECT_THAT(Column(table, "latency_us"), ElementsAre("5", "8"));
  EXPECT_THAT(Ask("best-candidate", {{"layer", layer_}, {"generation", "Second"}}).rows, SizeIs(1));
  EXPECT_THAT(Ask("best-candidate", {{"layer", "none"}}).rows, IsEmpty());
}

TEST_P(Queries, TheCandidatesOfALayer) {
  const QueryTable table = Ask("candidates-of-layer", {{"layer", layer_}, {"device", "A processor of a test"}});
  EXPECT_THAT(Column(table, "latency_us"), ElementsAre("8", "10", "15", "16", "20"));
}

TEST_P(Queries, LayersThatALibraryUpgradeMakesSlower) {
  const QueryTable table = Ask("library-upgrade", {{"library", "onednn"}, {"from", "3.2.0"}, {"to", "3.5.0"}});
  EXPECT_THAT(Column(table, "verdict"), ElementsAre("slower"));
  EXPECT_THAT(Column(table, "ratio"), ElementsAre("2"));
  EXPECT_THAT(Column(Ask("library-upgrade", {{"library", "onednn"}, {"from", "3.5.0"}, {"to", "3.2.0"}}), "verdict"),
              ElementsAre("faster"));
  EXPECT_THAT(
      Ask("library-upgrade", {{"library", "onednn"}, {"from", "3.2.0"}, {"to", "3.5.0"}, {"least", "1.5"}}).rows,
      IsEmpty());
}

TEST_P(Queries, TheCostOfTheLibrarysChoice) {
  const QueryTable table = Ask("heuristic-regret");
  // Within each campaign: 10 against 8, and 20 against 16.
  EXPECT_THAT(Column(table, "ratio"), ElementsAre("1.25", "1.25"));
  EXPECT_THAT(Column(table, "best"), ElementsAre("onednn/b", "onednn/b"));
}

TEST_P(Queries, CampaignsThatDisagree) {
  const QueryTable table = Ask("contradictions");
  EXPECT_THAT(Column(table, "ratio"), ElementsAre("1.5"));
  EXPECT_THAT(Column(table, "one"), ElementsAre("first.json"));
  EXPECT_THAT(Column(table, "other"), ElementsAre("second.json"));
  EXPECT_THAT(Ask("contradictions", {{"least", "0.6"}}).rows, IsEmpty());
}

TEST_P(Queries, TheGainOfANarrowerType) {
  Measurement narrow = Row("a", 4);
  narrow.workload.text = "pointwise kind=relu dtype=f16:-:f16 in=100";
  narrow.contract = NumericContract::kF16;
  Add("fourth", MakeDevice(), "3.2.0", {narrow});
  EXPECT_THAT(Column(Ask("precision-gain"), "gain"), ElementsAre("2"));
}

TEST_P(Queries, TheAgeAndTheOutcomesOfMeasurements) {
  EXPECT_THAT(Column(Ask("staleness"), "measurements"), ::testing::UnorderedElementsAre("1", "3", "2"));
  EXPECT_THAT(Column(Ask("outcomes"), "measurements"), ElementsAre("5", "1"));
}

TEST_P(Queries, TheEnvironmentsThatDevicesWereMeasuredIn) {
  EXPECT_THAT(Column(Ask("environments"), "measurements"), ::testing::UnorderedElementsAre("1", "3", "2"));
  const QueryTable table = Ask("environments", {{"device", MakeDevice().Key().text}, {"library", "onednn"}});
  EXPECT_THAT(Column(table, "version"), ::testing::UnorderedElementsAre("3.2.0", "3.5.0"));
  EXPECT_THAT(Column(table, "environment"), ::testing::UnorderedElementsAre(MakeEnvironment("3.2.0").Key().text,
                                                                            MakeEnvironment("3.5.0").Key().text));
  EXPECT_THAT(Column(Ask("environments", {{"device", "Another processor"}}), "version"), ElementsAre("NULL"));
  EXPECT_THAT(Ask("environments", {{"library", "cudnn"}}).rows, IsEmpty());
}

// A model of the measured layer, twice and three executions in all, and of one that nobody measured.
class ModelQueries : public Queries {
 protected:
  void SetUp() override {
    Queries::SetUp();
    if (store_ == nullptr) return;
    StoredModel model{"net", "sha", {{"batch", 1}}, {}};
    model.layers.push_back({"relu_1", "Relu", "measurable", "", layer_, "strict-f32", 1, 800, 100});
    model.layers.push_back({"view", "Reshape", "free", "changes the shape", "", "", 1, 0, 0});
    model.layers.push_back({"relu_2", "Relu", "measurable", "", layer_, "strict-f32", 2, 800, 100});
    StoredModel other = model;
    other.name = "other";
    other.sha256 = "other sha";
    other.layers.push_back({"last", "Relu", "measurable", "", testing::MakeWorkload(7).text, "strict-f32", 1, 56, 7});
    ASSERT_TRUE(store_->ImportModel(model).ok());
    ASSERT_TRUE(store_->ImportModel(other).ok());
  }
};

TEST_P(ModelQueries, TheBoundsOfAModelOnEveryDeviceAndLibrarySet) {
  const QueryTable table = Ask("model-bounds", {{"model", "net"}});
  // Three times the best of 8, 16 and 5 us.
  EXPECT_THAT(Column(table, "device"),
              ElementsAre("A processor of a test", "A processor of a test", "Another processor"));
  EXPECT_THAT(Column(table, "sequential_us"), ElementsAre("24", "48", "15"));
  EXPECT_THAT(Column(table, "layers_measured"), ElementsAre("2", "2", "2"));
  EXPECT_THAT(Column(table, "layers"), ElementsAre("2", "2", "2"));
  EXPECT_THAT(Column(Ask("model-bounds", {{"model", "other"}}), "layers"), ElementsAre("3", "3", "3"));
  EXPECT_THAT(Ask("model-bounds").rows, SizeIs(6));
  EXPECT_THAT(Ask("model-bounds", {{"generation", "Second"}}).rows, SizeIs(2));
  EXPECT_THAT(Ask("model-bounds", {{"dims", R"({"batch":2})"}}).rows, IsEmpty());
  EXPECT_THAT(Ask("model-bounds", {{"threads", "2"}}).rows, IsEmpty());
}

TEST_P(ModelQueries, TheLayersOfAModelOverAllGenerations) {
  const QueryTable table = Ask("model-layers", {{"model", "net"}});
  EXPECT_THAT(Column(table, "layer"), ElementsAre("relu_1", "relu_1", "relu_2", "relu_2"));
  EXPECT_THAT(Column(table, "latency_us"), ElementsAre("8", "5", "8", "5"));
  EXPECT_THAT(Column(table, "candidate"), ElementsAre("onednn/b", "onednn/a", "onednn/b", "onednn/a"));
  EXPECT_THAT(Ask("model-layers", {{"model", "net"}, {"device", "Another processor"}}).rows, SizeIs(2));
}

TEST_P(ModelQueries, TheLayersOfAModelWithoutData) {
  EXPECT_THAT(Ask("coverage", {{"model", "net"}}).rows, IsEmpty());
  const QueryTable table = Ask("coverage", {{"model", "other"}});
  EXPECT_THAT(Column(table, "state"), ElementsAre("missing", "missing"));
  EXPECT_THAT(Column(table, "workload"), ElementsAre(testing::MakeWorkload(7).text, testing::MakeWorkload(7).text));
  Measurement failed = testing::MakeFailure(7, Outcome::kFailed, "signal 11");
  Measurement skipped = testing::MakeFailure(7, Outcome::kSkipped, "too slow");
  skipped.candidate.algorithm = "another";
  Add("fourth", MakeDevice(), "3.2.0", {failed, skipped});
  EXPECT_THAT(Column(Ask("coverage", {{"model", "other"}}), "state"), ElementsAre("failed", "missing"));
  EXPECT_THAT(Ask("coverage", {{"all", "yes"}, {"device", "Another processor"}}).rows, SizeIs(3));
}

TEST_P(ModelQueries, WhichModelsHaveMostToWin) {
  RunProfile run = testing::MakeRun();
  run.model_sha256 = "sha";
  run.dims = {{"batch", 1}};
  run.device = MakeDevice().Key().text;
  run.end_to_end = {{{Latency(36)}}, {{Latency(40)}}};
  ASSERT_TRUE(store_->ImportRun(run).ok());
  const QueryTable table = Ask("fleet");
  // The model with a layer that nobody measured has no bound to compare with.
  EXPECT_THAT(Column(table, "model"), ElementsAre("net", "net"));
  EXPECT_THAT(Column(table, "bound_us"), ElementsAre("24", "15"));
  EXPECT_THAT(Column(table, "ratio"), ElementsAre("1.5", "NULL"));
  EXPECT_THAT(Column(table, "gain_us"), ElementsAre("12", "NULL"));
}

TEST_P(ModelQueries, TheModelsInTheOrderInWhichTheyCame) {
  StoredModel half{"half", "half sha", {}, {}};
  half.layers.push_back({"small", "Relu", "measurable", "", layer_, "strict-f32", 1, 800, 100});
  half.layers.push_back({"product", "MatMul", "measurable", "", testing::MakeWorkload(9).text, "f16", 3, 100, 1000});
  half.layers.push_back({"blend", "acme.Blend", "unknown", "no workload is known", "", "", 1, 0, 0});
  half.layers.push_back({"branch", "Relu", "measurable", "", layer_, "strict-f32", 0, 800, 100});
  ASSERT_TRUE(store_->ImportModel(half).ok());
  // Read again by a version that knows more, it keeps its place.
  StoredModel net{"net", "sha", {{"batch", 1}}, {}};
  net.layers.push_back({"relu_1", "Relu", "measurable", "", layer_, "strict-f32", 1, 800, 100});
  ASSERT_TRUE(store_->ImportModel(net).ok());
  const QueryTable table = Ask("models");
  EXPECT_THAT(Column(table, "model"), ElementsAre("net", "other", "half"));
  EXPECT_THAT(Column(table, "layers"), ElementsAre("1", "3", "2"));
  EXPECT_THAT(Column(table, "unknown"), ElementsAre("0", "0", "1"));
  EXPECT_THAT(Column(table, "flops"), ElementsAre("100", "307", "3100"));
  EXPECT_THAT(Column(table, "contract"), ElementsAre("strict-f32", "strict-f32", "f16"));
  EXPECT_THAT(Column(Ask("models", {{"model", "half"}}), "sha256"), ElementsAre("half sha"));
}

TEST_P(ModelQueries, TheFastestRunOfEachFramework) {
  RunProfile run = testing::MakeRun();
  run.device = MakeDevice().Key().text;
  for (const double microseconds : {40.0, 36.0}) {
    run.end_to_end = {{{Latency(microseconds)}}};
    ASSERT_TRUE(store_->ImportRun(run).ok());
  }
  run.framework_version += ".1";
  ASSERT_TRUE(store_->ImportRun(run).ok());
  const QueryTable table = Ask("runs");
  EXPECT_THAT(Column(table, "run_us"), ElementsAre("36", "36"));
  EXPECT_THAT(Column(table, "runs"), ::testing::UnorderedElementsAre("2", "1"));
  EXPECT_THAT(Column(table, "device"), ElementsAre("A processor of a test", "A processor of a test"));
  EXPECT_THAT(Ask("runs", {{"model", "none"}}).rows, IsEmpty());
}

TEST_P(ModelQueries, ThePeaksOfDevices) {
  ASSERT_TRUE(store_
                  ->Import(MakeDevice(), MakeEnvironment(), {},
                           std::vector{testing::MakePeak(5e9, 1 << 10), testing::MakePeak(2e9, 1 << 20)})
                  .ok());
  const QueryTable table = Ask("peaks");
  EXPECT_THAT(Column(table, "per_second"), ElementsAre("2e+09"));
  EXPECT_THAT(Ask("peaks", {{"device", "Another processor"}}).rows, IsEmpty());
}

// Whatever is added; and nothing where all of it was there.
TEST_P(ModelQueries, AFingerprintDiffersWheneverTheStoreDoes) {
  std::vector<std::vector<QueryCell>> last = Ask("fingerprint").rows;
  const auto has_changed = [&] {
    std::vector<std::vector<QueryCell>> now = Ask("fingerprint").rows;
    const bool is_other = now != last;
    last = std::move(now);
    return is_other;
  };
  EXPECT_FALSE(has_changed());
  Add("third", MakeDevice(), "3.5.0", {Row("a", 20, true), Row("b", 16)});
  EXPECT_FALSE(has_changed());
  Add("third", MakeDevice(), "3.5.0", {Row("c", 20)});
  EXPECT_TRUE(has_changed());
  RunProfile run = testing::MakeRun();
  ASSERT_TRUE(store_->ImportRun(run).ok());
  EXPECT_TRUE(has_changed());
  ASSERT_TRUE(store_->ImportModel({"third", "third sha", {}, {}}).ok());
  EXPECT_TRUE(has_changed());
  Device other = MakeDevice("3");
  other.generation = "Third";
  ASSERT_TRUE(store_->Import(other, MakeEnvironment(), {}, std::vector{testing::MakePeak(5e9)}).ok());
  EXPECT_TRUE(has_changed());
}

TEST_P(ModelQueries, OfAnyNumberOfThreads) {
  Measurement row = Row("a", 3);
  Result<std::unique_ptr<StoreImport>> import = store_->BeginImport({"two", "two.json"});
  ASSERT_TRUE((*import)->Add(MakeDevice(), MakeEnvironment("3.2.0", 2), {{row}}, {}).ok());
  ASSERT_TRUE((*import)->Commit().ok());
  const QueryTable bounds =
      Ask("model-bounds", {{"model", "net"}, {"device", "A processor of a test"}, {"threads", ""}});
  EXPECT_THAT(Column(bounds, "sequential_us"), ElementsAre("9", "24", "48"));
  EXPECT_THAT(Column(bounds, "threads"), ElementsAre("2", "1", "1"));
  EXPECT_THAT(Column(Ask("model-layers", {{"model", "sha"}, {"threads", ""}}), "latency_us"),
              ElementsAre("3", "5", "3", "5"));
  // Of a number that the query does not ask for emptiness it stays an error.
  EXPECT_THAT(store_->Ask(*FindQuery("heuristic-regret"), {{"least", ""}}).error().message, HasSubstr("not a number"));
}

TEST_P(ModelQueries, AnUpgradeAndTheRegretOfAModelsLayersAlone) {
  std::map<std::string, std::string> upgrade = {{"library", "onednn"}, {"from", "3.2.0"}, {"to", "3.5.0"}};
  upgrade["model"] = "net";
  EXPECT_THAT(Ask("library-upgrade", upgrade).rows, SizeIs(1));
  EXPECT_THAT(Ask("heuristic-regret", {{"model", "net"}}).rows, SizeIs(2));
  upgrade["model"] = "none";
  EXPECT_THAT(Ask("library-upgrade", upgrade).rows, IsEmpty());
  EXPECT_THAT(Ask("heuristic-regret", {{"model", "none"}}).rows, IsEmpty());
}

// Three cells on two devices; the file is "fc", its cells have 1 and 4 layers, the first also 2 threads.
class EvaluationQueries : public Queries {
 protected:
  void SetUp() override {
    Queries::SetUp();
    if (store_ == nullptr) return;
    other_ = MakeDevice("2");
    other_.name = "Another processor";
    other_.generation = "Second";
    StoredEvaluation evaluation{"hash of fc", "fc", "{}", {}};
    for (int i = 0; i < 3; ++i) {
      EvaluationCell cell;
      cell.model.family = "fc";
      if (i != 1) cell.model.choices["layers"] = i == 0 ? "1" : "4";
      cell.framework.name = "onnxruntime";
      cell.threads = i == 2 ? 2 : 1;
      cells_.push_back(HashOf(cell));
      evaluation.cells.push_back({cells_.back(), "fc", CanonicalText(cell)});
    }
    EvaluationCell floor;
    floor.quantity = CellQuantity::kFloor;
    floor.device = "h200";
    evaluation.cells.push_back({HashOf(floor), "fc", CanonicalText(floor)});
    ASSERT_TRUE(store_->SaveEvaluation(evaluation).ok());
    Try(0, MakeDevice(), 10, 100, "2026-01-01T00:00:00Z", "1.30");
    Try(1, MakeDevice(), 20, 100, "2026-01-02T00:00:00Z", "1.30");
    Try(0, MakeDevice(), 8, 100, "2026-01-03T00:00:00Z", "1.31");
    Try(2, MakeDevice(), std::nullopt, 400, "2026-01-04T00:00:00Z", "");
    Try(0, other_, 4, 100, "2026-01-04T00:00:00Z", "1.31");
    Try(2, other_, 40, 400, "2026-01-04T00:00:00Z", "1.31");
  }

  // Without a time it was out of memory.
  void Try(std::size_t cell, const Device& device, const std::optional<double>& microseconds, std::int64_t parameters,
           const std::string& at, const std::string& version) {
    CellAttempt attempt;
    attempt.cell = cells_[cell];
    attempt.device = device.Key().text;
    attempt.begun_at = attempt.until = at;
    const auto id = store_->BeginCell(attempt, [](std::span<const CellAttempt>) { return true; });
    ASSERT_TRUE(id.ok()) << id.error().message;
    CellResult result;
    result.measured_at = at;
    result.framework_version = version;
    result.facts.parameters = parameters;
    result.facts.floor = Latency(2);
    if (microseconds) {
      Repetition repetition;
      repetition.count = 1;
      repetition.minimum = repetition.median = repetition.p95 = Latency(*microseconds);
      result.repetitions = {repetition};
    } else {
      result.state = CellState::kOutOfMemory;
      result.reason = "needs more";
    }
    ASSERT_TRUE(store_->EndCell(**id, result).ok());
  }

  Device other_;
  std::vector<std::string> cells_;
};

TEST_P(EvaluationQueries, TheCellsOfAnEvaluationByAField) {
  const QueryTable table = Ask("sweep", {{"evaluation", "fc"}, {"field", "model.choices.layers"}});
  EXPECT_THAT(Column(table, "value"), ElementsAre("1", "as usual", "4", "1", "4", "as usual"));
  EXPECT_THAT(Column(table, "state"), ElementsAre("ok", "ok", "oom", "ok", "ok", "not run"));
  EXPECT_THAT(Column(table, "best_us"), ElementsAre("8", "20", "NULL", "4", "40", "NULL"));
  EXPECT_THAT(Column(table, "utilisation"), ElementsAre("0.25", "0.1", "NULL", "0.5", "0.05", "NULL"));
  EXPECT_EQ(Column(Ask("sweep", {{"evaluation", "hash of fc"}}), "value").size(), 6u);
  EXPECT_THAT(Ask("sweep", {{"evaluation", "none"}}).rows, IsEmpty());
}

TEST_P(EvaluationQueries, TheCellsThatAreWorthTheirTime) {
  const QueryTable table = Ask("pareto", {{"evaluation", "fc"}});
  EXPECT_THAT(Column(table, "best_us"), ElementsAre("8", "4", "40"));
  EXPECT_THAT(Column(table, "parameters"), ElementsAre("100", "100", "400"));
  EXPECT_THAT(Ask("pareto", {{"evaluation", "fc"}, {"device", "Another processor"}}).rows, SizeIs(2));
}

TEST_P(EvaluationQueries, WhatANewerDeviceWins) {
  const QueryTable table =
      Ask("generation-gain", {{"from", "A processor of a test"}, {"to", "Another processor"}, {"evaluation", "fc"}});
  EXPECT_THAT(Column(table, "gain"), ElementsAre("2"));
  EXPECT_THAT(Column(table, "floor_gain"), ElementsAre("1"));
  EXPECT_THAT(Column(table, "to_generation"), ElementsAre("Second"));
  EXPECT_THAT(Ask("generation-gain", {{"from", "Another processor"}, {"to", "none"}}).rows, IsEmpty());
}

TEST_P(EvaluationQueries, TheCellsThatAreToBeRunAgain) {
  const QueryTable table = Ask("stale-cells", {{"evaluation", "fc"}});
  EXPECT_THAT(Column(table, "device"), ElementsAre("A processor of a test", "Another processor"));
  EXPECT_THAT(Column(table, "reason"),
              ElementsAre("measured with onnxruntime 1.30, the newest there is 1.31", "no result"));
  Try(1, MakeDevice(), 20, 100, "2026-01-05T00:00:00Z", "1.31");
  EXPECT_THAT(Column(Ask("stale-cells", {{"evaluation", "fc"}}), "reason"), ElementsAre("no result"));
}

TEST_P(Queries, DuplicateMeasurements) {
  const QueryTable table = Ask("duplicates");
  EXPECT_THAT(Column(table, "measurements"), ElementsAre("2"));
  EXPECT_THAT(Column(table, "least_us"), ElementsAre("10"));
  EXPECT_THAT(Column(table, "most_us"), ElementsAre("15"));
  EXPECT_THAT(Ask("duplicates", {{"device", "Another processor"}}).rows, IsEmpty());
}

TEST_P(Queries, TheGainOfTensorCores) {
  Measurement tensor = Row("a/tensor_op", 2);
  tensor.workload.text = "pointwise kind=relu dtype=f16:-:f16 in=100";
  tensor.contract = NumericContract::kF16;
  Measurement plain = tensor;
  plain.candidate.algorithm = "a";
  Add("fourth", MakeDevice(), "3.2.0", {tensor, plain});
  const QueryTable table = Ask("tensor-core-gain");
  EXPECT_THAT(Column(table, "gain"), ElementsAre("4"));
  EXPECT_THAT(Column(table, "contract"), ElementsAre("f16"));
  EXPECT_THAT(Ask("tensor-core-gain", {{"least", "5"}}).rows, IsEmpty());
}

// Two devices may have one name, as processors do that differ in their visible cores alone.
TEST_P(Queries, ADeviceByANameThatTwoHave) {
  Device twin = MakeDevice("3");
  Add("first", twin, "3.2.0", {Row("a", 10)});
  Add("second", twin, "3.2.0", {Row("a", 30)});
  EXPECT_THAT(Ask("duplicates", {{"device", twin.name}}).rows, SizeIs(2));
  EXPECT_THAT(Ask("contradictions", {{"device", twin.name}}).rows, SizeIs(2));
  EXPECT_THAT(Ask("heuristic-regret", {{"device", twin.name}}).rows, SizeIs(2));
}

TEST_P(Queries, EveryOneOfThemRuns) {
  for (const NamedQuery& query : NamedQueries()) {
    std::map<std::string, std::string> given;
    for (const QueryParameter& parameter : query.parameters)
      if (!parameter.otherwise) given[parameter.name] = "'); DROP TABLE measurements; --";
    const Result<QueryTable> table = store_->Ask(query, given);
    EXPECT_TRUE(table.ok()) << query.name << ": " << (table.ok() ? "" : table.error().message);
  }
  EXPECT_EQ(store_->Devices()->size(), 2u);
}

TEST_P(Queries, AParameterThatIsMissingOrUnknownIsNamed) {
  EXPECT_THAT(store_->Ask(*FindQuery("best-candidate"), {}).error().message, HasSubstr("needs layer=..."));
  EXPECT_THAT(store_->Ask(*FindQuery("best-candidate"), {{"layr", "x"}}).error().message,
              HasSubstr("did you mean 'layer'"));
}

TEST_P(Queries, TheUsersOwnSelectIsAnswered) {
  const Result<QueryTable> table =
      store_->AskSql("SELECT family, count(*) AS many, NULL AS absent, 0.5 AS half FROM workloads GROUP BY family;",
                     testing::AsAnyone());
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_THAT(table->columns, ElementsAre("family", "many", "absent", "half"));
  EXPECT_THAT(Column(*table, "many"), ElementsAre("1"));
  EXPECT_THAT(Column(*table, "absent"), ElementsAre("NULL"));
  EXPECT_THAT(Column(*table, "half"), ElementsAre("0.5"));
  const Result<QueryTable> none = store_->AskSql("SELECT id FROM workloads WHERE id < 0", testing::AsAnyone());
  ASSERT_TRUE(none.ok());
  EXPECT_THAT(none->columns, ElementsAre("id"));
}

INSTANTIATE_TEST_SUITE_P(Stores, EvaluationQueries, ::testing::Values("Memory", "PostgreSql"), testing::ParamName);
INSTANTIATE_TEST_SUITE_P(Stores, ModelQueries, ::testing::Values("Memory", "PostgreSql"), testing::ParamName);
INSTANTIATE_TEST_SUITE_P(Stores, Queries, ::testing::Values("Memory", "PostgreSql"), testing::ParamName);

}  // namespace
}  // namespace infimum
