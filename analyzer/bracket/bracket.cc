#include "analyzer/bracket/bracket.h"

#include <algorithm>
#include <map>

#include "analyzer/bounds/latency_resolution.h"
#include "analyzer/bracket/bracket_parts.h"
#include "analyzer/bracket/sensitivity.h"
#include "analyzer/floor/residency.h"
#include "analyzer/layouts/layout_planner.h"
#include "analyzer/rows/measured_rows.h"

namespace infimum {
namespace {

void FindControlFlow(const ModelGraph& graph, std::set<std::string>& tags) {
  for (const Layer& layer : graph.layers) {
    if (!layer.bodies.empty()) tags.insert(layer.bodies.size() > 1 ? "if-cheaper-branch" : "least-loop-iterations");
    for (const SubGraph& body : layer.bodies)
      if (body.graph != nullptr) FindControlFlow(*body.graph, tags);
  }
}

// Where the best selection's rows have their weights from.
class ContextOfSelection {
 public:
  explicit ContextOfSelection(const Residency& residency) : residency_(residency) {
    context_.working_set = residency.working_set();
  }

  // `best` is null where the workload has no time.
  void Add(const Workload& workload, const BestTime* best) {
    const NearConstants constants = residency_.Of(workload);
    const double bytes = constants.bytes;
    context_.constants += bytes;
    context_.near += bytes * constants.share;
    if (best == nullptr) return;
    borrowed_ |= best->weights == WeightsFrom::kBorrowed;
    warm_ |= best->weights == WeightsFrom::kCaches;
    context_.is_warm &= best->weights != WeightsFrom::kBoth && best->weights != WeightsFrom::kBorrowed;
    if (best->weights != WeightsFrom::kBorrowed && best->weights != WeightsFrom::kCaches) context_.cold += bytes;
  }

  const ModelContext& context() const { return context_; }
  void AddTags(std::vector<std::string>& tags) const {
    if (borrowed_) tags.emplace_back("borrowed-cold-weights");
    if (warm_) tags.emplace_back("some-weights-warm");
  }

