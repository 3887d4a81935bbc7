// Measures the changes of layout that the best plan of a model needs, until all of them have a time.
//
// Each new time may make another plan the best one; what was never measured counts as a plain copy, which hardly any
// change can beat, so the last plan stays the best whatever the others would have cost
// (analyzer/types/layout_plan.h).
#pragma once

#include "analyzer/bracket/bracket.h"
#include "infimum/db/store.h"
#include "src/app/processes/progress_log.h"
#include "src/app/runners/campaign.h"
#include "src/app/runners/installation.h"

namespace infimum {

// The bracket afterwards. Ends early where the budget is spent or the user interrupts; a runner that fails is an error.
Result<Bracket> WithTransformTimes(const Installation& installation, const ModelGraph& graph, Store& store,
                                   const Selection& selection, const BracketOptions& options,
                                   const CampaignOptions& campaign, ProgressLog& log);

}  // namespace infimum
