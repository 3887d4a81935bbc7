#include "microbench/harness/surroundings.h"

#include <sys/utsname.h>

#include <array>
#include <ctime>
#include <fstream>

namespace infimum {

void CompleteEnvironment(Environment& environment, std::int64_t threads, const std::string& affinity) {
  environment.threads = threads;
  environment.affinity = affinity;
  if (environment.clock_policy.empty()) {
    std::ifstream governor("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    std::getline(governor, environment.clock_policy);
  }
  if (utsname about{}; environment.host.empty() && uname(&about) == 0)
    environment.host = std::string(about.sysname) + " " + about.release + " " + about.machine;
  if (environment.infimum_version.empty()) environment.infimum_version = INFIMUM_VERSION;
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
