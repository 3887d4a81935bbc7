// How a time is made on a processor, whatever the library: warm up for 10 ms, find how many launches last 0.5 ms, then
// take samples of that many launches until the median is known within 0.5 %, or 200 ms are spent. This is how infimum's
// runners time, so that both give the same number. GPUs are timed by events of their own, with the same statistics.
//
//   const Times times = TakeSamples([&] { primitive.execute(stream, arguments); });
//   Report(times, state);
//
// Google Benchmark's own loop is not used: it enters a function with manual time again and again until that time adds
// up to its minimum.
#pragma once

#include <benchmark/benchmark.h>

#if defined(__linux__)
#include <sys/resource.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

struct Times {
  double min_us = 0;
  double median_us = 0;
  double p95_us = 0;
  std::size_t samples = 0;
  long launches_per_sample = 1;
  std::size_t disturbed = 0;  // samples that were taken again, since the scheduler took the core away
};

namespace timing {

using Clock = std::chrono::steady_clock;

inline double Microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

inline long InvoluntarySwitches() {
#if defined(__linux__)
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) == 0) return usage.ru_nivcsw;
#endif
  return 0;
}

template <class Launch>
double TimeBatch(const Launch& launch, long launches) {
  const Clock::time_point start = Clock::now();
  for (long i = 0; i < launches; ++i) launch();
  return Microseconds(Clock::now() - start);
}

inline double Quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)))];
}

// Whether the 95 % interval of the median, from order statistics, lies within 0.5 % of it.
inline bool IsKnown(const std::vector<double>& sorted) {
  const auto count = static_cast<double>(sorted.size());
  const double cut = std::floor((count - 1.96 * std::sqrt(count)) / 2);
  if (sorted.size() < 10 || cut < 1) return false;
  const auto first = static_cast<std::size_t>(cut) - 1;
  return (sorted[sorted.size() - 1 - first] - sorted[first]) / 2 <= 0.005 * Quantile(sorted, 0.5);
}

// How many launches make a sample, found while everything warms up.
template <class Launch>
long WarmUp(const Launch& launch) {
  constexpr double kSample = 500, kWarmUp = 10'000, kMost = 50'000;  // us
  constexpr long kMostLaunches = 1 << 16;
  const Clock::time_point start = Clock::now();
  long batch = 1;
  for (long launches = 0;;) {
    const double time = TimeBatch(launch, batch);
    launches += batch;
    const double elapsed = Microseconds(Clock::now() - start);
    const bool long_enough = time >= kSample || batch >= kMostLaunches;
    if (long_enough && (elapsed >= kMost || (elapsed >= kWarmUp && launches >= 3))) return batch;
    if (!long_enough) {
      const double factor = std::min(10.0, 1.05 * kSample / std::max(time, 0.001));
      batch = std::clamp(static_cast<long>(std::ceil(static_cast<double>(batch) * factor)), batch + 1, kMostLaunches);
    }
  }
}

}  // namespace timing

template <class Launch>
Times TakeSamples(const Launch& launch) {
  constexpr double kBudget = 200'000;  // us, of one benchmark
  constexpr std::size_t kMostSamples = 1000;
  const timing::Clock::time_point start = timing::Clock::now();
  Times times;
  times.launches_per_sample = timing::WarmUp(launch);
  std::vector<double> clean, disturbed;  // sorted
  while (true) {
    const long switches = timing::InvoluntarySwitches();
    const double sample =
        timing::TimeBatch(launch, times.launches_per_sample) / static_cast<double>(times.launches_per_sample);
    std::vector<double>& kept = timing::InvoluntarySwitches() == switches ? clean : disturbed;
    kept.insert(std::upper_bound(kept.begin(), kept.end(), sample), sample);
    if (clean.size() % 5 == 0 && timing::IsKnown(clean)) break;
    if (timing::Microseconds(timing::Clock::now() - start) >= kBudget) break;
    if (clean.size() + disturbed.size() >= kMostSamples) break;
  }
  times.disturbed = disturbed.size();
  const std::vector<double>& sorted = clean.empty() ? disturbed : clean;
  times.min_us = sorted.front();
  times.median_us = timing::Quantile(sorted, 0.5);
  times.p95_us = timing::Quantile(sorted, 0.95);
  times.samples = sorted.size();
  return times;
}

// The median becomes the benchmark's time; one iteration for Google Benchmark, registered with
// Iterations(1)->UseManualTime().
inline void Report(const Times& times, benchmark::State& state) {
  state.SetIterationTime(times.median_us * 1e-6);
  state.counters["min_us"] = times.min_us;
  state.counters["median_us"] = times.median_us;
  state.counters["p95_us"] = times.p95_us;
  state.counters["samples"] = static_cast<double>(times.samples);
  state.counters["launches_per_sample"] = static_cast<double>(times.launches_per_sample);
  state.counters["disturbed"] = static_cast<double>(times.disturbed);
}
