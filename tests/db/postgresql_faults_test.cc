// A PostgreSQL server that dies at the worst of times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "db/connection/postgresql_connection.h"
#include "infimum/db/store.h"
#include "tests/db/child_process.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/store_rows.h"

namespace infimum::postgresql_faults_test {
namespace {

using ::testing::AllOf;
using testing::ChildProcess;
using testing::FindRows;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeDevice;
using testing::MakeEnvironment;
using testing::MakeRow;
using testing::MakeSelection;
using ::testing::Not;
using testing::PostgreSqlServer;
using ::testing::SizeIs;
using testing::Tell;

constexpr std::int64_t kRowsOfABatch = 50;

Status ImportBatch(Store& store, std::int64_t batch) {
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<StoreImport> import, store.BeginImport({std::to_string(batch), ""}));
  for (std::int64_t part = 0; part < 5; ++part) {
    std::vector<Measurement> rows;
    for (std::int64_t i = 0; i < kRowsOfABatch / 5; ++i)
      rows.push_back(MakeRow(1 + batch * kRowsOfABatch + part * kRowsOfABatch / 5 + i, {1.0, 2.0}));
    INFIMUM_RETURN_IF_ERROR(import->Add(MakeDevice(), MakeEnvironment(), rows, {}));
  }
  const Result<ImportCount> count = import->Commit();
  if (!count.ok()) return count.error();
  return count->added == kRowsOfABatch ? Status() : Status(Error{"not all of it was added"});
}

class PostgreSqlFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    server_ = PostgreSqlServer::Get();
    if (server_ == nullptr) {
      ASSERT_EQ(std::getenv("CI"), nullptr) << PostgreSqlServer::WhyNot();
      GTEST_SKIP() << PostgreSqlServer::WhyNot();
    }
    address_ = server_->NewDatabase();
    ASSERT_NE(Open(), nullptr);
  }

  std::unique_ptr<Store> Open() const {
    Result<std::unique_ptr<Store>> store = OpenStore(address_, OpenMode::kReadWrite);
    EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message);
    return store.ok() ? std::move(*store) : nullptr;
  }

  std::unique_ptr<PostgreSqlConnection> Connect() const {
    Result<std::unique_ptr<PostgreSqlConnection>> connection = PostgreSqlConnection::Open(address_, false);
    EXPECT_TRUE(connection.ok()) << (connection.ok() ? "" : connection.error().message);
    return connection.ok() ? std::move(*connection) : nullptr;
  }

  std::int64_t Ask(const std::string& sql) const {
    const Result<std::int64_t> answer = Connect()->AskInteger(sql);
    EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
    return answer.ok() ? *answer : -1;
  }

  // The server by itself, without a word to its sessions. What it shared with them must be gone before another starts.
  void KillServer() const {
    std::ifstream file(server_->folder() + "/data/postmaster.pid");
    pid_t server = 0;
    file >> server;
    ASSERT_GT(server, 1);
    ASSERT_EQ(kill(server, SIGKILL), 0);
  }
  void StartAgain() const {
    for (int attempt = 0; attempt < 100; ++attempt)
      if (server_->Start()) return;
    FAIL() << "the server does not start again";
  }

  PostgreSqlServer* server_ = nullptr;
  std::string address_;
};

const auto kIsOneLine = AllOf(
    ::testing::StartsWith("postgresql://"), Not(HasSubstr("\n")),
    ::testing::AnyOf(HasSubstr("what was saved before is safe"), HasSubstr("try again"), HasSubstr("import again")));

TEST_F(PostgreSqlFaults, AServerThatDiesDuringAnImportKeepsAllSavedRowsAndAllOrNoneOfTheImport) {
  std::int64_t saved = 0;
  const std::function<void()> faults[] = {[&] { server_->Crash(); }, [&] { KillServer(); }};
  for (const std::function<void()>& fault : faults) {
    const ChildProcess writer([&](int to) {
      Result<std::unique_ptr<Store>> store = OpenStore(address_, OpenMode::kReadWrite);
      if (!store.ok()) Tell(to, store.error().message);
      for (std::int64_t batch = saved; store.ok(); ++batch) {
        const Status status = ImportBatch(**store, batch);
        Tell(to, status.ok() ? "+" : status.error().message);
        if (!status.ok()) return;
      }
    });
    ASSERT_EQ(writer.Read(3), "+++");
    saved += 3;
    fault();
    const std::string rest = writer.ReadAll();
    const std::size_t more = rest.find_first_not_of('+');
    ASSERT_NE(more, std::string::npos);
    saved += static_cast<std::int64_t>(more);
    EXPECT_THAT(rest.substr(more), kIsOneLine);
    StartAgain();
    const std::int64_t rows = Ask("SELECT count(*) FROM infimum.measurements");
    ASSERT_EQ(rows % kRowsOfABatch, 0);
    ASSERT_GE(rows, saved * kRowsOfABatch);
    // The one that was being saved when the server died may have come through.
    ASSERT_LE(rows, (saved + 1) * kRowsOfABatch);
    EXPECT_EQ(Ask("SELECT count(*) FROM infimum.repetitions"), 2 * rows);
    EXPECT_EQ(Ask("SELECT count(*) FROM infimum.workloads"), rows);
    EXPECT_EQ(Ask("SELECT count(*) FROM infimum.campaigns"), rows / kRowsOfABatch);
    saved = rows / kRowsOfABatch;
  }
}

