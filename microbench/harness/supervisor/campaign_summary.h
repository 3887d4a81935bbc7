// The summary of a campaign, on at most one screen: how much was measured, what went wrong and
// what to do about it; for few workloads also a table of their candidates.
#pragma once

#include <string>

#include "microbench/harness/supervisor/run_campaign.h"

namespace infimum {

// Lines of plain text, each with its end. `output` is the journal's name for the command that continues.
std::string FormatSummary(const CampaignSummary& summary, const std::string& output);

// The candidates of one workload, best first:
//
//   onednn/brgconv:avx512_core    812 us   3 repetitions   library's choice
//   onednn/ref:any                skipped: one run took ...
std::string FormatWorkload(const CampaignWorkload& workload);

}  // namespace infimum
