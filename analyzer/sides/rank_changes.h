// Where the order of sides by the whole set is not their order in a part of it: models, and families of layers.
#pragma once

#include <vector>

#include "analyzer/sides/side_comparison.h"

namespace infimum {

// Of every two sides that differ in all. `comparison` has all but its rank changes.
std::vector<RankChange> RankChangesOf(const SideComparison& comparison);

}  // namespace infimum
