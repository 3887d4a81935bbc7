#include "analyzer/layouts/layout_planner.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <numeric>
#include <ranges>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/layouts/layout_options.h"
#include "analyzer/layouts/solver.h"
#include "analyzer/rows/best_time.h"
#include "analyzer/rows/measured_rows.h"
#include "analyzer/types/disjoint_sets.h"

namespace infimum {

// A graph's layers and regions with the layouts that their candidates declare: the question that ChooseLayouts answers,
// and what its numbers mean.
//
//   LayoutGraph question(graph, selection, layers, regions);
//   question.SetTimes(...)                 what the reorders cost
//   ChooseLayouts(question.problem())
//
// All tensors that element-wise layers connect share their layouts, since such a layer hands on what it is given. Of
// more than kMostLayouts the ones whose candidates lose most are given up.
class LayoutGraph {
 public:
  // `layers` and `regions` as LatencyResolver gives them; they, and the rows behind them, live longer.
  LayoutGraph(const ModelGraph& graph, const Selection& selection, const std::vector<ResolvedLayer>& layers,
              const std::vector<ResolvedRegion>& regions);

  // Whether there is anything to choose: a candidate that takes part reads or writes anything but row-major, or a
  // concatenation or split may move nothing.
  bool has_layouts() const { return has_layouts_; }
  const std::vector<LayerId>& free_movements() const { return free_movements_; }
  // No layout was given up.
  bool is_complete() const { return is_complete_; }

  // Reorders as workloads, none twice.
  const std::vector<KeyedWorkload>& reorders() const { return reorders_; }
  // Which of them lead from one layout to another: one, or two over row-major where the layouts are named in different
  // shapes.
  std::span<const std::size_t> ReordersOf(std::size_t tensor, std::size_t from, std::size_t to) const;
  // `times`: one for each of reorders().
  void SetTimes(std::span<const Latency> times);

  const LayoutProblem& problem() const { return problem_; }
  ValueId ValueOf(std::size_t tensor) const { return declared_.values[tensor]; }
  const NamedLayout& NamedLayoutOf(std::size_t tensor, std::size_t layout) const {
    return declared_.table[TableNumber(tensor, layout)];
  }
  // What a choice stands for; its candidate is null where no row is behind the time.
  struct Behind {
    const Candidate* candidate = nullptr;
    bool undeclared = false;
  };
  const Behind& BehindOf(const ChosenNode& chosen) const { return behind_[first_option_[chosen.node] + chosen.option]; }
  // Which region of `regions` a node is; nullopt for a layer.
  std::optional<std::size_t> RegionOf(std::size_t node) const { return region_of_[node]; }

 private:
  // An layout that tensors of one class may have, and what giving it up costs the node that would miss it most.
  struct ClassLayout {
    std::uint32_t number = 0;
    Latency worth{0};
  };
  // A reorder from one layout to another is the same for all tensors of a type.
  struct LayoutPair {
    DataType type = DataType::kNone;
    std::uint32_t from = 0, to = 0;
    friend bool operator==(const LayoutPair&, const LayoutPair&) = default;
  };
  struct PairHash {
    std::size_t operator()(const LayoutPair& pair) const {
      const auto type = static_cast<std::size_t>(pair.type);
      return std::hash<std::size_t>()((std::size_t{pair.from} << 32 | pair.to) * 31 + type);
    }
  };
  struct ReordersOfPair {
    std::array<std::size_t, 2> reorders = {};
    std::size_t count = 0;
  };

  std::uint32_t TableNumber(std::size_t tensor, std::size_t layout) const {
    return class_layouts_[class_of_[tensor]][layout].number;
  }
  LayoutPair PairOf(std::size_t tensor, std::size_t from, std::size_t to) const;
  void FindClasses();
  void NumberLayouts();
  void NumberTensors();
  void NumberOptions();
  void AddOptions(const DeclaredNode& declared, LayoutNode& node);
  // Of a movement: in which layouts of what it reads and writes it moves nothing.
  struct View {
    std::vector<std::uint8_t> reads, writes;
  };
  std::vector<View> ViewsOf(const DeclaredNode& declared) const;
  void FindFreeMovements();
  const ElementOrder& OrderOf(const ClassLayout& layout, const ElementOrder& row_major) const {
    return layout.number == 0 ? row_major : declared_.table[layout.number].order;
  }
  std::optional<std::uint8_t> IndexOf(std::size_t tensor, std::uint32_t number) const;
  void FindReorders();
  std::vector<ReorderConfig> MakeReorders(const LayoutPair& pair) const;

