#include "analyzer/bounds/latency_resolution.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "analyzer/floor/floor.h"

namespace infimum {

Resources::Resources(const DeviceModel& device, const Selection& selection) : device_(device) {
  if (!selection.device.text.starts_with("gpu")) {
    cores_ = static_cast<double>(std::max<std::int64_t>(selection.threads, 1));
    names_ = {"core-time"};
    return;
  }
  names_ = {"memory"};
  for (DataType type : {DataType::kF64, DataType::kF32, DataType::kF16, DataType::kBF16, DataType::kF8E4M3,
                        DataType::kF8E5M2, DataType::kF4E2M1, DataType::kS8, DataType::kU8}) {
    if (!device.HasArithmetic(type)) continue;
    types_.push_back(type);
    names_.push_back("arithmetic-" + std::string(Name(type)));
  }
}

std::vector<Latency> Resources::OccupancyOf(const Workload& workload, const Work& work, std::string_view algorithm,
                                            Latency best, Latency core_time) const {
  if (cores_ > 0) return {std::min(best, core_time / cores_)};
  std::vector<Latency> occupancy = {std::min(
      best, device_.Memory(static_cast<double>(work.read().value), static_cast<double>(work.written.value)).latency)};
  std::map<DataType, double> flops;
  if (IsDirect(algorithm)) flops = ConventionalFlopsOf(workload, work);
  for (DataType type : types_) {
    const Latency busy = std::chrono::duration<double>(flops[type] / device_.Arithmetic(type)->value);
    occupancy.push_back(std::min(best, busy));
  }
  return occupancy;
}

namespace {

// What has no noise, or none that is known.
Term Exactly(Latency time) {
  Term term;
  term.estimate.center = time.count();
  return term;
}

void Accumulate(NodeTimes& sum, const NodeTimes& node, double times) {
  sum.best += node.best * times;
  for (std::size_t k = 0; k < sum.occupancy.size(); ++k) sum.occupancy[k] += node.occupancy[k] * times;
}

// The number of a workload's terms; 0 is that of all that is no workload.
std::size_t TermNumber(const WorkloadRows& rows) { return rows.number + 1; }

LibraryChoice ChoiceOf(const ChosenTime& choice) {
  return {choice.row->candidate, choice.time, choice.regret, choice.is_validated};
}

// A sum of terms as one term of its own.
Term Together(const std::vector<Term>& terms, double times, std::size_t workload) {
  const SumEstimate once = SumOf(terms);
  Term sum;
  sum.workload = workload;
  sum.estimate.center = times * once.center.count();
  sum.estimate.below = times * (once.center - once.interval.low).count();
  sum.estimate.above = times * (once.interval.high - once.center).count();
  return sum;
}

}  // namespace

bool MovesBytesOnly(const Workload& workload) {
  const auto* config = std::get_if<LayerConfig>(&workload);
  if (config == nullptr) return false;
  return !std::holds_alternative<ConvolutionConfig>(*config) && !std::holds_alternative<MatMulConfig>(*config) &&
         !std::holds_alternative<RecurrentConfig>(*config) && !std::holds_alternative<AttentionConfig>(*config) &&
         !std::holds_alternative<SortConfig>(*config) && !std::holds_alternative<PoolingConfig>(*config);
}

void SetFree(ResolvedLayer& layer) {
  const std::size_t resources = layer.times.occupancy.size();
  const LayerId id = layer.known.layer;
  layer = ResolvedLayer();
  layer.times.occupancy.assign(resources, Latency(0));
  layer.fused = layer.times;
  layer.known.layer = id;
  layer.known.status = LatencyStatus::kFree;
  layer.known.latency = Latency(0);
  layer.known.reason =
      "moves nothing: in the layouts that its neighbours take, what it reads lies where what it makes does";
}

LatencyResolver::LatencyResolver(const MeasuredRows& rows, const RegionSet& regions, const Selection& selection,
                                 const DeviceModel& device, const Residency& residency)
    : rows_(rows),
      regions_(regions),
      device_(device),
      residency_(residency),
      selection_(selection),
      resources_(device, selection),
      threads_(static_cast<double>(std::max<std::int64_t>(selection.threads, 1))),
      times_(rows.all().size()) {
  for (const auto& [key, entry] : rows.all()) times_[entry.number] = BestTimeOf(entry, selection.threads, rows.noise());
}

const BestTime* LatencyResolver::TimeOf(const WorkloadRows* rows) const {
  return rows != nullptr && times_[rows->number] ? &*times_[rows->number] : nullptr;
}

// `workload` and `work` as the layer or region has them, whose rows these are.
NodeTimes LatencyResolver::TimesOf(const BestTime& time, const WorkloadRows& rows, const Workload& workload,
                                   const Work& work) const {
  return {time.best,
          resources_.OccupancyOf(workload, work, time.row->candidate.algorithm, time.best, time.core_time),
          {time.estimate, 1, TermNumber(rows)}};
}

std::vector<ResolvedLayer> LatencyResolver::Layers(const ModelGraph& graph) const {
  std::vector<ResolvedLayer> layers;
  layers.reserve(graph.layers.size());
  const GraphRows& rows = rows_.Of(graph);
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    layers.push_back(ResolveLayer(graph, i, rows.layers[i]));
    layers.back().known.layer = LayerId(i);
  }
  return layers;
}

