// Which layers of a model each layer of an engine covers, without their times: the rules of README.md,
// "Alignment", one after the other.
#pragma once

#include <vector>

#include "analyzer/alignment/align_run.h"
#include "analyzer/alignment/overrides.h"

namespace infimum {

// In the engine's order of execution. `declared` comes before every rule.
std::vector<AlignedRow> AlignRows(const ModelGraph& graph, const RunProfile& run,
                                  const std::vector<DeclaredRow>& declared);

}  // namespace infimum
