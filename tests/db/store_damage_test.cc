// Files that are not what they should be, and disks that will not hold them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>

#include "db/store/migrations.h"
#include "infimum/db/store.h"
#include "tests/db/store_rows.h"

namespace infimum::store_damage_test {
namespace {

using ::testing::AllOf;
using testing::FindRows;
using ::testing::HasSubstr;
using testing::MakeDevice;
using testing::MakeEnvironment;
using testing::MakeRow;
using testing::MakeSelection;
using ::testing::Not;
using testing::TemporaryFolder;

void Write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A store of a few hundred rows, closed.
void MakeStore(const std::string& path) {
  Result<std::unique_ptr<Store>> store = OpenStore(path, OpenMode::kReadWrite);
  ASSERT_TRUE(store.ok()) << store.error().message;
  std::vector<Measurement> rows;
  for (std::int64_t i = 1; i <= 300; ++i) rows.push_back(MakeRow(i, {1.0, 2.0}));
  ASSERT_TRUE((*store)->Import(MakeDevice(), MakeEnvironment(), rows, {}).ok());
}

void Execute(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
}

TEST(StoreDamage, ReadingDoesNotCreateAMissingStore) {
  const TemporaryFolder folder;
  EXPECT_THAT(testing::ErrorOfOpening(folder.File("none.db"), OpenMode::kReadOnly),
              AllOf(HasSubstr("none.db"), HasSubstr("no such")));
  EXPECT_FALSE(std::filesystem::exists(folder.File("none.db")));
}

TEST(StoreDamage, AMissingFolderIsNamed) {
  const TemporaryFolder folder;
  EXPECT_THAT(testing::ErrorOfOpening(folder.File("no/such/folder.db"), OpenMode::kReadWrite),
              HasSubstr("no/such/folder.db"));
}

TEST(StoreDamage, AFolderIsRefused) {
  const TemporaryFolder folder;
  EXPECT_THAT(testing::ErrorOfOpening(folder.path().string(), OpenMode::kReadWrite), HasSubstr(folder.path().string()));
}

TEST(StoreDamage, AFileThatIsNotADatabaseIsRefusedAndNotChanged) {
  const TemporaryFolder folder;
  const std::string path = folder.File("notes.txt"), text(5000, 'x');
  Write(path, text);
  for (OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite})
    EXPECT_THAT(testing::ErrorOfOpening(path, mode), AllOf(HasSubstr("notes.txt"), HasSubstr("not a database")));
  EXPECT_EQ(Read(path), text);
}

TEST(StoreDamage, AnotherProgramsDatabaseIsRefusedAndLeftAlone) {
  const TemporaryFolder folder;
  const std::string path = folder.File("other.db");
  Execute(path, "CREATE TABLE bookmarks (url TEXT)");
  const std::string before = Read(path);
  EXPECT_THAT(testing::ErrorOfOpening(path, OpenMode::kReadWrite), HasSubstr("not an infimum store"));
  EXPECT_EQ(Read(path).size(), before.size());
}

TEST(StoreDamage, AStoreOfANewerSchemaIsRefusedWithAdviceToUpdate) {
  const TemporaryFolder folder;
  const std::string path = folder.File("newer.db");
  MakeStore(path);
  Execute(path, "PRAGMA user_version = 70");
  for (OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite})
    EXPECT_EQ(testing::ErrorOfOpening(path, mode), path + ": made by a newer infimum (schema 70, this one supports " +
                                                       std::to_string(NewestSchema()) + "): update infimum");
}

TEST(StoreDamage, AnEmptyFileBecomesAStore) {
  const TemporaryFolder folder;
  Write(folder.File("empty.db"), "");
  EXPECT_EQ(testing::ErrorOfOpening(folder.File("empty.db"), OpenMode::kReadWrite), "opened");
}

TEST(StoreDamage, AnEmptyFileIsRefusedForReading) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.File("empty.db");
  std::ofstream(path).close();
  const Result<std::unique_ptr<Store>> store = OpenStore(path, OpenMode::kReadOnly);
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.error().message, HasSubstr("an empty file, not a store"));
  EXPECT_EQ(*SchemaOfStore(path), 0);
}

