// What the rest of the machine does to a measurement while it runs: the scheduler takes the core away
// (an involuntary context switch), or the hypervisor does (steal time).
//
//   SystemInterference probe({3});       // of this process, and of core 3
//   const auto before = probe.InvoluntarySwitches();
//   ... one sample ...
//   if (probe.InvoluntarySwitches() != before) TakeItAgain();
#pragma once

#include <cstdint>
#include <vector>

#include "infimum/base/clock.h"

namespace infimum {

class InterferenceProbe {
 public:
  virtual ~InterferenceProbe() = default;
  // Of all threads of this process since its start. Cheap: called around every sample.
  virtual std::int64_t InvoluntarySwitches() = 0;
  // Of the cores that are measured on, since the machine's start. Called around every repetition.
  virtual Clock::Duration StolenTime() = 0;
};

// getrusage(2) and /proc/stat.
class SystemInterference : public InterferenceProbe {
 public:
  // No cores: the whole machine's.
  explicit SystemInterference(std::vector<int> cores) : cores_(std::move(cores)) {}
  std::int64_t InvoluntarySwitches() override;
  Clock::Duration StolenTime() override;

 private:
  std::vector<int> cores_;
};

// For a backend whose time is pretended: nothing on this machine can disturb it.
class NoInterference : public InterferenceProbe {
 public:
  std::int64_t InvoluntarySwitches() override { return 0; }
  Clock::Duration StolenTime() override { return Clock::Duration(0); }
};

}  // namespace infimum
