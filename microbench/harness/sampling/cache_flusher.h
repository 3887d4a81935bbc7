// Empties the caches before a cold sample, by writing through more memory than they hold.
//
//   CacheFlusher flusher(device.last_level_cache);
//   flusher.Flush(run.footprint());      // at least 2 x the last-level cache, and the run's own bytes
#pragma once

#include <cstddef>
#include <vector>

#include "infimum/base/units.h"

namespace infimum {

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

}  // namespace infimum
