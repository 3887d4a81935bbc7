// A SQLite store whose disk is full: that of the file, or that of what is gathered before it is saved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <csignal>

#include "infimum/db/store.h"
#include "tests/db/child_process.h"
#include "tests/db/small_disk.h"
#include "tests/db/store_rows.h"

namespace infimum::sqlite_disk_test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using testing::ChildProcess;
using testing::FindRows;
using ::testing::HasSubstr;
using testing::MakeDevice;
using testing::MakeEnvironment;
using testing::MakeRow;
using testing::MakeSelection;
using ::testing::Not;
using testing::SmallDisk;
using testing::Tell;

constexpr std::int64_t kRowsOfABatch = 1000;

Status ImportBatches(Store& store, std::int64_t first, std::int64_t count) {
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<StoreImport> import, store.BeginImport({std::to_string(first), ""}));
  for (std::int64_t batch = first; batch < first + count; ++batch) {
    std::vector<Measurement> rows;
    for (std::int64_t i = 1; i <= kRowsOfABatch; ++i) rows.push_back(MakeRow(batch * kRowsOfABatch + i, {1.0, 2.0}));
    INFIMUM_RETURN_IF_ERROR(import->Add(MakeDevice(), MakeEnvironment(), rows, {}));
  }
  const Result<ImportCount> added = import->Commit();
  if (!added.ok()) return added.error();
  return {};
}

std::int64_t Count(Store& store, const std::string& table) {
  const Result<QueryTable> count = store.AskSql("SELECT count(*) FROM " + table);
  EXPECT_TRUE(count.ok()) << (count.ok() ? "" : count.error().message);
  return count.ok() ? std::get<std::int64_t>(count->rows[0][0]) : -1;
}

const auto kIsClear = AllOf(HasSubstr("infimum.db: "), HasSubstr("what was saved before is safe"),
                            AnyOf(HasSubstr("disk is full"), HasSubstr("check whether its disk is full or failing")),
                            Not(HasSubstr("\n")));

TEST(SqliteDisk, ThatFillsUpIsAClearErrorAndNoRowIsLostOrPartial) {
  const testing::TemporaryFolder folder;
  const SmallDisk disk(folder.File("disk"), 32, 8);
  if (!disk.mounted()) GTEST_SKIP() << disk.WhyNot();
  const std::string path = disk.files() + "/infimum.db";
  Result<std::unique_ptr<Store>> store = OpenStore(path, OpenMode::kReadWrite);
  ASSERT_TRUE(store.ok()) << store.error().message;
  std::int64_t saved = 0;
  Status status;
  for (; saved < 100 && status.ok(); saved += status.ok() ? 1 : 0) status = ImportBatches(**store, saved, 1);
  ASSERT_FALSE(status.ok()) << "the disk did not fill up";
  ASSERT_GT(saved, 0);
  EXPECT_THAT(status.error().message, kIsClear);
  EXPECT_EQ(Count(**store, "measurements"), saved * kRowsOfABatch);
  // By another process, too, as it would be the next day.
  const Result<std::unique_ptr<Store>> reader = OpenStore(path, OpenMode::kReadOnly);
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_EQ(Count(**reader, "repetitions"), 2 * saved * kRowsOfABatch);
  disk.MakeSpace();
  status = ImportBatches(**store, saved, 1);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(Count(**store, "measurements"), (saved + 1) * kRowsOfABatch);
}

TEST(SqliteDisk, ThatIsTooSmallForOneImportIsAClearErrorAndTheNextImportIsSaved) {
  const testing::TemporaryFolder folder;
  const SmallDisk disk(folder.File("disk"), 16, 4);
  if (!disk.mounted()) GTEST_SKIP() << disk.WhyNot();
  const std::string path = folder.File("infimum.db");
  // SQLite asks for its temporary folder once.
  const ChildProcess importer([&](int to) {
    sqlite3_shutdown();
    setenv("SQLITE_TMPDIR", disk.files().c_str(), 1);
    const Result<std::unique_ptr<Store>> store = OpenStore(path, OpenMode::kReadWrite);
    if (!store.ok()) return Tell(to, store.error().message);
    if (!ImportBatches(**store, 0, 1).ok()) return Tell(to, "the first import failed");
    const Status large = ImportBatches(**store, 1, 60);
    if (large.ok()) return Tell(to, "there was room for the large one");
    const Status next = ImportBatches(**store, 1, 1);
    if (!next.ok()) return Tell(to, "the next one failed: " + next.error().message);
    Tell(to, large.error().message);
  });
  EXPECT_THAT(importer.ReadAll(), kIsClear);
  const Result<std::unique_ptr<Store>> store = OpenStore(path, OpenMode::kReadWrite);
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_EQ(Count(**store, "measurements"), 2 * kRowsOfABatch);
  EXPECT_EQ(Count(**store, "workloads"), 2 * kRowsOfABatch);
}

// What needs no right to mount: no file of the process grows beyond a limit, neither the store nor what is gathered.
TEST(SqliteDisk, FilesThatMayNotGrowAreAClearErrorAndNoImportIsPartial) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.File("infimum.db");
  for (const rlim_t limit : {rlim_t{700'000}, rlim_t{3'000'000}}) {
    const ChildProcess importer([&](int to) {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limits{limit, limit};
      setrlimit(RLIMIT_FSIZE, &limits);
      const Result<std::unique_ptr<Store>> store = OpenStore(path, OpenMode::kReadWrite);
      if (!store.ok()) return Tell(to, store.error().message);
      const Status status = ImportBatches(**store, 0, 10);
      Tell(to, status.ok() ? "there was room" : status.error().message);
    });
    EXPECT_THAT(importer.ReadAll(), kIsClear) << limit;
    const Result<std::unique_ptr<Store>> store = OpenStore(path, OpenMode::kReadWrite);
    ASSERT_TRUE(store.ok()) << store.error().message;
    for (const char* table : {"measurements", "repetitions", "workloads", "campaigns", "devices"})
      EXPECT_EQ(Count(**store, table), 0) << table;
  }
  const Result<std::unique_ptr<Store>> store = OpenStore(path, OpenMode::kReadWrite);
  ASSERT_TRUE(ImportBatches(**store, 0, 10).ok());
  EXPECT_EQ(FindRows(**store, 10 * kRowsOfABatch, MakeSelection(MakeDevice())).size(), 1u);
}

}  // namespace
}  // namespace infimum::sqlite_disk_test