std::vector<Term> TermsOfSelection(const BoundsProblem& problem, const std::vector<std::size_t>& chosen) {
  std::vector<bool> taken(problem.layers.size(), false);
  std::vector<Term> terms;
  for (std::size_t region : chosen) {
    for (std::size_t layer : problem.regions[region].layers) taken[layer] = true;
    terms.push_back(problem.regions[region].times.term);
  }
  for (std::size_t layer = 0; layer < taken.size(); ++layer)
    if (!taken[layer]) terms.push_back(problem.layers[layer].term);
  return terms;
}

Latency LatencyResolver::RooflineOf(const ModelGraph& graph, std::size_t layer, const DeviceModel& device,
                                    std::string* decided_by) const {
  LayerBytes bytes = residency_.BytesOf(graph, layer);
  if (selection_.cache == CacheState::kWarm) bytes.far = 0;
  return FloorOfLayer(graph.layers[layer], device, bytes, decided_by);
}

ResolvedLayer LatencyResolver::ResolveLayer(const ModelGraph& graph, std::size_t index,
                                            const WorkloadRows* rows) const {
  const Layer& layer = graph.layers[index];
  if (!layer.bodies.empty()) return ResolveBodies(layer);
  ResolvedLayer resolved;
  LayerLatency& known = resolved.known;
  known.floor = RooflineOf(graph, index, device_, &known.floor_by);
  resolved.flops = static_cast<double>(layer.work.conventional.value);
  if (const BestTime* found = TimeOf(rows)) {
    const BestTime& time = *found;
    resolved.rows = rows;
    resolved.best = found;
    resolved.times = resolved.fused = TimesOf(time, *rows, *layer.workload, layer.work);
    resolved.measured = time.best;
    resolved.heuristic = time.choice ? time.choice->time : time.best;
    resolved.heuristic_term = {time.choice ? time.choice->estimate : time.estimate, 1, TermNumber(*rows)};
    known.status = LatencyStatus::kMeasured;
    known.latency = time.best;
    known.interval = time.interval;
    known.candidate = time.row->candidate;
    if (time.choice) known.choice = ChoiceOf(*time.choice);
    return resolved;
  }
  resolved.times.occupancy = resolved.fused.occupancy = resources_.Nothing();
  if (layer.status == LayerStatus::kFree) {
    known.status = LatencyStatus::kFree;
    known.latency = Latency(0);
    return resolved;
  }
  if (layer.status == LayerStatus::kMeasurable && layer.workload) {
    if (MovesBytesOnly(*layer.workload)) {
      const double bytes = static_cast<double>(layer.work.read().value) + static_cast<double>(layer.work.written.value);
      if (std::optional<Latency> time = device_.CopyTime(bytes)) {
        // The copy curve may be above the rates that the floor has seen; an estimate below a floor is none.
        time = std::max(*time, known.floor);
        resolved.times = {*time, resources_.OccupancyOf(*layer.workload, layer.work, "", *time, *time * threads_),
                          Exactly(*time)};
        resolved.fused = resolved.times;
        resolved.estimated = resolved.heuristic = *time;
        resolved.heuristic_term = Exactly(*time);
        known.status = LatencyStatus::kEstimated;
        known.latency = *time;
        return resolved;
      }
    }
  }
  known.status = LatencyStatus::kMissing;
  if (rows != nullptr) known.reason = rows->refusal;
  resolved.missing = known.floor;
  resolved.missing_flops = resolved.flops;
  return resolved;
}

