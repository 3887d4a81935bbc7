// Processes, as the system sees them: how one ended, what descends from it, whether it still lives; and how this one
// begins.
//
//   const OutOfMemoryKills kills;                       // before the child starts
//   ... waitpid(pid, &status, 0) ...
//   DescribeExit(status, kills)     "killed by signal 11 (segmentation fault)"
//                                   "killed by signal 9 (killed): the kernel ended a process for lack of memory
//                                   meanwhile"
//
//   LifeSigns signs(SteadyClock(), [pid] { return ProcessorTimeOf(pid); });
//   signs.Note();                                       // it wrote something
//   if (signs.Silence() > 30s) ...                      // neither a word nor any processor time for so long
//
// Linux: /proc and control groups. What cannot be read there is absent, never an error.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "infimum/base/clock.h"

namespace infimum {

// Opens /dev/null in place of standard streams that are closed (2>&-), so that no file, socket or pipe gets their
// number and with it what is written to them. Writing to a closed output stays an error. Once, first in main.
void EnsureStandardStreams();

// Children, their children and so on, in no order; of a moment that is over when it returns.
std::vector<pid_t> DescendantsOf(pid_t ancestor);

// User and system time that a process has used so far, in ticks of 10 ms; nullopt where it is gone.
std::optional<Clock::Duration> ProcessorTimeOf(pid_t process);
// The sum over several; processes that have ended count nothing.
Clock::Duration ProcessorTimeOf(const std::vector<pid_t>& processes);

// As exec and posix_spawn take arguments and variables: a pointer to each, and nullptr behind them.
std::vector<char*> Pointers(std::vector<std::string>& texts);

// How often the kernel has ended a process for lack of memory since this was made: the machine's count
// (oom_kill in /proc/vmstat) and the control group's (oom_kill in memory.events).
class OutOfMemoryKills {
 public:
  OutOfMemoryKills() : before_(Count()) {}
  // nullopt where the system reports neither.
  std::optional<std::int64_t> since() const;

 private:
  static std::optional<std::int64_t> Count();
  std::optional<std::int64_t> before_;
};

// "exited with code 3", "killed by signal 11 (segmentation fault)", from waitpid's status. SIGKILL leaves no trace of
// who sent it, so the text names the likely cause by `kills`.
std::string DescribeExit(int status, const OutOfMemoryKills& kills);

// Whether a process still works: it wrote something, or it used processor time.
class LifeSigns {
 public:
  using ProcessorTime = std::function<std::optional<Clock::Duration>()>;
  LifeSigns(const Clock& clock, ProcessorTime used)
      : clock_(clock), used_(std::move(used)), last_(clock.Now()), last_called_(last_) {}

  void Note();
  // How long there has been no sign; to be called every second or oftener. Whoever calls it less was stopped himself (a
  // laptop's lid, a paused virtual machine), and then the silence begins anew. Asks for the processor time at most once
  // a second, and not within the first.
  Clock::Duration Silence();

 private:
  const Clock& clock_;
  ProcessorTime used_;
  Clock::Duration last_, last_called_, last_asked_{0};
  std::optional<Clock::Duration> last_used_;  // since the last sign
};

}  // namespace infimum
