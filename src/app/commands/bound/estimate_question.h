// What analyzer/estimate asks for, from a store and the data sheets: the model of an analysis, the device that it is
// about, and the best times of all other devices of that kind under the same selection.
#pragma once

#include "analyzer/estimate/estimate.h"
#include "infimum/db/store.h"
#include "src/app/commands/analyze/analysis.h"

namespace infimum {

// Peaks are the data sheet's where there is one, so that all devices are measured against the same; else those of the
// store. An error where the device has neither; other devices without peaks are left out.
Result<EstimateQuestion> AskForEstimate(const Analysis& analysis, Store& store);

}  // namespace infimum
