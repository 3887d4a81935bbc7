// SIGINT, SIGTERM and SIGHUP. The first one ends the program, at any moment:
//
//   at once, exit code 128 + signal        where nothing would be lost by it; children are ended by their watcher
//   in an orderly way, within 10 seconds   while an InterruptHold lives: long work asks Interrupted(), ends what is
//   under
//                                          way and writes what is known
//
// The second one ends it at once. A signal that was ignored when the program began (nohup) stays ignored.
#pragma once

namespace infimum {

// Installs the handlers; once, from main.
void WatchForInterrupt();

// Whether a signal has come while a hold lived.
bool Interrupted();

class InterruptHold {
 public:
  InterruptHold();
  ~InterruptHold();
  InterruptHold(const InterruptHold&) = delete;
  InterruptHold& operator=(const InterruptHold&) = delete;
};

}  // namespace infimum
