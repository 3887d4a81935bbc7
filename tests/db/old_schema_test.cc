// Stores that earlier versions made are kept and opened for ever: data/schema-<n>.db, one for each schema, each with
// the same rows, and for PostgreSQL those rows as SQL. INFIMUM_UPDATE_GOLDEN=1 writes the newest schema's where it is
// absent.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "db/connection/postgresql_connection.h"
#include "db/store/migrations.h"
#include "infimum/db/store.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/store_rows.h"
#include "tests/support/folders.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;

std::string StoreFile(std::int64_t schema) {
  return testing::SourceFolder() + "/tests/db/data/schema-" + std::to_string(schema) + ".db";
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
  const std::string newest = StoreFile(NewestSchema());
  if (!fs::exists(newest) && std::getenv("INFIMUM_UPDATE_GOLDEN") != nullptr) WriteStore(newest);
  for (std::int64_t schema = 1; schema <= NewestSchema(); ++schema)
    EXPECT_TRUE(fs::exists(StoreFile(schema))) << StoreFile(schema) << ": run this with INFIMUM_UPDATE_GOLDEN=1";
}

// What every one of them holds.
void ExpectTheRows(Store& store, std::int64_t schema) {
  const Selection selection = testing::MakeSelection(testing::MakeDevice());
  const std::vector<Measurement> rows = testing::FindRows(store, 100, selection);
  ASSERT_EQ(rows.size(), 1u) << schema;
  Measurement expected = testing::MakeRow(100, {2, 3});
  if (schema < 9) expected.constants.reset();
  EXPECT_EQ(rows[0], expected) << schema;
  EXPECT_EQ(testing::FindRows(store, 200, selection).at(0).reason, "signal 11") << schema;
  EXPECT_EQ(store.Peaks(selection.device)->rates.size(), 1u) << schema;
  const RunProfile run = testing::MakeRun();
  EXPECT_TRUE(store.FindRun(run.model_sha256, selection.device, run.dims, 1, run.framework)->has_value());
  // What later schemas added is filled in for older rows.
  const Result<QueryTable> runs =
      store.AskSql("SELECT best_us FROM runs WHERE best_us IS NOT NULL", testing::AsAnyone());
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  EXPECT_EQ(runs->rows.size(), 1u) << schema;
  std::string problems;
  ASSERT_TRUE(store.Check([&](const std::string& problem) { problems += problem + "; "; }).ok());
  EXPECT_EQ(problems, "") << schema;
}

TEST(OldSchema, EverySchemasStoreIsReadAndMigrated) {
  for (std::int64_t schema = 1; schema <= NewestSchema(); ++schema) {
    for (OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite}) {
      const testing::TemporaryFolder folder;
      const std::string path = folder.File("old.db");
      fs::copy_file(StoreFile(schema), path);
      Result<std::unique_ptr<Store>> store = OpenStore(path, mode);
      ASSERT_TRUE(store.ok()) << schema << ": " << store.error().message;
      ExpectTheRows(**store, schema);
    }
  }
}

TEST(OldSchema, PostgreSqlIsMigratedFromEachOfItsOwn) {
  testing::PostgreSqlServer* const server = testing::PostgreSqlServer::Get();
  if (server == nullptr) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << testing::PostgreSqlServer::WhyNot();
    GTEST_SKIP() << testing::PostgreSqlServer::WhyNot();
  }
  for (std::int64_t schema = 2; schema < NewestSchema(); ++schema) {
    const std::string address = server->NewDatabase();
    const auto connection = PostgreSqlConnection::Open(address, false);
    ASSERT_TRUE(connection.ok()) << connection.error().message;
    std::string script =
        "CREATE SCHEMA infimum; CREATE TABLE schema_versions (version BIGINT PRIMARY KEY, migrated_at TIMESTAMPTZ NOT "
        "NULL DEFAULT now());";
    for (const SchemaFile& file : SchemaFiles())
      if (file.dialect == Dialect::kPostgreSql && file.version <= schema) script += file.text;
    script += "INSERT INTO schema_versions (version) VALUES (" + std::to_string(schema) + ");";
    std::ifstream rows(testing::SourceFolder() + "/tests/db/data/schema-" + std::to_string(schema) + ".postgresql.sql");
    ASSERT_TRUE(rows.good()) << "no rows are kept of schema " << schema;
    script += std::string(std::istreambuf_iterator<char>(rows), {});
    const Status made = (*connection)->Execute(script);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_FALSE(OpenStore(address, OpenMode::kReadOnly).ok());
    Result<std::unique_ptr<Store>> store = OpenStore(address, OpenMode::kReadWrite);
    ASSERT_TRUE(store.ok()) << store.error().message;
    ExpectTheRows(**store, schema);
  }
}

}  // namespace
}  // namespace infimum
