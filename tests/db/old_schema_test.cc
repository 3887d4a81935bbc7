// Stores that earlier versions made are kept and opened for ever: data/schema-<n>.db, one for each schema,
// each with the same rows. INFIMUM_UPDATE_GOLDEN=1 writes the newest schema's where it is absent.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "db/migrations.h"
#include "infimum/db/store.h"
#include "tests/db/store_rows.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;

std::string SchemaFile(std::int64_t schema) {
  return std::string(INFIMUM_SOURCE_DIR) + "/tests/db/data/schema-" + std::to_string(schema) + ".db";
}

void WriteStore(const std::string& path) {
  Result<std::unique_ptr<Store>> store = OpenStore(path, OpenMode::kReadWrite);
  ASSERT_TRUE(store.ok()) << store.error().message;
  const std::vector<Measurement> rows = {testing::MakeRow(100, {2, 3}),
                                         testing::MakeFailure(200, Outcome::kFailed, "signal 11")};
  const std::vector<PeakRate> peaks = {testing::MakePeak(1e9)};
  ASSERT_TRUE((*store)->Import(testing::MakeDevice(), testing::MakeEnvironment(), rows, peaks).ok());
  ASSERT_TRUE((*store)->ImportRun(testing::MakeRun()).ok());
}

TEST(OldSchema, EverySchemasStoreIsKept) {
  const std::string newest = SchemaFile(NewestSchema());
  if (!fs::exists(newest) && std::getenv("INFIMUM_UPDATE_GOLDEN") != nullptr) WriteStore(newest);
  for (std::int64_t schema = 1; schema <= NewestSchema(); ++schema)
    EXPECT_TRUE(fs::exists(SchemaFile(schema))) << SchemaFile(schema) << ": run this with INFIMUM_UPDATE_GOLDEN=1";
}

TEST(OldSchema, EverySchemasStoreIsReadAndMigrated) {
  for (std::int64_t schema = 1; schema <= NewestSchema(); ++schema) {
    for (OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite}) {
      const testing::TemporaryFolder folder;
      const std::string path = folder.File("old.db");
      fs::copy_file(SchemaFile(schema), path);
      Result<std::unique_ptr<Store>> store = OpenStore(path, mode);
      ASSERT_TRUE(store.ok()) << schema << ": " << store.error().message;
      const Selection selection = testing::MakeSelection(testing::MakeDevice());
      const std::vector<Measurement> rows = testing::FindRows(**store, 100, selection);
      ASSERT_EQ(rows.size(), 1u) << schema;
      EXPECT_EQ(rows[0], testing::MakeRow(100, {2, 3})) << schema;
      EXPECT_EQ(testing::FindRows(**store, 200, selection).at(0).reason, "signal 11") << schema;
      EXPECT_EQ((*store)->Peaks(selection.device)->rates.size(), 1u) << schema;
      const RunProfile run = testing::MakeRun();
      EXPECT_TRUE((*store)->FindRun(run.model_sha256, selection.device, run.dims, 1, run.framework)->has_value());
    }
  }
}

}  // namespace
}  // namespace infimum