// All layers of one body, one after the other, `executions` times. Where it may run oftener than is known, its time is
// missing, and weighs by the floor of one time at least.
ResolvedLayer LatencyResolver::ResolveBody(const ModelGraph& body, double executions, bool may_run_oftener) const {
  ResolvedLayer sum;
  sum.times.occupancy = sum.fused.occupancy = resources_.Nothing();
  bool any_missing = false, any_estimated = false, any_measured = false;
  const std::vector<ResolvedLayer> layers = Layers(body);
  // Bodies have no number among the workloads; their address is one.
  const auto workload = reinterpret_cast<std::uintptr_t>(&body);
  std::vector<Term> terms, heuristic_terms;
  const double weight = may_run_oftener ? std::max(executions, 1.0) : executions;
  for (const ResolvedLayer& layer : layers) {
    Accumulate(sum.times, layer.times, executions);
    terms.push_back(layer.times.term);
    heuristic_terms.push_back(layer.heuristic_term);
    sum.heuristic += layer.heuristic * executions;
    sum.measured += layer.measured * executions;
    sum.estimated += layer.estimated * executions;
    sum.missing += (may_run_oftener ? layer.known.floor : layer.missing) * weight;
    sum.flops += layer.flops * weight;
    sum.missing_flops += (may_run_oftener ? layer.flops : layer.missing_flops) * weight;
    sum.known.floor += layer.known.floor * weight;
    any_missing |= layer.known.status == LatencyStatus::kMissing;
    any_estimated |= layer.known.status == LatencyStatus::kEstimated;
    any_measured |= layer.known.status == LatencyStatus::kMeasured;
  }
  sum.times.term = Together(terms, executions, workload);
  sum.heuristic_term = Together(heuristic_terms, executions, workload);
  if (executions <= 0) any_missing = any_estimated = any_measured = false;
  any_missing |= may_run_oftener;
  sum.known.status = any_missing     ? LatencyStatus::kMissing
                     : any_estimated ? LatencyStatus::kEstimated
                     : any_measured  ? LatencyStatus::kMeasured
                                     : LatencyStatus::kFree;
  if (!any_missing) sum.known.latency = sum.times.best;
  if (sum.known.status == LatencyStatus::kMeasured)
    sum.known.interval = IntervalAround(sum.times.best, SumOf(std::span(&sum.times.term, 1)));
  sum.fused = sum.times;
  const BoundsProblem problem = Problem(body, layers, Regions(body));
  if (problem.regions.empty()) return sum;
  const CombinedBounds combined = CombineBounds(problem);
  sum.is_exact = combined.fused_sequential.exact;
  sum.fused.best = combined.fused_sequential.latency * executions;
  sum.fused.term = Together(TermsOfSelection(problem, combined.chosen), executions, workload);
  // How busy each resource is does not fall below the fused share of what it was.
  const double share = sum.times.best > Latency(0) ? sum.fused.best / sum.times.best : 1;
  for (Latency& occupancy : sum.fused.occupancy) occupancy = std::min(occupancy * share, sum.fused.best);
  return sum;
}

ResolvedLayer LatencyResolver::ResolveBodies(const Layer& layer) const {
  std::vector<ResolvedLayer> bodies;
  for (const SubGraph& body : layer.bodies) {
    const bool is_branch = layer.bodies.size() > 1;
    const double executions = is_branch ? 1.0 : static_cast<double>(std::max<std::int64_t>(body.least_executions, 0));
    ResolvedLayer resolved;
    resolved.times.occupancy = resolved.fused.occupancy = resources_.Nothing();
    resolved.known.status = LatencyStatus::kMissing;
    if (body.graph != nullptr) resolved = ResolveBody(*body.graph, executions, body.may_run_oftener);
    bodies.push_back(std::move(resolved));
  }
  // What is missing weighs by its floor here, so that a branch is not cheap for being unmeasured.
  ResolvedLayer cheapest =
      *std::ranges::min_element(bodies, {}, [](const ResolvedLayer& body) { return body.times.best + body.missing; });
  // Fused, another branch may be the cheaper one.
  const auto is_whole = [](const ResolvedLayer& body) { return !(body.missing > Latency(0)); };
  if (std::ranges::all_of(bodies, is_whole)) {
    cheapest.fused =
        std::ranges::min_element(bodies, {}, [](const ResolvedLayer& body) { return body.fused.best; })->fused;
  }
  return cheapest;
}

std::vector<ResolvedRegion> LatencyResolver::Regions(const ModelGraph& graph) const {
  std::vector<ResolvedRegion> resolved;
  const std::span<const KnownRegion> regions = regions_.Of(graph);
  const GraphRows& rows = rows_.Of(graph);
  resolved.reserve(regions.size());
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const KnownRegion& known = regions[i];
    const BestTime* found = TimeOf(rows.regions[i]);
    if (found == nullptr) continue;
    resolved.push_back({&known, known.region.layers, found->row->candidate,
                        TimesOf(*found, *rows.regions[i], known.region.workload, known.work), rows.regions[i], found});
  }
  return resolved;
}

