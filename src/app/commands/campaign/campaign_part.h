// One part of a campaign, on the machine that this runs on.
//
//   MeasurePart(*CampaignFolder::Open("nightly"), "typeA", 3, installation, log);
//
// The journal is continued where there is one, and imported when it is whole; a part that is done is
// imported again, which adds nothing to a store that has it. One part at a time is timed on a machine.
#pragma once

#include <cstdint>
#include <string>

#include "src/app/commands/campaign/campaign_folder.h"
#include "src/app/processes/progress_log.h"
#include "src/app/runners/installation.h"

namespace infimum::cli {

Status MeasurePart(const CampaignFolder& campaign, const std::string& kind, std::int64_t shard,
                   const Installation& installation, ProgressLog& log);

}  // namespace infimum::cli
