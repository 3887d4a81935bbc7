// A run's gap to its model's bound: aligned, accounted for, and what could be changed.
#pragma once

#include <span>
#include <vector>

#include "infimum/analyzer/finding.h"
#include "infimum/analyzer/waterfall.h"
#include "infimum/workflow/model_variant.h"

namespace infimum {

struct RunGap {
  Alignment alignment;
  Waterfall waterfall;
  std::vector<Finding> findings;  // the largest gain first
  bool is_narrower = false;  // its layers compute in narrower types than the contract has, by what the engine tells
};

// `is_alike`: as far as is known, the run is of what the bracket is of (RunFacts::is_alike).
// Asks `source` once more where the run computes in wider arithmetic than the bracket's contract has it. An error only
// where an override names what is not there.
Result<RunGap> GapOf(const ModelAsItIs& model, const RunProfile& run, bool is_alike, MeasurementSource& source,
                     std::span<const AlignmentOverride> overrides = {});

}  // namespace infimum
