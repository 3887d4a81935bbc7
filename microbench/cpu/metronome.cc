#include "microbench/cpu/metronome.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "infimum/base/clock.h"
#include "microbench/kernels/cpu/vector/cpu_features.h"
#include "microbench/kernels/cpu/vector/vector_kernels.h"

namespace infimum::cpu {
namespace {

// What all threads take for it together, the slowest of them counts.
template <class Work>
Latency TimeOnAll(std::int64_t threads, const Work& work) {
  double sink = 0;
  const Clock::Duration begin = SteadyClock().Now();
#pragma omp parallel num_threads(static_cast <int>(threads)) reduction(+ : sink)
  sink += work(omp_get_thread_num());
  const Clock::Duration took = SteadyClock().Now() - begin;
  // The sum is used, so that nothing can be left out.
  return sink == 12345 ? Latency(0) : Latency(took);
}

}  // namespace

Result<Metronome> Metronome::Make(std::int64_t threads) {
  const std::int64_t wanted = std::min(2 * std::max(Features().l3, Features().l2), kMostMemory);
  const std::int64_t each = std::max(wanted / threads / kMemoryBytes, std::int64_t{4}) * kMemoryBytes;
  Metronome metronome;
  metronome.threads_ = threads;
  for (std::int64_t i = 0; i < threads; ++i) {
    INFIMUM_ASSIGN_OR_RETURN(AlignedBuffer buffer, AlignedBuffer::Make(static_cast<std::size_t>(each)));
    metronome.buffers_.push_back(std::move(buffer));
  }
  // Written once by the thread that reads it: pages that nobody wrote are all the same page of zeros.
#pragma omp parallel num_threads(static_cast <int>(threads))
  {
    const AlignedBuffer& own = metronome.buffers_[static_cast<std::size_t>(omp_get_thread_num())];
    std::memset(own.data(), 1, own.size());
  }
  return metronome;
}

Beat Metronome::Take() {
  Beat beat;
  beat.arithmetic = TimeOnAll(threads_, [](int) {
    float sink = 0;
    Kernels().multiply_add_f32(kArithmeticRounds, &sink);
    return static_cast<double>(sink);
  });
  beat.memory = TimeOnAll(threads_, [this](int thread) {
    const AlignedBuffer& own = buffers_[static_cast<std::size_t>(thread)];
    return Kernels().read(static_cast<const char*>(own.data()) + at_, kMemoryBytes);
  });
  at_ += kMemoryBytes;
  if (at_ + kMemoryBytes > static_cast<std::int64_t>(buffers_.front().size())) at_ = 0;
  return beat;
}

}  // namespace infimum::cpu
