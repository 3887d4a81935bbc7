#include "microbench/harness/supervisor/environment.h"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <set>
#include <span>

#include "infimum/base/sha256.h"
#include "infimum/base/text.h"

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
  // Only what the backend did not give.
  facts.try_emplace(evidence::kClocks, FirstLineOf("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  if (utsname about{}; uname(&about) == 0) {
    facts.try_emplace(evidence::kSystem, std::string(about.sysname) + " " + about.release + " " + about.machine);
    facts.try_emplace(evidence::kHost, HostHash(FirstLineOf("/etc/machine-id"), about.nodename,
                                                FirstLineOf("/proc/sys/kernel/random/boot_id")));
  }
  facts.try_emplace(evidence::kInfimum, INFIMUM_VERSION);
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
}

std::string UtcTimestamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text.data(), length);
}

namespace {

// The first number of "0,4" or "0-1"; the core itself where the file cannot be read.
int FirstSibling(int core) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/thread_siblings_list");
  int first = core;
  if (!(file >> first)) return core;
  return first;
}

}  // namespace

std::vector<Core> VisibleCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<Core> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {Core{0, 0}};
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back({core, FirstSibling(core)});
  return cores;
}

Result<std::vector<int>> ChooseCores(const std::vector<Core>& visible, std::int64_t threads) {
  if (threads > static_cast<std::int64_t>(visible.size())) {
    return Error{std::to_string(threads) + " threads need as many cores, but " + std::to_string(visible.size()) +
                 " are visible to this process"};
  }
  std::vector<int> chosen;
  std::set<int> taken_physical;
  std::vector<bool> taken(visible.size(), false);
  for (const bool share : {false, true}) {
    for (std::size_t i = visible.size(); i-- > 0;) {
      if (static_cast<std::int64_t>(chosen.size()) == threads) break;
      if (taken[i] || (!share && taken_physical.contains(visible[i].physical))) continue;
      taken[i] = true;
      taken_physical.insert(visible[i].physical);
      chosen.push_back(visible[i].number);
    }
  }
  std::ranges::sort(chosen);
  return chosen;
}

Result<std::vector<int>> ParseCoreList(std::string_view text, const std::vector<Core>& visible) {
  std::vector<int> cores;
  for (std::string_view piece : Split(text, ',')) {
    const std::vector<std::string_view> ends = Split(TrimSpace(piece), '-');
    const std::optional<std::int64_t> first = ParseInteger(ends.front());
    const std::optional<std::int64_t> last = ParseInteger(ends.back());
    if (!first || !last || ends.size() > 2 || *first < 0 || *last >= CPU_SETSIZE || *first > *last)
      return Error{Quoted(text) + " is not a list of cores such as 0,2-5"};
    for (std::int64_t number = *first; number <= *last; ++number) {
      const int core = static_cast<int>(number);
      if (std::ranges::none_of(visible, [&](const Core& c) { return c.number == core; }))
        return Error{"core " + std::to_string(core) + " is not visible to this process"};
      if (std::ranges::find(cores, core) != cores.end())
        return Error{"core " + std::to_string(core) + " is named twice"};
      cores.push_back(core);
    }
  }
  return cores;
}

std::string FormatCoreList(const std::vector<int>& cores) {
  std::vector<std::string> names;
  for (int core : cores) names.push_back(std::to_string(core));
  return Join(names, ",");
}

std::vector<std::string> OpenMpEnvironment(std::int64_t threads, const std::vector<int>& cores) {
  std::vector<std::string> variables{"OMP_NUM_THREADS=" + std::to_string(threads), "OMP_DYNAMIC=false"};
  if (cores.empty()) {
    variables.emplace_back("OMP_PROC_BIND=false");
    return variables;
  }
  std::vector<std::string> places;
  for (int core : cores) places.push_back("{" + std::to_string(core) + "}");
  variables.push_back("OMP_PLACES=" + Join(places, ","));
  variables.emplace_back("OMP_PROC_BIND=true");
  return variables;
}

Status PinTo(const std::vector<int>& cores) {
  if (cores.empty()) return {};
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : cores) CPU_SET(static_cast<std::size_t>(core), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    return Error{"cannot pin to cores " + FormatCoreList(cores) + ": " + std::strerror(errno)};
  return {};
}

}  // namespace infimum
