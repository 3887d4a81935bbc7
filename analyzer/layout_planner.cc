#include "analyzer/layout_planner.h"

#include <algorithm>
#include <map>

#include "analyzer/layout_graph.h"

namespace infimum {
namespace {

struct ReorderTimes {
  std::vector<Latency> times;
  std::vector<bool> is_measured;
};

Result<ReorderTimes> TimesOf(const std::vector<LayoutGraph::Reorder>& reorders, MeasurementSource& source,
                             const Selection& selection, const DeviceModel& device) {
  std::vector<Workload> workloads;
  for (const LayoutGraph::Reorder& reorder : reorders) workloads.push_back(reorder.workload);
  // A change of layout keeps every bit, whatever contract the layers around it meet.
  Selection asked = selection;
  asked.contract.reset();
  INFIMUM_ASSIGN_OR_RETURN(const MeasuredRows rows, MeasuredRows::Fetch(workloads, source, asked));
  ReorderTimes result;
  for (const LayoutGraph::Reorder& reorder : reorders) {
    const WorkloadRows& entry = *rows.Find(reorder.key);
    const auto own = entry.by_threads.find(selection.threads);
    std::optional<Latency> time;
    if (own != entry.by_threads.end())
      for (const Measurement& row : own->second) {
        const Latency point = Fold(row.repetitions, selection.statistic);
        if (!time || point < *time) time = point;
      }
    result.is_measured.push_back(time.has_value());
    const double bytes = static_cast<double>(entry.work.read().value) + static_cast<double>(entry.work.written.value);
    result.times.push_back(time ? *time : device.CopyTime(bytes).value_or(Latency(0)));
  }
  return result;
}

bool StatesLayouts(const Candidate& candidate) {
  const auto is_stated = [](const std::string& layout) {
    return layout != "any" && layout != "opaque" && !layout.empty();
  };
  return is_stated(candidate.input_layout) && is_stated(candidate.output_layout);
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
                                              const Selection& selection, const DeviceModel& device,
                                              const std::vector<ResolvedLayer>& layers,
                                              const std::vector<ResolvedRegion>& regions) {
  LayoutGraph question(graph, selection, layers, regions);
  if (!question.has_layouts()) return std::optional<LayoutPlan>();
  INFIMUM_ASSIGN_OR_RETURN(const ReorderTimes times, TimesOf(question.reorders(), source, selection, device));
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
    if (const Candidate* candidate = question.CandidateOf(chosen)) planned.candidate = *candidate;
    planned.latency = unit.options[chosen.option].cost;
    plan.unstated += !planned.candidate.algorithm.empty() && !StatesLayouts(planned.candidate);
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