  const ModelGraph& graph_;
  DeclaredNodes declared_;
  std::vector<std::size_t> class_of_;                    // by tensor
  std::vector<std::vector<ClassLayout>> class_layouts_;  // by class, row-major first
  std::vector<Behind> behind_;                           // of all nodes' options, one node after the other
  std::vector<std::size_t> first_option_;                // by node
  std::vector<std::optional<std::size_t>> region_of_;
  std::vector<LayerId> free_movements_;
  std::deque<Candidate> views_;
  LayoutProblem problem_;
  std::vector<KeyedWorkload> reorders_;
  std::unordered_map<LayoutPair, ReordersOfPair, PairHash> pairs_;
  bool has_layouts_ = false;
  bool is_complete_ = true;
};

LayoutGraph::LayoutGraph(const ModelGraph& graph, const Selection& selection, const std::vector<ResolvedLayer>& layers,
                         const std::vector<ResolvedRegion>& regions)
    : graph_(graph), declared_(FindDeclaredNodes(graph, selection.threads, layers, regions)) {
  // A replay on a GPU has no second names for memory.
  if (selection.device.text.starts_with("gpu"))
    for (DeclaredNode& node : declared_.nodes) node.movement = nullptr;
  has_layouts_ = std::ranges::any_of(declared_.layouts, [](std::uint32_t number) { return number != 0; }) ||
                 std::ranges::any_of(declared_.nodes, [](const DeclaredNode& node) {
                   return node.movement != nullptr && node.movement->kind != MovementKind::kTranspose;
                 });
  if (!has_layouts_) return;
  FindClasses();
  NumberLayouts();
  NumberTensors();
  NumberOptions();
  FindReorders();
}

void LayoutGraph::FindClasses() {
  const std::size_t tensors = declared_.values.size();
  DisjointSets joined(tensors);
  for (const DeclaredNode& node : declared_.nodes) {
    if (!node.keeps_layout) continue;
    for (std::size_t place = 1; place < node.width(); ++place) joined.Join(node.TensorAt(0), node.TensorAt(place));
  }
  std::vector<std::size_t> number(tensors, tensors);
  class_of_.reserve(tensors);
  for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
    std::size_t& of_root = number[joined.Find(tensor)];
    if (of_root == tensors) {
      of_root = class_layouts_.size();
      class_layouts_.emplace_back(1);  // row-major
    }
    class_of_.push_back(of_root);
  }
}

