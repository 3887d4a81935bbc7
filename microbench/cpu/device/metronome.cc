#include "microbench/cpu/device/metronome.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "infimum/base/clock.h"
#include "microbench/kernels/cpu/vector/cpu_features.h"
#include "microbench/kernels/cpu/vector/vector_kernels.h"

namespace infimum::cpu {
namespace {

// What the slowest of all threads takes for it, each by its own clock; of several tries the least. Threads of a
// framework that spin may hold all but one core: then ours run there one after the other, and together they would take
// as many times as long.
template <class Work>
Latency LeastOnAll(std::int64_t threads, const Work& work) {
  Latency least = Latency::max();
  for (int i = 0; i < Metronome::kTries; ++i) {
    double sink = 0, slowest = 0;
#pragma omp parallel num_threads(static_cast <int>(threads)) reduction(+ : sink) reduction(max : slowest)
    {
      const Clock::Duration begin = SteadyClock().Now();
      sink += work(omp_get_thread_num());
      slowest = Latency(SteadyClock().Now() - begin).count();
    }
    // The sum is used, so that nothing can be left out.
    if (sink != 12345) least = std::min(least, Latency(slowest));
  }
  return least;
}

double Chain() {
  std::uint64_t x = 1;
  for (std::int64_t step = 0; step < Metronome::kSteps; ++step) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    __asm__ volatile("" : "+r"(x));  // opaque, so that no two steps become one
  }
  return static_cast<double>(x);
}

}  // namespace

Result<Metronome> Metronome::Make(std::int64_t threads) {
  const std::int64_t wanted = std::min(2 * std::max(Features().l3, Features().l2), kMostMemory);
  const std::int64_t each = std::max(wanted / threads / kMemoryBytes, std::int64_t{4}) * kMemoryBytes;
  Metronome metronome;
  metronome.threads_ = threads;
  const std::int64_t cached = std::min(Features().l3 / 4 * 3, kMostCache) / threads / kMemoryBytes * kMemoryBytes;
  for (std::int64_t i = 0; i < threads; ++i) {
    INFIMUM_ASSIGN_OR_RETURN(AlignedBuffer buffer, AlignedBuffer::Make(static_cast<std::size_t>(each)));
    metronome.buffers_.push_back(std::move(buffer));
    if (cached == 0) continue;
    INFIMUM_ASSIGN_OR_RETURN(AlignedBuffer most_of_cache, AlignedBuffer::Make(static_cast<std::size_t>(cached)));
    metronome.cached_.push_back(std::move(most_of_cache));
  }
  // Written once by the thread that reads it: pages that nobody wrote are all the same page of zeros.
#pragma omp parallel num_threads(static_cast <int>(threads))
  {
    const auto own = static_cast<std::size_t>(omp_get_thread_num());
    std::memset(metronome.buffers_[own].data(), 1, metronome.buffers_[own].size());
    if (own < metronome.cached_.size()) std::memset(metronome.cached_[own].data(), 1, metronome.cached_[own].size());
  }
  return metronome;
}

Beat Metronome::Take(bool with_cache) {
  Beat beat;
  beat.arithmetic = LeastOnAll(threads_, [](int) { return Chain(); });
  const auto count = static_cast<std::int64_t>(buffers_.front().size()) / kMemoryBytes;
  // Each try reads other bytes; threads count for themselves where they are.
  std::vector<std::int64_t> turns(static_cast<std::size_t>(threads_), turn_);
  beat.memory = LeastOnAll(threads_, [&](int thread) {
    const auto own = static_cast<std::size_t>(thread);
    const std::int64_t at = turns[own]++ % count * kMemoryBytes;
    return Kernels().read(static_cast<const char*>(buffers_[own].data()) + at, kMemoryBytes);
  });
  turn_ += kTries;
  // The first try fetches, and the others are less.
  if (with_cache && !cached_.empty()) {
    const Latency all = LeastOnAll(threads_, [&](int thread) {
      const AlignedBuffer& own = cached_[static_cast<std::size_t>(thread)];
      return Kernels().read(static_cast<const char*>(own.data()), static_cast<std::int64_t>(own.size()));
    });
    beat.cache = kBeatBytes / static_cast<double>(cached_.front().size()) * all;
  }
  return beat;
}

}  // namespace infimum::cpu
