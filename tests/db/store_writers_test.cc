// Many processes on one store at the same time, for five seconds or for INFIMUM_TEST_SECONDS; and locks that others
// hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "db/connection/postgresql_connection.h"
#include "db/connection/sqlite_connection.h"
#include "infimum/db/store.h"
#include "tests/db/child_process.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/store_rows.h"

namespace infimum::store_writers_test {
namespace {

using testing::ChildProcess;
using testing::MakeDevice;
using testing::MakeEnvironment;
using testing::MakeRow;
using testing::MakeSelection;
using testing::PostgreSqlServer;
using testing::Tell;

constexpr int kWriters = 8, kReaders = 4;
constexpr std::int64_t kRows = 20;  // of one import

std::chrono::seconds Duration() {
  const char* const seconds = std::getenv("INFIMUM_TEST_SECONDS");
  return std::chrono::seconds(seconds == nullptr ? 5 : std::max(1, std::atoi(seconds)));
}

class StoreWriters : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "Sqlite") {
      address_ = folder_.File("infimum.db");
      return;
    }
    PostgreSqlServer* const server = PostgreSqlServer::Get();
    if (server == nullptr) {
      ASSERT_EQ(std::getenv("CI"), nullptr) << PostgreSqlServer::WhyNot();
      GTEST_SKIP() << PostgreSqlServer::WhyNot();
    }
    address_ = server->NewDatabase();
  }

  std::unique_ptr<Connection> Connect() const {
    if (GetParam() == "Sqlite") {
      Result<std::unique_ptr<SqliteConnection>> file =
          SqliteConnection::Open(address_, SqliteConnection::Mode::kReadWrite);
      EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.error().message);
      return file.ok() ? std::move(*file) : nullptr;
    }
    Result<std::unique_ptr<PostgreSqlConnection>> database = PostgreSqlConnection::Open(address_, false);
    EXPECT_TRUE(database.ok()) << (database.ok() ? "" : database.error().message);
    return database.ok() ? std::move(*database) : nullptr;
  }

  std::int64_t Ask(const std::string& sql) const {
    const Result<std::int64_t> answer = Connect()->AskInteger(sql);
    EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
    return answer.ok() ? *answer : -1;
  }

  const testing::TemporaryFolder folder_;
  std::string address_;
};

std::string CampaignOf(int writer, std::int64_t batch) {
  return "writer " + std::to_string(writer) + " batch " + std::to_string(batch);
}

Result<std::int64_t> ImportRows(Store& store, const CampaignOrigin& campaign, const std::vector<Measurement>& rows) {
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<StoreImport> import, store.BeginImport(campaign));
  INFIMUM_RETURN_IF_ERROR(import->Add(MakeDevice(), MakeEnvironment(), rows, {}));
  INFIMUM_ASSIGN_OR_RETURN(const ImportCount count, import->Commit());
  return count.added;
}

// A batch is a campaign of its own, then rows that every writer has, each in an order of its own, and with them one
// row of the batch before that now says more. Returns how many rows were added.
Result<std::int64_t> ImportBatch(Store& store, int writer, std::int64_t batch) {
  const std::int64_t own = 1'000'000'000 + writer * 100'000'000 + batch * kRows, shared = 1 + batch * kRows;
  std::vector<Measurement> rows;
  for (std::int64_t i = 0; i < kRows; ++i) rows.push_back(MakeRow(own + i, {1.0, 2.0}));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t alone, ImportRows(store, {CampaignOf(writer, batch), ""}, rows));
  rows.clear();
  for (std::int64_t i = 0; i < kRows; ++i)
    rows.push_back(MakeRow(shared + (writer % 2 == 0 ? i : kRows - 1 - i), {1.0, 2.0}));
  rows.push_back(MakeRow(own, {1.0}));
  if (batch > 0) rows.push_back(MakeRow(own - kRows, {1.0, 2.0, 3.0}));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t together, ImportRows(store, {}, rows));
  return alone + together;
}

void Write(const std::string& address, int writer, std::chrono::steady_clock::time_point end, int to) {
  // Each of them may be the one that makes the store.
  const Result<std::unique_ptr<Store>> store = OpenStore(address, OpenMode::kReadWrite);
  if (!store.ok()) return Tell(to, "+" + store.error().message);
  std::int64_t batches = 0, added = 0;
  std::chrono::steady_clock::duration longest{0};
  for (; batches == 0 || std::chrono::steady_clock::now() < end; ++batches) {
    const auto begin = std::chrono::steady_clock::now();
    const Result<std::int64_t> rows = ImportBatch(**store, writer, batches);
    if (!rows.ok()) return Tell(to, "+" + rows.error().message);
    if (batches == 0) Tell(to, "+");
    added += *rows;
    longest = std::max(longest, std::chrono::steady_clock::now() - begin);
  }
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(longest).count();
  Tell(to, std::to_string(batches) + " " + std::to_string(added) + " " + std::to_string(milliseconds));
}

