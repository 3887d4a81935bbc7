// Evaluations in a store: what is asked for, who is at it, and what became of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <set>
#include <thread>

#include "infimum/db/store.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/store_rows.h"

namespace infimum::store_evaluations_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class StoreEvaluationsTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    address_ = folder_.File("infimum.db");
    if (GetParam() == "PostgreSql") {
      testing::PostgreSqlServer* const server = testing::PostgreSqlServer::Get();
      if (server == nullptr) {
        ASSERT_EQ(std::getenv("CI"), nullptr) << testing::PostgreSqlServer::WhyNot();
        GTEST_SKIP() << testing::PostgreSqlServer::WhyNot();
      }
      address_ = server->NewDatabase();
    }
    store_ = Open();
  }

  std::unique_ptr<Store> Open() const {
    Result<std::unique_ptr<Store>> opened = OpenStore(address_, OpenMode::kReadWrite);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message);
    return opened.ok() ? std::move(*opened) : nullptr;
  }

  testing::TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<Store> store_;
};

StoredEvaluation MakeEvaluation(std::int64_t cells) {
  StoredEvaluation evaluation{"hash of all", "name", "{}", {}};
  for (std::int64_t i = 1; i <= cells; ++i) {
    EvaluationCell cell;
    cell.model = {.family = "fc", .choices = {{"layers", std::to_string(i)}}};
    cell.framework.name = "onnxruntime";
    evaluation.cells.push_back({HashOf(cell), "fc layers=" + std::to_string(i), CanonicalText(cell)});
  }
  return evaluation;
}

bool Always(std::span<const CellAttempt>) { return true; }
bool IfNobodyWas(std::span<const CellAttempt> before) { return before.empty(); }

CellAttempt At(const StoredCell& cell, const std::string& worker = "host:1:2") {
  return {0, cell.hash, "device", worker, "2026-11-25T10:00:00Z", "2026-11-25T10:05:00Z"};
}

CellResult MakeResult() {
  CellResult result{.state = CellState::kOk, .reason = "", .measured_at = "2026-11-25T10:01:00Z"};
  result.facts.parameters = 7;
  result.facts.flops = Flops{14};
  result.facts.floor = Latency(1.5);
  result.facts.decided_by = "arithmetic f32";
  result.framework_version = "1.31.1";
  result.verifies = true;
  result.evidence = {{"system", "Linux"}};
  for (const double median : {3.0, 3.25, 3.5})
    result.repetitions.push_back(
        {9, Latency(2), Latency(median), Latency(4), {Latency(3)}, std::nullopt, std::nullopt});
  return result;
}

TEST_P(StoreEvaluationsTest, AnEvaluationIsSavedOnceAndReadBack) {
  const StoredEvaluation evaluation = MakeEvaluation(3);
  ASSERT_TRUE(store_->SaveEvaluation(evaluation).ok());
  ASSERT_TRUE(store_->SaveEvaluation(evaluation).ok());
  std::vector<StoredEvaluation> read;
  ASSERT_TRUE(store_
                  ->VisitEvaluations([&](const StoredEvaluation& one) {
                    read.push_back(one);
                    return Status();
                  })
                  .ok());
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(read[0].hash, evaluation.hash);
  ASSERT_THAT(read[0].cells, SizeIs(3));
  EXPECT_EQ(read[0].cells[2].text, evaluation.cells[2].text);
  const Result<QueryTable> fields = store_->AskSql(
      "SELECT value FROM cell_fields WHERE name = 'model.choices.layers' ORDER BY value", testing::AsAnyone());
  ASSERT_TRUE(fields.ok()) << fields.error().message;
  EXPECT_THAT(fields->rows, SizeIs(3));
}

