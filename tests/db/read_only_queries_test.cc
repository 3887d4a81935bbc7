// The user's own SQL reads, and by no means writes: it is tried by every means that we know.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "db/connection/postgresql_connection.h"
#include "db/connection/sqlite_connection.h"
#include "infimum/db/store.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/store_rows.h"

namespace infimum::read_only_queries_test {
namespace {

using testing::MakeDevice;
using testing::MakeEnvironment;
using testing::MakePeak;
using testing::MakeRow;
using testing::PostgreSqlServer;

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The store itself is open for writing, as somebody who may do everything: on PostgreSQL a superuser.
class ReadOnlyQueries : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    address_ = folder_.File("infimum.db");
    if (GetParam() == "PostgreSql") {
      PostgreSqlServer* const server = PostgreSqlServer::Get();
      if (server == nullptr) {
        ASSERT_EQ(std::getenv("CI"), nullptr) << PostgreSqlServer::WhyNot();
        GTEST_SKIP() << PostgreSqlServer::WhyNot();
      }
      address_ = server->NewDatabase();
    }
    Result<std::unique_ptr<Store>> opened = OpenStore(address_, OpenMode::kReadWrite);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    store_ = std::move(*opened);
    const std::vector<Measurement> rows = {MakeRow(100, {2}), MakeRow(200, {3})};
    const std::vector<PeakRate> peaks = {MakePeak(1e9)};
    ASSERT_TRUE(store_->Import(MakeDevice(), MakeEnvironment(), rows, peaks).ok());
  }

  void ExpectRefused(const std::vector<std::string>& statements) {
    for (const std::string& sql : statements) {
      const Result<QueryTable> table = store_->AskSql(sql, testing::AsAnyone());
      const std::string error = table.ok() ? "it was answered\n" : table.error().message;
      EXPECT_EQ(error.find('\n'), std::string::npos) << sql << ": " << error;
    }
  }

  std::int64_t Ask(const std::string& sql) {
    const Result<QueryTable> table = store_->AskSql(sql, testing::AsAnyone());
    EXPECT_TRUE(table.ok()) << sql << ": " << (table.ok() ? "" : table.error().message);
    const bool one = table.ok() && table->rows.size() == 1;
    return one ? std::get<std::int64_t>(table->rows[0][0]) : -1;
  }

  void ExpectAsBefore() {
    EXPECT_EQ(Ask("SELECT count(*) FROM measurements"), 2);
    EXPECT_EQ(Ask("SELECT count(*) FROM devices WHERE name = 'A processor of a test'"), 1);
    EXPECT_EQ(Ask("SELECT count(*) FROM peak_rates"), 1);
    // And the store still takes rows.
    const std::vector<Measurement> rows = {MakeRow(300, {2})};
    const Result<ImportCount> count = store_->Import(MakeDevice(), MakeEnvironment(), rows, {});
    ASSERT_TRUE(count.ok()) << count.error().message;
    EXPECT_EQ(count->added, 1);
  }

  const testing::TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<Store> store_;
};

class ReadOnlyPostgreSql : public ReadOnlyQueries {};
class ReadOnlySqlite : public ReadOnlyQueries {};

