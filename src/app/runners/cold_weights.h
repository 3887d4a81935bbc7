// What decides a model's bound, measured with its weights in memory as well.
//
//   resnet50: the best candidates of 26 configurations with weights, then of 8 and of 3 that are chosen in their place
//
// First what the bound and R run, those with most weights before the others; then rivals, which would be better if they
// lost nothing by their weights, where most is to be gained first; last layers that run fused.
#pragma once

#include <string>
#include <vector>

#include "analyzer/bracket/bracket.h"
#include "infimum/graph/model_graph.h"
#include "infimum/measurement/plan.h"
#include "src/app/processes/progress_log.h"
#include "src/app/runners/campaign.h"

namespace infimum {

// A workload with constants, and which of its candidates are measured.
struct ColdWeightsEntry {
  PlanEntry entry;
  std::vector<std::string> candidates;  // names, ascending
  Latency time{0};                      // of the best, in the bracket's cache state
  std::int64_t uses = 0;                // layers and regions that are this workload
};

// Each by descending bytes of constants.
struct ColdWeightsPlan {
  std::vector<ColdWeightsEntry> chosen;  // what the fused bound and R run
  std::vector<ColdWeightsEntry> layers;  // the best of layers that run fused there
};
ColdWeightsPlan PlanColdWeights(const ModelGraph& graph, const Bracket& bracket);

// Of what is chosen the candidate of least warm time that was not measured with weights from memory, where that time is
// clearly less than what the best takes; by descending gain over the model. What a candidate loses nobody knows before:
// one that fetches its weights ahead loses nothing.
Result<std::vector<ColdWeightsEntry>> ColdRivals(const std::vector<ColdWeightsEntry>& chosen, MeasurementSource& source,
                                                 const Selection& selection);

// Measures what the store lacks of them in this environment, until what is chosen no longer changes by it, and within
// `campaign.budget`.
Status MeasureColdWeights(const Installation& installation, const RunnerDescription& here, const ModelGraph& graph,
                          const Selection& selection, const CampaignOptions& campaign, Store& store, ProgressLog& log);

}  // namespace infimum
