#include "infimum/base/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "infimum/base/text.h"

namespace infimum {
namespace {

// The fields of /proc/PID/stat from the third on (state, ppid, ...): the second is a name that may hold anything.
std::optional<std::vector<std::string>> StatFields(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const std::size_t end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return std::nullopt;
  std::istringstream rest(line.substr(end_of_name + 1));
  std::vector<std::string> fields;
  for (std::string field; rest >> field;) fields.push_back(std::move(field));
  return fields;
}

constexpr std::size_t kParent = 1, kUserTime = 11, kSystemTime = 12;  // of the fields above

// "oom_kill 3" of a file of names and numbers.
std::optional<std::int64_t> CountIn(const std::string& path) {
  std::ifstream file(path);
  std::string name;
  std::int64_t value = 0;
  while (file >> name >> value)
    if (name == "oom_kill") return value;
  return std::nullopt;
}

// The folder of this process's control group (version 2), empty where there is none.
std::string ControlGroupFolder() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::")) return "/sys/fs/cgroup" + line.substr(3);
  return "";
}

}  // namespace

void EnsureStandardStreams() {
  // An output that is opened for reading refuses what is written to it.
  constexpr std::array modes{O_RDONLY, O_RDONLY, O_WRONLY};
  for (int stream = 0; stream < 3; ++stream)
    if (fcntl(stream, F_GETFD) < 0) static_cast<void>(open("/dev/null", modes[static_cast<std::size_t>(stream)]));
}

std::vector<pid_t> DescendantsOf(pid_t ancestor) {
  std::multimap<pid_t, pid_t> children;
  DIR* const folder = opendir("/proc");
  if (folder == nullptr) return {};
  while (const dirent* const entry = readdir(folder)) {
    const std::optional<std::int64_t> process = ParseInteger(entry->d_name);
    if (!process) continue;
    const auto fields = StatFields(entry->d_name);
    if (!fields || fields->size() <= kParent) continue;
    if (const auto parent = ParseInteger((*fields)[kParent]))
      children.emplace(static_cast<pid_t>(*parent), static_cast<pid_t>(*process));
  }
  closedir(folder);
  std::vector<pid_t> found{ancestor};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto child = begin; child != end; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

std::optional<Clock::Duration> ProcessorTimeOf(pid_t process) {
  const auto fields = StatFields(std::to_string(process));
  if (!fields || fields->size() <= kSystemTime) return std::nullopt;
  const auto user = ParseInteger((*fields)[kUserTime]), system = ParseInteger((*fields)[kSystemTime]);
  const long ticks_per_second = sysconf(_SC_CLK_TCK);
  if (!user || !system || ticks_per_second <= 0) return std::nullopt;
  return std::chrono::duration_cast<Clock::Duration>(std::chrono::seconds(1)) * (*user + *system) / ticks_per_second;
}

Clock::Duration ProcessorTimeOf(const std::vector<pid_t>& processes) {
  Clock::Duration sum{0};
  for (const pid_t process : processes) sum += ProcessorTimeOf(process).value_or(Clock::Duration(0));
  return sum;
}

std::optional<std::int64_t> OutOfMemoryKills::Count() {
  const std::optional<std::int64_t> machine = CountIn("/proc/vmstat");
  const std::string group = ControlGroupFolder();
  const std::optional<std::int64_t> own = group.empty() ? std::nullopt : CountIn(group + "/memory.events");
  if (!machine && !own) return std::nullopt;
  return machine.value_or(0) + own.value_or(0);
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::optional<std::int64_t> OutOfMemoryKills::since() const {
  const std::optional<std::int64_t> now = Count();
  if (!before_ || !now) return std::nullopt;
  return std::max<std::int64_t>(0, *now - *before_);
}

std::string DescribeExit(int status, const OutOfMemoryKills& kills) {
  if (!WIFSIGNALED(status))
    return "exited with code " + std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : status);
  const int signal = WTERMSIG(status);
  std::string name = strsignal(signal);
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  std::string text = "killed by signal " + std::to_string(signal) + " (" + name + ")";
  if (signal != SIGKILL) return text;
  const std::optional<std::int64_t> ended = kills.since();
  if (!ended) return text + ", perhaps by the kernel for lack of memory";
  if (*ended == 0) return text + " by another program: the kernel ended no process for lack of memory meanwhile";
  return text + ": the kernel ended a process for lack of memory meanwhile";
}

void LifeSigns::Note() {
  last_ = clock_.Now();
  last_used_.reset();
}

Clock::Duration LifeSigns::Silence() {
  constexpr auto kStoppedOurselves = std::chrono::seconds(5);
  const Clock::Duration now = clock_.Now();
  if (now - std::exchange(last_called_, now) > kStoppedOurselves) Note();
  if (now - last_ >= std::chrono::seconds(1) && now - last_asked_ >= std::chrono::seconds(1)) {
    last_asked_ = now;
    const std::optional<Clock::Duration> used = used_();
    if (used && last_used_ && *used != *last_used_) last_ = now;
    last_used_ = used;
  }
  return now - last_;
}

}  // namespace infimum
