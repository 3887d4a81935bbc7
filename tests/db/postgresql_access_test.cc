// Who may come to a PostgreSQL database and how: passwords, TLS, a server that is not there.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "db/connection/postgresql_connection.h"
#include "infimum/db/store.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/store_rows.h"

namespace infimum {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::PostgreSqlServer;

// One line, with where, and nothing that is secret.
auto IsOneLineAbout(const std::string& where) {
  return AllOf(::testing::StartsWith("postgresql://"), HasSubstr(where), Not(HasSubstr("\n")),
               Not(HasSubstr("secret")));
}

// An environment variable for as long as this lives.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~EnvironmentVariable() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

int FreePort() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  const bool bound = bind(listener, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
                     getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  close(listener);
  return bound ? ntohs(address.sin_port) : 0;
}

// A server on a port that asks "locked" for a password, and knows TLS from the test on that needs it.
class PostgreSqlAccess : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (PostgreSqlServer::Get() == nullptr) return;
    PostgreSqlServer::Settings settings;
    settings.port = FreePort();
    settings.access =
        "local all locked scram-sha-256\nhost all stranger 127.0.0.1/32 reject\n"
        "host all locked 127.0.0.1/32 scram-sha-256\nhost all infimum 127.0.0.1/32 trust\n";
    port_ = std::to_string(settings.port);
    server_ = PostgreSqlServer::New(settings).release();
    if (server_ == nullptr) return;
    socket_ = server_->NewDatabase();
    const Result<std::unique_ptr<PostgreSqlConnection>> owner = PostgreSqlConnection::Open(socket_, false);
    ASSERT_TRUE(owner.ok()) << owner.error().message;
    const Status made = (*owner)->Execute(
        "SET password_encryption = 'scram-sha-256'; CREATE ROLE locked SUPERUSER LOGIN PASSWORD 'secret:\\@1'");
    ASSERT_TRUE(made.ok()) << made.error().message;
  }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }

  void SetUp() override {
    if (PostgreSqlServer::Get() == nullptr) {
      ASSERT_EQ(std::getenv("CI"), nullptr) << PostgreSqlServer::WhyNot();
      GTEST_SKIP() << PostgreSqlServer::WhyNot();
    }
    ASSERT_NE(server_, nullptr) << PostgreSqlServer::WhyNot();
  }

  static std::string Address(const std::string& user, const std::string& parameters = "") {
    return "postgresql://" + user + "@127.0.0.1:" + port_ + "/test1" + parameters;
  }

  static inline PostgreSqlServer* server_ = nullptr;
  static inline std::string port_;
  static inline std::string socket_;
};

TEST_F(PostgreSqlAccess, AMissingPasswordIsAnErrorThatNamesPGPASSWORD) {
  const EnvironmentVariable nobodys("PGPASSFILE", "/dev/null");
  for (const std::string& address : {Address("locked"), PostgreSqlServer::As("locked", socket_)})
    EXPECT_THAT(testing::ErrorOfOpening(address), AllOf(IsOneLineAbout("locked"), HasSubstr("no password supplied"),
                                                        HasSubstr("PGPASSWORD or ~/.pgpass")));
}

TEST_F(PostgreSqlAccess, AWrongPasswordIsAnErrorWithoutIt) {
  const EnvironmentVariable password("PGPASSWORD", "secret2");
  const auto refused = AllOf(IsOneLineAbout("locked"), HasSubstr("password authentication failed"),
                             HasSubstr("PGPASSWORD or ~/.pgpass"));
  EXPECT_THAT(testing::ErrorOfOpening(Address("locked")), refused);
  EXPECT_THAT(testing::ErrorOfOpening(PostgreSqlServer::As("locked", socket_)), refused);
  EXPECT_THAT(testing::ErrorOfOpening(Address("locked:secret3")), refused);
  EXPECT_THAT(testing::ErrorOfOpening(Address("locked", "?password=secret4")), refused);
  EXPECT_THAT(testing::ErrorOfOpening(Address("locked"), OpenMode::kReadOnly), refused);
}

