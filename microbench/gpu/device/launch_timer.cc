#include "microbench/gpu/device/launch_timer.h"

#include <algorithm>

namespace infimum::cuda {

LaunchTimer::~LaunchTimer() {
  for (const auto& [launches, graph] : graphs_) device_.Drop(graph);
}

std::vector<std::string> LaunchTimer::flags() const {
  std::vector<std::string> flags;
  if (!is_captured_) flags.emplace_back("uncaptured");
  if (is_host_bound_) flags.emplace_back("host_bound");
  if (overlaps_) flags.emplace_back("overlaps");
  if (is_power_limited_) flags.emplace_back("power_limited");
  if (2 * throttled_ > times_) flags.emplace_back("throttled");
  return flags;
}

Result<Latency> LaunchTimer::TimeAll(std::int64_t launches) {
  if (is_captured_) {
    auto known = graphs_.find(launches);
    if (known == graphs_.end()) {
      const Result<LaunchDevice::Graph> graph = device_.Capture(launches);
      if (graph.ok()) {
        known = graphs_.emplace(launches, *graph).first;
        overlaps_ = overlaps_ || device_.Overlaps(*graph);
      }
    }
    if (known != graphs_.end()) {
      const Result<Latency> time = device_.Replay(known->second);
      is_host_bound_ = is_host_bound_ || device_.HostWasLate();
      return time;
    }
    // Both times of a difference are taken the same way.
    is_captured_ = false;
  }
  return device_.LaunchInStream(launches);
}

template <class Take>
Result<Latency> LaunchTimer::AtUsualFrequency(const Take& take) {
  ++times_;
  const int most = stays_slow_ ? 1 : options_.most_attempts;
  for (int attempt = 1;; ++attempt) {
    INFIMUM_ASSIGN_OR_RETURN(const Latency time, take());
    // An idle device wakes up under load: what counts is the frequency that it is at afterwards.
    const std::optional<double> mhz = device_.FrequencyMhz();
    if (!mhz || !options_.usual_mhz || *mhz >= options_.least_frequency * *options_.usual_mhz) {
      stays_slow_ = false;
      return time;
    }
    // Another attempt would be no faster.
    if (device_.IsPowerLimited()) {
      is_power_limited_ = true;
      return time;
    }
    if (attempt == most) {
      ++throttled_;
      stays_slow_ = true;
      return time;
    }
    ++slowed_;
    device_.Pause();
  }
}

Result<Clock::Duration> LaunchTimer::Time(std::int64_t launches) {
  const std::int64_t multiple = options_.launch_multiple;
  const std::int64_t few =
      (std::clamp<std::int64_t>(launches, 1, options_.most_launches) + multiple - 1) / multiple * multiple;
  // Where the first difference is not positive the median of five or more counts: the next positive one alone would be
  // too long for a short kernel.
  constexpr std::size_t kOfMedian = 5;
  std::vector<Latency> slopes;
  for (int attempt = 1;; ++attempt) {
    // Mode of one difference: graphs that cannot be captured change it, and then both are taken again.
    const bool was_captured = is_captured_;
    INFIMUM_ASSIGN_OR_RETURN(const Latency once, AtUsualFrequency([&] { return TimeAll(few); }));
    INFIMUM_ASSIGN_OR_RETURN(const Latency twice, AtUsualFrequency([&] { return TimeAll(2 * few); }));
    if (was_captured != is_captured_) continue;
    slopes.push_back((twice - once) / static_cast<double>(few));
    if (slopes.back() <= Latency(0)) ++without_slope_;
    const std::size_t count = slopes.size();
    if (count == 1 || (count >= kOfMedian && count % 2 == 1)) {
      std::ranges::sort(slopes);
      const Latency slope = slopes[count / 2];
      if (slope > Latency(0)) return std::chrono::duration_cast<Clock::Duration>(slope * static_cast<double>(launches));
    }
    if (attempt >= options_.most_attempts)
      return Error{"twice as many launches took no longer in the median of " + std::to_string(count) +
                   " differences; the device is busy with something else, or the launch does nothing"};
  }
}

Result<Clock::Duration> LaunchTimer::TimeAlone(LaunchCaches caches) {
  INFIMUM_ASSIGN_OR_RETURN(const Latency time, AtUsualFrequency([&] { return device_.LaunchAlone(caches); }));
  is_host_bound_ = is_host_bound_ || device_.HostWasLate();
  return std::chrono::duration_cast<Clock::Duration>(time);
}

}  // namespace infimum::cuda