TEST_P(ReadOnlyQueries, OnlyASelectIsAccepted) {
  ExpectRefused({"DELETE FROM measurements",
                 "UPDATE devices SET name = ''",
                 "DROP TABLE measurements",
                 "CREATE TABLE mine (a INTEGER)",
                 "INSERT INTO campaigns VALUES (99, 'x', '', '')",
                 "CREATE TEMP TABLE mine AS SELECT 1",
                 "CREATE VIEW mine AS SELECT 1",
                 "CREATE INDEX mine ON devices (name)",
                 "ALTER TABLE devices ADD COLUMN mine TEXT",
                 "ANALYZE",
                 "VACUUM",
                 "REINDEX",
                 "",
                 ";",
                 " \n ; ;",
                 "-- nothing",
                 "nonsense",
                 "BEGIN",
                 "COMMIT",
                 "ROLLBACK",
                 "SAVEPOINT a",
                 "RELEASE a",
                 "EXPLAIN DELETE FROM measurements",
                 "EXPLAIN ANALYZE DELETE FROM measurements",
                 "VALUES (1) RETURNING 1",
                 "SELECT 1 INTO mine",
                 "SELECT * INTO mine FROM devices",
                 "SELECT 1 FROM devices FOR UPDATE",
                 "TRUNCATE measurements",
                 "LOCK TABLE devices",
                 "GRANT ALL ON devices TO PUBLIC",
                 "WITH gone AS (DELETE FROM measurements RETURNING id) SELECT * FROM gone",
                 "WITH more AS (INSERT INTO campaigns VALUES (99, 'x', '', '') RETURNING id) SELECT * FROM more",
                 "WITH other AS (UPDATE devices SET name = '' RETURNING id) SELECT * FROM other",
                 "SELECT * FROM (DELETE FROM measurements RETURNING id) AS gone",
                 "WITH a AS (SELECT 1) DELETE FROM measurements",
                 "WITH a AS (SELECT 1) INSERT INTO campaigns SELECT 9, '', '', ''"});
  ExpectAsBefore();
}

TEST_P(ReadOnlyQueries, AQueryThatRunsTooLongOrIsInterruptedIsStopped) {
  SqlLimits limits = testing::AsAnyone();
  limits.time = std::chrono::milliseconds(200);
  constexpr const char* kEndless =
      "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT (x + 1) % 1000 FROM a) SELECT count(*) FROM a";
  const auto begin = std::chrono::steady_clock::now();
  const Result<QueryTable> late = store_->AskSql(kEndless, limits);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  ASSERT_FALSE(late.ok());
  EXPECT_THAT(late.error().message, ::testing::HasSubstr("raise --timeout"));
  // The rows of an answer without end are counted, too.
  limits.time = std::chrono::hours(1);
  limits.interrupted = [] { return true; };
  const Result<QueryTable> interrupted = store_->AskSql(
      "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a WHERE x < 100000000) SELECT x FROM a LIMIT "
      "100000",
      limits);
  ASSERT_FALSE(interrupted.ok());
  EXPECT_THAT(interrupted.error().message, ::testing::HasSubstr("interrupted"));
  // Ours have no limit, and what comes afterwards is as before.
  ExpectAsBefore();
}

TEST_P(ReadOnlyQueries, ASecondStatementIsRefusedHoweverItIsHidden) {
  const std::string nul(1, '\0');
  ExpectRefused({"SELECT 1; DELETE FROM runs", "SELECT 1;DELETE FROM measurements;",
                 "SELECT 1 -- it's\n; DELETE FROM measurements", "SELECT 1 /* ; */; DELETE FROM measurements",
                 "SELECT 1; /* ; */ DELETE FROM measurements", "; DELETE FROM measurements",
                 "/* SELECT */ DELETE FROM measurements", "-- SELECT\nDELETE FROM measurements",
                 "SELECT 1; COMMIT; DELETE FROM measurements", "SELECT 1" + nul + "; DELETE FROM measurements",
                 "SELECT 1; SELECT 2", "SELECT ';' ; DELETE FROM measurements --",
                 "SELECT 1; CLOSE infimum_query; DELETE FROM measurements"});
  ExpectAsBefore();
  // What only looks like one is read.
  EXPECT_EQ(Ask("SELECT 1 -- ; DELETE FROM measurements"), 1);
  EXPECT_EQ(Ask("/* DELETE; */ SELECT count(*) FROM devices WHERE name <> '; DELETE FROM measurements' ; "), 1);
}

