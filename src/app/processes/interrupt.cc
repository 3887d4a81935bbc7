#include "src/app/processes/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace infimum {
namespace {

// For the orderly end: one that is stuck (a lock that another program holds) ends all the same.
constexpr unsigned kMostSeconds = 10;

// A signal handler can reach nothing but globals: the only mutable ones here.
std::atomic<int> interrupts{0}, holds{0}, first_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

extern "C" void OnInterrupt(int signal_number) {
  if (interrupts.fetch_add(1) >= 1 || holds.load() == 0) _exit(128 + signal_number);
  first_signal.store(signal_number);
  alarm(kMostSeconds);
}

extern "C" void OnAlarm(int) { _exit(128 + first_signal.load()); }

}  // namespace

void WatchForInterrupt() {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    sigaction(signal_number, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = OnInterrupt;
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, nullptr);
  }
  std::signal(SIGALRM, OnAlarm);
  // A reader of our output that goes away (a pipe to `head`) must be an error of the write.
  std::signal(SIGPIPE, SIG_IGN);
}

bool Interrupted() { return interrupts.load() > 0; }

InterruptHold::InterruptHold() { holds.fetch_add(1); }

InterruptHold::~InterruptHold() { holds.fetch_sub(1); }

}  // namespace infimum
