// Runs a program, feeds it a text, hands over what it prints line by line, and ends it when asked to.
//
//   ProcessRequest request{.arguments = {"bin/infimum-microbench-onednn", "-", "-o", "-"}, .input = plan};
//   Result<ProcessEnd> end = RunProcess(request, [&](std::string_view line) { return Take(line); });
//
// An interrupt (interrupt.h) is passed on as SIGINT; a child that has not ended three seconds later is
// killed. Neither a child nor anything that it starts outlives this call, or this process, however it ends.
//
// A child that gives no sign of life (no output and no processor time, its descendants' included) for 30 seconds is
// ended; behind the end of its budget much sooner, and 8 seconds behind it in any case if it was told to keep it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infimum/base/result.h"

namespace infimum {

struct ProcessRequest {
  std::vector<std::string> arguments;                            // the program first
  std::string input;                                             // to its standard input
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours
  std::optional<std::chrono::seconds> budget = {};               // after which silence is not borne for long
  bool knows_budget = false;                                     // it was told to keep it
  std::optional<std::chrono::seconds> most = {};                 // after which it is ended, whatever it does
};

struct ProcessEnd {
  int exit_code = 0;                     // 128 + signal where a signal ended it
  std::string how;                       // "exited with code 3", "was killed by signal 11 (segmentation fault)"
  bool interrupted = false;              // by us, on an interrupt
  std::optional<std::string> given_up;   // by us, and why: "gave no sign of life for 30 s"
  bool out_of_memory = false;            // killed while the kernel ended a process for lack of memory
  std::vector<std::string> last_errors;  // the last lines of standard error, at most 20
};

using TakeLine = std::function<Status(std::string_view line)>;

// `take_output` gets each line of standard output; an error from it ends the child and is returned.
// `take_error` gets each line of standard error; `on_idle` is called about five times a second.
Result<ProcessEnd> RunProcess(const ProcessRequest& request, const TakeLine& take_output,
                              const std::function<void(std::string_view line)>& take_error = {},
                              const std::function<Status()>& on_idle = {});

}  // namespace infimum
