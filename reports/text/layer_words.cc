#include "reports/text/layer_words.h"

namespace infimum {

std::vector<std::string> LayerNames(const ModelGraph& graph, const std::vector<LayerId>& layers) {
  std::vector<std::string> names;
  for (const LayerId layer : layers) names.push_back(graph.layer(layer).name);
  return names;
}

std::string ConfigOf(const Layer& layer) { return layer.workload ? Format(*layer.workload) : ""; }

std::string ConfigOf(const RegionLatency& region) { return region.region ? Format(region.region->workload) : ""; }

std::string FamilyOf(const Layer& layer) { return layer.workload ? std::string(FamilyOf(*layer.workload)) : layer.op; }

std::string_view StatusOf(const Layer& layer, const LayerLatency& latency) {
  return layer.status == LayerStatus::kUnknown ? "unknown" : Name(latency.status);
}

bool IsFree(const LayerLatency& latency) { return latency.status == LatencyStatus::kFree; }

std::string ShownReasonOf(const Layer& layer, const LayerLatency& latency) {
  const std::string& reason = ReasonOf(layer, latency);
  const bool is_missing = layer.status != LayerStatus::kUnknown && latency.status == LatencyStatus::kMissing;
  return reason.empty() && is_missing ? "not measured yet" : reason;
}

std::string CandidateOf(const LayerLatency& latency) { return latency.candidate ? latency.candidate->name() : ""; }

std::string ShapeText(const Value& value) { return value.shape ? Format(*value.shape) : "?"; }

}  // namespace infimum
