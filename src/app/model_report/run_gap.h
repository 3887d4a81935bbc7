// A run's gap to its model's bound: aligned, accounted for, and what could be changed.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyzer/findings/finding.h"
#include "analyzer/gap/waterfall.h"
#include "infimum/db/store.h"
#include "src/app/models/model_variant.h"

namespace infimum {

struct RunGap {
  Alignment alignment;
  Waterfall waterfall;
  std::vector<Finding> findings;  // ranked
  bool is_narrower = false;  // its layers compute in narrower types than the contract has, by what the engine tells
};

// The half of it that needs the model's true names.
struct AlignedForGap {
  Alignment alignment;
  // The bracket of the same layers in the arithmetic that the run's wider rows were computed in; absent where there are
  // none, or it cannot be had.
  std::optional<Bracket> as_run;
  // Of the newest explanation that the store has of this framework's way to run the model, under the bracket's
  // conditions.
  std::vector<ObservedEffect> effects;
};

// Asks `store` once more where the run computes in wider arithmetic than the bracket's contract has it. An error only
// where an override names what is not there, or the store cannot be read.
Result<AlignedForGap> AlignForGap(const ModelAsItIs& model, const RunProfile& run, Store& store,
                                  std::span<const AlignmentOverride> overrides = {});

// The other half, whose texts have the names that graph, bracket and run have by now: layers stand where they stood.
// `is_alike`: as far as is known, the run is of what the bracket is of (RunFacts::is_alike).
RunGap MakeGap(const ModelGraph& graph, const Bracket& bracket, const RunProfile& run, AlignedForGap aligned,
               bool is_alike);

}  // namespace infimum
