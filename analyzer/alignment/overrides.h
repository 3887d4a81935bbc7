// Alignment overrides, their names found in a model and a run.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/graph/alignment_overrides.h"
#include "infimum/graph/model_graph.h"
#include "infimum/graph/run_profile.h"

namespace infimum {

struct DeclaredRow {
  std::vector<std::size_t> engine_layers;  // indices into RunProfile::layers, ascending
  std::vector<std::size_t> layers;         // of the model, as they were declared
};

// An error names the override, and what is wrong: a name that run or model lacks, or that was declared twice.
Result<std::vector<DeclaredRow>> FindDeclared(const ModelGraph& graph, const RunProfile& run,
                                              std::span<const AlignmentOverride> overrides);

}  // namespace infimum
