#include "analyzer/layouts/layout_planner.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/layouts/layout_options.h"
#include "analyzer/layouts/solver.h"
#include "analyzer/rows/measured_rows.h"
#include "analyzer/types/disjoint_sets.h"

namespace infimum {
namespace {

// A graph's layers and regions with the layouts that their candidates state: the question that ChooseLayouts answers,
// and what its numbers mean.
//
//   LayoutGraph question(graph, selection, layers, regions);
//   question.SetTimes(...)                 what the changes of layout cost
//   ChooseLayouts(question.problem())
//
// All tensors that element-wise layers connect share their layouts, since such a layer hands on what it is given. Of
// more than kMostLayouts the ones whose candidates lose most are given up.
class LayoutGraph {
 public:
  // `layers` and `regions` as LatencyResolver gives them; they, and the rows behind them, live longer.
  LayoutGraph(const ModelGraph& graph, const Selection& selection, const std::vector<ResolvedLayer>& layers,
              const std::vector<ResolvedRegion>& regions);

  // Whether some candidate that took part reads or writes anything but row-major.
  bool has_layouts() const { return has_layouts_; }
  // No order was given up.
  bool is_complete() const { return is_complete_; }

  // Changes of layout as workloads, none twice.
  const std::vector<KeyedWorkload>& reorders() const { return reorders_; }
  // Which of them a change consists of: one, or two over row-major where the orders are named in different shapes.
  std::span<const std::size_t> ReordersOf(std::size_t tensor, std::size_t from, std::size_t to) const;
  // `times`: one for each of reorders().
  void SetTimes(std::span<const Latency> times);

  const LayoutProblem& problem() const { return problem_; }
  ValueId ValueOf(std::size_t tensor) const { return stated_.values[tensor]; }
  const NamedOrder& OrderOf(std::size_t tensor, std::size_t layout) const {
    return stated_.table[OrderNumber(tensor, layout)];
  }
  // What a choice stands for; its candidate is null where no row is behind the time.
  struct Behind {
    const Candidate* candidate = nullptr;
    bool unstated = false;
  };
  const Behind& BehindOf(const ChosenUnit& chosen) const { return behind_[first_option_[chosen.unit] + chosen.option]; }
  // Which region of `regions` a unit is; nullopt for a layer.
  std::optional<std::size_t> RegionOf(std::size_t unit) const { return region_of_[unit]; }

 private:
  // An order that tensors of one class may have, and what giving it up costs the unit that would miss it most.
  struct ClassOrder {
    std::uint32_t order = 0;
    Latency worth{0};
  };
  // A change of one order into another is the same for all tensors of a type.
  struct Change {
    DataType type = DataType::kNone;
    std::uint32_t from = 0, to = 0;
    friend bool operator==(const Change&, const Change&) = default;
  };
  struct ChangeHash {
    std::size_t operator()(const Change& change) const {
      const auto type = static_cast<std::size_t>(change.type);
      return std::hash<std::size_t>()((std::size_t{change.from} << 32 | change.to) * 31 + type);
    }
  };
  struct ChangeReorders {
    std::array<std::size_t, 2> reorders = {};
    std::size_t count = 0;
  };

  std::uint32_t OrderNumber(std::size_t tensor, std::size_t layout) const {
    return orders_[class_of_[tensor]][layout].order;
  }
  Change ChangeOf(std::size_t tensor, std::size_t from, std::size_t to) const;
  void FindClasses();
  void NumberOrders();
  void NumberTensors();
  void NumberOptions();
  void AddOptions(const StatedUnit& stated, LayoutUnit& unit);
  std::optional<std::uint8_t> LayoutOf(std::size_t tensor, std::uint32_t order) const;
  void FindReorders();
  std::vector<ReorderConfig> MakeReorders(const Change& change) const;