// Nobody writes into the pipe: whoever opened it would wait for ever.
TEST(StoreDamage, PipesAndDevicesAreNoStores) {
  const testing::TemporaryFolder folder;
  const std::string pipe = folder.File("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& [path, what] : {std::pair(pipe, "a pipe"), std::pair(std::string("/dev/null"), "a device"),
                                   std::pair(std::string("/dev/zero"), "a device")}) {
    for (const OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite}) {
      const Result<std::unique_ptr<Store>> store = OpenStore(path, mode);
      ASSERT_FALSE(store.ok()) << path;
      EXPECT_THAT(store.error().message, HasSubstr(what));
    }
    EXPECT_FALSE(SchemaOfStore(path).ok());
  }
}

TEST(StoreDamage, ReadingLeavesNoFilesBehind) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.File("infimum.db");
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator());
  };
  const std::vector<Measurement> rows{testing::MakeRow(100, {2})};
  ASSERT_TRUE((*OpenStore(path, OpenMode::kReadWrite))
                  ->Import(testing::MakeDevice(), testing::MakeEnvironment(), rows, {})
                  .ok());
  ASSERT_EQ(files(), 1);
  {
    const Result<std::unique_ptr<Store>> one = OpenStore(path, OpenMode::kReadOnly);
    ASSERT_TRUE(one.ok());
    EXPECT_EQ(testing::FindRows(**one, 100, testing::MakeSelection(testing::MakeDevice())).size(), 1u);
    const Result<std::unique_ptr<Store>> other = OpenStore(path, OpenMode::kReadOnly);
    ASSERT_TRUE(other.ok());
    EXPECT_FALSE((*other)->Import(testing::MakeDevice(), testing::MakeEnvironment(), rows, {}).ok());
  }
  EXPECT_EQ(files(), 1);
}

TEST(StoreDamage, AWritingCallOnAReadOnlyStoreIsAClearError) {
  const TemporaryFolder folder;
  MakeStore(folder.File("infimum.db"));
  Result<std::unique_ptr<Store>> store = OpenStore(folder.File("infimum.db"), OpenMode::kReadOnly);
  ASSERT_TRUE(store.ok());
  const std::vector<Measurement> rows = {MakeRow(1000, {2})};
  const Result<ImportCount> count = (*store)->Import(MakeDevice(), MakeEnvironment(), rows, {});
  ASSERT_FALSE(count.ok());
  EXPECT_THAT(count.error().message, AllOf(HasSubstr("infimum.db"), HasSubstr("readonly"), HasSubstr("--db")));
}

// Cuts and many overwritten stretches: an error or an answer, never a crash.
TEST(StoreDamage, NoDamagedFileCrashesTheReader) {
  const TemporaryFolder folder;
  MakeStore(folder.File("good.db"));
  Execute(folder.File("good.db"), "PRAGMA journal_mode = DELETE");
  const std::string good = Read(folder.File("good.db"));
  std::vector<WorkloadKey> keys;
  for (std::int64_t i = 1; i <= 300; ++i) keys.push_back(testing::MakeWorkload(i));
  std::mt19937_64 random(5);
  int errors = 0;
  for (int attempt = 0; attempt < 150; ++attempt) {
    std::string bytes = good;
    if (attempt % 3 == 0) {
      bytes.resize(random() % bytes.size());
    } else {
      const std::size_t begin = random() % bytes.size();
      for (std::size_t i = begin; i < bytes.size() && i < begin + 1 + random() % 300; ++i)
        bytes[i] = static_cast<char>(random());
    }
    const std::string path = folder.File("bad.db");
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) std::filesystem::remove(path + suffix);
    Write(path, bytes);
    const OpenMode mode = attempt % 2 == 0 ? OpenMode::kReadOnly : OpenMode::kReadWrite;
    Result<std::unique_ptr<Store>> store = OpenStore(path, mode);
    bool ok = store.ok();
    if (ok) {
      ok = (*store)->Find(keys, MakeSelection(MakeDevice())).ok() && ok;
      ok = (*store)->Devices().ok() && ok;
      ok = (*store)->Peaks(MakeDevice().Key()).ok() && ok;
      ok = (*store)->FindRun("ab12", MakeDevice().Key(), {}, 1, "onnxruntime").ok() && ok;
    }
    errors += ok ? 0 : 1;
  }
  EXPECT_GT(errors, 25);
}