void LayoutGraph::NumberLayouts() {
  const auto add = [&](std::size_t tensor, std::uint32_t number, Latency worth) {
    if (number == 0) return;
    std::vector<ClassLayout>& layouts = class_layouts_[class_of_[tensor]];
    const auto found = std::ranges::find_if(
        layouts, [&](const ClassLayout& known) { return declared_.table.IsSame(known.number, number); });
    if (found == layouts.end()) {
      layouts.push_back({number, worth});
      return;
    }
    found->worth = std::max(found->worth, worth);
    // Changes are best named in the shape with the most dimensions.
    if (declared_.table[number].shape.rank() > declared_.table[found->number].shape.rank()) found->number = number;
  };
  for (const DeclaredNode& node : declared_.nodes) {
    if (node.keeps_layout) continue;
    const std::span<const DeclaredOption> options = declared_.OptionsOf(node);
    Latency worst{0};
    for (const DeclaredOption& option : options) worst = std::max(worst, option.cost);
    for (std::size_t option = 0; option < options.size(); ++option) {
      const std::span<const std::uint32_t> numbers = declared_.LayoutsOf(node, option);
      for (std::size_t place = 0; place < numbers.size(); ++place)
        add(node.TensorAt(place), numbers[place], worst - options[option].cost);
    }
  }
  FindFreeMovements();  // of all layouts, so that a further candidate raises no bound
  // What a concatenation's result may be in, or a split's operand, its parts may be in too, even where no candidate
  // writes or reads them so: a part is changed before it is joined or behind it, not the whole. As far as there is room
  // for: what candidates declare comes first.
  const auto add_to_parts = [&](const DeclaredNode& node) {
    const bool splits = node.movement->kind == MovementKind::kSplit;
    const std::vector<std::size_t>& parts = splits ? node.writes : node.reads;
    const std::vector<ClassLayout> layouts = class_layouts_[class_of_[splits ? node.reads[0] : node.writes[0]]];
    for (const ClassLayout& layout : layouts) {
      const NamedLayout& whole = declared_.table[layout.number];
      if (layout.number == 0 || !whole.order.is_dense()) continue;
      const std::optional<InPlaceMovement> in_place = InPlace(*node.movement, whole.order.runs);
      for (std::size_t i = 0; in_place && i < parts.size(); ++i) {
        const Shape& shape = *graph_.value(declared_.values[parts[i]]).shape;
        if (shape.rank() != whole.shape.rank() || class_layouts_[class_of_[parts[i]]].size() >= kMostLayouts) continue;
        const std::optional<std::uint32_t> part = declared_.table.NumberOf(whole.name, shape);
        if (part && declared_.table[*part].order == ElementOrder{in_place->orders[i], {}})
          add(parts[i], *part, Latency(0));
      }
    }
  };
  // From wholes to parts, so that parts of parts follow.
  const auto is = [](const DeclaredNode& node, MovementKind kind) {
    return node.movement != nullptr && node.movement->kind == kind;
  };
  for (const DeclaredNode& node : std::views::reverse(declared_.nodes))
    if (is(node, MovementKind::kConcat)) add_to_parts(node);
  for (const DeclaredNode& node : declared_.nodes)
    if (is(node, MovementKind::kSplit)) add_to_parts(node);
  for (std::vector<ClassLayout>& layouts : class_layouts_) {
    if (layouts.size() <= kMostLayouts) continue;
    is_complete_ = false;
    std::stable_sort(layouts.begin() + 1, layouts.end(),
                     [](const ClassLayout& a, const ClassLayout& b) { return a.worth > b.worth; });
    layouts.resize(kMostLayouts);
  }
}

void LayoutGraph::NumberTensors() {
  problem_.layers = graph_.layers.size();
  problem_.tensors.resize(declared_.values.size());
  for (std::size_t tensor = 0; tensor < problem_.tensors.size(); ++tensor) {
    problem_.tensors[tensor].layouts = class_layouts_[class_of_[tensor]].size();
    problem_.tensors[tensor].is_given = true;
  }
  for (const DeclaredNode& node : declared_.nodes)
    for (std::size_t tensor : node.writes) problem_.tensors[tensor].is_given = false;
  for (const ValueId output : graph_.outputs)
    if (const auto tensor = declared_.TensorOf(output)) problem_.tensors[*tensor].is_output = true;
}

std::optional<std::uint8_t> LayoutGraph::IndexOf(std::size_t tensor, std::uint32_t number) const {
  const std::vector<ClassLayout>& layouts = class_layouts_[class_of_[tensor]];
  const auto found = std::ranges::find_if(
      layouts, [&](const ClassLayout& known) { return declared_.table.IsSame(known.number, number); });
  if (found == layouts.end()) return std::nullopt;
  return static_cast<std::uint8_t>(found - layouts.begin());
}

void LayoutGraph::NumberOptions() {
  problem_.nodes.resize(declared_.nodes.size());
  region_of_.reserve(declared_.nodes.size());
  first_option_.reserve(declared_.nodes.size());
  for (std::size_t i = 0; i < declared_.nodes.size(); ++i) {
    DeclaredNode& declared = declared_.nodes[i];
    LayoutNode& node = problem_.nodes[i];
    first_option_.push_back(behind_.size());
    region_of_.push_back(declared.region);
    AddOptions(declared, node);
    for (const View& view : ViewsOf(declared)) {
      node.options.push_back({Latency(0), LayoutList(view.reads), LayoutList(view.writes)});
      const ElementOrder row_major = RowMajorOrder(declared.movement->outputs[0]);
      const ElementOrder& order = OrderOf(class_layouts_[class_of_[declared.writes[0]]][view.writes[0]], row_major);
      behind_.push_back({&views_.emplace_back(Candidate{"infimum", "view", "", NameInOwnShape(order)}), false});
    }
    node.layers = std::move(declared.layers);
    node.reads = std::move(declared.reads);
    node.writes = std::move(declared.writes);
  }
  declared_.nodes.clear();
  declared_.options.clear();
  declared_.layouts.clear();
}

