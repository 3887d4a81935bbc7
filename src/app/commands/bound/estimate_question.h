// What analyzer/estimate asks for, from a store and the data sheets: a model, the device that it is about, and the best
// times of all devices of that kind under the same selection.
#pragma once

#include "analyzer/estimate/estimate.h"
#include "infimum/db/store.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

// Peaks are the data sheet's where there is one, so that all devices are measured against the same; else those of the
// store. An error where the device has neither; other devices without peaks are left out.
Result<EstimateQuestion> AskForEstimate(const ModelGraph& graph, const Selection& selection, Store& store);

// The same question about the same model at other dimensions.
void AskAgain(const ModelGraph& graph, EstimateQuestion& question);

}  // namespace infimum