TEST_F(PostgreSqlAccess, TheRightPasswordIsTakenFromTheAddressAndTheEnvironment) {
  const EnvironmentVariable nobodys("PGPASSFILE", "/dev/null");
  EXPECT_EQ(testing::ErrorOfOpening(Address("locked:secret%3A%5C%401")), "opened");
  const EnvironmentVariable password("PGPASSWORD", "secret:\\@1");
  EXPECT_EQ(testing::ErrorOfOpening(Address("locked")), "opened");
  EXPECT_EQ(testing::ErrorOfOpening(PostgreSqlServer::As("locked", socket_)), "opened");
}

TEST_F(PostgreSqlAccess, ThePasswordIsTakenFromTheFileThatPgpassfileNames) {
  const testing::TemporaryFolder folder;
  const std::string file = folder.File("passwords");
  const EnvironmentVariable passwords("PGPASSFILE", file);
  std::ofstream(file) << "127.0.0.1:" + port_ + ":*:locked:secret\\:\\\\@1\n";
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  EXPECT_EQ(testing::ErrorOfOpening(Address("locked")), "opened");
  std::ofstream(file) << "*:*:*:locked:secret5\n";
  EXPECT_THAT(testing::ErrorOfOpening(Address("locked")),
              AllOf(IsOneLineAbout("locked"), HasSubstr("password authentication failed")));
}

TEST_F(PostgreSqlAccess, AMissingRoleIsNotReportedAsAMissingDatabase) {
  EXPECT_THAT(testing::ErrorOfOpening(PostgreSqlServer::As("nobody", socket_)),
              AllOf(IsOneLineAbout("role \"nobody\" does not exist"), HasSubstr("name another user"),
                    Not(HasSubstr("createdb"))));
}

TEST_F(PostgreSqlAccess, ARejectedUserIsReferredToTheAdministrator) {
  EXPECT_THAT(testing::ErrorOfOpening(Address("stranger")),
              AllOf(IsOneLineAbout("pg_hba.conf"), HasSubstr("ask its administrator")));
  EXPECT_THAT(testing::ErrorOfOpening(Address("unknown")),
              AllOf(IsOneLineAbout("no pg_hba.conf entry"), HasSubstr("ask its administrator")));
}

TEST_F(PostgreSqlAccess, AMissingServerIsAClearErrorOnASocketAndOnAPort) {
  const testing::TemporaryFolder folder;
  const auto nobody = HasSubstr("check that the server runs, and host, port and user");
  EXPECT_THAT(testing::ErrorOfOpening("postgresql:///db?host=" + folder.path().string()),
              AllOf(IsOneLineAbout(folder.path().string()), HasSubstr("No such file"), nobody));
  EXPECT_THAT(testing::ErrorOfOpening("postgresql://me:secret@127.0.0.1:" + std::to_string(FreePort()) + "/db"),
              AllOf(IsOneLineAbout("127.0.0.1"), HasSubstr("refused"), nobody));
  EXPECT_THAT(testing::ErrorOfOpening("postgresql://me:secret@host.invalid/db"),
              AllOf(IsOneLineAbout("host.invalid"), nobody));
}

TEST_F(PostgreSqlAccess, AMalformedAddressIsAClearError) {
  for (const char* parameters : {"?sslmode=sometimes", "?nonsense=1", "?port=many", "?connect_timeout=x", "?user=%zz"})
    EXPECT_THAT(testing::ErrorOfOpening(Address("infimum", parameters)), IsOneLineAbout("127.0.0.1")) << parameters;
}