// Every answer is complete: a campaign is there or not, and what was there stays.
void ReadOn(const std::string& address, int reader, std::chrono::steady_clock::time_point end, int to) {
  const Result<std::unique_ptr<Store>> store =
      OpenStore(address, reader % 2 == 0 ? OpenMode::kReadOnly : OpenMode::kReadWrite);
  if (!store.ok()) return Tell(to, store.error().message);
  std::int64_t queries = 0, seen = 0, batch = 0;
  while (std::chrono::steady_clock::now() < end) {
    const Result<QueryTable> all = (*store)->AskSql("SELECT count(*) AS rows FROM measurements", testing::AsAnyone());
    if (!all.ok()) return Tell(to, all.error().message);
    const std::int64_t now = std::get<std::int64_t>(all->rows[0][0]);
    if (now < seen) return Tell(to, "rows are gone");
    seen = now;
    const std::vector<WorkloadKey> keys = {testing::MakeWorkload(1), testing::MakeWorkload(kRows)};
    const Result<std::vector<Measurement>> found = (*store)->Find(keys, MakeSelection(MakeDevice()));
    if (!found.ok()) return Tell(to, found.error().message);
    if (found->size() != 2) return Tell(to, "the first rows are not found");
    const Result<QueryTable> rows = (*store)->AskSql(
        "SELECT count(*) AS rows FROM measurements m JOIN campaigns c ON c.id = m.campaign_id WHERE c.key = '" +
            CampaignOf(reader, batch) + "'",
        testing::AsAnyone());
    if (!rows.ok()) return Tell(to, rows.error().message);
    const std::int64_t there = std::get<std::int64_t>(rows->rows[0][0]);
    if (there != 0 && there != kRows) return Tell(to, "a campaign is there by half");
    if (there != 0) ++batch;
    queries += 3;
  }
  Tell(to, std::to_string(queries) + " " + std::to_string(seen));
}

TEST_P(StoreWriters, EightWritersAndFourReadersLoseAndDuplicateNoRowAndGetNoError) {
  const auto end = std::chrono::steady_clock::now() + Duration();
  std::vector<std::unique_ptr<ChildProcess>> writers, readers;
  for (int writer = 0; writer < kWriters; ++writer)
    writers.push_back(std::make_unique<ChildProcess>([&, writer](int to) { Write(address_, writer, end, to); }));
  ASSERT_EQ(writers[0]->Read(1), "+");
  for (int reader = 0; reader < kReaders; ++reader)
    readers.push_back(std::make_unique<ChildProcess>([&, reader](int to) { ReadOn(address_, reader, end, to); }));

  std::int64_t batches_of_all = 0, added_by_all = 0, most = 0, longest = 0, queries_of_all = 0;
  for (int writer = 0; writer < kWriters; ++writer) {
    const std::string told = writers[static_cast<std::size_t>(writer)]->ReadAll();
    std::istringstream numbers(told.substr(writer == 0 ? 0 : 1));
    std::int64_t batches = 0, added = 0, milliseconds = 0;
    ASSERT_TRUE(numbers >> batches >> added >> milliseconds) << "writer " << writer << ": " << told;
    batches_of_all += batches;
    added_by_all += added;
    most = std::max(most, batches);
    longest = std::max(longest, milliseconds);
  }
  for (const std::unique_ptr<ChildProcess>& reader : readers) {
    const std::string told = reader->ReadAll();
    std::istringstream numbers(told);
    std::int64_t queries = 0;
    ASSERT_TRUE(numbers >> queries) << "reader: " << told;
    EXPECT_GT(queries, 0);
    queries_of_all += queries;
  }

  // Everybody's rows are there once, up to where the fastest writer came. Of each row in the own campaign there is
  // another in none; it was added a second time when it said more, except that of the last batch.
  const std::int64_t own = batches_of_all * kRows, everybodys = most * kRows, again = batches_of_all - kWriters;
  const std::int64_t rows = own + everybodys + batches_of_all;
  EXPECT_EQ(added_by_all, rows + again);
  const std::string schema = GetParam() == "Sqlite" ? "" : "infimum.";
  const auto count = [&](const std::string& table) { return Ask("SELECT count(*) FROM " + schema + table); };
  EXPECT_EQ(count("measurements"), rows);
  EXPECT_EQ(count("repetitions"), 2 * (own + everybodys) + 3 * again + (batches_of_all - again));
  EXPECT_EQ(count("workloads"), own + everybodys);
  EXPECT_EQ(count("campaigns"), batches_of_all + 1);
  EXPECT_EQ(count("devices"), 1);
  EXPECT_EQ(count("environments"), 1);
  EXPECT_EQ(count("candidates"), 1);
  std::printf(
      "%s: %lld s, %lld imports, the longest %lld ms for two, %lld rows written, %lld there, %lld queries, 0 errors\n",
      GetParam().c_str(), static_cast<long long>(Duration().count()), static_cast<long long>(2 * batches_of_all),
      static_cast<long long>(longest), static_cast<long long>(added_by_all), static_cast<long long>(rows),
      static_cast<long long>(queries_of_all));
}

