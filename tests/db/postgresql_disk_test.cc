// A PostgreSQL server whose disk is full: of its tables, or of its log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "db/connection/postgresql_connection.h"
#include "infimum/db/store.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/small_disk.h"
#include "tests/db/store_rows.h"

namespace infimum::postgresql_disk_test {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using testing::MakeDevice;
using testing::MakeEnvironment;
using testing::MakeRow;
using ::testing::Not;
using testing::PostgreSqlServer;
using testing::SmallDisk;

constexpr std::int64_t kRowsOfABatch = 1000;

std::vector<Measurement> Batch(std::int64_t batch) {
  std::vector<Measurement> rows;
  for (std::int64_t i = 1; i <= kRowsOfABatch; ++i) rows.push_back(MakeRow(batch * kRowsOfABatch + i, {1.0, 2.0}));
  return rows;
}

Status ImportBatches(Store& store, std::int64_t first, std::int64_t count) {
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<StoreImport> import, store.BeginImport({std::to_string(first), ""}));
  for (std::int64_t batch = first; batch < first + count; ++batch)
    INFIMUM_RETURN_IF_ERROR(import->Add(MakeDevice(), MakeEnvironment(), Batch(batch), {}));
  const Result<ImportCount> added = import->Commit();
  if (!added.ok()) return added.error();
  return {};
}

// What is full, by its name.
class PostgreSqlDisk : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (PostgreSqlServer::Get() == nullptr) {
      ASSERT_EQ(std::getenv("CI"), nullptr) << PostgreSqlServer::WhyNot();
      GTEST_SKIP() << PostgreSqlServer::WhyNot();
    }
    // Others may pass through the folder, though not look into it.
    fs::permissions(folder_.path(), fs::perms(0711));
    PostgreSqlServer::Settings settings;
    std::string tablespace;
    settings.options = "-c fsync=off";
    if (GetParam() == "FileSize") {
      // In blocks of half a KiB: no file grows beyond 3 MiB. The log's files are shorter.
      settings.limits = "ulimit -f 6144";
      settings.initdb = "--wal-segsize=1";
    } else {
      const bool tables = GetParam() == "Tables";
      disk_ = std::make_unique<SmallDisk>(folder_.File("disk"), 48, tables ? 20 : 30);
      PostgreSqlServer::Give(disk_->files());
      if (!disk_->mounted()) GTEST_SKIP() << disk_->WhyNot();
      tablespace = tables ? disk_->files() : "";
      // A log that is kept until it is larger than its disk.
      settings.initdb = tables ? "" : "--wal-segsize=1 --waldir=" + disk_->files() + "/log";
      settings.options += tables ? "" : " -c max_wal_size=1GB -c checkpoint_timeout=1h";
    }
    server_ = PostgreSqlServer::New(settings);
    ASSERT_NE(server_, nullptr) << PostgreSqlServer::WhyNot();
    address_ = server_->NewDatabase();
    if (tablespace.empty()) return;
    for (const std::string& sql : {"CREATE TABLESPACE small LOCATION '" + tablespace + "'",
                                   std::string("CREATE DATABASE small TABLESPACE small")}) {
      const Status status = (*PostgreSqlConnection::Open(address_, false))->Execute(sql);
      ASSERT_TRUE(status.ok()) << status.error().message;
    }
    address_.replace(address_.find("test1"), 5, "small");
  }

  std::unique_ptr<Store> Open() const {
    Result<std::unique_ptr<Store>> store = OpenStore(address_, OpenMode::kReadWrite);
    EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message);
    return store.ok() ? std::move(*store) : nullptr;
  }

  std::int64_t Ask(const std::string& sql) const {
    const Result<std::unique_ptr<PostgreSqlConnection>> connection = PostgreSqlConnection::Open(address_, true);
    EXPECT_TRUE(connection.ok()) << (connection.ok() ? "" : connection.error().message);
    return connection.ok() ? *(*connection)->AskInteger(sql) : -1;
  }

  // A server that cannot write its log stops, and is started again by whoever has made space.
  void MakeSpace() {
    if (disk_ != nullptr) disk_->MakeSpace();
    server_->Crash();
    ASSERT_TRUE(server_->Start(""));
  }

  void ExpectAllOf(std::int64_t batches) const {
    const std::int64_t rows = batches * kRowsOfABatch;
    EXPECT_EQ(Ask("SELECT count(*) FROM infimum.measurements"), rows);
    EXPECT_EQ(Ask("SELECT count(*) FROM infimum.repetitions"), 2 * rows);
    EXPECT_EQ(Ask("SELECT count(*) FROM infimum.workloads"), rows);
  }

  void ExpectClear(const std::string& error) const {
    EXPECT_THAT(error, AllOf(::testing::StartsWith("postgresql://"), Not(HasSubstr("\n"))));
    if (GetParam() == "Log") {
      // Without its log the server stops, and nobody can say why.
      EXPECT_THAT(error, AnyOf(HasSubstr("check that the server runs"), HasSubstr("import again")));
    } else {
      EXPECT_THAT(error, AllOf(HasSubstr("the server's disk is full"), HasSubstr("what was saved before is safe")));
    }
  }

  const testing::TemporaryFolder folder_;
  std::unique_ptr<SmallDisk> disk_;  // unmounted after the server is gone
  std::unique_ptr<PostgreSqlServer> server_;
  std::string address_;
};

TEST_P(PostgreSqlDisk, ThatFillsUpIsAClearErrorAndNoRowIsLostOrPartial) {
  std::unique_ptr<Store> store = Open();
  std::int64_t saved = 0;
  Status status;
  for (; saved < 200 && status.ok(); saved += status.ok() ? 1 : 0) status = ImportBatches(*store, saved, 1);
  ASSERT_FALSE(status.ok()) << "the disk did not fill up";
  ASSERT_GT(saved, 0);
  ExpectClear(status.error().message);
  if (GetParam() != "Log") {
    // Reading goes on, on the same connection too.
    ASSERT_TRUE(store->Devices().ok());
    EXPECT_FALSE(testing::FindRows(*store, saved * kRowsOfABatch, testing::MakeSelection(MakeDevice())).empty());
    ExpectAllOf(saved);
  }
  MakeSpace();
  ExpectAllOf(saved);
  store = Open();
  status = ImportBatches(*store, saved, 1);
  EXPECT_TRUE(status.ok()) << status.error().message;
  ExpectAllOf(saved + 1);
}

// Of the log it is the save that takes too much, of the others the gathering before it.
TEST_P(PostgreSqlDisk, ThatIsTooSmallForOneImportIsAClearErrorAndTheNextOneIsSaved) {
  std::unique_ptr<Store> store = Open();
  ASSERT_TRUE(ImportBatches(*store, 0, 1).ok());
  const Status status = ImportBatches(*store, 1, 60);
  ASSERT_FALSE(status.ok());
  ExpectClear(status.error().message);
  if (GetParam() != "Log") {
    const Status next = ImportBatches(*store, 1, 1);
    EXPECT_TRUE(next.ok()) << next.error().message;
    ExpectAllOf(2);
    return;
  }
  MakeSpace();
  ExpectAllOf(1);
}

INSTANTIATE_TEST_SUITE_P(Disks, PostgreSqlDisk, ::testing::Values("Tables", "Log", "FileSize"), testing::ParamName);

}  // namespace
}  // namespace infimum::postgresql_disk_test
