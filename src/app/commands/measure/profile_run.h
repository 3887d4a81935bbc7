// A profile of any kind as a run: layers with their times, and what is told of the whole.
#pragma once

#include "infimum/graph/run_profile.h"
#include "src/readers/read_profile.h"

namespace infimum {

// A timeline by analyzer/trace/timeline_run.h; it is large, and gone afterwards.
RunProfile RunOfProfile(Profile profile);

}  // namespace infimum