// What libpq cannot take apart it quotes in its message.
TEST_F(PostgreSqlAccess, APasswordWithLettersThatAnAddressCannotHoldIsNotShown) {
  for (const char* user :
       {"me:secret%", "me:%zzsecret", "me:secret/more", "me:secret/mo?re", "me:secret\"%zz", "me:x%00secret"})
    EXPECT_THAT(testing::ErrorOfOpening(Address(user)), AllOf(IsOneLineAbout("postgresql://me"), HasSubstr("%XX")))
        << user;
  for (const char* user : {"me:more@secret", "me:a:@secret@b/c"})
    EXPECT_THAT(testing::ErrorOfOpening(Address(user)),
                AllOf(IsOneLineAbout("postgresql://me"), HasSubstr("check that the server")))
        << user;
  EXPECT_THAT(testing::ErrorOfOpening(Address("me", "?password=secret%zz")),
              AllOf(IsOneLineAbout("127.0.0.1"), HasSubstr("%XX")));
}

// In the order of the file: the server has no certificate before the end of this test.
TEST_F(PostgreSqlAccess, TlsIsAsTheAddressAsksForIt) {
  EXPECT_THAT(testing::ErrorOfOpening(Address("infimum", "?sslmode=require")),
              AllOf(IsOneLineAbout("does not support SSL"), HasSubstr("sslmode")));
  EXPECT_EQ(testing::ErrorOfOpening(Address("infimum", "?sslmode=prefer")), "opened");

  const std::string key = server_->folder() + "/server.key", certificate = server_->folder() + "/server.crt";
  const std::string make = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 2 -keyout " + key +
                           " -out " + certificate + " >/dev/null 2>&1";
  if (std::system(make.c_str()) != 0) GTEST_SKIP() << "openssl is not installed, so there is no certificate to try";
  std::filesystem::permissions(key, std::filesystem::perms(0600));
  ASSERT_TRUE(PostgreSqlServer::Give(key) && PostgreSqlServer::Give(certificate));
  const Result<std::unique_ptr<PostgreSqlConnection>> owner = PostgreSqlConnection::Open(socket_, false);
  ASSERT_TRUE(owner.ok()) << owner.error().message;
  for (const std::string& sql :
       {"ALTER SYSTEM SET ssl_cert_file = '" + certificate + "'", "ALTER SYSTEM SET ssl_key_file = '" + key + "'",
        std::string("ALTER SYSTEM SET ssl = on")})
    ASSERT_TRUE((*owner)->Execute(sql).ok()) << sql;
  server_->Crash();
  ASSERT_TRUE(server_->Start());

  const testing::TemporaryFolder home;
  const EnvironmentVariable somewhere("HOME", home.path().string());
  for (const char* mode : {"require", "prefer", "disable"})
    EXPECT_EQ(testing::ErrorOfOpening(Address("infimum", std::string("?sslmode=") + mode)), "opened") << mode;
  Result<std::unique_ptr<PostgreSqlConnection>> encrypted =
      PostgreSqlConnection::Open(Address("infimum", "?sslmode=require"), true);
  ASSERT_TRUE(encrypted.ok()) << encrypted.error().message;
  EXPECT_EQ(
      *(*encrypted)->AskInteger("SELECT CASE WHEN ssl THEN 1 ELSE 0 END FROM pg_stat_ssl WHERE pid = pg_backend_pid()"),
      1);
  const EnvironmentVariable asked("PGSSLMODE", "require");
  EXPECT_EQ(testing::ErrorOfOpening(Address("infimum")), "opened");

  EXPECT_THAT(testing::ErrorOfOpening(Address("infimum", "?sslmode=verify-full")),
              AllOf(IsOneLineAbout("root certificate file"), HasSubstr("sslrootcert"), Not(HasSubstr("createdb"))));
  // The certificate is its own root, for another name than the one that was asked for.
  const EnvironmentVariable root("PGSSLROOTCERT", certificate);
  EXPECT_EQ(testing::ErrorOfOpening(Address("infimum", "?sslmode=verify-ca")), "opened");
  EXPECT_THAT(testing::ErrorOfOpening(Address("infimum", "?sslmode=verify-full")),
              AllOf(IsOneLineAbout("certificate"), HasSubstr("sslrootcert")));
}

}  // namespace
}  // namespace infimum