void LayoutGraph::AddOptions(const DeclaredNode& declared, LayoutNode& node) {
  const std::span<const DeclaredOption> options = declared_.OptionsOf(declared);
  const std::size_t reads = declared.reads.size();
  std::vector<std::uint8_t> layouts(declared.width(), 0);
  const auto add = [&](const DeclaredOption& option) {
    const std::span<const std::uint8_t> all = layouts;
    node.options.push_back({option.cost, LayoutList(all.first(reads)), LayoutList(all.subspan(reads))});
    behind_.push_back({option.candidate, option.undeclared});
  };
  if (declared.keeps_layout) {
    const std::size_t count = declared.writes.empty() ? 1 : class_layouts_[class_of_[declared.writes[0]]].size();
    node.options.reserve(count);
    for (std::size_t layout = 0; layout < count; ++layout) {
      if (layout > 0 && !NamedLayoutOf(declared.writes[0], layout).order.is_dense()) continue;
      std::ranges::fill(layouts, static_cast<std::uint8_t>(layout));
      add(options[0]);
    }
    return;
  }
  node.options.reserve(options.size());
  for (std::size_t option = 0; option < options.size(); ++option) {
    const std::span<const std::uint32_t> numbers = declared_.LayoutsOf(declared, option);
    bool is_known = true;
    for (std::size_t place = 0; place < numbers.size() && is_known; ++place) {
      const std::optional<std::uint8_t> layout = IndexOf(declared.TensorAt(place), numbers[place]);
      is_known = layout.has_value();
      layouts[place] = layout.value_or(0);
    }
    if (is_known) add(options[option]);
  }
  // All of its layouts were given up: the fastest option counts as row-major, which makes the cost too low.
  if (node.options.empty()) {
    std::ranges::fill(layouts, std::uint8_t{0});
    add(*std::ranges::min_element(options, {}, &DeclaredOption::cost));
  }
}

// A tensor lies in the result of one concatenation, the largest that reads it or what a transpose in place makes of it;
// there a step writes it. A split's result is a part of its operand where it lies in no such result.
void LayoutGraph::FindFreeMovements() {
  std::vector<bool> may_lie(declared_.values.size(), false);  // of the memory of each
  std::vector<std::size_t> memory(declared_.values.size());
  std::iota(memory.begin(), memory.end(), 0);
  for (const DeclaredNode& node : declared_.nodes)
    for (const std::size_t tensor : node.writes) may_lie[tensor] = true;
  const auto lies = [&](std::size_t tensor) { return !may_lie[memory[tensor]]; };
  const auto is_free = [&](const DeclaredNode& node) {
    std::vector<std::size_t> memories;
    for (const std::size_t tensor : node.reads) memories.push_back(memory[tensor]);
    std::ranges::sort(memories);
    const bool share = std::ranges::adjacent_find(memories) != memories.end();
    const bool cannot = (node.movement->kind == MovementKind::kConcat && std::ranges::any_of(node.reads, lies)) ||
                        (node.movement->kind == MovementKind::kSplit && std::ranges::any_of(node.writes, lies));
    return !share && !cannot && !ViewsOf(node).empty();
  };
  std::vector<DeclaredNode*> in_turn;
  for (DeclaredNode& node : declared_.nodes)
    if (node.movement != nullptr) in_turn.push_back(&node);
  std::ranges::stable_sort(in_turn, {}, [](const DeclaredNode* node) {
    const MovementConfig& movement = *node->movement;
    const bool joins = movement.kind == MovementKind::kConcat;
    const int turn = joins ? 1 : movement.kind == MovementKind::kTranspose ? 0 : 2;
    return std::pair(turn, joins ? -ElementCount(movement.outputs[0]) : 0);
  });
  for (DeclaredNode* node : in_turn) {
    if (!is_free(*node)) {
      node->movement = nullptr;
      continue;
    }
    free_movements_.emplace_back(node->layers[0]);
    if (node->movement->kind == MovementKind::kTranspose) memory[node->writes[0]] = memory[node->reads[0]];
    if (node->movement->kind == MovementKind::kConcat)
      for (const std::size_t tensor : node->reads) may_lie[memory[tensor]] = false;
  }
}

