// Runs that a store keeps of a model, as upper limits of its bracket: frameworks', and our own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/bracket/bracket.h"
#include "infimum/db/store.h"
#include "infimum/graph/run_profile.h"

namespace infimum {

using Dims = std::map<std::string, std::int64_t>;

// Of a run of the bracket's model, in its dimensions, on its device and threads: who asks sees to that. It counts under
// the contract that it kept, and under every looser one. It is held to the bracket's pace.
std::optional<UpperLimit> LimitOf(const RunProfile& run, const Bracket& bracket);

// Of the runs that are like the newest in version, settings and contract the fastest: what one of them has shown stays
// true, and a busy machine only makes slower ones.
Result<std::optional<RunProfile>> FastestRun(Store& store, const std::string& model_sha256, const Selection& selection,
                                             const Dims& dims, const std::string& framework);

// Of several frameworks, of all that the store has runs of where none is named: the fastest of those that keep the
// contract, else the fastest.
Result<std::optional<RunProfile>> FastestRun(Store& store, const std::string& model_sha256, const Selection& selection,
                                             const Dims& dims, const std::vector<std::string>& frameworks,
                                             NumericContract contract);

// Of each version of each framework the fastest run: whatever ran the model bounds T* from above.
Status HoldAgainstFrameworks(Store& store, const std::string& model_sha256, const Selection& selection,
                             const Dims& dims, Bracket& bracket);

// The fastest replay that keeps the bracket's contract: sets `demonstrated` and `composition`.
Status HoldAgainstReplays(Store& store, const ModelGraph& graph, const Selection& selection, const Dims& dims,
                          Bracket& bracket);

}  // namespace infimum
