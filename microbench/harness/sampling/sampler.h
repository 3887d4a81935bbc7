// Turns a prepared run into the samples of one repetition.
//
//   warm: warm up (10 ms and 3 launches, doubling the batch until it lasts 0.5 ms), then samples
//         of that batch: sample = time of the batch / launches in it
//   cold: each sample flushes the caches and times one launch
//   cold-weights: as warm, while the run goes through copies of its constants in turn (constant_rotation.h): batches of
//         many launches, each of which reads its constants from memory. Where so many copies cannot be had, each
//         sample flushes the caches, launches once with a spare copy, which makes all else warm, and times a batch
//         of which each launch has a copy of its own
//
// until the 95 % interval of the median lies within 0.5 % of it (and there are at least 10 samples), or
// the budget is spent (`unconverged`). A kernel of 3 us thus runs 175 times a sample, and the clock's own
// 25 ns weigh 0.005 %. All time comes from one Clock, so that a fake one makes every number here exact.
//
// A run on a device with a clock of its own times its launches itself (PreparedRun::TimeLaunches); how many, how often
// and when to stop is the same.
//
// A sample during which the scheduler took the core away is taken again. When that is more than every
// fifth, or when the hypervisor took more than 1 % of the time, the samples are `noisy`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "infimum/microbench/backend.h"
#include "microbench/harness/sampling/cache_flusher.h"
#include "microbench/harness/sampling/interference.h"

namespace infimum {

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

  friend bool operator==(const SamplerOptions&, const SamplerOptions&) = default;
};

struct SampleSet {
  std::vector<Latency> samples;  // in the order they were taken, never empty
  std::int64_t launches_per_sample = 1;
  std::size_t disturbed = 0;  // samples that saw an involuntary context switch
  Clock::Duration stolen{0};  // by the hypervisor
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
