// Turns a prepared run into the samples of one repetition.
//
//   warm: warm up (10 ms and 3 launches, doubling the batch until it lasts 0.5 ms), then samples
//         of that batch: sample = time of the batch / launches in it
//   cold: each sample flushes the caches and times one launch
//   cold-weights: as warm, while the run goes through copies of its constants in turn (see below): batches of
//         many launches, each of which reads its constants from memory. Where so many copies cannot be had, each
//         sample flushes the caches, launches once with a spare copy, which makes all else warm, and times a batch
//         of which each launch has a copy of its own
//
// until the 95 % interval of the median is within 0.5 % of it (and there are at least 10 samples), or
// the budget is spent (`unconverged`). A kernel of 3 us thus runs 175 times a sample, and the clock's own
// 25 ns weigh 0.005 %. All time comes from one Clock, so that a fake one makes every number here exact.
//
// A run on a device with a clock of its own times its launches itself (PreparedRun::TimeLaunches); how many, how often
// and when to stop is the same.
//
// A sample during which other programs had the core for more than 1 % of it is taken again. When that is more than
// every fifth, or when the hypervisor took more than 1 % of the time, the samples are `noisy`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "infimum/base/clock.h"
#include "infimum/base/units.h"
#include "infimum/microbench/backend.h"

namespace infimum {

// Empties the caches before a cold sample, by writing through more memory than they hold.
//
//   CacheFlusher flusher(device.last_level_cache);
//   flusher.Flush(run.footprint());      // at least 2 x the last-level cache, and the run's own bytes

class CacheFlusher {
 public:
  explicit CacheFlusher(Bytes last_level_cache) : last_level_cache_(last_level_cache) {}

  Bytes last_level_cache() const { return last_level_cache_; }

  // Touches every cache line of the buffer, which is allocated at the first call.
  void Flush(Bytes footprint);

  // What a flush touches: 2 x the last-level cache, at least the footprint, 64 MiB where the cache's size is
  // unknown, never more than 1 GiB (a shared cache of hundreds of MiB is only partly ours).
  static Bytes FlushedBytes(Bytes last_level_cache, Bytes footprint);

 private:
  Bytes last_level_cache_;
  std::vector<std::byte> buffer_;
  unsigned char turn_ = 0;
};

// How many copies of a run's constants make it read them from memory each time, whatever the caches do.
//
//   A run that goes through its copies in turn comes back to one when all others were read since: with 2 x the
//   last-level cache of them in all, nothing of it is left there. Operands, outputs and code are the same in each run
//   and stay warm.
//
//   last-level cache 32 MiB, weights of 9 MiB    8 copies in turn
//                            weights of 80 MiB   none: a run passes more than the caches hold by itself
//                            weights of 2 KiB    not even kMostCopies fill the caches: they are flushed before each
//                                                sample, of which each launch has a copy of its own
//
//   A device with a clock of its own goes through all copies in one sample, as many launches; where they are too many
//   for that it empties its caches itself and times one launch, behind another one with other copies.

struct ConstantRotation {
  // A copy takes a page at least, and a place in a list.
  static constexpr std::size_t kMostCopies = 16384;
  // Of one sample of a device with a clock of its own: nodes of a CUDA graph, which take microseconds each to record.
  static constexpr std::size_t kMostLaunchesOfADevice = 2048;

  std::size_t copies = 1;  // 1: no copies
  bool flushes = false;    // the caches, before each sample; `copies` is then the most that a sample may use

  // `constants` is more than nothing.
  static ConstantRotation For(Bytes constants, Bytes last_level_cache);

