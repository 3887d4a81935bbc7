// What decides a model's bound with warm caches, measured with its weights in memory as well.
//
//   resnet50: 23 of its 26 configurations with weights, 31 candidates of them  ->  a minute, where all would take four
//
// A bound of cold weights (`infimum bound --cache cold-weights`) is then one of the candidates that are best warm and
// of those that cannot be told from them. Another candidate might be better with cold weights: that takes `infimum
// bench PLAN --cache cold-weights`, which measures them all.
#pragma once

#include <string>
#include <vector>

#include "analyzer/bracket/bracket.h"
#include "infimum/graph/model_graph.h"
#include "infimum/measurement/plan.h"
#include "src/app/processes/progress_log.h"
#include "src/app/runners/campaign.h"

namespace infimum {

// A workload with constants, and the candidates of it that are best or as good.
struct ColdWeightsEntry {
  PlanEntry entry;
  std::vector<std::string> candidates;  // names, ascending
};

// Of a bracket's layers, its chosen regions and its deciders, those with constants; in order of their texts.
std::vector<ColdWeightsEntry> ColdWeightsEntries(const ModelGraph& graph, const Bracket& bracket);

// Measures what the store lacks of them in this environment. `campaign.budget` is kept.
Status MeasureColdWeights(const Installation& installation, const RunnerDescription& here, const ModelGraph& graph,
                          const Bracket& bracket, CampaignOptions campaign, Store& store, Talk& talk);

}  // namespace infimum
