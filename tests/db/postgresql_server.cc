#include "tests/db/postgresql_server.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

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
    // No test cuts the power: what the system was told to write is there when the server's processes are gone.
    Settings settings;
    settings.options = "-c fsync=off";
    return New(settings);
  }();
  return server.get();
}

std::unique_ptr<PostgreSqlServer> PostgreSqlServer::New(Settings settings) {
  std::unique_ptr<PostgreSqlServer> made(new PostgreSqlServer);
  made->settings_ = std::move(settings);
  if (!made->Make()) made.reset();
  return made;
}

const std::string& PostgreSqlServer::WhyNot() { return why_not; }

bool PostgreSqlServer::Give(const std::string& path) {
  if (geteuid() != 0) return true;
  const passwd* const user = getpwnam("postgres");
  return user != nullptr && chown(path.c_str(), user->pw_uid, user->pw_gid) == 0;
}

// initdb refuses to run as root.
bool PostgreSqlServer::Run(const std::string& program, const std::string& arguments, const std::string& before) const {
  const std::string user = geteuid() == 0 ? "runuser -u postgres -- " : "";
  const std::string command = "cd / && { " + before + (before.empty() ? "" : "; ") + user + binaries_ + "/" + program +
                              " " + arguments + "; } >>" + folder_ + "/commands.log 2>&1 </dev/null";
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
  if (settings_.data.empty()) settings_.data = folder_ + "/data";
  if (!Give(folder_)) {
    why_not = "there is no user postgres to run the server as";
    return false;
  }
  if (!Run("initdb",
           "-D " + settings_.data + " -A trust -U infimum -E UTF8 --locale=C --no-sync " + settings_.initdb)) {
    why_not = "initdb failed";
    return false;
  }
  if (!settings_.access.empty())
    std::ofstream(settings_.data + "/pg_hba.conf") << settings_.access << "local all all trust\n";
  if (!Start() || !Run("psql", "-d '" + Address("postgres") + "' -c 'SELECT 1'")) {
    why_not = "the server did not start";
    return false;
  }
  return true;
}

bool PostgreSqlServer::Start() { return Start(settings_.limits); }

bool PostgreSqlServer::Start(const std::string& limits) {
  return Run("pg_ctl",
             "-D " + settings_.data + " -w -t 60 -l " + folder_ + "/server.log -o \"-k " + folder_ +
                 (settings_.port == 0 ? " -h ''" : " -h 127.0.0.1 -p " + std::to_string(settings_.port)) +
                 " -c max_connections=60 " + settings_.options + "\" start",
             limits);
}

void PostgreSqlServer::Crash() { Run("pg_ctl", "-D " + settings_.data + " -w -m immediate stop"); }

std::string PostgreSqlServer::NewDatabase(const std::string& options) {
  const std::string name = "test" + std::to_string(++databases_);
  Run("psql", "-d '" + Address("postgres") + "' -c 'CREATE DATABASE " + name + " " + options + "'");
  return Address(name);
}

std::string PostgreSqlServer::Address(const std::string& database) const {
  return "postgresql:///" + database + "?host=" + folder_ +
         (settings_.port == 0 ? "" : "&port=" + std::to_string(settings_.port)) + "&user=infimum";
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
