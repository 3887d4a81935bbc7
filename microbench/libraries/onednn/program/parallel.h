// Work shared out among OpenMP's threads; with one thread, or too little work, a plain call.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace infimum::cpu {

// function(begin, end) on contiguous parts of [0, count), at least `grain` long.
template <class Function>
void ParallelRanges(std::int64_t count, std::int64_t grain, const Function& function) {
  const std::int64_t parts = std::min<std::int64_t>(omp_get_max_threads(), count / std::max<std::int64_t>(1, grain));
  if (parts <= 1) {
    function(std::int64_t{0}, count);
    return;
  }
#pragma omp parallel num_threads(static_cast <int>(parts))
  {
    const std::int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const std::int64_t begin = count * thread / threads, end = count * (thread + 1) / threads;
    if (begin < end) function(begin, end);
  }
}

// function(i) for each of [0, count), in ranges of at least `least` work where each takes `work`.
template <class Function>
void ParallelEach(std::int64_t count, std::int64_t least, std::int64_t work, const Function& function) {
  ParallelRanges(count, least / std::max<std::int64_t>(1, work), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) function(i);
  });
}

}  // namespace infimum::cpu