std::vector<LayoutGraph::View> LayoutGraph::ViewsOf(const DeclaredNode& declared) const {
  if (declared.movement == nullptr) return {};
  const MovementConfig& movement = *declared.movement;
  const bool splits = movement.kind == MovementKind::kSplit;
  const std::vector<std::size_t>& parts = splits ? declared.writes : declared.reads;
  const std::vector<Shape>& shapes = splits ? movement.outputs : movement.inputs;
  const std::vector<ClassLayout>& layouts = class_layouts_[class_of_[splits ? declared.reads[0] : declared.writes[0]]];
  const ElementOrder row_major = RowMajorOrder(splits ? movement.inputs[0] : movement.outputs[0]);
  std::vector<View> views;
  for (std::size_t whole = 0; whole < layouts.size(); ++whole) {
    const ElementOrder& order = OrderOf(layouts[whole], row_major);
    const std::optional<InPlaceMovement> in_place = order.is_dense() ? InPlace(movement, order.runs) : std::nullopt;
    std::vector<std::uint8_t> found;
    for (std::size_t i = 0; in_place && i < parts.size(); ++i) {
      const std::vector<ClassLayout>& of_part = class_layouts_[class_of_[parts[i]]];
      const auto layout = std::ranges::find_if(of_part, [&](const ClassLayout& known) {
        return OrderOf(known, RowMajorOrder(shapes[i])) == ElementOrder{in_place->orders[i], {}};
      });
      if (layout != of_part.end()) found.push_back(static_cast<std::uint8_t>(layout - of_part.begin()));
    }
    if (found.size() != parts.size()) continue;
    View view{{static_cast<std::uint8_t>(whole)}, std::move(found)};
    if (!splits) std::swap(view.reads, view.writes);
    views.push_back(std::move(view));
  }
  return views;
}

LayoutGraph::LayoutPair LayoutGraph::PairOf(std::size_t tensor, std::size_t from, std::size_t to) const {
  return {graph_.value(declared_.values[tensor]).type, TableNumber(tensor, from), TableNumber(tensor, to)};
}

