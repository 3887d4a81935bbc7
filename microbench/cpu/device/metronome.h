// The metronome of a processor (infimum/base/beat.h): what the fixed loops take now, on all threads that measure.
//
//   INFIMUM_ASSIGN_OR_RETURN(Metronome metronome, Metronome::Make(1));
//   metronome.Take(false);   // {29 us, 52 us}
//   metronome.Take(true);    // {29 us, 52 us, 20 us}
//
//   arithmetic   kSteps multiplications and additions of integers, each of which needs the one before: so many cycles,
//                whatever shares the core's units, and so little power that the clock stays as the layers have it.
//                (Vector multiply-adds at full rate are no such measure: on a Zen 5 layers followed them by 0.2, and
//                this by 1.)
//   memory       the next kMemoryBytes of a buffer of twice the last-level cache, at most kMostMemory: they were read
//                last when all others had been since
//   cache        three quarters of the last-level cache, read by all threads together just after they were read: what
//                neighbours hold of it comes from memory. In turn with a net of 25 MB of weights in a cache of 32 MB
//                (a virtual machine on a Zen 5) means of eight beats follow its time by 0.84, as no read of a quarter
//                or a half of the cache does
//
// Of each the least of kTries counts, since one may be interrupted. Without the cache's they take a third of a
// millisecond, and are the same on every processor, so that beats of one device compare, whichever process took them.
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
  static constexpr std::int64_t kMemoryBytes = static_cast<std::int64_t>(kBeatBytes);  // of each thread
  static constexpr std::int64_t kMostMemory = 128 << 20;
  static constexpr std::int64_t kMostCache = 48 << 20;

  // An error where there is too little memory.
  static Result<Metronome> Make(std::int64_t threads);

  // `with_cache`: the cache's loop too, which drives out what others have there.
  Beat Take(bool with_cache);

 private:
  std::int64_t threads_ = 1;
  std::vector<AlignedBuffer> buffers_;  // one for each thread
  std::vector<AlignedBuffer> cached_;   // likewise; none where the processor tells no last-level cache
  std::int64_t turn_ = 0;               // of the pieces of each of them
};

}  // namespace infimum::cpu
