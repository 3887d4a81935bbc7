// What only a server can do to a store: refuse, vanish, be somebody else's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "db/connection/postgresql_connection.h"
#include "db/store/migrations.h"
#include "infimum/db/store.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/store_rows.h"

// libpqxx 6.4 forgets a result of libpq's when the server goes away in the middle; asked by the leak checker alone,
// which may know the last frames of an allocation only.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libpq"; }

namespace infimum {
namespace {

using ::testing::AllOf;
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

TEST(PostgreSqlAddress, ShowsNoPassword) {
  EXPECT_EQ(WithoutPassword("postgresql://me:secret@host:5432/db"), "postgresql://me@host:5432/db");
  EXPECT_EQ(WithoutPassword("postgresql://host/db?user=me&password=secret&sslmode=require"),
            "postgresql://host/db?user=me&sslmode=require");
  EXPECT_EQ(WithoutPassword("postgresql://host/db?user=me&pass%77ord=secret"), "postgresql://host/db?user=me");
  EXPECT_EQ(WithoutPassword("postgresql://me:sec/r@t@host/db"), "postgresql://me@host/db");
  EXPECT_EQ(WithoutPassword("postgresql://me@[::1]:5432/db"), "postgresql://me@[::1]:5432/db");
  EXPECT_EQ(WithoutPassword("postgresql:///db"), "postgresql:///db");
  EXPECT_EQ(WithoutPassword("postgresql://host:1,other:2/db"), "postgresql://host:1,other:2/db");
  EXPECT_EQ(WithoutPassword("postgresql://me:sec?ret@host/db"), "postgresql://me@host/db");
  EXPECT_EQ(WithoutPassword("postgresql://me:sec/r?et@host/db"), "postgresql://me");
}

TEST(PostgreSqlAddress, WithoutAServerIsAClearError) {
  const std::string error = testing::ErrorOfOpening("postgresql://me:secret@127.0.0.1:1/db", OpenMode::kReadWrite);
  EXPECT_THAT(error, AllOf(HasSubstr("127.0.0.1"), HasSubstr("refused"), HasSubstr("check that the server runs"),
                           Not(HasSubstr("secret")), Not(HasSubstr("\n"))));
}

class PostgreSqlStore : public ::testing::Test {
 protected:
  void SetUp() override {
    server_ = PostgreSqlServer::Get();
    if (server_ == nullptr) {
      ASSERT_EQ(std::getenv("CI"), nullptr) << PostgreSqlServer::WhyNot();
      GTEST_SKIP() << PostgreSqlServer::WhyNot();
    }
    address_ = server_->NewDatabase();
  }

  std::unique_ptr<Store> Open(OpenMode mode = OpenMode::kReadWrite) {
    Result<std::unique_ptr<Store>> store = OpenStore(address_, mode);
    EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message);
    return store.ok() ? std::move(*store) : nullptr;
  }

  void Execute(const std::string& sql) {
    Result<std::unique_ptr<PostgreSqlConnection>> connection = PostgreSqlConnection::Open(address_, false);
    ASSERT_TRUE(connection.ok()) << connection.error().message;
    const Status status = (*connection)->Execute(sql);
    ASSERT_TRUE(status.ok()) << status.error().message;
  }

  PostgreSqlServer* server_ = nullptr;
  std::string address_;
};

TEST_F(PostgreSqlStore, AnEmptyDatabaseIsAnErrorForAReaderAndBecomesAStoreForAWriter) {
  EXPECT_THAT(testing::ErrorOfOpening(address_, OpenMode::kReadOnly), HasSubstr("has no store yet"));
  EXPECT_NE(Open(), nullptr);
  EXPECT_NE(Open(OpenMode::kReadOnly), nullptr);
}

TEST_F(PostgreSqlStore, ANewerSchemaIsRefused) {
  Open();
  Execute("INSERT INTO infimum.schema_versions (version) VALUES (70)");
  for (OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite})
    EXPECT_THAT(testing::ErrorOfOpening(address_, mode),
                HasSubstr("made by a newer infimum (schema 70, this one supports"));
}

TEST_F(PostgreSqlStore, AnotherProgramsSchemaOfOurNameIsLeftAlone) {
  Execute("CREATE SCHEMA infimum; CREATE TABLE infimum.bookmarks (url TEXT)");
  EXPECT_THAT(testing::ErrorOfOpening(address_, OpenMode::kReadWrite), HasSubstr("not made by infimum"));
}

TEST_F(PostgreSqlStore, AMissingDatabaseIsNamed) {
  const std::string other =
      address_.substr(0, address_.find("///") + 3) + "nowhere" + address_.substr(address_.find('?'));
  EXPECT_THAT(testing::ErrorOfOpening(other, OpenMode::kReadWrite),
              AllOf(HasSubstr("nowhere"), HasSubstr("does not exist")));
}

TEST_F(PostgreSqlStore, OurTablesDoNotMixWithOthers) {
  Execute("CREATE TABLE public.measurements (mine TEXT)");
  const std::unique_ptr<Store> store = Open();
  const std::vector<Measurement> rows = {MakeRow(100, {2})};
  ASSERT_TRUE(store->Import(MakeDevice(), MakeEnvironment(), rows, {}).ok());
  EXPECT_THAT(FindRows(*store, 100, MakeSelection(MakeDevice())), SizeIs(1));
}