TEST_F(PostgreSqlFaults, AnImportCutOffDuringItsCommitIsReportedAsUnknownAndAddedOnceByTheNextOne) {
  // Whoever saves a campaign waits, at the very end, for a lock that is ours.
  ASSERT_TRUE(Connect()
                  ->Execute("CREATE FUNCTION infimum.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM "
                            "pg_advisory_xact_lock(42); RETURN NULL; END $$; CREATE CONSTRAINT TRIGGER wait AFTER "
                            "INSERT ON infimum.campaigns DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "
                            "infimum.wait()")
                  .ok());
  const std::unique_ptr<PostgreSqlConnection> holder = Connect();
  ASSERT_EQ(*holder->AskInteger("SELECT 1 FROM pg_advisory_lock(42)"), 1);
  const ChildProcess writer([&](int to) {
    Result<std::unique_ptr<Store>> store = OpenStore(address_, OpenMode::kReadWrite);
    const Status status = store.ok() ? ImportBatch(**store, 0) : Status(store.error());
    Tell(to, status.ok() ? "saved" : status.error().message);
  });
  while (Ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 42") == 0) {
  }
  server_->Crash();
  EXPECT_THAT(writer.ReadAll(), AllOf(kIsOneLine, HasSubstr("unknown whether"), HasSubstr("import again")));
  StartAgain();
  const std::unique_ptr<Store> store = Open();
  const Status again = ImportBatch(*store, 0);
  EXPECT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(Ask("SELECT count(*) FROM infimum.measurements"), kRowsOfABatch);
}

TEST_F(PostgreSqlFaults, AServerThatDiesUnderAReaderIsAClearError) {
  ASSERT_TRUE(ImportBatch(*Open(), 0).ok());
  const ChildProcess reader([&](int to) {
    Result<std::unique_ptr<Store>> store = OpenStore(address_, OpenMode::kReadOnly);
    if (!store.ok()) Tell(to, store.error().message);
    while (store.ok()) {
      const auto devices = (*store)->Devices();
      Tell(to, devices.ok() ? "+" : devices.error().message);
      if (!devices.ok()) return;
    }
  });
  ASSERT_EQ(reader.Read(5), "+++++");
  KillServer();
  const std::string rest = reader.ReadAll();
  EXPECT_THAT(rest.substr(std::min(rest.find_first_not_of('+'), rest.size())), kIsOneLine);
  StartAgain();
  EXPECT_THAT(FindRows(*Open(), kRowsOfABatch, MakeSelection(MakeDevice())), SizeIs(1));
}

TEST_F(PostgreSqlFaults, AServerThatDiesInTheMiddleOfAnAnswerIsAClearError) {
  const std::unique_ptr<PostgreSqlConnection> connection = Connect();
  const Result<std::unique_ptr<Statement>> cursor =
      connection->PrepareReadOnly("SELECT i FROM generate_series(1, 100000) AS s(i)");
  for (int row = 0; row < 10; ++row) ASSERT_TRUE(*(*cursor)->Step());
  server_->Crash();
  Result<bool> more = true;
  std::int64_t rows = 10;
  for (; more.ok() && *more; ++rows) more = (*cursor)->Step();
  StartAgain();
  ASSERT_FALSE(more.ok()) << "the answer ended after " << rows << " rows as if it were complete";
  EXPECT_THAT(more.error().message, kIsOneLine);
}

TEST_F(PostgreSqlFaults, AServerThatDiesInTheMiddleOfABulkInsertIsAClearError) {
  const std::unique_ptr<PostgreSqlConnection> connection = Connect();
  ASSERT_TRUE(connection->Execute("CREATE TABLE rows (place BIGINT, text TEXT)").ok());
  ASSERT_TRUE(connection->Begin(Connection::Purpose::kStaging).ok());
  {
    const Result<std::unique_ptr<BulkInsert>> insert = connection->StartBulkInsert("rows", {"place", "text"});
    ASSERT_TRUE(insert.ok());
    const std::string text(10'000, 'x');
    Status status;
    for (std::int64_t place = 0; place < 10'000 && status.ok(); ++place) {
      if (place == 100) server_->Crash();
      const SqlValue values[] = {place, std::string_view(text)};
      status = (*insert)->Add(values);
    }
    if (status.ok()) status = (*insert)->Finish();
    EXPECT_THAT(status.ok() ? "all went well" : status.error().message, kIsOneLine);
  }
  connection->Rollback();
  EXPECT_FALSE(connection->Begin(Connection::Purpose::kStaging).ok());
  StartAgain();
  EXPECT_EQ(Ask("SELECT count(*) FROM rows"), 0);
}

TEST_F(PostgreSqlFaults, AnImportThatAnAdministratorEndsLeavesNothingAndTheStoreCanBeOpenedAgain) {
  std::unique_ptr<Store> store = Open();
  Result<std::unique_ptr<StoreImport>> import = store->BeginImport({"1", ""});
  const std::vector<Measurement> rows = {MakeRow(100, {2})};
  ASSERT_TRUE((*import)->Add(MakeDevice(), MakeEnvironment(), rows, {}).ok());
  ASSERT_EQ(Ask("SELECT count(CASE WHEN backend_type = 'client backend' AND pid <> pg_backend_pid() THEN "
                "pg_terminate_backend(pid, 10000) END) FROM pg_stat_activity WHERE datname = current_database()"),
            1);
  const Result<ImportCount> count = (*import)->Commit();
  ASSERT_FALSE(count.ok());
  EXPECT_THAT(count.error().message, kIsOneLine);
  import->reset();
  store = Open();
  EXPECT_THAT(FindRows(*store, 100, MakeSelection(MakeDevice())), IsEmpty());
  EXPECT_TRUE(store->Import(MakeDevice(), MakeEnvironment(), rows, {}).ok());
  EXPECT_THAT(FindRows(*store, 100, MakeSelection(MakeDevice())), SizeIs(1));
}

}  // namespace
}  // namespace infimum::postgresql_faults_test