 private:
  const Residency& residency_;
  ModelContext context_;
  bool borrowed_ = false, warm_ = false;
};

ContextOfSelection FindContext(const ModelGraph& graph, const Residency& residency, const BoundsProblem& problem,
                               const std::vector<std::size_t>& chosen, const std::vector<ResolvedLayer>& layers,
                               const std::vector<ResolvedRegion>& regions) {
  ContextOfSelection context(residency);
  std::vector<bool> taken(layers.size(), false);
  for (const std::size_t place : chosen) {
    for (const std::size_t layer : problem.regions[place].layers) taken[layer] = true;
    if (place < regions.size() && regions[place].known != nullptr)
      context.Add(regions[place].known->region.workload, regions[place].best);
  }
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (!taken[i] && graph.layers[i].workload) context.Add(*graph.layers[i].workload, layers[i].best);
  return context;
}

std::vector<std::string> Assumptions(const ModelGraph& graph, const Bracket& bracket,
                                     const std::vector<ResolvedLayer>& layers, const ContextOfSelection& context,
                                     Latency launch) {
  std::vector<std::string> tags = CommonAssumptions(bracket, layers, launch);
  if (bracket.context) context.AddTags(tags);
  std::set<std::string> of_runs = TagsOfQuantities(graph);
  FindControlFlow(graph, of_runs);
  tags.insert(tags.end(), of_runs.begin(), of_runs.end());
  return tags;
}

std::vector<RegionLatency> RegionsOf(const std::vector<ResolvedRegion>& regions, const std::vector<std::size_t>& chosen,
                                     const std::vector<ResolvedLayer>& layers) {
  std::vector<RegionLatency> result;
  for (const ResolvedRegion& region : regions) {
    RegionLatency known;
    known.layers = region.layers;
    known.rule = region.known->region.rule;
    known.region = region.known->region;
    known.latency = region.times.best;
    known.interval = IntervalOf(region.times.term);
    known.candidate = region.candidate;
    for (LayerId layer : region.layers) {
      known.unfused += layers[layer.index()].times.best;
      known.has_missing |= layers[layer.index()].known.status == LatencyStatus::kMissing;
    }
    result.push_back(std::move(known));
  }
  // Choices beyond the regions are fused bodies of single layers.
  for (std::size_t place : chosen)
    if (place < result.size()) result[place].is_chosen = true;
  return result;
}

std::optional<AlgorithmRegret> RegretOf(const std::vector<ResolvedLayer>& layers) {
  AlgorithmRegret regret;
  for (const ResolvedLayer& layer : layers) {
    if (!layer.known.choice) continue;
    ++regret.layers;
    regret.sum += layer.known.choice->regret;
    regret.is_validated &= layer.known.choice->is_validated;
  }
  return regret.layers > 0 ? std::optional<AlgorithmRegret>(regret) : std::nullopt;
}

// By the best candidates; absent where some layer has none.
std::optional<Latency> KnownTime(std::span<const LayerId> ids, const std::vector<ResolvedLayer>& layers,
                                 const std::vector<ResolvedRegion>& regions) {
  Latency sum{0};
  for (const LayerId id : ids) {
    if (layers[id.index()].known.status == LatencyStatus::kMissing) return std::nullopt;
    sum += layers[id.index()].fused.best;
  }
  for (const ResolvedRegion& region : regions)
    if (std::ranges::equal(region.layers, ids)) sum = std::min(sum, region.times.best);
  return sum;
}

// The best selection where frameworks' own times count too, and which of them it takes; absent where none is known.
std::optional<SumEstimate> WithObserved(const ModelGraph& graph, const LatencyResolver& resolver,
                                        const std::vector<ObservedNode>& traced,
                                        const std::vector<ResolvedLayer>& layers,
                                        const std::vector<ResolvedRegion>& regions, std::vector<ObservedNode>& taken) {
  std::vector<ObservedNode> nodes = resolver.Observed(graph);
  nodes.insert(nodes.end(), traced.begin(), traced.end());
  if (nodes.empty()) return std::nullopt;
  std::vector<ResolvedLayer> all_layers = layers;
  std::vector<ResolvedRegion> all_regions = regions;
  resolver.Observe(graph, nodes, all_layers, all_regions);
  const BoundsProblem problem = resolver.Problem(graph, all_layers, all_regions);
  const CombinedBounds combined = CombineBounds(problem);
  std::vector<bool> is_fused(layers.size(), false);
  const auto take = [&](const std::vector<LayerId>& ids, const Candidate& candidate, const NodeTimes& times) {
    taken.push_back({ids, times.best, IntervalOf(times.term), candidate, KnownTime(ids, layers, regions)});
  };
  for (const std::size_t place : combined.chosen) {
    for (const std::size_t layer : problem.regions[place].layers) is_fused[layer] = true;
    if (place >= regions.size() && place < all_regions.size())
      take(all_regions[place].layers, all_regions[place].candidate, all_regions[place].times);
  }
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (const std::optional<Candidate>& candidate = all_layers[i].known.candidate;
        !is_fused[i] && candidate && candidate->is_observed())
      take({LayerId(i)}, *candidate, all_layers[i].times);
  std::ranges::stable_sort(taken, std::ranges::greater(),
                           [](const ObservedNode& node) { return node.known.value_or(Latency::max()) - node.latency; });
  const Latency latency = combined.fused_sequential.latency;
  return SumEstimate{latency, IntervalAround(latency, SumOf(TermsOfSelection(problem, combined.chosen)))};
}

// Layers of which no measured candidate may filter. What cuDNN's engines do their names do not say.
std::vector<bool> DirectLayers(const std::vector<ResolvedLayer>& layers) {
  const auto is_direct = [](const TimedRow& row) {
    const Candidate& candidate = row.row->candidate;
    return (candidate.library == "onednn" || candidate.library == "infimum") &&
           candidate.algorithm.find("wino") == std::string::npos;
  };
  std::vector<bool> direct;
  for (const ResolvedLayer& layer : layers) {
    direct.push_back(true);
    if (layer.rows == nullptr) continue;
    for (const auto& [threads, rows] : layer.rows->by_threads)
      if (!std::ranges::all_of(rows, is_direct)) direct.back() = false;
  }
  return direct;
}

// What is measured stays out of it: rows are of the device as it is, and they raised its rates before these multiply.
Result<WhatIfOutcome> OnOtherDevice(const ModelGraph& graph, const Bracket& bracket,
                                    const std::vector<ResolvedLayer>& layers, const LatencyResolver& resolver,
                                    DeviceModel device, const Residency& residency, const WhatIf& what_if) {
  for (const PeakChange& peak : what_if.peaks) INFIMUM_RETURN_IF_ERROR(device.Multiply(peak.rate, peak.factor));
  WhatIfOutcome outcome{what_if.name, 0, {}};
  Latency roofline = LaunchesOf(graph, device, residency);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    // A body's layers are not listed: its floor is kept.
    const Latency now = layers[i].known.floor;
    const Latency then = graph.layers[i].bodies.empty() ? resolver.RooflineOf(graph, i, device) : now;
    if (then != now && layers[i].known.status != LatencyStatus::kFree) ++outcome.layers;
    roofline += then;
  }
  const std::vector<Floor> floors = ComputeFloors(graph, device);
  for (const Floor& floor : floors)
    if (floor.program_class != ProgramClass::kAny)
      outcome.floors.push_back({"floor-" + std::string(Name(floor.program_class)), floor.latency,
                                FloorOf(bracket.floors, floor.program_class).latency - floor.latency});
  roofline = std::max(roofline, FloorOf(floors, ProgramClass::kTextbook).latency);
  outcome.floors.push_back({"roofline", roofline, bracket.roofline - roofline});
  return outcome;
}

}  // namespace

