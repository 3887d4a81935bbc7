#include "analyzer/latency_resolution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "analyzer/floor.h"

namespace infimum {
namespace {

struct BestRow {
  Latency point{0};
  Interval interval;
  const Candidate* candidate = nullptr;
};

std::optional<BestRow> FindBest(const std::vector<Measurement>& rows, SampleStatistic statistic) {
  std::optional<BestRow> best;
  Latency least_low{std::numeric_limits<double>::infinity()};
  Latency least_high{std::numeric_limits<double>::infinity()};
  for (const Measurement& row : rows) {
    const Latency point = Fold(row.repetitions, statistic);
    if (!std::isfinite(point.count()) || point < Latency(0)) continue;
    const Interval interval = PointInterval(row.repetitions);
    least_low = std::min(least_low, std::min(interval.low, point));
    least_high = std::min(least_high, std::max(interval.high, point));
    // Among equals the name decides, so that the answer does not depend on the rows' order.
    const bool better =
        !best || point < best->point || (point == best->point && row.candidate.name() < best->candidate->name());
    if (better) best = BestRow{point, {}, &row.candidate};
  }
  if (best) best->interval = {std::min(least_low, best->point), std::max(least_high, best->point)};
  return best;
}

class Resolver {
 public:
  Resolver(const MeasuredRows& rows, const Selection& selection, const DeviceModel& device)
      : selection_(selection), device_(device) {
    for (const auto& [key, entry] : rows.all())
      if (std::optional<BestTime> time = BestTimeOf(entry, selection)) times_.emplace(key.text, std::move(*time));
  }

  std::vector<ResolvedLayer> Resolve(const ModelGraph& graph) const {
    std::vector<ResolvedLayer> layers;
    layers.reserve(graph.layers.size());
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      layers.push_back(ResolveLayer(graph.layers[i]));
      layers.back().known.layer = LayerId(i);
    }
    return layers;
  }

 private:
  ResolvedLayer ResolveLayer(const Layer& layer) const {
    if (!layer.bodies.empty()) return ResolveBodies(layer);
    ResolvedLayer resolved;
    resolved.known.floor = FloorOfLayer(layer, device_);
    if (layer.status == LayerStatus::kFree) {
      resolved.known.status = LatencyStatus::kFree;
      resolved.known.latency = Latency(0);
      return resolved;
    }
    if (layer.status == LayerStatus::kMeasurable && layer.workload) {
      if (const auto time = times_.find(KeyOf(*layer.workload).text); time != times_.end()) {
        resolved.best = resolved.measured = time->second.best;
        resolved.interval = time->second.interval;
        resolved.core_time = time->second.core_time;
        resolved.known.status = LatencyStatus::kMeasured;
        resolved.known.latency = resolved.best;
        resolved.known.interval = resolved.interval;
        resolved.known.candidate = time->second.candidate;
        return resolved;
      }
      if (MovesBytesOnly(*layer.workload)) {
        const double bytes =
            static_cast<double>(layer.work.read().value) + static_cast<double>(layer.work.written.value);
        if (std::optional<Latency> time = device_.CopyTime(bytes)) {
          // The copy curve may lie above the rates that the floor has seen; an estimate below a floor is none.
          time = std::max(*time, resolved.known.floor);
          resolved.best = resolved.estimated = *time;
          resolved.interval = {*time, *time};
          resolved.core_time = *time * static_cast<double>(selection_.threads);
          resolved.known.status = LatencyStatus::kEstimated;
          resolved.known.latency = *time;
          return resolved;
        }
      }
    }
    resolved.known.status = LatencyStatus::kMissing;
    resolved.missing = resolved.known.floor;
    return resolved;
  }

  // All layers of one body, one after the other, `executions` times.
  ResolvedLayer ResolveBody(const ModelGraph& body, double executions) const {
    ResolvedLayer sum;
    bool any_missing = false, any_estimated = false, any_measured = false;
    for (const ResolvedLayer& layer : Resolve(body)) {
      sum.best += layer.best * executions;
      sum.interval.low += layer.interval.low * executions;
      sum.interval.high += layer.interval.high * executions;
      sum.core_time += layer.core_time * executions;
      sum.measured += layer.measured * executions;
      sum.estimated += layer.estimated * executions;
      sum.missing += layer.missing * executions;
      sum.known.floor += layer.known.floor * executions;
      any_missing |= layer.known.status == LatencyStatus::kMissing;
      any_estimated |= layer.known.status == LatencyStatus::kEstimated;
      any_measured |= layer.known.status == LatencyStatus::kMeasured;
    }
    if (executions <= 0) any_missing = any_estimated = any_measured = false;
    sum.known.status = any_missing     ? LatencyStatus::kMissing
                       : any_estimated ? LatencyStatus::kEstimated
                       : any_measured  ? LatencyStatus::kMeasured
                                       : LatencyStatus::kFree;
    if (!any_missing) sum.known.latency = sum.best;
    if (sum.known.status == LatencyStatus::kMeasured) sum.known.interval = sum.interval;
    return sum;
  }

  ResolvedLayer ResolveBodies(const Layer& layer) const {
    std::optional<ResolvedLayer> cheapest;
    for (const SubGraph& body : layer.bodies) {
      const bool is_branch = layer.bodies.size() > 1;
      const double executions = is_branch ? 1.0 : static_cast<double>(std::max<std::int64_t>(body.least_executions, 0));
      ResolvedLayer resolved;
      resolved.known.status = LatencyStatus::kMissing;
      if (body.graph != nullptr) resolved = ResolveBody(*body.graph, executions);
      // What is missing weighs by its floor here, so that a branch is not cheap for being unmeasured.
      if (!cheapest || resolved.best + resolved.missing < cheapest->best + cheapest->missing)
        cheapest = std::move(resolved);
    }
    return *cheapest;
  }

  const Selection& selection_;
  const DeviceModel& device_;
  std::unordered_map<std::string, BestTime> times_;
};

}  // namespace

std::optional<BestTime> BestTimeOf(const WorkloadRows& rows, const Selection& selection) {
  const auto own = rows.by_threads.find(selection.threads);
  if (own == rows.by_threads.end()) return std::nullopt;
  const std::optional<BestRow> best = FindBest(own->second, selection.statistic);
  if (!best) return std::nullopt;
  BestTime time{best->point, best->interval, *best->candidate, best->point * static_cast<double>(selection.threads)};
  for (const auto& [threads, fewer] : rows.by_threads)
    if (const std::optional<BestRow> row = FindBest(fewer, selection.statistic))
      time.core_time = std::min(time.core_time, row->point * static_cast<double>(threads));
  return time;
}

bool MovesBytesOnly(const Workload& workload) {
  const auto* config = std::get_if<LayerConfig>(&workload);
  if (config == nullptr) return false;
  return !std::holds_alternative<ConvolutionConfig>(*config) && !std::holds_alternative<MatMulConfig>(*config) &&
         !std::holds_alternative<RecurrentConfig>(*config) && !std::holds_alternative<AttentionConfig>(*config) &&
         !std::holds_alternative<SortConfig>(*config) && !std::holds_alternative<PoolingConfig>(*config);
}

std::vector<ResolvedLayer> ResolveLatencies(const ModelGraph& graph, const MeasuredRows& rows,
                                            const Selection& selection, const DeviceModel& device) {
  return Resolver(rows, selection, device).Resolve(graph);
}

}  // namespace infimum