TEST_P(ReadOnlyPostgreSql, FunctionsThatWriteChangeNothing) {
  const Result<std::unique_ptr<PostgreSqlConnection>> owner = PostgreSqlConnection::Open(address_, false);
  ASSERT_TRUE(owner.ok()) << owner.error().message;
  const Status made = (*owner)->Execute(
      "CREATE SEQUENCE infimum.counter; SELECT nextval('infimum.counter'); "
      "CREATE FUNCTION infimum.gone() RETURNS BIGINT LANGUAGE sql AS $$ DELETE FROM infimum.measurements; SELECT "
      "1::BIGINT $$; "
      "CREATE FUNCTION infimum.gone_for_others() RETURNS BIGINT LANGUAGE plpgsql SECURITY DEFINER SET "
      "transaction_read_only = off AS $$ BEGIN DELETE FROM infimum.measurements; RETURN 1; END $$; "
      "CREATE FUNCTION infimum.write_again() RETURNS BIGINT LANGUAGE plpgsql AS $$ BEGIN "
      "EXECUTE 'SET TRANSACTION READ WRITE'; DELETE FROM infimum.measurements; RETURN 1; END $$; "
      "CREATE FUNCTION infimum.done() RETURNS BIGINT LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'COMMIT'; RETURN 1; END $$");
  ASSERT_TRUE(made.ok()) << made.error().message;
  const std::string file = PostgreSqlServer::Get()->folder() + "/written";
  ExpectRefused({"SELECT infimum.gone()",
                 "SELECT infimum.gone_for_others()",
                 "SELECT infimum.write_again()",
                 "SELECT infimum.done()",
                 "SELECT nextval('infimum.counter')",
                 "SELECT setval('infimum.counter', 50)",
                 "SELECT set_config('transaction_read_only', 'off', true)",
                 "SELECT set_config('transaction_read_only', 'off', false)",
                 "SELECT query_to_xml('DELETE FROM infimum.measurements', true, true, '')",
                 "SELECT query_to_xml('COPY infimum.devices TO PROGRAM ''true''', true, true, '')",
                 "COPY infimum.devices TO '" + file + "'",
                 "COPY (SELECT 1) TO PROGRAM 'touch " + file + "'",
                 "COPY infimum.devices FROM PROGRAM 'true'",
                 "DO $$ BEGIN DELETE FROM infimum.measurements; END $$",
                 "CALL infimum.gone()",
                 "EXECUTE mine",
                 "PREPARE mine AS SELECT 1",
                 "SET ROLE postgres",
                 "SET default_transaction_read_only TO off",
                 "RESET ALL",
                 "DISCARD ALL",
                 "NOTIFY mine",
                 "LISTEN mine",
                 "CHECKPOINT",
                 "LOAD 'auto_explain'",
                 "ALTER SYSTEM SET work_mem = '1MB'",
                 "CREATE EXTENSION dblink",
                 "REFRESH MATERIALIZED VIEW mine",
                 "FETCH ALL FROM infimum_query",
                 "DECLARE mine CURSOR FOR SELECT 1"});
  // What the server lets pass is undone when the answer was given.
  for (const char* sql : {"SELECT lo_create(4242)", "SELECT lo_from_bytea(4243, 'x')",
                          "SELECT set_config('default_transaction_read_only', 'off', false)",
                          "SELECT set_config('search_path', 'public', false)"})
    static_cast<void>(store_->AskSql(sql, testing::AsAnyone()).ok());
  EXPECT_EQ(Ask("SELECT count(*) FROM pg_largeobject_metadata"), 0);
  EXPECT_EQ(Ask("SELECT last_value FROM infimum.counter"), 1);
  EXPECT_FALSE(std::filesystem::exists(file));
  ExpectAsBefore();
}