NumericContract MainContract(const ModelGraph& graph) {
  std::map<NumericContract, double> work;
  for (const Layer& layer : graph.layers) {
    for (const SubGraph& body : layer.bodies)
      if (body.graph != nullptr) work[MainContract(*body.graph)] += 1;
    const std::optional<Workload>& workload = layer.workload ? layer.workload : layer.least;
    if (!workload) continue;
    work[NativeContract(*workload)] += 1 + static_cast<double>(layer.work.direct.value);
  }
  NumericContract main = NumericContract::kStrictF32;
  double most = 0;
  for (const auto& [contract, amount] : work) {
    if (amount <= most) continue;
    most = amount;
    main = contract;
  }
  return main;
}

const Bound* Bracket::Find(BoundVariant variant) const {
  const auto found = std::ranges::find(bounds, variant, &Bound::variant);
  return found == bounds.end() ? nullptr : &*found;
}

const Bound* Bracket::BestKnown() const {
  for (const BoundVariant variant : {BoundVariant::kFusedSequential, BoundVariant::kSequential})
    if (const Bound* bound = Find(variant)) return bound;
  return bounds.empty() ? nullptr : &bounds.front();
}

const UpperLimit* Bracket::Shown() const {
  const auto found = std::ranges::find(upper, kDemonstratedName, &UpperLimit::name);
  return found == upper.end() ? nullptr : &*found;
}

