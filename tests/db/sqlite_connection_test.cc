#include "db/connection/sqlite_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/db/store_rows.h"

namespace infimum {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::unique_ptr<SqliteConnection> OpenNew(const testing::TemporaryFolder& folder) {
  Result<std::unique_ptr<SqliteConnection>> connection =
      SqliteConnection::Open(folder.File("test.db"), SqliteConnection::Mode::kReadWrite);
  EXPECT_TRUE(connection.ok());
  return std::move(*connection);
}

TEST(SqliteConnection, ATextKeepsAllButItsNulAndTheEmptyTextIsNotNull) {
  const testing::TemporaryFolder folder;
  const std::unique_ptr<SqliteConnection> connection = OpenNew(folder);
  ASSERT_TRUE(connection->Execute("CREATE TABLE t (a TEXT NOT NULL, b REAL)").ok());
  Result<std::unique_ptr<Statement>> insert = connection->Prepare("INSERT INTO t VALUES ($1, $2)");
  ASSERT_TRUE(insert.ok());
  const std::string with_nul("a\0b", 3);
  for (const std::string& text : {with_nul, std::string()}) {
    (*insert)->Bind(1, text);
    (*insert)->Bind(2, nullptr);
    ASSERT_TRUE((*insert)->Run().ok());
  }
  Result<std::unique_ptr<Statement>> find = connection->Prepare("SELECT a, b FROM t ORDER BY rowid");
  ASSERT_TRUE(*(*find)->Step());
  EXPECT_EQ((*find)->Text(0),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ((*find)->OptionalNumber(1), std::nullopt);
  ASSERT_TRUE(*(*find)->Step());
  EXPECT_EQ((*find)->Text(0), "");
  EXPECT_FALSE(*(*find)->Step());
}

TEST(SqliteConnection, AFullDiskIsAnErrorWithAdvice) {
  const testing::TemporaryFolder folder;
  const std::unique_ptr<SqliteConnection> connection = OpenNew(folder);
  ASSERT_TRUE(connection->Execute("CREATE TABLE t (a TEXT); PRAGMA max_page_count = 8").ok());
  const std::string large(100'000, 'x');
  Result<std::unique_ptr<Statement>> insert = connection->Prepare("INSERT INTO t VALUES ($1)");
  (*insert)->Bind(1, large);
  const Status status = (*insert)->Run();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, AllOf(HasSubstr("test.db"), HasSubstr("full"), HasSubstr("free some space")));
}

TEST(SqliteConnection, ATransactionThatIsNotCommittedIsRolledBack) {
  const testing::TemporaryFolder folder;
  const std::unique_ptr<SqliteConnection> connection = OpenNew(folder);
  ASSERT_TRUE(connection->Execute("CREATE TABLE t (a TEXT)").ok());
  {
    Result<Transaction> transaction = Transaction::Begin(*connection);
    ASSERT_TRUE(transaction.ok());
    ASSERT_TRUE(connection->Execute("INSERT INTO t VALUES ('lost')").ok());
  }
  EXPECT_EQ(*connection->AskInteger("SELECT count(*) FROM t"), 0);
}

TEST(SqliteConnection, AWrongStatementIsAnErrorThatNamesTheFile) {
  const testing::TemporaryFolder folder;
  EXPECT_THAT(OpenNew(folder)->Prepare("SELECT nothing").error().message, HasSubstr("test.db"));
}

}  // namespace
}  // namespace infimum
