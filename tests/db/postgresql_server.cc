#include "tests/db/postgresql_server.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

namespace infimum::testing {
namespace {

namespace fs = std::filesystem;

std::string why_not;

// The newest server that Debian's packages have put here.
std::string FindBinaries() {
  std::string newest;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/lib/postgresql", ignored)) {
    const std::string candidate = (entry.path() / "bin").string();
    if (fs::exists(candidate + "/initdb", ignored) && candidate > newest) newest = candidate;
  }
  return newest;
}

}  // namespace

PostgreSqlServer* PostgreSqlServer::Get() {
  static const std::unique_ptr<PostgreSqlServer> server = [] {
    std::unique_ptr<PostgreSqlServer> made(new PostgreSqlServer);
    if (!made->Make()) made.reset();
    return made;
  }();
  return server.get();
}

const std::string& PostgreSqlServer::WhyNot() { return why_not; }

// initdb refuses to run as root.
bool PostgreSqlServer::Run(const std::string& program, const std::string& arguments) const {
  const std::string user = geteuid() == 0 ? "runuser -u postgres -- " : "";
  const std::string command = "cd / && " + user + binaries_ + "/" + program + " " + arguments + " >>" + folder_ +
                              "/commands.log 2>&1 </dev/null";
  return std::system(command.c_str()) == 0;
}

bool PostgreSqlServer::Make() {
  binaries_ = FindBinaries();
  if (binaries_.empty()) {
    why_not = "PostgreSQL's server is not installed (scripts/setup test)";
    return false;
  }
  std::string name = (fs::temp_directory_path() / "infimum-postgresql-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return false;
  folder_ = name;
  if (geteuid() == 0) {
    const passwd* const user = getpwnam("postgres");
    if (user == nullptr || chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) {
      why_not = "there is no user postgres to run the server as";
      return false;
    }
  }
  if (!Run("initdb", "-D " + folder_ + "/data -A trust -U infimum -E UTF8 --locale=C --no-sync")) {
    why_not = "initdb failed";
    return false;
  }
  Start();
  if (!Run("psql", "-h " + folder_ + " -U infimum -d postgres -c 'SELECT 1'")) {
    why_not = "the server did not start";
    return false;
  }
  return true;
}

void PostgreSqlServer::Start() {
  Run("pg_ctl", "-D " + folder_ + "/data -w -t 60 -l " + folder_ + "/data/server.log -o \"-k " + folder_ +
                    " -h '' -c max_connections=60\" start");
}

void PostgreSqlServer::Crash() { Run("pg_ctl", "-D " + folder_ + "/data -w -m immediate stop"); }

std::string PostgreSqlServer::NewDatabase() {
  const std::string name = "test" + std::to_string(++databases_);
  Run("createdb", "-h " + folder_ + " -U infimum " + name);
  return "postgresql:///" + name + "?host=" + folder_ + "&user=infimum";
}

std::string PostgreSqlServer::As(const std::string& user, const std::string& address) {
  return address.substr(0, address.rfind('=') + 1) + user;
}

PostgreSqlServer::~PostgreSqlServer() {
  if (folder_.empty()) return;
  Crash();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace infimum::testing
