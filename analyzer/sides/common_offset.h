// What a side of a comparison takes more, or less, for every layer alike, however long it takes: what starting or
// timing a kernel costs there, and nothing that its kernels do.
//
//   before   8.5  14.4  31.5  79.6  166 us
//   after   14.5  20.4  37.6  85.7  178         6.0 us each, but for the last
//   -> 6.0 us, 4 of 5 layers within a quarter of it
#pragma once

#include <cstddef>
#include <optional>

#include "analyzer/sides/side_comparison.h"

namespace infimum {

struct CommonOffset {
  Latency offset{0};         // the median of the layers' differences
  std::size_t alike = 0;     // layers within a quarter of it
  std::size_t layers = 0;    // that both sides measured, each once
  Latency over_all_uses{0};  // what it makes of the set's total
};

// Against the baseline. Nothing where the layers are few or of one length, where less than two thirds of them differ
// alike, or where that is a small part of the whole difference.
std::optional<CommonOffset> CommonOffsetOf(const SideComparison& comparison, std::size_t side);

}  // namespace infimum
