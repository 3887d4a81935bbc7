// A real PostgreSQL server of the tests' own: a cluster in a temporary folder, on a socket there and no port, started
// when it is first asked for and stopped at the end of the program. Under root it runs as the user postgres.
#pragma once

#include <memory>
#include <string>

namespace infimum::testing {

class PostgreSqlServer {
 public:
  // Null where PostgreSQL is not installed; `why` then says what is missing.
  static PostgreSqlServer* Get();
  static const std::string& WhyNot();

  // A second server, for what the others must not suffer. Null where it does not come up.
  struct Settings {
    std::string data;     // an empty folder for its files; none: a folder of its own
    std::string initdb;   // more options of initdb
    std::string options;  // more options of the server: "-c ssl=on"
    std::string limits;   // shell commands before the server starts: "ulimit -f 8192"
    std::string access;   // lines of pg_hba.conf that go before "everybody is trusted"
    int port = 0;         // of 127.0.0.1; 0: a socket alone
  };
  static std::unique_ptr<PostgreSqlServer> New(Settings settings);

  // The address of a database that is new and empty (`options` of CREATE DATABASE). Its owner is "infimum", who needs
  // no password.
  std::string NewDatabase(const std::string& options = "");
  // The same database as somebody else.
  static std::string As(const std::string& user, const std::string& address);

  // Where the server may write files.
  const std::string& folder() const { return folder_; }
  // Makes a folder or file the server's own.
  static bool Give(const std::string& path);

  // Kills the server as a power cut would, and starts it again, perhaps with other limits.
  void Crash();
  bool Start();
  bool Start(const std::string& limits);

  ~PostgreSqlServer();

 private:
  PostgreSqlServer() = default;
  bool Make();
  std::string Address(const std::string& database) const;
  bool Run(const std::string& program, const std::string& arguments, const std::string& before = "") const;

  std::string binaries_;
  std::string folder_;
  Settings settings_;
  int databases_ = 0;
};

}  // namespace infimum::testing