  const ModelGraph& graph_;
  StatedUnits stated_;
  std::vector<std::size_t> class_of_;            // by tensor
  std::vector<std::vector<ClassOrder>> orders_;  // by class, row-major first
  std::vector<Behind> behind_;                   // of all units' options, one unit after the other
  std::vector<std::size_t> first_option_;        // by unit
  std::vector<std::optional<std::size_t>> region_of_;
  LayoutProblem problem_;
  std::vector<KeyedWorkload> reorders_;
  std::unordered_map<Change, ChangeReorders, ChangeHash> changes_;
  bool has_layouts_ = false;
  bool is_complete_ = true;
};

LayoutGraph::LayoutGraph(const ModelGraph& graph, const Selection& selection, const std::vector<ResolvedLayer>& layers,
                         const std::vector<ResolvedRegion>& regions)
    : graph_(graph), stated_(FindStatedUnits(graph, selection.threads, layers, regions)) {
  has_layouts_ = std::ranges::any_of(stated_.orders, [](std::uint32_t order) { return order != 0; });
  if (!has_layouts_) return;
  FindClasses();
  NumberOrders();
  NumberTensors();
  NumberOptions();
  FindReorders();
}

void LayoutGraph::FindClasses() {
  const std::size_t tensors = stated_.values.size();
  DisjointSets joined(tensors);
  for (const StatedUnit& unit : stated_.units) {
    if (!unit.keeps_order) continue;
    for (std::size_t place = 1; place < unit.width(); ++place) joined.Join(unit.TensorAt(0), unit.TensorAt(place));
  }
  std::vector<std::size_t> number(tensors, tensors);
  class_of_.reserve(tensors);
  for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
    std::size_t& of_root = number[joined.Find(tensor)];
    if (of_root == tensors) {
      of_root = orders_.size();
      orders_.emplace_back(1);  // row-major
    }
    class_of_.push_back(of_root);
  }
}

void LayoutGraph::NumberOrders() {
  const auto add = [&](std::size_t tensor, std::uint32_t order, Latency worth) {
    if (order == 0) return;
    std::vector<ClassOrder>& orders = orders_[class_of_[tensor]];
    const auto found =
        std::ranges::find_if(orders, [&](const ClassOrder& known) { return stated_.table.IsSame(known.order, order); });
    if (found == orders.end()) {
      orders.push_back({order, worth});
      return;
    }
    found->worth = std::max(found->worth, worth);
    // Changes are best named in the shape with the most dimensions.
    if (stated_.table[order].shape.rank() > stated_.table[found->order].shape.rank()) found->order = order;
  };
  for (const StatedUnit& unit : stated_.units) {
    if (unit.keeps_order) continue;
    const std::span<const StatedWay> ways = stated_.WaysOf(unit);
    Latency worst{0};
    for (const StatedWay& way : ways) worst = std::max(worst, way.cost);
    for (std::size_t way = 0; way < ways.size(); ++way) {
      const std::span<const std::uint32_t> orders = stated_.OrdersOf(unit, way);
      for (std::size_t place = 0; place < orders.size(); ++place)
        add(unit.TensorAt(place), orders[place], worst - ways[way].cost);
    }
  }
  for (std::vector<ClassOrder>& orders : orders_) {
    if (orders.size() <= kMostLayouts) continue;
    is_complete_ = false;
    std::stable_sort(orders.begin() + 1, orders.end(),
                     [](const ClassOrder& a, const ClassOrder& b) { return a.worth > b.worth; });
    orders.resize(kMostLayouts);
  }
}

void LayoutGraph::NumberTensors() {
  problem_.layers = graph_.layers.size();
  problem_.tensors.resize(stated_.values.size());
  for (std::size_t tensor = 0; tensor < problem_.tensors.size(); ++tensor) {
    problem_.tensors[tensor].layouts = orders_[class_of_[tensor]].size();
    problem_.tensors[tensor].is_given = true;
  }
  for (const StatedUnit& unit : stated_.units)
    for (std::size_t tensor : unit.writes) problem_.tensors[tensor].is_given = false;
  for (const ValueId output : graph_.outputs)
    if (const auto tensor = stated_.TensorOf(output)) problem_.tensors[*tensor].is_output = true;
}

std::optional<std::uint8_t> LayoutGraph::LayoutOf(std::size_t tensor, std::uint32_t order) const {
  const std::vector<ClassOrder>& orders = orders_[class_of_[tensor]];
  const auto found =
      std::ranges::find_if(orders, [&](const ClassOrder& known) { return stated_.table.IsSame(known.order, order); });
  if (found == orders.end()) return std::nullopt;
  return static_cast<std::uint8_t>(found - orders.begin());
}

void LayoutGraph::NumberOptions() {
  problem_.units.resize(stated_.units.size());
  region_of_.reserve(stated_.units.size());
  first_option_.reserve(stated_.units.size());
  for (std::size_t i = 0; i < stated_.units.size(); ++i) {
    StatedUnit& stated = stated_.units[i];
    LayoutUnit& unit = problem_.units[i];
    first_option_.push_back(behind_.size());
    region_of_.push_back(stated.region);
    AddOptions(stated, unit);
    unit.layers = std::move(stated.layers);
    unit.reads = std::move(stated.reads);
    unit.writes = std::move(stated.writes);
  }
  stated_.units.clear();
  stated_.ways.clear();
  stated_.orders.clear();
}

void LayoutGraph::AddOptions(const StatedUnit& stated, LayoutUnit& unit) {
  const std::span<const StatedWay> ways = stated_.WaysOf(stated);
  const std::size_t reads = stated.reads.size();
  std::vector<std::uint8_t> layouts(stated.width(), 0);
  const auto add = [&](const StatedWay& way) {
    const std::span<const std::uint8_t> all = layouts;
    unit.options.push_back({way.cost, LayoutList(all.first(reads)), LayoutList(all.subspan(reads))});
    behind_.push_back({way.candidate, way.unstated});
  };
  if (stated.keeps_order) {
    const std::size_t count = stated.writes.empty() ? 1 : orders_[class_of_[stated.writes[0]]].size();
    unit.options.reserve(count);
    for (std::size_t order = 0; order < count; ++order) {
      if (order > 0 && !OrderOf(stated.writes[0], order).order.is_dense()) continue;
      std::ranges::fill(layouts, static_cast<std::uint8_t>(order));
      add(ways[0]);
    }
    return;
  }
  unit.options.reserve(ways.size());
  for (std::size_t way = 0; way < ways.size(); ++way) {
    const std::span<const std::uint32_t> orders = stated_.OrdersOf(stated, way);
    bool is_known = true;
    for (std::size_t place = 0; place < orders.size() && is_known; ++place) {
      const std::optional<std::uint8_t> layout = LayoutOf(stated.TensorAt(place), orders[place]);
      is_known = layout.has_value();
      layouts[place] = layout.value_or(0);
    }
    if (is_known) add(ways[way]);
  }
  // All of its orders were given up: the fastest way counts as row-major, which makes the cost too low.
  if (unit.options.empty()) {
    std::ranges::fill(layouts, std::uint8_t{0});
    add(*std::ranges::min_element(ways, {}, &StatedWay::cost));
  }
}

LayoutGraph::Change LayoutGraph::ChangeOf(std::size_t tensor, std::size_t from, std::size_t to) const {
  return {graph_.value(stated_.values[tensor]).type, OrderNumber(tensor, from), OrderNumber(tensor, to)};
}

std::vector<ReorderConfig> LayoutGraph::MakeReorders(const Change& change) const {
  const OperandTypes types{change.type, DataType::kNone, change.type};
  const NamedOrder& source = stated_.table[change.from];
  const NamedOrder& target = stated_.table[change.to];
  const auto plain = [&](const NamedOrder& beside) { return RowMajorName(beside.shape.rank()); };
  if (source.name.empty()) return {{types, target.shape, plain(target), target.name}};
  if (target.name.empty()) return {{types, source.shape, source.name, plain(source)}};
  if (source.shape == target.shape) return {{types, source.shape, source.name, target.name}};
  return {{types, source.shape, source.name, plain(source)}, {types, target.shape, plain(target), target.name}};
}

void LayoutGraph::FindReorders() {
  std::unordered_map<std::string, std::size_t> known;
  for (std::size_t tensor = 0; tensor < problem_.tensors.size(); ++tensor) {
    const std::size_t layouts = problem_.tensors[tensor].layouts;
    for (std::size_t from = 0; from < layouts; ++from)
      for (std::size_t to = 0; to < layouts; ++to) {
        if (from == to) continue;
        const Change change = ChangeOf(tensor, from, to);
        const auto [entry, is_new_change] = changes_.try_emplace(change);
        if (!is_new_change) continue;
        for (const ReorderConfig& reorder : MakeReorders(change)) {
          // Orders of several numbers may have one name.
          KeyedWorkload keyed = Keyed(LayerConfig(reorder));
          const auto [number, is_new] = known.try_emplace(keyed.key.text, reorders_.size());
          if (is_new) reorders_.push_back(std::move(keyed));
          entry->second.reorders[entry->second.count++] = number->second;
        }
      }
  }
}

std::span<const std::size_t> LayoutGraph::ReordersOf(std::size_t tensor, std::size_t from, std::size_t to) const {
  if (from == to) return {};
  const ChangeReorders& change = changes_.at(ChangeOf(tensor, from, to));
  return std::span(change.reorders).first(change.count);
}

void LayoutGraph::SetTimes(std::span<const Latency> times) {
  for (std::size_t tensor = 0; tensor < problem_.tensors.size(); ++tensor) {
    LayoutTensor& described = problem_.tensors[tensor];
    if (described.layouts == 1) continue;
    described.change.assign(described.layouts * described.layouts, Latency(0));
    for (std::size_t from = 0; from < described.layouts; ++from)
      for (std::size_t to = 0; to < described.layouts; ++to)
        for (std::size_t reorder : ReordersOf(tensor, from, to))
          described.change[from * described.layouts + to] += times[reorder];
  }
}

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