TEST_P(StoreEvaluationsTest, AResultIsReadAsItWasGiven) {
  const StoredEvaluation evaluation = MakeEvaluation(2);
  ASSERT_TRUE(store_->SaveEvaluation(evaluation).ok());
  const Result<std::optional<std::int64_t>> attempt = store_->BeginCell(At(evaluation.cells[0]), Always);
  ASSERT_TRUE(attempt.ok()) << attempt.error().message;
  ASSERT_TRUE(attempt->has_value());
  const CellResult given = MakeResult();
  const Status ended = store_->EndCell(**attempt, given);
  ASSERT_TRUE(ended.ok()) << ended.error().message;
  EXPECT_FALSE(store_->EndCell(**attempt, given).ok());
  const Result<std::vector<CellAttempt>> attempts = store_->Attempts(evaluation.hash);
  ASSERT_TRUE(attempts.ok()) << attempts.error().message;
  ASSERT_THAT(*attempts, SizeIs(1));
  const CellAttempt& one = attempts->front();
  EXPECT_EQ(one.cell, evaluation.cells[0].hash);
  EXPECT_EQ(one.worker, "host:1:2");
  ASSERT_TRUE(one.result.has_value());
  EXPECT_EQ(one.result->state, given.state);
  EXPECT_TRUE(one.result->verifies);
  EXPECT_EQ(one.result->evidence, given.evidence);
  EXPECT_EQ(one.result->repetitions, given.repetitions);
  EXPECT_EQ(one.result->facts.floor, given.facts.floor);
  EXPECT_EQ(one.result->facts.parameters, given.facts.parameters);
  EXPECT_EQ(one.result->facts.decided_by, given.facts.decided_by);
  EXPECT_TRUE(store_->Attempts("another")->empty());
  std::string problems;
  ASSERT_TRUE(store_->Check([&](const std::string& problem) { problems += problem; }).ok());
  EXPECT_EQ(problems, "");
}

TEST_P(StoreEvaluationsTest, TheFirstToBeginIsAskedAboutNobodyAndTheNextSeesHim) {
  const StoredEvaluation evaluation = MakeEvaluation(1);
  ASSERT_TRUE(store_->SaveEvaluation(evaluation).ok());
  ASSERT_TRUE(store_->BeginCell(At(evaluation.cells[0], "first"), IfNobodyWas)->has_value());
  std::vector<std::string> seen;
  const auto object = [&](std::span<const CellAttempt> before) {
    for (const CellAttempt& one : before) seen.push_back(one.worker);
    return false;
  };
  EXPECT_FALSE(store_->BeginCell(At(evaluation.cells[0], "second"), object)->has_value());
  EXPECT_THAT(seen, ElementsAre("first"));
  // On another device it is another attempt.
  CellAttempt elsewhere = At(evaluation.cells[0], "third");
  elsewhere.device = "other";
  EXPECT_TRUE(store_->BeginCell(elsewhere, IfNobodyWas)->has_value());
  const Result<std::optional<std::int64_t>> unknown = store_->BeginCell(At({"none", "", ""}), Always);
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message, HasSubstr("no cell 'none'"));
}

TEST_P(StoreEvaluationsTest, OfEightWorkersEachCellHasOne) {
  const StoredEvaluation evaluation = MakeEvaluation(40);
  constexpr int kWorkers = 8;
  std::atomic<int> failures = 0;
  std::vector<std::thread> workers;
  for (int worker = 0; worker < kWorkers; ++worker) {
    workers.emplace_back([&, worker] {
      const std::unique_ptr<Store> store = Open();
      if (store == nullptr || !store->SaveEvaluation(evaluation).ok()) {
        ++failures;
        return;
      }
      for (const StoredCell& cell : evaluation.cells) {
        const Result<std::optional<std::int64_t>> attempt =
            store->BeginCell(At(cell, std::to_string(worker)), IfNobodyWas);
        if (!attempt.ok() || (attempt->has_value() && !store->EndCell(**attempt, MakeResult()).ok())) ++failures;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(failures, 0);
  const Result<std::vector<CellAttempt>> attempts = store_->Attempts(evaluation.hash);
  ASSERT_TRUE(attempts.ok()) << attempts.error().message;
  ASSERT_THAT(*attempts, SizeIs(40));
  std::set<std::string> cells;
  for (const CellAttempt& attempt : *attempts) {
    EXPECT_TRUE(attempt.result.has_value());
    cells.insert(attempt.cell);
  }
  EXPECT_THAT(cells, SizeIs(40));
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreEvaluationsTest, ::testing::Values("File", "PostgreSql"),
                         [](const auto& stored) { return stored.param; });

}  // namespace
}  // namespace infimum::store_evaluations_test
