// A program that never outlives this process, nor does anything that it starts.
//
//   infimum ------ watcher ------ runner ------ worker
//                  (a fork of      |
//                   infimum)       `---- what else descends from it
//
// Between this process and the program stands a watcher, to which every orphan below it falls
// (PR_SET_CHILD_SUBREAPER). When the program ends, or on Kill(), or when this process is gone, by SIGKILL too, the
// watcher ends all that is left below it.
//
//   Result<WatchedChild> child = WatchedChild::Start(arguments, environment, {in, out, err});
//   child->Interrupt();                        // SIGINT to the program's process group
//   std::optional<int> status = child->Wait(std::chrono::milliseconds(100));
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "infimum/base/result.h"

namespace infimum {

class WatchedChild {
 public:
  // `streams` become the program's standard input, output and error; they stay open here. The program is looked up on
  // the PATH and has a process group of its own: a terminal's Ctrl-C reaches it only through us.
  static Result<WatchedChild> Start(std::vector<std::string> arguments, std::vector<std::string> environment,
                                    const std::array<int, 3>& streams);
  WatchedChild(WatchedChild&& other) noexcept;
  WatchedChild(const WatchedChild&) = delete;
  WatchedChild& operator=(const WatchedChild&) = delete;
  // Kills what still runs.
  ~WatchedChild();

  pid_t watcher() const { return watcher_; }
  pid_t program() const { return program_; }
  void Interrupt() const;
  // The program and all that descends from it.
  void Kill() const;
  // The program's status as waitpid(2) has it, once nothing descends from it any more; nullopt where it takes longer.
  // That of a program whose watcher was killed counts as killed.
  std::optional<int> Wait(std::chrono::milliseconds most);

 private:
  WatchedChild(pid_t watcher, int control) : watcher_(watcher), control_(control) {}
  void Send(char command) const;
  void Reap();

  pid_t watcher_;
  int control_;  // a socket: commands there, what became of the program back
  pid_t program_ = 0;
  std::optional<int> status_;
};

}  // namespace infimum
