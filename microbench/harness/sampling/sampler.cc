#include "microbench/harness/sampling/sampler.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

#include "infimum/base/check.h"

namespace infimum {
namespace {

constexpr Bytes kUnknownCacheFlush{std::int64_t{64} << 20};
constexpr Bytes kLargestFlush{std::int64_t{1} << 30};
constexpr std::size_t kCacheLine = 64;

}  // namespace

Bytes CacheFlusher::FlushedBytes(Bytes last_level_cache, Bytes footprint) {
  const Bytes caches = last_level_cache.value > 0
                           ? std::min(kLargestFlush, Bytes{std::min(last_level_cache, kLargestFlush).value * 2})
                           : kUnknownCacheFlush;
  return std::min(kLargestFlush, std::max(caches, footprint));
}

void CacheFlusher::Flush(Bytes footprint) {
  const auto size = static_cast<std::size_t>(FlushedBytes(last_level_cache_, footprint).value);
  if (buffer_.size() < size) buffer_.resize(size);
  // A different value each time, so that no write can be left out as silent.
  ++turn_;
  for (std::size_t i = 0; i < size; i += kCacheLine) buffer_[i] = std::byte{turn_};
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

ConstantRotation ConstantRotation::For(Bytes constants, Bytes last_level_cache) {
  INFIMUM_CHECK(constants.value > 0, "rotation needs constants");
  // As much as a flush touches, and like it never more than 1 GiB.
  const std::int64_t wanted = CacheFlusher::FlushedBytes(last_level_cache, Bytes{}).value;
  const std::int64_t copies = wanted / constants.value + (wanted % constants.value == 0 ? 0 : 1);
  if (copies > static_cast<std::int64_t>(kMostCopies)) return {kMostCopies, true};
  return {static_cast<std::size_t>(copies), false};
}

std::int64_t SystemInterference::InvoluntarySwitches() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return usage.ru_nivcsw;
}

Clock::Duration SystemInterference::TimeOnCores() {
  timespec time{};
  if (cores_.empty() || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) != 0) return Clock::Duration(0);
  return (std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)) /
         static_cast<std::int64_t>(cores_.size());
}

bool CoreWatch::Kept(Clock::Duration took) const {
  constexpr double kShareThatCounts = 0.99;
  if (probe_.InvoluntarySwitches() == switches_) return true;
  return static_cast<double>((probe_.TimeOnCores() - time_).count()) >=
         kShareThatCounts * static_cast<double>(took.count());
}

// Lines "cpu3 user nice system idle iowait irq softirq steal ..." in clock ticks; "cpu" is their sum.
Clock::Duration SystemInterference::StolenTime() {
  const long ticks_per_second = sysconf(_SC_CLK_TCK);
  if (ticks_per_second <= 0) return Clock::Duration(0);
  std::ifstream stat("/proc/stat");
  std::string line;
  std::int64_t stolen_ticks = 0;
  while (std::getline(stat, line) && line.starts_with("cpu")) {
    std::istringstream fields(line);
    std::string name;
    std::int64_t ticks = 0;
    fields >> name;
    for (int field = 0; field < 8; ++field) fields >> ticks;
    if (!fields) continue;
    const bool whole_machine = name == "cpu";
    const bool ours = cores_.empty() ? whole_machine : !whole_machine && std::ranges::any_of(cores_, [&](int core) {
      return name == "cpu" + std::to_string(core);
    });
    if (ours) stolen_ticks += ticks;
  }
  return std::chrono::duration_cast<Clock::Duration>(
      std::chrono::duration<double>(static_cast<double>(stolen_ticks) / static_cast<double>(ticks_per_second)));
}

namespace {

constexpr std::int64_t kMostLaunchesPerSample = 1 << 16;
constexpr std::size_t kSamplesBetweenChecks = 5;
constexpr double kDisturbedShareOfNoise = 0.2;
constexpr double kStolenShareOfNoise = 0.01;

Latency PerLaunch(Clock::Duration duration, std::int64_t launches) {
  return Latency(duration) / static_cast<double>(launches);
}

// Time of `launches` runs in a row, by the device's own clock where it has one, else by two readings of ours.
Result<Clock::Duration> TimeBatch(PreparedRun& run, std::int64_t launches, const Clock& clock) {
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<Clock::Duration> own, run.TimeLaunches(launches));
  if (own) return *own;
  const Clock::Duration start = clock.Now();
  for (std::int64_t launch = 0; launch < launches; ++launch) INFIMUM_RETURN_IF_ERROR(run.Run());
  return clock.Now() - start;
}

