#include "microbench/harness/sampling/constant_rotation.h"

#include "infimum/base/check.h"
#include "microbench/harness/sampling/cache_flusher.h"

namespace infimum {

ConstantRotation ConstantRotation::For(Bytes constants, Bytes last_level_cache) {
  INFIMUM_CHECK(constants.value > 0, "there are constants to be rotated");
  // As much as a flush touches, and like it never more than 1 GiB.
  const std::int64_t wanted = CacheFlusher::FlushedBytes(last_level_cache, Bytes{}).value;
  const std::int64_t copies = wanted / constants.value + (wanted % constants.value == 0 ? 0 : 1);
  if (copies > static_cast<std::int64_t>(kMostCopies)) return {kMostCopies, true};
  return {static_cast<std::size_t>(copies), false};
}

}  // namespace infimum
