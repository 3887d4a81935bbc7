// A real PostgreSQL server of the tests' own: a cluster in a temporary folder, on a socket there and no port, started
// when it is first asked for and stopped at the end of the program. Under root it runs as the user postgres.
#pragma once

#include <string>

namespace infimum::testing {

class PostgreSqlServer {
 public:
  // Null where PostgreSQL is not installed; `why` then says what is missing.
  static PostgreSqlServer* Get();
  static const std::string& WhyNot();

  // The address of a database that is new and empty. Its owner is "infimum", who needs no password.
  std::string NewDatabase();
  // The same database as somebody else.
  static std::string As(const std::string& user, const std::string& address);

  // Where the server may write files.
  const std::string& folder() const { return folder_; }

  // Kills the server as a power cut would, and starts it again.
  void Crash();
  void Start();

  ~PostgreSqlServer();

 private:
  PostgreSqlServer() = default;
  bool Make();
  bool Run(const std::string& program, const std::string& arguments) const;

  std::string binaries_;
  std::string folder_;
  int databases_ = 0;
};

}  // namespace infimum::testing
