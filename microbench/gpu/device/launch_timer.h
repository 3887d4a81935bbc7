// The marginal time of a launch on a GPU: what one more costs, without what events and starting a graph cost.
//
//   a kernel of 3 us, 6 us for starting a graph, events included
//     graph of 512 launches   1542 us
//     graph of 1024           3078 us
//     (3078 - 1542) / 512     3.00 us a launch, where 1542 / 512 is 3.01 and one launch alone is 9 us
//
// Launches in a graph run back to back; in a stream they would wait for the host, which needs 2 us for each. Where a
// library cannot be captured they are launched into a stream, by the same difference, and the row is flagged
// `uncaptured`: what the host needs may be in it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "infimum/base/clock.h"
#include "microbench/gpu/device/launch_device.h"

namespace infimum::cuda {

struct LaunchTimerOptions {
  std::int64_t most_launches = 512;  // in the smaller of two graphs
  std::int64_t launch_multiple = 1;  // launches of a graph are a multiple of it, if need be more than the most
  double least_frequency = 0.75;     // of the usual one: a time taken below it is taken again
  std::optional<double> usual_mhz;   // the highest that the device may run at; nullopt: no time is refused
  int most_attempts = 8;             // for one time
};

class LaunchTimer {
 public:
  // `device` lives longer.
  LaunchTimer(LaunchDevice& device, LaunchTimerOptions options) : device_(device), options_(options) {}
  LaunchTimer(const LaunchTimer&) = delete;
  LaunchTimer& operator=(const LaunchTimer&) = delete;
  ~LaunchTimer();

  // So many marginal launches. More than `most_launches` are counted up from as many.
  Result<Clock::Duration> Time(std::int64_t launches);
  // One launch between two events.
  Result<Clock::Duration> TimeAlone(LaunchCaches caches);

  // Times that were refused since the start: taken while the device was slowed down, or without a slope.
  std::size_t slowed() const { return slowed_; }
  std::size_t without_slope() const { return without_slope_; }
  // "uncaptured" where no graph could be had; "host_bound" where a launch alone may contain the host's time for it;
  // "overlaps" where a launch may begin before the one ahead has ended, so that one alone may take longer;
  // "power_limited" where the power limit held the frequency below the usual one at some time, "throttled" where
  // something else did at most times, however often they were taken again.
  std::vector<std::string> flags() const;

 private:
  Result<Latency> TimeAll(std::int64_t launches);
  // Calls `take` until the device runs at its usual frequency after it. Where it did not in all attempts for one time,
  // as with clocks that were locked low, the next ones are taken once, until it does.
  template <class Take>
  Result<Latency> AtUsualFrequency(const Take& take);

  LaunchDevice& device_;
  LaunchTimerOptions options_;
  std::map<std::int64_t, LaunchDevice::Graph> graphs_;  // by launches
  bool is_captured_ = true, is_host_bound_ = false, overlaps_ = false, is_power_limited_ = false, stays_slow_ = false;
  std::size_t times_ = 0, throttled_ = 0, slowed_ = 0, without_slope_ = 0;
};

}  // namespace infimum::cuda