std::vector<ReorderConfig> LayoutGraph::MakeReorders(const LayoutPair& pair) const {
  const OperandTypes types{pair.type, DataType::kNone, pair.type};
  const NamedLayout& source = declared_.table[pair.from];
  const NamedLayout& target = declared_.table[pair.to];
  const auto plain = [&](const NamedLayout& beside) { return RowMajorName(beside.shape.rank()); };
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
        const LayoutPair pair = PairOf(tensor, from, to);
        const auto [entry, is_new_pair] = pairs_.try_emplace(pair);
        if (!is_new_pair) continue;
        for (const ReorderConfig& reorder : MakeReorders(pair)) {
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
  const ReordersOfPair& pair = pairs_.at(PairOf(tensor, from, to));
  return std::span(pair.reorders).first(pair.count);
}

void LayoutGraph::SetTimes(std::span<const Latency> times) {
  for (std::size_t tensor = 0; tensor < problem_.tensors.size(); ++tensor) {
    LayoutTensor& described = problem_.tensors[tensor];
    if (described.layouts == 1) continue;
    described.reorder.assign(described.layouts * described.layouts, Latency(0));
    for (std::size_t from = 0; from < described.layouts; ++from)
      for (std::size_t to = 0; to < described.layouts; ++to)
        for (std::size_t reorder : ReordersOf(tensor, from, to))
          described.reorder[from * described.layouts + to] += times[reorder];
  }
}

namespace {

struct ReorderTimes {
  std::vector<Latency> times;
  std::vector<bool> is_measured;
};

Result<ReorderTimes> TimesOf(const std::vector<KeyedWorkload>& reorders, MeasurementSource& source,
                             const Selection& selection, std::span<const EnvironmentKey> environments,
                             const DeviceModel& device) {
  // A reorder keeps every bit, whatever contract the layers around it meet.
  Selection asked = selection;
  asked.contract.reset();
  ReorderTimes result{std::vector<Latency>(reorders.size()), std::vector<bool>(reorders.size(), false)};
  // In the environments that the layers were measured in, each asked by itself: of these workloads alone a source would
  // take the one with the most of them.
  for (const EnvironmentKey& environment : environments) {
    asked.environment = environment;
    INFIMUM_ASSIGN_OR_RETURN(const MeasuredRows rows, MeasuredRows::Fetch(reorders, source, asked));
    for (std::size_t i = 0; i < reorders.size(); ++i) {
      const std::optional<BestTime> time = BestTimeOf(*rows.Find(reorders[i].key), selection.threads, rows.noise());
      if (!time) continue;
      result.times[i] = result.is_measured[i] ? std::min(result.times[i], time->best) : time->best;
      result.is_measured[i] = true;
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

std::string NameIn(const NamedLayout& layout, const NamedLayout& other) {
  return layout.name.empty() ? RowMajorName(other.shape.rank()) : layout.name;
}

}  // namespace

std::vector<Workload> ReordersToMeasure(const LayoutPlan& plan) {
  std::map<WorkloadKey, Workload> all;
  for (const PlannedReorder& planned : plan.reorders) {
    if (planned.is_measured) continue;
    for (const Workload& workload : planned.workloads) all.emplace(KeyOf(workload), workload);
  }
  std::vector<Workload> list;
  for (auto& [key, workload] : all) list.push_back(std::move(workload));
  return list;
}

LayoutPlanner::LayoutPlanner(const ModelGraph& graph, const Selection& selection,
                             const std::vector<ResolvedLayer>& layers, const std::vector<ResolvedRegion>& regions)
    : question_(std::make_unique<LayoutGraph>(graph, selection, layers, regions)) {}

LayoutPlanner::~LayoutPlanner() = default;

const std::vector<LayerId>& LayoutPlanner::free_movements() const { return question_->free_movements(); }

Result<std::optional<LayoutPlan>> LayoutPlanner::Plan(MeasurementSource& source, const Selection& selection,
                                                      std::span<const EnvironmentKey> environments,
                                                      const DeviceModel& device) const {
  LayoutGraph& question = *question_;
  if (!question.has_layouts()) return std::optional<LayoutPlan>();
  INFIMUM_ASSIGN_OR_RETURN(const ReorderTimes times,
                           TimesOf(question.reorders(), source, selection, environments, device));
  question.SetTimes(times.times);
  const LayoutProblem& problem = question.problem();
  const LayoutChoice choice = ChooseLayouts(problem);
  LayoutPlan plan;
  plan.latency = choice.cost;
  plan.reordering = choice.reordering;
  plan.is_exact = choice.exact && question.is_complete();
  for (const ChosenNode& chosen : choice.chosen) {
    const LayoutNode& node = problem.nodes[chosen.node];
    PlannedNode planned;
    for (std::size_t layer : node.layers) planned.layers.push_back(LayerId(layer));
    planned.region = question.RegionOf(chosen.node);
    const LayoutGraph::Behind& behind = question.BehindOf(chosen);
    if (behind.candidate != nullptr) planned.candidate = *behind.candidate;
    planned.latency = node.options[chosen.option].cost;
    plan.undeclared += behind.undeclared ? 1 : 0;
    plan.nodes.push_back(std::move(planned));
  }
  for (const ChosenReorder& chosen : choice.reorders) {
    const NamedLayout& from = question.NamedLayoutOf(chosen.tensor, chosen.from);
    const NamedLayout& to = question.NamedLayoutOf(chosen.tensor, chosen.to);
    PlannedReorder planned{question.ValueOf(chosen.tensor), NameIn(from, to), NameIn(to, from), {}, {}, true};
    const LayoutTensor& tensor = problem.tensors[chosen.tensor];
    planned.latency = tensor.reorder[chosen.from * tensor.layouts + chosen.to];
    for (std::size_t reorder : question.ReordersOf(chosen.tensor, chosen.from, chosen.to)) {
      planned.workloads.push_back(question.reorders()[reorder].workload);
      planned.is_measured &= times.is_measured[reorder];
    }
    plan.reorders.push_back(std::move(planned));
  }
  return std::optional<LayoutPlan>(std::move(plan));
}

}  // namespace infimum