// What two readings of the clock cost by themselves.
Latency ClockCost(const Clock& clock) {
  Clock::Duration least = Clock::Duration::max();
  for (int i = 0; i < 32; ++i) {
    const Clock::Duration start = clock.Now();
    least = std::min(least, clock.Now() - start);
  }
  return Latency(least);
}

// Runs warm, and finds how many launches last `sample_length` at least.
Result<std::int64_t> WarmUp(PreparedRun& run, const SamplerOptions& options, const Clock& clock) {
  const Clock::Duration start = clock.Now();
  const Clock::Duration most = options.budget / 4;
  const Clock::Duration wanted = std::min(options.warm_up, most);
  std::int64_t batch = 1;
  std::int64_t launches = 0;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const Clock::Duration duration, TimeBatch(run, batch, clock));
    launches += batch;
    const Clock::Duration elapsed = clock.Now() - start;
    const bool long_enough = duration >= options.sample_length || batch >= kMostLaunchesPerSample;
    if (!long_enough) {
      // 5 % more than this batch asks for, since the next one is warmer; at most ten times as many.
      const double factor = duration.count() > 0 ? 1.05 * static_cast<double>(options.sample_length.count()) /
                                                       static_cast<double>(duration.count())
                                                 : 10.0;
      const auto next = static_cast<std::int64_t>(std::ceil(static_cast<double>(batch) * std::min(factor, 10.0)));
      batch = std::clamp(next, batch + 1, kMostLaunchesPerSample);
    }
    if (elapsed >= most && (long_enough || elapsed >= options.budget)) break;
    if (long_enough && elapsed >= wanted && launches >= options.warm_up_launches) break;
    if (long_enough && duration.count() == 0 && launches >= options.warm_up_launches)
      break;  // a clock that does not advance
  }
  return batch;
}

// Prepares the caches for each sample as its state requires; restored at the end.
class CacheKeeper {
 public:
  CacheKeeper(PreparedRun& run, CacheState cache, CacheFlusher& flusher)
      : run_(run), cache_(cache), flusher_(flusher) {}
  CacheKeeper(const CacheKeeper&) = delete;
  CacheKeeper& operator=(const CacheKeeper&) = delete;
  ~CacheKeeper() {
    if (rotates_) static_cast<void>(run_.RotateConstants(1));
  }

  // Before the warm-up, which then finds out how many launches make a sample with its constants in turn.
  Status Begin() {
    if (cache_ == CacheState::kCold) return AskTheDevice();
    if (cache_ != CacheState::kColdWeights) return {};
    const Bytes constants = run_.constants();
    if (constants.value <= 0)
      return Error{
          "unsupported: its weights cannot be distinguished from its other operands, so they alone cannot be cold"};
    rotation_ = ConstantRotation::For(constants, flusher_.last_level_cache());
    if (rotation_.copies > ConstantRotation::kMostLaunchesOfADevice) {
      INFIMUM_RETURN_IF_ERROR(AskTheDevice());
      if (device_empties_) return Rotate(2);
    }
    return rotation_.flushes ? Status() : Rotate(rotation_.copies);
  }

  // After it: how many launches a sample has.
  Result<std::int64_t> LaunchesPerSample(std::int64_t batch) {
    if (cache_ == CacheState::kCold || device_empties_) return 1;
    if (cache_ == CacheState::kWarm || !rotation_.flushes) return batch;
    batch = std::min(batch, static_cast<std::int64_t>(rotation_.copies) - 1);
    INFIMUM_RETURN_IF_ERROR(Rotate(static_cast<std::size_t>(batch) + 1));
    return batch;
  }

  Status BeforeSample() {
    if (device_empties_ || (cache_ != CacheState::kCold && !rotation_.flushes)) return {};
    flusher_.Flush(run_.footprint());
    return rotation_.flushes ? run_.Run() : Status();
  }

  Result<Clock::Duration> TimeSample(std::int64_t launches, const Clock& clock) {
    if (!device_empties_) return TimeBatch(run_, launches, clock);
    INFIMUM_ASSIGN_OR_RETURN(const std::optional<Clock::Duration> own, TimeColdLaunch());
    if (!own) return Error{"the device timed its first cold launch but not the next one"};
    return *own;
  }

 private:
  Result<std::optional<Clock::Duration>> TimeColdLaunch() {
    return run_.TimeColdLaunch(cache_ == CacheState::kColdWeights);
  }
  Status AskTheDevice() {
    INFIMUM_ASSIGN_OR_RETURN(const std::optional<Clock::Duration> own, TimeColdLaunch());
    device_empties_ = own.has_value();
    return {};
  }
  Status Rotate(std::size_t copies) {
    rotates_ = copies > 1;
    return run_.RotateConstants(copies);
  }

