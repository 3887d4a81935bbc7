#include <algorithm>
#include <map>
#include <set>

#include "infimum/graph/fusable_regions.h"
#include "src/planner/planner.h"

namespace infimum {
namespace {

struct Use {
  Workload workload;
  std::int64_t count = 0;
  bool is_layer = false;  // of some model, not only a region of one
};

// By text, so that equal shares keep the order of their texts.
using Uses = std::map<std::string, Use>;

void Add(const Workload& workload, std::int64_t executions, bool is_layer, Uses& uses) {
  const auto [entry, is_new] = uses.try_emplace(Format(workload));
  if (is_new) entry->second.workload = workload;
  entry->second.count = std::min(entry->second.count + executions, kMaxExecutions);
  entry->second.is_layer |= is_layer;
}

// Regions of the graph and of its bodies, each as often as its last layer runs.
void AddRegions(const ModelGraph& graph, std::int64_t executions, Uses& uses) {
  for (const FusableRegion& region : FindFusableRegions(graph)) Add(region.workload, executions, false, uses);
  for (const Layer& layer : graph.layers) {
    for (const SubGraph& body : layer.bodies) {
      if (body.graph == nullptr) continue;
      const std::int64_t times = std::max<std::int64_t>(body.least_executions, 1);
      AddRegions(*body.graph, executions > kMaxExecutions / times ? kMaxExecutions : executions * times, uses);
    }
  }
}

std::string DescribeModel(const ModelGraph& graph) {
  std::string text = "model " + (graph.name.empty() ? std::string("without-name") : graph.name);
  if (!graph.sha256.empty()) text += " sha256=" + graph.sha256;
  return text;
}

}  // namespace

PlanOptions WithRatesOf(const DevicePeaks& peaks, std::int64_t threads, PlanOptions options) {
  double arithmetic = 0;
  double bandwidth = 0;
  std::int64_t working_set = -1;
  for (const PeakRate& rate : peaks.rates) {
    if (rate.threads != threads || !(rate.per_second > 0)) continue;
    if (rate.kind == PeakRate::Kind::kArithmetic && rate.type == DataType::kF32) {
      arithmetic = std::max(arithmetic, rate.per_second);
    }
    if (rate.kind == PeakRate::Kind::kCopy && rate.working_set.value >= working_set) {
      // Several sources of one working set: the best.
      bandwidth = rate.working_set.value > working_set ? rate.per_second : std::max(bandwidth, rate.per_second);
      working_set = rate.working_set.value;
    }
  }
  if (arithmetic > 0) options.arithmetic = {arithmetic};
  if (bandwidth > 0) options.bandwidth = {bandwidth};
  return options;
}

Latency EstimateLatency(const Workload& workload, const PlanOptions& options) {
  const Work work = WorkOf(workload);
  // In doubles: a region's operands may add up to more than 64 bits hold.
  double bytes = static_cast<double>(work.written.value);
  for (Bytes read : work.operand_reads) bytes += static_cast<double>(read.value);
  const double moving = bytes / options.bandwidth.value;
  const double computing = static_cast<double>(work.conventional.value) / options.arithmetic.value;
  return std::chrono::duration<double>(std::max(moving, computing));
}

Plan BuildPlan(std::span<const ModelGraph* const> graphs, const PlanOptions& options) {
  Plan plan;
  Uses uses;
  for (const ModelGraph* graph : graphs) {
    plan.comments.push_back(DescribeModel(*graph));
    VisitLayers(*graph, [&](const Layer& layer, std::int64_t executions) {
      if (layer.workload) Add(*layer.workload, executions, true, uses);
    });
    if (options.regions) AddRegions(*graph, 1, uses);
  }
  double total = 0;
  for (const auto& [text, use] : uses) {
    PlanEntry entry;
    entry.workload = use.workload;
    entry.contract = options.contract ? *options.contract : NativeContract(entry.workload);
    entry.uses = use.count;
    entry.share = EstimateLatency(entry.workload, options).count() * static_cast<double>(use.count);
    total += entry.share;
    plan.entries.push_back(std::move(entry));
  }
  if (total > 0) {
    for (PlanEntry& entry : plan.entries) entry.share = std::min(entry.share / total, 1.0);
  }
  // Without its layers a bound has holes, without its regions it is only less tight: layers come first.
  std::set<WorkloadKey> layers;
  for (const auto& [text, use] : uses)
    if (use.is_layer) layers.insert({text});
  const auto is_region = [&](const PlanEntry& entry) { return !layers.contains(KeyOf(entry.workload)); };
  std::ranges::stable_sort(plan.entries, {},
                           [&](const PlanEntry& entry) { return std::pair(is_region(entry), -entry.share); });
  return plan;
}

Plan EvenPlan(std::vector<PlanEntry> entries) {
  Plan plan;
  plan.entries = std::move(entries);
  for (PlanEntry& entry : plan.entries) entry.share = 1 / static_cast<double>(plan.entries.size());
  return plan;
}

}  // namespace infimum