TEST_P(ReadOnlyPostgreSql, ASuperuserIsRefusedWithTheReasonAndAReaderUsesItsRole) {
  const Result<QueryTable> refused = store_->AskSql("SELECT pg_read_file('/etc/hostname')");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("--as-superuser"));
  ASSERT_TRUE(MakeRoles(address_).ok());
  const std::string user = "asker_" + std::to_string(getpid());
  {
    const auto owner = PostgreSqlConnection::Open(address_, false);
    ASSERT_TRUE(owner.ok());
    const Status made =
        (*owner)->Execute("CREATE ROLE " + user + " LOGIN; GRANT infimum_writer, infimum_reader TO " + user +
                          "; CREATE TABLE infimum.secret (a INTEGER); GRANT SELECT ON "
                          "infimum.secret TO " +
                          user +
                          "; REVOKE SELECT ON infimum.secret FROM "
                          "infimum_reader, infimum_writer");
    ASSERT_TRUE(made.ok()) << made.error().message;
  }
  // Who may become a superuser within the SELECT is one.
  const std::string climber = "climber_" + std::to_string(getpid());
  {
    const auto owner = PostgreSqlConnection::Open(address_, false);
    ASSERT_TRUE(owner.ok());
    const Status made = (*owner)->Execute("CREATE ROLE " + climber + "_boss SUPERUSER; CREATE ROLE " + climber +
                                          " LOGIN; GRANT infimum_reader, " + climber + "_boss TO " + climber);
    ASSERT_TRUE(made.ok()) << made.error().message;
  }
  const auto climbing = OpenStore(PostgreSqlServer::As(climber, address_), OpenMode::kReadOnly);
  ASSERT_TRUE(climbing.ok()) << climbing.error().message;
  EXPECT_FALSE((*climbing)->AskSql("SELECT set_config('role', '" + climber + "_boss', true)").ok());
  const auto store = OpenStore(PostgreSqlServer::As(user, address_), OpenMode::kReadOnly);
  ASSERT_TRUE(store.ok()) << store.error().message;
  // Longer than the first part of the answer.
  const Result<QueryTable> many = (*store)->AskSql("SELECT i FROM generate_series(1, 3000) AS s(i)");
  ASSERT_TRUE(many.ok()) << many.error().message;
  EXPECT_EQ(many->rows.size(), 3000u);
  const Result<QueryTable> role = (*store)->AskSql("SELECT current_user || '' AS role");
  ASSERT_TRUE(role.ok()) << role.error().message;
  EXPECT_EQ(std::get<std::string>(role->rows[0][0]), "infimum_reader");
  EXPECT_TRUE((*store)->AskSql("SELECT count(*) FROM measurements").ok());
  EXPECT_FALSE((*store)->AskSql("SELECT * FROM secret").ok());
  EXPECT_FALSE((*store)->AskSql("SELECT pg_read_file('/etc/hostname')").ok());
}

TEST_P(ReadOnlySqlite, NoValueGrowsBeyondWhatAStoreHolds) {
  for (const char* sql : {"SELECT zeroblob(1000000000)", "SELECT length(hex(zeroblob(100000000)))"}) {
    const Result<QueryTable> table = store_->AskSql(sql);
    ASSERT_FALSE(table.ok()) << sql;
    EXPECT_THAT(table.error().message, ::testing::HasSubstr("too big")) << sql;
  }
  // SQLite's printf gives NULL in place of an error.
  const Result<QueryTable> printed = store_->AskSql("SELECT printf('%.*c', 100000000, 'x')");
  ASSERT_TRUE(printed.ok());
  EXPECT_TRUE(std::holds_alternative<std::nullptr_t>(printed->rows[0][0]));
  EXPECT_TRUE(store_->AskSql("SELECT printf('%.*c', 1000000, 'x')").ok());
}