// A file may not grow past a limit: what the system says when the disk is full, without filling one.
TEST(StoreDamage, SavedRowsSurviveAFullDisk) {
  const TemporaryFolder folder;
  const std::string path = folder.File("infimum.db");
  MakeStore(path);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlim_t limit = std::filesystem::file_size(path) + 20'000;
    const rlimit limits{limit, limit};
    setrlimit(RLIMIT_FSIZE, &limits);
    Result<std::unique_ptr<Store>> store = OpenStore(path, OpenMode::kReadWrite);
    if (!store.ok()) _exit(1);
    std::vector<Measurement> rows;
    for (std::int64_t i = 1000; i <= 9000; ++i) rows.push_back(MakeRow(i, {1.0, 2.0}));
    const Result<ImportCount> count = (*store)->Import(MakeDevice(), MakeEnvironment(), rows, {});
    if (count.ok()) _exit(2);
    if (count.error().message.find("infimum.db: ") == std::string::npos) _exit(3);
    // Nothing of the batch is there, and everything before it is.
    if (FindRows(**store, 1000, MakeSelection(MakeDevice())).size() != 0) _exit(4);
    if (FindRows(**store, 300, MakeSelection(MakeDevice())).size() != 1) _exit(5);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  Result<std::unique_ptr<Store>> store = OpenStore(path, OpenMode::kReadWrite);
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_EQ(FindRows(**store, 300, MakeSelection(MakeDevice())).size(), 1u);
  EXPECT_EQ(FindRows(**store, 1000, MakeSelection(MakeDevice())).size(), 0u);
}

// As somebody who may write neither the file nor its folder.
TEST(StoreDamage, AStoreInAFolderThatMayNotBeWrittenCanBeRead) {
  const TemporaryFolder folder;
  const std::string path = folder.File("infimum.db");
  MakeStore(path);
  namespace fs = std::filesystem;
  fs::permissions(path, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  fs::permissions(folder.path(), fs::perms(0555));
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && seteuid(65534) != 0) _exit(9);
    Result<std::unique_ptr<Store>> reading = OpenStore(path, OpenMode::kReadOnly);
    if (!reading.ok()) {
      std::fprintf(stderr, "%s\n", reading.error().message.c_str());
      _exit(1);
    }
    if (FindRows(**reading, 300, MakeSelection(MakeDevice())).size() != 1) _exit(2);
    const Result<std::unique_ptr<Store>> writing = OpenStore(path, OpenMode::kReadWrite);
    if (writing.ok()) {
      const std::vector<Measurement> rows = {MakeRow(1000, {2})};
      const Result<ImportCount> count = (*writing)->Import(MakeDevice(), MakeEnvironment(), rows, {});
      if (count.ok() || count.error().message.find("readonly") == std::string::npos) _exit(3);
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  fs::permissions(folder.path(), fs::perms(0755));
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 9) GTEST_SKIP() << "this process may not become another user";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(StoreDamage, AnAddressOfAnotherKindOfStoreIsRefused) {
  EXPECT_THAT(testing::ErrorOfOpening("mysql://me:secret@host/db", OpenMode::kReadWrite),
              AllOf(HasSubstr("SQLite"), HasSubstr("postgresql://"), Not(HasSubstr("secret"))));
  EXPECT_THAT(testing::ErrorOfOpening("", OpenMode::kReadWrite), HasSubstr("--db"));
}

}  // namespace
}  // namespace infimum::store_damage_test
