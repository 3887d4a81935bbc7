// Processes that are killed while they write. Several at a time are in store_writers_test.cc.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "infimum/db/store.h"
#include "tests/db/store_rows.h"

namespace infimum::store_processes_test {
namespace {

using testing::MakeDevice;
using testing::MakeEnvironment;
using testing::MakeRow;
using testing::MakeSelection;

constexpr std::int64_t kRowsOfABatch = 10;

// Rows of batch `batch`; workloads of different batches differ.
std::vector<Measurement> Batch(std::int64_t batch) {
  std::vector<Measurement> rows;
  for (std::int64_t i = 1; i <= kRowsOfABatch; ++i) rows.push_back(MakeRow(batch * kRowsOfABatch + i, {1.0, 2.0}));
  return rows;
}

bool ImportBatch(Store& store, std::int64_t batch) {
  return store.Import(MakeDevice(), MakeEnvironment(), Batch(batch), {}).ok();
}

std::size_t RowsOf(Store& store, std::int64_t batches) {
  std::vector<WorkloadKey> keys;
  for (std::int64_t i = 1; i <= batches * kRowsOfABatch; ++i) keys.push_back(testing::MakeWorkload(i));
  const Result<std::vector<Measurement>> rows = store.Find(keys, MakeSelection(MakeDevice()));
  EXPECT_TRUE(rows.ok()) << (rows.ok() ? "" : rows.error().message);
  return rows.ok() ? rows->size() : 0;
}

TEST(StoreProcesses, RowsSavedBeforeAKillAreThereAndNoBatchIsPartial) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.File("infimum.db");
  std::int64_t saved = 0;
  for (int round = 0; round < 5; ++round) {
    int progress[2];
    ASSERT_EQ(pipe(progress), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(progress[0]);
      Result<std::unique_ptr<Store>> store = OpenStore(path, OpenMode::kReadWrite);
      if (!store.ok()) _exit(1);
      for (std::int64_t batch = saved;; ++batch) {
        if (!ImportBatch(**store, batch)) _exit(2);
        if (write(progress[1], "x", 1) != 1) _exit(3);
      }
    }
    close(progress[1]);
    // Killed somewhere in the middle of what follows the third saved batch.
    char byte = 0;
    for (int i = 0; i < 3; ++i)
      if (read(progress[0], &byte, 1) == 1) ++saved;
    std::this_thread::sleep_for(std::chrono::microseconds(700 * round));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself";
    while (read(progress[0], &byte, 1) == 1) ++saved;
    close(progress[0]);

    Result<std::unique_ptr<Store>> store = OpenStore(path, OpenMode::kReadWrite);
    ASSERT_TRUE(store.ok()) << store.error().message;
    const std::size_t rows = RowsOf(**store, saved + 2);
    ASSERT_EQ(rows % kRowsOfABatch, 0u);
    ASSERT_GE(rows, static_cast<std::size_t>(saved * kRowsOfABatch));
    ASSERT_LE(rows, static_cast<std::size_t>((saved + 1) * kRowsOfABatch));
    saved = static_cast<std::int64_t>(rows) / kRowsOfABatch;
  }
  EXPECT_GE(saved, 15);
}

}  // namespace
}  // namespace infimum::store_processes_test