std::vector<ObservedNode> LatencyResolver::Observed(const ModelGraph& graph) const {
  std::vector<ObservedNode> nodes;
  const auto add = [&](const WorkloadRows* rows, std::vector<LayerId> layers) {
    if (rows == nullptr || rows->observed.empty()) return;
    const TimedRow& best = *std::ranges::min_element(rows->observed, {}, &TimedRow::time);
    nodes.push_back({std::move(layers), best.time, IntervalOf({rows_.noise().Of(best.row->repetitions), 1, 0}),
                     best.row->candidate});
  };
  const GraphRows& rows = rows_.Of(graph);
  for (std::size_t i = 0; i < rows.layers.size(); ++i) add(rows.layers[i], {LayerId(i)});
  const std::span<const KnownRegion> regions = regions_.Of(graph);
  for (std::size_t i = 0; i < regions.size(); ++i) add(rows.regions[i], regions[i].region.layers);
  return nodes;
}

void LatencyResolver::Observe(const ModelGraph& graph, const std::vector<ObservedNode>& nodes,
                              std::vector<ResolvedLayer>& layers, std::vector<ResolvedRegion>& regions) const {
  for (const ObservedNode& node : nodes) {
    // Of what a run occupies nothing is known but that it ran on all the cores that it was given.
    std::vector<Latency> occupancy = resources_.Nothing();
    if (resources_.of_cores()) occupancy[0] = node.latency;
    Term term = Exactly(node.latency);
    term.estimate.below = std::max((node.latency - node.interval.low).count(), 0.0);
    term.estimate.above = std::max((node.interval.high - node.latency).count(), 0.0);
    std::vector<LayerId> timed;
    for (LayerId layer : node.layers)
      if (graph.layer(layer).status != LayerStatus::kFree) timed.push_back(layer);
    if (timed.size() == 1) {
      ResolvedLayer& layer = layers[timed[0].index()];
      if (layer.known.status == LatencyStatus::kFree) continue;  // in the layouts of its neighbours
      const bool is_better = layer.known.status != LatencyStatus::kMeasured || node.latency < layer.times.best;
      if (!is_better) continue;
      layer.rows = nullptr;
      layer.best = nullptr;
      layer.times = layer.fused = {node.latency, std::move(occupancy), term};
      layer.measured = node.latency;
      layer.estimated = layer.missing = Latency(0);
      layer.missing_flops = 0;
      if (layer.known.status != LatencyStatus::kMeasured) {
        layer.heuristic = node.latency;
        layer.heuristic_term = term;
      }
      layer.known.status = LatencyStatus::kMeasured;
      layer.known.latency = node.latency;
      layer.known.interval = node.interval;
      layer.known.candidate = node.candidate;
    } else if (!timed.empty()) {
      regions.push_back(
          {nullptr, node.layers, node.candidate, {node.latency, std::move(occupancy), term}, nullptr, nullptr});
    }
  }
}

std::vector<Decider> LatencyResolver::Deciders(const std::vector<Term>& terms) const {
  std::map<std::size_t, Term> by_workload;
  for (const Term& term : terms) {
    const auto [entry, is_new] = by_workload.try_emplace(term.workload, term);
    if (!is_new) entry->second.weight += term.weight;
  }
  std::vector<Decider> deciders;
  for (const auto& [key, entry] : rows_.all()) {
    const auto found = by_workload.find(TermNumber(entry));
    if (found == by_workload.end()) continue;
    const Term& term = found->second;
    Decider decider{key,
                    selection_.contract.value_or(entry.native),
                    {},
                    Latency(term.weight * std::sqrt(term.estimate.variance)),
                    Latency(term.weight * term.estimate.below)};
    for (const Measurement* near : times_[entry.number]->near_best)
      decider.candidates.push_back(near->candidate.name());
    deciders.push_back(std::move(decider));
  }
  std::ranges::sort(deciders, [](const Decider& a, const Decider& b) {
    const Latency left = a.deviation + a.choice, right = b.deviation + b.choice;
    return left != right ? left > right : a.workload < b.workload;
  });
  return deciders;
}

BoundsProblem LatencyResolver::Problem(const ModelGraph& graph, const std::vector<ResolvedLayer>& layers,
                                       const std::vector<ResolvedRegion>& regions) const {
  BoundsProblem problem;
  problem.predecessors = Predecessors(graph);
  problem.resources = resources_.names();
  problem.layers.reserve(layers.size());
  problem.regions.reserve(regions.size());
  for (const ResolvedLayer& layer : layers) problem.layers.push_back(layer.times);
  for (const ResolvedRegion& region : regions) {
    RegionTimes times{{}, region.times};
    for (LayerId layer : region.layers) times.layers.push_back(layer.index());
    problem.regions.push_back(std::move(times));
  }
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (layers[i].fused.best < layers[i].times.best) problem.regions.push_back({{i}, layers[i].fused});
  return problem;
}

}  // namespace infimum
