// The metronome of a processor (infimum/base/beat.h): what the two fixed loops take now, on all threads that measure.
//
//   INFIMUM_ASSIGN_OR_RETURN(Metronome metronome, Metronome::Make(1));
//   metronome.Take();   // {103 us, 214 us}
//
//   arithmetic   kArithmeticRounds rounds of the multiply-adds that peaks are found with: registers alone, so that only
//                clocks and what shares the core count
//   memory       the next kMemoryBytes of a buffer of twice the last-level cache, at most kMostMemory: they were read
//                last when all others had been since
//
// Together they take a third of a millisecond. Both loops are the same for one instruction set, so that beats of one
// device compare, whichever process took them.
#pragma once

#include <cstdint>
#include <vector>

#include "infimum/base/beat.h"
#include "infimum/base/result.h"
#include "microbench/reference/host_tensor.h"

namespace infimum::cpu {

class Metronome {
 public:
  static constexpr std::int64_t kArithmeticRounds = 32768;
  static constexpr std::int64_t kMemoryBytes = 2 << 20;  // of each thread
  static constexpr std::int64_t kMostMemory = 128 << 20;

  // An error where there is too little memory.
  static Result<Metronome> Make(std::int64_t threads);

  Beat Take();

 private:
  std::int64_t threads_ = 1;
  std::vector<AlignedBuffer> buffers_;  // one for each thread
  std::int64_t at_ = 0;                 // in each of them
};

}  // namespace infimum::cpu
