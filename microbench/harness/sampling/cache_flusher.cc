#include "microbench/harness/sampling/cache_flusher.h"

#include <algorithm>
#include <atomic>

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

}  // namespace infimum