  PreparedRun& run_;
  CacheState cache_;
  CacheFlusher& flusher_;
  ConstantRotation rotation_;
  bool rotates_ = false;
  bool device_empties_ = false;  // its caches, and times the launch itself
};

bool Converged(const std::vector<Latency>& samples, double interval) {
  const Interval median = MedianInterval(samples);
  const Latency middle = Quantile(samples, 0.5);
  return (median.high - median.low) / 2 <= middle * interval;
}

}  // namespace

Result<Latency> TimeFirstLaunch(PreparedRun& run, const Clock& clock, InterferenceProbe& interference) {
  constexpr auto kShort = std::chrono::milliseconds(20);
  constexpr auto kLongEnough = std::chrono::milliseconds(200);
  const Clock::Duration start = clock.Now();
  Clock::Duration least = Clock::Duration::max();
  int clean = 0;
  for (int launch = 0; launch < 10 && clean < 3; ++launch) {
    const CoreWatch watch(interference);
    INFIMUM_ASSIGN_OR_RETURN(const Clock::Duration duration, TimeBatch(run, 1, clock));
    least = std::min(least, duration);
    if (watch.Kept(duration)) ++clean;
    if (clock.Now() - start >= (clean > 0 ? kShort : kLongEnough)) break;
  }
  return Latency(least);
}

Result<SampleSet> TakeSamples(PreparedRun& run, CacheState cache, const SamplerOptions& options, const Clock& clock,
                              InterferenceProbe& interference, CacheFlusher& flusher) {
  SampleSet set;
  CacheKeeper caches(run, cache, flusher);
  INFIMUM_RETURN_IF_ERROR(caches.Begin());
  const Clock::Duration start = clock.Now();
  const Clock::Duration stolen_before = interference.StolenTime();
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t batch, WarmUp(run, options, clock));
  INFIMUM_ASSIGN_OR_RETURN(set.launches_per_sample, caches.LaunchesPerSample(batch));

  std::vector<Latency> disturbed;  // kept aside: better than nothing where nothing else can be had
  bool converged = false;
  while (true) {
    INFIMUM_RETURN_IF_ERROR(caches.BeforeSample());
    const CoreWatch watch(interference);
    INFIMUM_ASSIGN_OR_RETURN(const Clock::Duration duration, caches.TimeSample(set.launches_per_sample, clock));
    const Latency sample = PerLaunch(duration, set.launches_per_sample);
    const bool clean = watch.Kept(duration);
    (clean ? set.samples : disturbed).push_back(sample);

    const std::size_t taken = set.samples.size();
    if (clean && taken == options.quick_samples && options.give_up_above &&
        Quantile(set.samples, 0.5) > *options.give_up_above) {
      set.gave_up = true;
      break;
    }
    if (clean && taken >= options.least_samples && (taken - options.least_samples) % kSamplesBetweenChecks == 0 &&
        Converged(set.samples, options.interval)) {
      converged = true;
      break;
    }
    const bool waits =
        taken < options.quick_samples && !disturbed.empty() && clock.Now() - start < options.budget + options.patience;
    if (clock.Now() - start >= options.budget ? !waits : taken + disturbed.size() >= options.most_samples) break;
  }

  set.undisturbed = set.samples.size();
  set.disturbed = disturbed.size();
  set.stolen = interference.StolenTime() - stolen_before;
  set.spent = clock.Now() - start;
  const double taken = static_cast<double>(set.samples.size() + disturbed.size());
  set.noisy = static_cast<double>(disturbed.size()) > kDisturbedShareOfNoise * taken ||
              static_cast<double>(set.stolen.count()) > kStolenShareOfNoise * static_cast<double>(set.spent.count());
  if (set.samples.size() < std::min(options.quick_samples, disturbed.size()))
    set.samples.insert(set.samples.end(), disturbed.begin(), disturbed.end());
  set.unconverged =
      !converged && (set.samples.size() < options.least_samples || !Converged(set.samples, options.interval));
  const Latency median = Quantile(set.samples, 0.5);
  const std::optional<Latency> floor = run.TimingFloor();
  set.launch_bound =
      floor ? median < *floor * 3 : median * static_cast<double>(set.launches_per_sample) < ClockCost(clock) * 3;
  return set;
}

}  // namespace infimum
