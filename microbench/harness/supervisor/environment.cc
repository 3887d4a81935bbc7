#include "microbench/harness/supervisor/environment.h"

#include <sys/utsname.h>

#include <array>
#include <ctime>
#include <fstream>
#include <span>

#include "infimum/base/sha256.h"

namespace infimum {

namespace {

std::string FirstLineOf(const char* path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

}  // namespace

std::string HostHash(const std::string& machine_id, const std::string& name, const std::string& boot_id) {
  // systemd writes the word where an image is to get its id when it first starts.
  const bool has_id = !machine_id.empty() && machine_id != "uninitialized";
  if (!has_id && boot_id.empty()) return "";
  const std::string text = "infimum host\n" + (has_id ? machine_id + "\n" + name : boot_id);
  return Sha256(std::as_bytes(std::span(text))).substr(0, 12);
}

void CompleteEnvironment(Environment& environment, std::int64_t threads, const std::string& affinity,
                         std::size_t usable_cores) {
  environment.threads = threads;
  Evidence& facts = environment.evidence;
  facts[evidence::kAffinity] = affinity;
  facts[evidence::kCores] = std::to_string(usable_cores);
  // Only what the backend did not tell.
  facts.try_emplace(evidence::kClocks, FirstLineOf("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  if (utsname about{}; uname(&about) == 0) {
    facts.try_emplace(evidence::kSystem, std::string(about.sysname) + " " + about.release + " " + about.machine);
    facts.try_emplace(evidence::kHost, HostHash(FirstLineOf("/etc/machine-id"), about.nodename,
                                                FirstLineOf("/proc/sys/kernel/random/boot_id")));
  }
  facts.try_emplace(evidence::kInfimum, INFIMUM_VERSION);
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
}

std::string UtcNow() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text.data(), length);
}

}  // namespace infimum