// A file of SQLite's own tables, as it is on the disk.
TEST_P(ReadOnlySqlite, FunctionsThatWriteAreRefused) {
  const std::string other = folder_.File("other.db");
  ExpectRefused({"ATTACH '" + other + "' AS x",
                 "VACUUM INTO '" + other + "'",
                 "DETACH main",
                 "PRAGMA user_version = 9",
                 "PRAGMA writable_schema = ON",
                 "PRAGMA journal_mode = DELETE",
                 "PRAGMA query_only = OFF",
                 "PRAGMA wal_checkpoint",
                 "PRAGMA optimize",
                 "PRAGMA schema_version",
                 "SELECT load_extension('x')",
                 "SELECT LOAD_EXTENSION('x', 'y')",
                 "UPDATE sqlite_schema SET sql = ''",
                 "DELETE FROM sqlite_schema",
                 "INSERT INTO sqlite_dbpage VALUES (1, x'00', 'main')",
                 "CREATE VIRTUAL TABLE mine USING fts5(a)",
                 std::string("SELECT writefile('" + other + "', 'x')"),
                 "SELECT fts3_tokenizer('mine', x'0000000000000000')",
                 "REPLACE INTO campaigns VALUES (1, 'x', '', '')",
                 "CREATE TRIGGER mine AFTER INSERT ON runs BEGIN DELETE FROM runs; END"});
  EXPECT_FALSE(std::filesystem::exists(other));
  ExpectAsBefore();
}

// SQLite's pragmas can be asked like tables, and do what they do when they are read: pragma_optimize writes.
TEST_P(ReadOnlySqlite, PragmasThatLookLikeTablesChangeNothing) {
  store_.reset();
  {
    const auto plain = SqliteConnection::Open(address_, SqliteConnection::Mode::kReadWrite);
    // With statistics that are out of date, which SQLite would put right.
    ASSERT_TRUE(plain.ok() && (*plain)
                                  ->Execute("PRAGMA journal_mode = DELETE; ANALYZE; WITH RECURSIVE n(i) AS (SELECT 10 "
                                            "UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO workloads "
                                            "(id, text, family) SELECT i, 'w' || i, '' FROM n")
                                  .ok());
  }
  const std::string before = Read(address_);
  {
    const auto connection = SqliteConnection::Open(address_, SqliteConnection::Mode::kReadWrite);
    ASSERT_TRUE(connection.ok());
    ASSERT_TRUE((*connection)->AskInteger("SELECT count(*) FROM workloads WHERE text = 'w7'").ok());
    std::vector<std::string> names;
    const auto list = (*connection)->Prepare("SELECT name FROM pragma_pragma_list ORDER BY name");
    ASSERT_TRUE(list.ok());
    while (*(*list)->Step()) names.push_back((*list)->Text(0));
    (*list)->Reset();
    ASSERT_GT(names.size(), 30u);
    for (const std::string& name : names) {
      for (const char* argument : {"", "(1)", "('DELETE')", "(65538)", "('measurements')", "('0x10002', 'main')"}) {
        const auto query = (*connection)->PrepareReadOnly("SELECT * FROM pragma_" + name + argument);
        // The one that was asked above is known to the connection.
        EXPECT_TRUE(!query.ok() || name == "pragma_list") << name << argument;
      }
    }
    for (const char* sql : {"SELECT count(*) FROM PRAGMA_Optimize(2) LIMIT 9", "SELECT 1 FROM main.pragma_optimize",
                            "SELECT (SELECT 1 FROM \"pragma_OPTIMIZE\")"})
      EXPECT_FALSE((*connection)->PrepareReadOnly(sql).ok()) << sql;
  }
  EXPECT_TRUE(Read(address_) == before) << "the file is another one now";
}

INSTANTIATE_TEST_SUITE_P(Stores, ReadOnlyQueries, ::testing::Values("Sqlite", "PostgreSql"), testing::ParamName);
INSTANTIATE_TEST_SUITE_P(Stores, ReadOnlyPostgreSql, ::testing::Values("PostgreSql"), testing::ParamName);
INSTANTIATE_TEST_SUITE_P(Stores, ReadOnlySqlite, ::testing::Values("Sqlite"), testing::ParamName);

}  // namespace
}  // namespace infimum::read_only_queries_test