// SQLite's locks are a process's, so whoever is locked out is another one, made while nothing is open here.
TEST_P(StoreWriters, AWriterWaitsForALockAndReadersDoNot) {
  ASSERT_TRUE(OpenStore(address_, OpenMode::kReadWrite).ok());
  int release[2];
  ASSERT_EQ(pipe(release), 0);
  const ChildProcess holder([&](int to) {
    const std::unique_ptr<Connection> connection = Connect();
    Tell(to, connection->Begin(Connection::Purpose::kWriting).ok() ? "+" : "-");
    char byte = 0;
    const bool told = read(release[0], &byte, 1) == 1;
    Tell(to, told && connection->Commit().ok() ? "+" : "-");
  });
  ASSERT_EQ(holder.Read(1), "+");
  const ChildProcess writer([&](int to) {
    const Result<std::unique_ptr<Store>> store = OpenStore(address_, OpenMode::kReadWrite);
    if (!store.ok()) return Tell(to, store.error().message);
    Tell(to, "+");
    const Result<std::int64_t> rows = ImportBatch(**store, 0, 0);
    Tell(to, rows.ok() ? std::to_string(*rows) : rows.error().message);
  });
  ASSERT_EQ(writer.Read(1), "+");
  for (OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite}) {
    const Result<std::unique_ptr<Store>> reader = OpenStore(address_, mode);
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    EXPECT_TRUE((*reader)->Devices().ok());
  }
  EXPECT_TRUE(writer.IsSilentFor(2000)) << "the writer did not wait for the lock";
  Tell(release[1], "+");
  EXPECT_EQ(holder.ReadAll(), "+");
  EXPECT_EQ(writer.ReadAll(), std::to_string(2 * kRows + 1));
  for (const int end : release) close(end);
}

TEST_P(StoreWriters, AWriterThatIsKilledWhileItHoldsTheLockLetsTheNextOneIn) {
  ASSERT_TRUE(OpenStore(address_, OpenMode::kReadWrite).ok());
  const std::string workloads = GetParam() == "Sqlite" ? "workloads" : "infimum.workloads";
  {
    const ChildProcess holder([&](int to) {
      const std::unique_ptr<Connection> connection = Connect();
      const bool holds =
          connection->Begin(Connection::Purpose::kWriting).ok() &&
          connection->Execute("INSERT INTO " + workloads + " (id, text, family) VALUES (1, 'half', '')").ok();
      Tell(to, holds ? "+" : "-");
      while (true) pause();
    });
    ASSERT_EQ(holder.Read(1), "+");
    holder.Kill();
  }
  const Result<std::unique_ptr<Store>> store = OpenStore(address_, OpenMode::kReadWrite);
  ASSERT_TRUE(store.ok()) << store.error().message;
  const Result<std::int64_t> rows = ImportBatch(**store, 0, 0);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(*rows, 2 * kRows + 1);
  EXPECT_EQ(Ask("SELECT count(*) FROM " + workloads), 2 * kRows);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreWriters, ::testing::Values("Sqlite", "PostgreSql"), testing::ParamName);

TEST(SqliteLock, ThatIsHeldForTooLongIsAClearErrorAndNothingIsChanged) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.File("infimum.db");
  ASSERT_TRUE(OpenStore(path, OpenMode::kReadWrite).ok());
  const auto holder = SqliteConnection::Open(path, SqliteConnection::Mode::kReadWrite);
  const auto waiter = SqliteConnection::Open(path, SqliteConnection::Mode::kReadWrite);
  ASSERT_TRUE(holder.ok() && waiter.ok());
  ASSERT_TRUE((*holder)->Begin(Connection::Purpose::kWriting).ok());
  ASSERT_TRUE((*waiter)->Execute("PRAGMA busy_timeout = 50").ok());
  const Status status = (*waiter)->Begin(Connection::Purpose::kWriting);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, path + ": database is locked; another program is writing to it: try again");
  ASSERT_TRUE((*holder)->Commit().ok());
  EXPECT_TRUE((*waiter)->Begin(Connection::Purpose::kWriting).ok());
}

}  // namespace
}  // namespace infimum::store_writers_test
