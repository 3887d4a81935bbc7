#include "analyzer/layouts/layout_planner.h"

#include <algorithm>
#include <map>

#include "analyzer/layouts/build_problem.h"

namespace infimum {
namespace {

struct ReorderTimes {
  std::vector<Latency> times;
  std::vector<bool> is_measured;
};

Result<ReorderTimes> TimesOf(const std::vector<KeyedWorkload>& reorders, MeasurementSource& source,
                             const Selection& selection, std::span<const EnvironmentKey> environments,
                             const DeviceModel& device) {
  // A change of layout keeps every bit, whatever contract the layers around it meet.
  Selection asked = selection;
  asked.contract.reset();
  ReorderTimes result{std::vector<Latency>(reorders.size()), std::vector<bool>(reorders.size(), false)};
  // In the environments that the layers were measured in, each asked by itself: of these workloads alone a source would
  // take the one with the most of them.
  for (const EnvironmentKey& environment : environments) {
    asked.environment = environment;
    INFIMUM_ASSIGN_OR_RETURN(const MeasuredRows rows, MeasuredRows::Fetch(reorders, source, asked));
    for (std::size_t i = 0; i < reorders.size(); ++i) {
      for (const TimedRow& row : rows.Find(reorders[i].key)->On(selection.threads)) {
        result.times[i] = result.is_measured[i] ? std::min(result.times[i], row.time) : row.time;
        result.is_measured[i] = true;
      }
    }
  }
  for (std::size_t i = 0; i < reorders.size(); ++i) {
    if (result.is_measured[i]) continue;
    const Work& work = reorders[i].work;
    const auto read = static_cast<double>(work.read().value), written = static_cast<double>(work.written.value);
    // Of a device that nobody measured copies on, the floor.
    const std::optional<Latency> copy = device.CopyTime(read + written);
    result.times[i] = copy ? *copy : device.Memory(read, written).latency;
  }
  return result;
}

std::string NameIn(const NamedOrder& order, const NamedOrder& other) {
  return order.name.empty() ? RowMajorName(other.shape.rank()) : order.name;
}

}  // namespace

std::vector<Workload> TransformsToMeasure(const LayoutPlan& plan) {
  std::map<WorkloadKey, Workload> all;
  for (const PlannedTransform& transform : plan.transforms) {
    if (transform.is_measured) continue;
    for (const Workload& reorder : transform.reorders) all.emplace(KeyOf(reorder), reorder);
  }
  std::vector<Workload> list;
  for (auto& [key, workload] : all) list.push_back(std::move(workload));
  return list;
}

Result<std::optional<LayoutPlan>> PlanLayouts(const ModelGraph& graph, MeasurementSource& source,
                                              const Selection& selection, std::span<const EnvironmentKey> environments,
                                              const DeviceModel& device, const std::vector<ResolvedLayer>& layers,
                                              const std::vector<ResolvedRegion>& regions) {
  LayoutGraph question(graph, selection, layers, regions);
  if (!question.has_layouts()) return std::optional<LayoutPlan>();
  INFIMUM_ASSIGN_OR_RETURN(const ReorderTimes times,
                           TimesOf(question.reorders(), source, selection, environments, device));
  question.SetTimes(times.times);
  const LayoutProblem& problem = question.problem();
  const LayoutChoice choice = ChooseLayouts(problem);
  LayoutPlan plan;
  plan.latency = choice.cost;
  plan.transforming = choice.changing;
  plan.is_exact = choice.exact && question.is_complete();
  for (const ChosenUnit& chosen : choice.chosen) {
    const LayoutUnit& unit = problem.units[chosen.unit];
    PlannedUnit planned;
    for (std::size_t layer : unit.layers) planned.layers.push_back(LayerId(layer));
    planned.region = question.RegionOf(chosen.unit);
    const LayoutGraph::Behind& behind = question.BehindOf(chosen);
    if (behind.candidate != nullptr) planned.candidate = *behind.candidate;
    planned.latency = unit.options[chosen.option].cost;
    plan.unstated += behind.unstated ? 1 : 0;
    plan.units.push_back(std::move(planned));
  }
  for (const LayoutChange& change : choice.changes) {
    const NamedOrder& from = question.OrderOf(change.tensor, change.from);
    const NamedOrder& to = question.OrderOf(change.tensor, change.to);
    PlannedTransform transform{question.ValueOf(change.tensor), NameIn(from, to), NameIn(to, from), {}, {}, true};
    const LayoutTensor& tensor = problem.tensors[change.tensor];
    transform.latency = tensor.change[change.from * tensor.layouts + change.to];
    for (std::size_t reorder : question.ReordersOf(change.tensor, change.from, change.to)) {
      transform.reorders.push_back(question.reorders()[reorder].workload);
      transform.is_measured &= times.is_measured[reorder];
    }
    plan.transforms.push_back(std::move(transform));
  }
  return std::optional<LayoutPlan>(std::move(plan));
}

}  // namespace infimum