Result<Bracket> ComputeBracket(const ModelGraph& graph, MeasurementSource& source, const Selection& selection,
                               const BracketOptions& options) {
  const RegionSet region_set(graph);
  INFIMUM_ASSIGN_OR_RETURN(DeviceModel device, DeviceModel::Make(source, selection));
  const Residency residency(graph, device);
  INFIMUM_ASSIGN_OR_RETURN(const MeasuredRows rows,
                           MeasuredRows::Fetch(graph, region_set, source, selection, &residency));
  ObserveRows(rows, device);

  const LatencyResolver resolver(rows, region_set, selection, device, residency);
  std::vector<ResolvedLayer> layers = resolver.Layers(graph);
  std::vector<ResolvedRegion> regions = resolver.Regions(graph);
  if (options.takes)
    std::erase_if(regions, [&](const ResolvedRegion& region) { return !options.takes(region.known->region); });

  Bracket bracket;
  bracket.roofline = bracket.launches = LaunchesOf(graph, device, residency);
  for (const ResolvedLayer& layer : layers) bracket.roofline += layer.known.floor;
  const LayoutPlanner planner(graph, selection, layers, regions);
  for (const LayerId movement : planner.free_movements()) SetFree(layers[movement.index()]);
  bracket.selection = selection;
  SetOrigins(rows, bracket);
  bracket.contract = selection.contract.value_or(MainContract(graph));
  bracket.floors = ComputeFloors(graph, device);
  bracket.coverage = CoverageOf(layers);
  bracket.roofline = std::max(bracket.roofline, bracket.textbook().latency);
  for (const WhatIf& what_if : options.what_ifs) {
    if (what_if.peaks.empty()) continue;
    Result<WhatIfOutcome> outcome = OnOtherDevice(graph, bracket, layers, resolver, device, residency, what_if);
    if (!outcome.ok()) return Within("--what-if " + what_if.name, outcome.error());
    bracket.what_ifs.push_back(*std::move(outcome));
  }

  const BoundsProblem problem = resolver.Problem(graph, layers, regions);
  const CombinedBounds combined = CombineBounds(problem);
  for (std::size_t layer : combined.longest_path.layers) layers[layer].known.on_critical_path = true;
  SetMarginalGains(problem, combined.parallel.latency, layers);
  for (const WhatIf& what_if : options.what_ifs) {
    if (!what_if.peaks.empty()) continue;
    if (device.launch() == Latency(0) &&
        std::ranges::find(what_if.changes, LayerChange::Kind::kGapless, &LayerChange::kind) != what_if.changes.end())
      return Error{"--what-if " + what_if.name +
                   ": what starting a kernel takes is known of GPUs with peaks, not of this device"};
    bracket.what_ifs.push_back(SolveAgain(problem, combined, layers, what_if, device.launch()));
  }
  INFIMUM_ASSIGN_OR_RETURN(bracket.layouts, planner.Plan(source, selection, bracket.environments, device));
  const ContextOfSelection context = FindContext(graph, residency, problem, combined.chosen, layers, regions);
  if (!selection.cache) bracket.context = context.context();
  bracket.regions = RegionsOf(regions, combined.chosen, layers);
  bracket.not_tried = FindNotTried(graph, DirectLayers(layers), bracket.regions);
  bracket.deciders = resolver.Deciders(TermsOfSelection(problem, combined.chosen));
  bracket.regret = RegretOf(layers);
  // A loop of which a part is missing has a time as well, if no latency: its known part's.
  const bool any_time = std::any_of(layers.begin(), layers.end(),
                                    [](const ResolvedLayer& layer) { return layer.times.best > Latency(0); });
  const auto is_missing = [](const ResolvedLayer& layer) { return layer.known.status == LatencyStatus::kMissing; };
  // What never runs, a loop of no iterations, takes no time that anybody measured.
  const bool any_idle = std::ranges::any_of(graph.layers, [](const Layer& layer) {
    return layer.bodies.size() == 1 && layer.bodies[0].least_executions == 0;
  });
  if (any_time || (!any_idle && std::none_of(layers.begin(), layers.end(), is_missing))) {
    std::vector<std::string> common = Assumptions(graph, bracket, layers, context, device.launch());
    bracket.bounds =
        SolveVariants({graph, layers, problem, combined, bracket.layouts, bracket.regret,
                       WithObserved(graph, resolver, options.observed, layers, regions, bracket.observed), common});
  } else {
    for (WhatIfOutcome& outcome : bracket.what_ifs) outcome.bounds.clear();
  }
  bracket.layers.reserve(layers.size());
  for (ResolvedLayer& layer : layers) bracket.layers.push_back(std::move(layer.known));
  return bracket;
}

void AddUpperLimit(UpperLimit limit, Bracket& bracket) {
  const auto hold = [&](std::string bound, Latency latency, Latency low) {
    if (latency > limit.latency)
      bracket.inversions.push_back({std::move(bound), limit.name, latency - limit.latency, low > limit.interval.high});
  };
  hold(std::string(kFloorName), bracket.dense_read().latency, bracket.dense_read().latency);
  for (const Bound& bound : bracket.bounds)
    if (IsContradictedByFasterRun(bound.variant))
      hold(std::string(Name(bound.variant)), bound.latency, bound.interval.low);
  bracket.upper.push_back(std::move(limit));
  std::ranges::stable_sort(bracket.upper, {}, &UpperLimit::latency);
}

}  // namespace infimum
