// What decides a model's bound, measured with its weights in memory as well.
//
//   resnet50: 23 of its 26 configurations with weights, 31 candidates of them  ->  a minute, where all would take four
//
// First what the bound and R run, those with most weights before the others; then the candidates that cannot be told
// from these. Another candidate might be better with weights from memory: that takes `infimum bench PLAN --cache
// cold-weights`, which measures them all.
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
};

// Of a bracket what its layers, its chosen regions and R run, by descending bytes of constants; and of its deciders the
// candidates that are as good.
struct ColdWeightsPlan {
  std::vector<ColdWeightsEntry> chosen, rivals;
};
ColdWeightsPlan PlanColdWeights(const ModelGraph& graph, const Bracket& bracket);

// Measures what the store lacks of them in this environment. `campaign.budget` is kept.
Status MeasureColdWeights(const Installation& installation, const RunnerDescription& here, const ModelGraph& graph,
                          const Bracket& bracket, CampaignOptions campaign, Store& store, Talk& talk);

}  // namespace infimum