TEST_F(PostgreSqlStore, AServerThatGoesAwayIsAClearErrorAndNothingSavedIsLost) {
  std::unique_ptr<Store> store = Open();
  const std::vector<Measurement> saved = {MakeRow(100, {2})}, lost = {MakeRow(200, {2})};
  ASSERT_TRUE(store->Import(MakeDevice(), MakeEnvironment(), saved, {}).ok());
  Result<std::unique_ptr<StoreImport>> import = store->BeginImport({});
  ASSERT_TRUE((*import)->Add(MakeDevice(), MakeEnvironment(), lost, {}).ok());
  server_->Crash();
  const Result<ImportCount> count = (*import)->Commit();
  ASSERT_FALSE(count.ok());
  EXPECT_THAT(count.error().message, AllOf(HasSubstr("postgresql://"), Not(HasSubstr("\n"))));
  EXPECT_FALSE(store->Devices().ok());
  import->reset();
  server_->Start();
  store = Open();
  EXPECT_THAT(FindRows(*store, 100, MakeSelection(MakeDevice())), SizeIs(1));
  EXPECT_THAT(FindRows(*store, 200, MakeSelection(MakeDevice())), IsEmpty());
}

TEST_F(PostgreSqlStore, ARoleThatMayOnlyReadOrAddIsHeldToItByTheServer) {
  Open();
  const std::string suffix = address_.substr(13, address_.find('?') - 13).substr(1);
  const std::string reader = "reader_" + suffix, writer = "writer_" + suffix;
  for (const std::string& role : {reader, writer})
    Execute("CREATE ROLE " + role + " LOGIN; GRANT USAGE ON SCHEMA infimum TO " + role +
            "; GRANT SELECT ON ALL TABLES IN SCHEMA infimum TO " + role);
  Execute("GRANT INSERT ON ALL TABLES IN SCHEMA infimum TO " + writer);
  const std::vector<Measurement> rows = {MakeRow(100, {2})}, more = {MakeRow(100, {2, 3})};

  Result<std::unique_ptr<Store>> writing = OpenStore(PostgreSqlServer::As(writer, address_), OpenMode::kReadWrite);
  ASSERT_TRUE(writing.ok()) << writing.error().message;
  Result<ImportCount> count = (*writing)->Import(MakeDevice(), MakeEnvironment(), rows, {});
  ASSERT_TRUE(count.ok()) << count.error().message;
  // Nothing is changed or deleted, and still the better row is the one that is found.
  count = (*writing)->Import(MakeDevice(), MakeEnvironment(), more, {});
  ASSERT_TRUE(count.ok()) << count.error().message;
  EXPECT_THAT(FindRows(**writing, 100, MakeSelection(MakeDevice())), ::testing::ElementsAre(more[0]));

  Result<std::unique_ptr<Store>> reading = OpenStore(PostgreSqlServer::As(reader, address_), OpenMode::kReadWrite);
  ASSERT_TRUE(reading.ok()) << reading.error().message;
  EXPECT_FALSE((*reading)->Import(MakeDevice(), MakeEnvironment(), more, {}).ok());
  EXPECT_THAT(FindRows(**reading, 100, MakeSelection(MakeDevice())), SizeIs(1));

  // In each table of the store, whichever it has.
  const std::unique_ptr<Store> store = Open();
  const Result<QueryTable> tables = store->AskSql(
      "SELECT tablename, (SELECT min(attname) FROM pg_attribute WHERE attrelid = (schemaname || '.' || "
      "tablename)::regclass AND attnum > 0 AND NOT attisdropped) FROM pg_tables WHERE schemaname = 'infimum'",
      testing::AsAnyone());
  ASSERT_TRUE(tables.ok()) << tables.error().message;
  ASSERT_GT(tables->rows.size(), 9u);
  const auto expect_refused = [&](const std::string& role, const std::string& sql) {
    const Result<std::unique_ptr<PostgreSqlConnection>> connection =
        PostgreSqlConnection::Open(PostgreSqlServer::As(role, address_), false);
    ASSERT_TRUE(connection.ok()) << connection.error().message;
    const Status status = (*connection)->Execute(sql);
    EXPECT_THAT(status.ok() ? "done" : status.error().message, HasSubstr("this role lacks the permission"))
        << role << ": " << sql;
  };
  // The server warns of this and does nothing, as what follows shows.
  for (const std::string& role : {reader, writer})
    static_cast<void>((*PostgreSqlConnection::Open(PostgreSqlServer::As(role, address_), false))
                          ->Execute("GRANT ALL ON ALL TABLES IN SCHEMA infimum TO PUBLIC"));
  for (const std::vector<QueryCell>& row : tables->rows) {
    const std::string table = std::get<std::string>(row[0]), column = std::get<std::string>(row[1]);
    expect_refused(reader, "INSERT INTO " + table + " SELECT * FROM " + table);
    for (const std::string& role : {reader, writer})
      for (const std::string& sql :
           {"DELETE FROM " + table, "UPDATE " + table + " SET " + column + " = " + column,
            "TRUNCATE " + table + " CASCADE", "DROP TABLE " + table + " CASCADE",
            "ALTER TABLE " + table + " ADD COLUMN mine TEXT", "CREATE INDEX mine ON " + table + " (" + column + ")",
            "BEGIN; LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE"})
        expect_refused(role, sql);
  }
  for (const std::string& role : {reader, writer})
    for (const char* sql : {"CREATE TABLE infimum.mine (a TEXT)", "DROP SCHEMA infimum CASCADE", "CREATE SCHEMA mine",
                            "COPY devices TO PROGRAM 'true'", "ALTER SYSTEM SET work_mem = '1MB'", "CREATE ROLE mine",
                            "SET ROLE infimum"})
      expect_refused(role, sql);
  // Nothing has changed, and an older row is still beaten by the better one.
  EXPECT_THAT(FindRows(**writing, 100, MakeSelection(MakeDevice())), ::testing::ElementsAre(more[0]));
}

}  // namespace
}  // namespace infimum