  friend bool operator==(const ConstantRotation&, const ConstantRotation&) = default;
};

// What the rest of the machine does to a measurement while it runs: the scheduler takes the core away
// (an involuntary context switch), or the hypervisor does (steal time).
//
//   SystemInterference probe({3});       // of this process, and of core 3
//   const CoreWatch watch(probe);
//   ... one sample ...
//   if (!watch.Kept(took)) TakeItAgain();

class InterferenceProbe {
 public:
  virtual ~InterferenceProbe() = default;
  // All threads of this process since its start. Cheap: called around every sample.
  virtual std::int64_t InvoluntarySwitches() = 0;
  // Likewise, that they ran, in the mean of the cores that are measured on; 0 where those are not known.
  virtual Clock::Duration TimeOnCores() = 0;
  // The cores that are measured on, since the machine's start. Called around every repetition.
  virtual Clock::Duration StolenTime() = 0;
};

// getrusage(2) and /proc/stat.
class SystemInterference : public InterferenceProbe {
 public:
  // No cores: the whole machine's.
  explicit SystemInterference(std::vector<int> cores) : cores_(std::move(cores)) {}
  std::int64_t InvoluntarySwitches() override;
  Clock::Duration TimeOnCores() override;
  Clock::Duration StolenTime() override;

 private:
  std::vector<int> cores_;
};

// For a backend whose time is pretended: nothing on this machine can disturb it.
class NoInterference : public InterferenceProbe {
 public:
  std::int64_t InvoluntarySwitches() override { return 0; }
  Clock::Duration TimeOnCores() override { return Clock::Duration(0); }
  Clock::Duration StolenTime() override { return Clock::Duration(0); }
};

// Whether what runs from here on had its cores for 99 % of its time: it never lost one, or only for a moment, which in
// a long inference happens on a quiet machine too. The same share as of a framework's inferences
// (scripts/frameworks/sampling.py).
class CoreWatch {
 public:
  explicit CoreWatch(InterferenceProbe& probe)
      : probe_(probe), switches_(probe.InvoluntarySwitches()), time_(probe.TimeOnCores()) {}
  bool Kept(Clock::Duration took) const;

 private:
  InterferenceProbe& probe_;
  std::int64_t switches_;
  Clock::Duration time_;
};

struct SamplerOptions {
  Clock::Duration budget = std::chrono::milliseconds(200);  // warm-up and flushes included; one sample is always taken
  Clock::Duration warm_up = std::chrono::milliseconds(10);  // at most a quarter of the budget
  std::int64_t warm_up_launches = 3;
  Clock::Duration sample_length = std::chrono::microseconds(500);
  double interval = 0.005;  // half the width of the median's 95 % interval, relative
  std::size_t least_samples = 10;
  std::size_t most_samples = 1000;

  // The quick look: after so many samples a run slower than `give_up_above` gets no more.
  std::size_t quick_samples = 5;
  std::optional<Latency> give_up_above;

  // Beyond the budget, where samples lost their cores, until `quick_samples` had them: other programs come and go.
  Clock::Duration patience{0};

  friend bool operator==(const SamplerOptions&, const SamplerOptions&) = default;
};

struct SampleSet {
  std::vector<Latency> samples;  // in the order they were taken, never empty
  std::int64_t launches_per_sample = 1;
  std::size_t undisturbed = 0;  // of `samples` the first ones; the others lost their cores, and are better than none
  std::size_t disturbed = 0;    // samples that lost their cores
  Clock::Duration stolen{0};    // by the hypervisor
  Clock::Duration spent{0};
  bool unconverged = false;
  bool noisy = false;
  bool launch_bound = false;  // the clock's own cost, or an empty launch, is more than a third of a sample
  bool gave_up = false;       // by the quick look
};

// One launch, for a first idea: the least of three, or as many as fit in 20 ms (the first one pays page
// faults and cold caches). Launches that saw a context switch do not count, for at most 200 ms.
Result<Latency> TimeFirstLaunch(PreparedRun& run, const Clock& clock, InterferenceProbe& interference);

// Cold weights of a run without constants are an error ("unsupported: ...").
Result<SampleSet> TakeSamples(PreparedRun& run, CacheState cache, const SamplerOptions& options, const Clock& clock,
                              InterferenceProbe& interference, CacheFlusher& flusher);

}  // namespace infimum
