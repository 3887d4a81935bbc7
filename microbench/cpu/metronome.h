// The metronome of a processor (infimum/base/beat.h): what the two fixed loops take now, on all threads that measure.
//
//   INFIMUM_ASSIGN_OR_RETURN(Metronome metronome, Metronome::Make(1));
//   metronome.Take();   // {29 us, 52 us}
//
//   arithmetic   kSteps multiplications and additions of integers, each of which needs the one before: so many cycles,
//                whatever shares the core's units, and so little power that the clock stays as the layers have it.
//                (Vector multiply-adds at full rate are no such measure: on a Zen 5 layers followed them by 0.2, and
//                this by 1.)
//   memory       the next kMemoryBytes of a buffer of twice the last-level cache, at most kMostMemory: they were read
//                last when all others had been since
//
// Of each the least of kTries counts, since one may be interrupted. Together they take a third of a millisecond, and
// are the same on every processor, so that beats of one device compare, whichever process took them.
#pragma once

#include <cstdint>
#include <vector>

#include "infimum/base/beat.h"
#include "infimum/base/result.h"
#include "microbench/reference/host_tensor.h"

namespace infimum::cpu {

class Metronome {
 public:
  static constexpr std::int64_t kSteps = 30000;
  static constexpr int kTries = 3;
  static constexpr std::int64_t kMemoryBytes = 2 << 20;  // of each thread
  static constexpr std::int64_t kMostMemory = 128 << 20;

  // An error where there is too little memory.
  static Result<Metronome> Make(std::int64_t threads);

  Beat Take();

 private:
  std::int64_t threads_ = 1;
  std::vector<AlignedBuffer> buffers_;  // one for each thread
  std::int64_t turn_ = 0;               // of the pieces of each of them
};

}  // namespace infimum::cpu
