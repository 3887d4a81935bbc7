#include "microbench/cpu/cache_residency.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "microbench/kernels/cpu/vector/cpu_features.h"
#include "microbench/kernels/cpu/vector/vector_kernels.h"
#include "microbench/reference/host_tensor.h"

namespace infimum::cpu {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;
// A pass over a small set is too short for the clock: passes are timed together until they read so much.
constexpr std::int64_t kTimedBytes = 16 << 20;
constexpr int kPasses = 5;
// Times that are closer to each other tell nothing.
constexpr double kLeastContrast = 1.2;

// A longer pause tells no more.
constexpr auto kLongestPause = std::chrono::milliseconds(50);

// Seconds for a byte of so many that are read again and again, each pass so long after the one before: of several the
// fastest, with pauses the typical one, since what others do meanwhile is what is asked.
Result<double> TimePerByte(std::int64_t bytes, Clock::Duration between = {}) {
  INFIMUM_ASSIGN_OR_RETURN(const AlignedBuffer memory, AlignedBuffer::Make(static_cast<std::size_t>(bytes)));
  const auto* const data = static_cast<const char*>(memory.data());
  const bool pauses = between > Clock::Duration(0);
  const std::int64_t rounds = pauses ? 1 : std::max<std::int64_t>(1, kTimedBytes / bytes);
  std::vector<double> passes;
  double sink = 0;
  for (int pass = -1; pass < kPasses; ++pass) {
    const Clock::Duration begin = SteadyClock().Now();
    for (std::int64_t round = 0; round < rounds; ++round) sink += Kernels().read(data, bytes);
    const double seconds = std::chrono::duration<double>(SteadyClock().Now() - begin).count();
    if (pass >= 0) passes.push_back(seconds);  // the first only brings it into the caches
    while (SteadyClock().Now() - begin < std::min<Clock::Duration>(between, kLongestPause)) {
    }
  }
  std::ranges::sort(passes);
  // The sum is used, so that no read can be left out.
  return sink == 12345 ? 0 : passes[pauses ? passes.size() / 2 : 0] / static_cast<double>(rounds * bytes);
}

}  // namespace

Result<std::optional<double>> ResidentShare(Bytes working_set, Clock::Duration between) {
  const std::int64_t own = Features().l2 > 0 ? Features().l2 : Features().l1;
  if (own <= 0) return std::optional<double>();
  const std::int64_t caches = Features().l1 + Features().l2 + Features().l3;
  const std::int64_t near_bytes = own / 2 / 4096 * 4096, far_bytes = std::min(4 * caches, kMostBytes) / 4096 * 4096;
  if (working_set.value <= near_bytes) return std::optional<double>(1);
  if (working_set.value >= far_bytes) return std::optional<double>(0);
  INFIMUM_ASSIGN_OR_RETURN(const double near, TimePerByte(near_bytes));
  INFIMUM_ASSIGN_OR_RETURN(const double far, TimePerByte(far_bytes));
  INFIMUM_ASSIGN_OR_RETURN(const double here, TimePerByte(working_set.value / 4096 * 4096, between));
  if (far < near * kLeastContrast) return std::optional<double>();
  return std::optional<double>(std::clamp((far - here) / (far - near), 0.0, 1.0));
}

}  // namespace infimum::cpu
