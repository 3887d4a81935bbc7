#include "infimum/workflow/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace infimum {
namespace {

// A signal handler can reach nothing but a global: the one piece of mutable global state here.
std::atomic<int> interrupts{0};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

extern "C" void OnInterrupt(int signal_number) {
  if (interrupts.fetch_add(1) >= 1) _exit(128 + signal_number);
}

}  // namespace

void WatchForInterrupt() {
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A reader of our output that goes away (a pipe to `head`) must be an error of the write.
  std::signal(SIGPIPE, SIG_IGN);
}

bool Interrupted() { return interrupts.load() > 0; }

}  // namespace infimum
