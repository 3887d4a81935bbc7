#include "microbench/harness/sampling/interference.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace infimum {

std::int64_t SystemInterference::InvoluntarySwitches() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return usage.ru_nivcsw;
}

// Lines "cpu3 user nice system idle iowait irq softirq steal ..." in clock ticks; "cpu" is their sum.
Clock::Duration SystemInterference::StolenTime() {
  const long ticks_per_second = sysconf(_SC_CLK_TCK);
  if (ticks_per_second <= 0) return Clock::Duration(0);
  std::ifstream stat("/proc/stat");
  std::string line;
  std::int64_t stolen_ticks = 0;
  while (std::getline(stat, line) && line.starts_with("cpu")) {
    std::istringstream fields(line);
    std::string name;
    std::int64_t ticks = 0;
    fields >> name;
    for (int field = 0; field < 8; ++field) fields >> ticks;
    if (!fields) continue;
    const bool whole_machine = name == "cpu";
    const bool ours =
        cores_.empty() ? whole_machine : !whole_machine && std::any_of(cores_.begin(), cores_.end(), [&](int core) {
          return name == "cpu" + std::to_string(core);
        });
    if (ours) stolen_ticks += ticks;
  }
  return std::chrono::duration_cast<Clock::Duration>(
      std::chrono::duration<double>(static_cast<double>(stolen_ticks) / static_cast<double>(ticks_per_second)));
}

}  // namespace infimum
