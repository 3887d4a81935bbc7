#include "analyzer/layout_graph.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "analyzer/disjoint_sets.h"
#include "infimum/graph/replay_schedule.h"
#include "infimum/graph/views.h"

namespace infimum {
namespace {

// "acdb,abcd" -> {"acdb", "abcd"}
std::vector<std::string_view> SplitNames(std::string_view names) {
  std::vector<std::string_view> list;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    list.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return list;
}

bool IsOpaque(const std::vector<std::string_view>& names) { return std::ranges::count(names, "opaque") > 0; }

// "abcd", "plain": what most candidates say, told without a look at the shape.
bool IsRowMajorName(std::string_view name, std::size_t rank) {
  if (name == "plain" || name == "-") return true;
  if (name.size() != rank) return false;
  for (std::size_t i = 0; i < rank; ++i)
    if (name[i] != static_cast<char>('a' + i)) return false;
  return true;
}

// Which of a workload's operands vary from one inference to the next: those that candidates state layouts for, in turn.
std::vector<bool> VariableOperands(const Workload& workload, const std::vector<Operand>& operands) {
  std::vector<bool> varies(operands.size(), true);
  std::size_t inputs = operands.size();
  if (const auto* region = std::get_if<Region>(&workload)) {
    std::set<RegionOperand> constants;
    for (const RegionMember& member : region->members)
      for (const RegionOperand& operand : member.operands)
        if (operand.source == RegionOperand::Source::kWeight) constants.insert(operand);
    inputs -= std::min(constants.size(), inputs);
  }
  for (std::size_t i = 0; i < operands.size(); ++i) varies[i] = i < inputs && !operands[i].constant;
  return varies;
}

}  // namespace

std::optional<std::uint32_t> OrderTable::NumberOf(std::string_view name, const Shape& shape) {
  key_ = name;
  for (std::int64_t extent : shape.dims) key_.append(reinterpret_cast<const char*>(&extent), sizeof extent);
  if (const auto known = numbers_.find(std::string_view(key_)); known != numbers_.end()) return known->second;
  std::optional<ElementOrder> order = ParseLayout(name, shape);
  std::optional<std::uint32_t> number;
  if (order) number = 0;
  if (order && !order->is_row_major()) {
    number = static_cast<std::uint32_t>(orders_.size());
    std::vector<std::int64_t> runs;
    for (const ElementRun& run : order->runs) runs.insert(runs.end(), {run.extent, run.logical, run.physical});
    const std::size_t first = first_.try_emplace({std::move(runs), order->padded}, *number).first->second;
    LayoutView view = ViewOf(name, shape);
    orders_.push_back({*std::move(order), std::move(view.letters), std::move(view.shape), first});
  }
  numbers_.emplace(key_, number);
  return number;
}

LayoutGraph::LayoutGraph(const ModelGraph& graph, const Selection& selection, const std::vector<ResolvedLayer>& layers,
                         const std::vector<ResolvedRegion>& regions)
    : graph_(graph), selection_(selection), roots_(RootsOfViews(graph)), tensor_of_(graph.values.size()) {
  const auto has_bodies = [](const Layer& layer) { return !layer.bodies.empty(); };
  if (std::ranges::any_of(graph.layers, has_bodies))
    for (std::size_t i = 0; i < graph.values.size(); ++i) named_.emplace(graph.values[i].name, ValueId(i));
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (TakesPart(graph.layers[i])) AddLayer(i, layers[i]);
  for (std::size_t i = 0; i < regions.size(); ++i) AddRegion(i, regions[i]);
  for (const Unit& unit : units_)
    for (const Way& way : unit.ways)
      for (const auto* orders : {&way.reads, &way.writes})
        has_layouts_ |= std::ranges::any_of(*orders, [](std::uint32_t order) { return order != 0; });
  NumberOrders();
  NumberOptions();
  if (has_layouts_) FindReorders();
}

// Views take none. What a free layer makes of other bytes (a cast of bits) is row-major, and so is what it reads.
bool LayoutGraph::TakesPart(const Layer& layer) const {
  if (layer.status != LayerStatus::kFree || !layer.bodies.empty()) return true;
  return std::ranges::any_of(layer.outputs, [&](const std::optional<ValueId>& output) {
    return output && graph_.value(*output).kind == ValueKind::kIntermediate && roots_[output->index()] == *output;
  });
}

std::optional<std::size_t> LayoutGraph::TensorOf(ValueId value) {
  const ValueId root = roots_[value.index()];
  const Value& described = graph_.value(root);
  if (described.kind == ValueKind::kWeight || !described.shape) return std::nullopt;
  std::optional<std::size_t>& known = tensor_of_[root.index()];
  if (!known) {
    known = values_.size();
    values_.push_back(root);
  }
  return known;
}

// Of the rows that read and write alike, the fastest is a way.
void LayoutGraph::AddWays(const WorkloadRows* rows, const std::vector<bool>& is_read, Unit& unit) {
  if (rows == nullptr) return;
  // First by the texts, which are few: most rows share theirs with another one.
  struct Fastest {
    const Measurement* row;
    Latency cost;
  };
  std::vector<Fastest> fastest;
  for (const TimedRow& timed : rows->On(selection_.threads)) {
    const Measurement& row = *timed.row;
    const Latency cost = timed.time;
    if (!(cost >= Latency(0))) continue;
    const auto same = std::ranges::find_if(fastest, [&](const Fastest& other) {
      return unit.keeps_order || (other.row->candidate.input_layout == row.candidate.input_layout &&
                                  other.row->candidate.output_layout == row.candidate.output_layout);
    });
    if (same == fastest.end()) {
      fastest.push_back({&row, cost});
    } else if (cost < same->cost || (cost == same->cost && row.candidate.name() < same->row->candidate.name())) {
      *same = {&row, cost};
    }
  }
  const auto is_same = [&](std::uint32_t a, std::uint32_t b) { return table_.IsSame(a, b); };
  for (const auto& [row, cost] : fastest) {
    Way way{&row->candidate, cost, {}, {}, false};
    way.reads.resize(unit.reads.size());
    way.writes.resize(unit.writes.size());
    if (!unit.keeps_order && !ReadLayouts(row->candidate, is_read, unit, way)) continue;
    const auto same = std::ranges::find_if(unit.ways, [&](const Way& other) {
      return std::ranges::equal(other.reads, way.reads, is_same) &&
             std::ranges::equal(other.writes, way.writes, is_same);
    });
    if (same == unit.ways.end()) {
      unit.ways.push_back(std::move(way));
    } else if (way.cost < same->cost || (way.cost == same->cost && way.candidate->name() < same->candidate->name())) {
      *same = std::move(way);
    }
  }
}

// False where an order has no name: it can only be had from the same candidate.
bool LayoutGraph::ReadLayouts(const Candidate& candidate, const std::vector<bool>& is_read, const Unit& unit,
                              Way& way) {
  const std::vector<std::string_view> inputs = SplitNames(candidate.input_layout);
  const std::vector<std::string_view> outputs = SplitNames(candidate.output_layout);
  if (IsOpaque(inputs) || IsOpaque(outputs)) return false;
  // Row-major where the candidate names none, or says nothing that can be read.
  const auto stated = [&](const std::vector<std::string_view>& names, std::size_t place, const Shape& shape) {
    if (place >= names.size() || IsRowMajorName(names[place], shape.rank())) return std::uint32_t{0};
    const std::optional<std::uint32_t> order = table_.NumberOf(names[place], shape);
    way.unstated |= !order.has_value();
    return order.value_or(0);
  };
  for (std::size_t k = 0, place = 0; k < is_read.size(); ++k) {
    if (!is_read[k]) continue;
    way.reads[place] = stated(inputs, k, unit.reads[place].shape);
    ++place;
  }
  for (std::size_t k = 0; k < unit.writes.size(); ++k) way.writes[k] = stated(outputs, k, unit.writes[k].shape);
  return true;
}

// What a body takes from outside by name.
void LayoutGraph::AddCaptured(const SubGraph& body, std::set<std::size_t>& known, Unit& unit) {
  if (body.graph == nullptr) return;
  for (ValueId input : body.graph->inputs) {
    const auto found = named_.find(body.graph->value(input).name);
    if (found == named_.end()) continue;
    const std::optional<std::size_t> tensor = TensorOf(found->second);
    if (tensor && known.insert(*tensor).second)
      unit.reads.push_back({*tensor, *graph_.value(roots_[found->second.index()]).shape});
  }
}

void LayoutGraph::AddLayer(std::size_t number, const ResolvedLayer& resolved) {
  const Layer& layer = graph_.layers[number];
  Unit unit;
  unit.layers = {number};
  std::set<std::size_t> known;
  const bool has_rows = layer.workload && layer.bodies.empty();
  std::vector<bool> is_read;  // of the operands that vary, which are tensors of the graph
  if (has_rows) {
    const std::vector<Operand> operands = OperandsOf(*layer.workload);
    const std::vector<bool> varies = VariableOperands(*layer.workload, operands);
    unit.keeps_order = IsElementwise(*layer.workload);
    // A region's operands are kept in the order of their first use.
    std::vector<std::size_t> places = layer.operand_inputs;
    if (const auto* members = std::get_if<Region>(&*layer.workload)) {
      const std::vector<std::size_t> by_use = PlacesByFirstUse(*members);
      for (std::size_t i = 0; i < by_use.size() && i < places.size(); ++i)
        if (by_use[i] < places.size()) places[by_use[i]] = layer.operand_inputs[i];
    }
    for (std::size_t k = 0; k < operands.size() && k < places.size(); ++k) {
      if (!varies[k]) continue;
      const std::size_t input = places[k];
      std::optional<std::size_t> tensor;
      if (input < layer.inputs.size() && layer.inputs[input]) tensor = TensorOf(*layer.inputs[input]);
      unit.keeps_order &= tensor.has_value();
      is_read.push_back(tensor && known.insert(*tensor).second);
      if (is_read.back()) unit.reads.push_back({*tensor, operands[k].shape});
    }
  } else {
    for (const std::optional<ValueId>& input : layer.inputs) {
      if (!input) continue;
      const std::optional<std::size_t> tensor = TensorOf(*input);
      if (tensor && known.insert(*tensor).second) unit.reads.push_back({*tensor, *graph_.value(*input).shape});
    }
    for (const SubGraph& body : layer.bodies) AddCaptured(body, known, unit);
  }
  const std::vector<Operand> outputs = has_rows ? OutputsOf(*layer.workload) : std::vector<Operand>();
  for (std::size_t k = 0; k < layer.outputs.size(); ++k) {
    const std::optional<ValueId>& output = layer.outputs[k];
    if (!output) continue;
    if (const std::optional<std::size_t> tensor = TensorOf(*output))
      unit.writes.push_back({*tensor, k < outputs.size() ? outputs[k].shape : *graph_.value(*output).shape});
  }
  AddWays(resolved.rows, is_read, unit);
  // Estimated, missing, seen in a run, or a sum over bodies.
  if (unit.ways.empty()) {
    Way way{resolved.known.candidate ? &*resolved.known.candidate : nullptr, resolved.fused.best, {}, {}, false};
    way.reads.resize(unit.reads.size());
    way.writes.resize(unit.writes.size());
    // Rows that say nothing of their layouts count as row-major.
    way.unstated = resolved.rows != nullptr;
    unit.ways.push_back(std::move(way));
  }
  units_.push_back(std::move(unit));
  region_of_.emplace_back();
}

void LayoutGraph::AddRegion(std::size_t place, const ResolvedRegion& resolved) {
  if (resolved.known == nullptr) return;  // seen in a run: nothing says what it reads and writes
  const FusableRegion& region = resolved.known->region;
  Unit unit;
  for (LayerId layer : region.layers)
    if (TakesPart(graph_.layer(layer))) unit.layers.push_back(layer.index());
  std::vector<ValueId> values = region.operands;
  if (const auto* members = std::get_if<Region>(&region.workload)) {
    const std::vector<std::size_t> places = PlacesByFirstUse(*members);
    for (std::size_t i = 0; i < places.size() && i < values.size(); ++i) values[places[i]] = region.operands[i];
  }
  const std::vector<Operand> operands = OperandsOf(region.workload), outputs = OutputsOf(region.workload);
  const std::vector<bool> varies = VariableOperands(region.workload, operands);
  unit.keeps_order = IsElementwise(region.workload);
  std::vector<bool> is_read;
  std::set<std::size_t> known;
  for (std::size_t k = 0; k < operands.size() && k < values.size(); ++k) {
    if (!varies[k]) continue;
    const std::optional<std::size_t> tensor = TensorOf(values[k]);
    unit.keeps_order &= tensor.has_value();
    is_read.push_back(tensor && known.insert(*tensor).second);
    if (is_read.back()) unit.reads.push_back({*tensor, operands[k].shape});
  }
  for (std::size_t k = 0; k < region.outputs.size() && k < outputs.size(); ++k)
    if (const std::optional<std::size_t> tensor = TensorOf(region.outputs[k]))
      unit.writes.push_back({*tensor, outputs[k].shape});
  AddWays(resolved.rows, is_read, unit);
  if (unit.ways.empty() || unit.layers.empty()) return;
  units_.push_back(std::move(unit));
  region_of_.emplace_back(place);
}

void LayoutGraph::NumberOrders() {
  DisjointSets joined(values_.size());
  for (const Unit& unit : units_) {
    if (!unit.keeps_order) continue;
    for (const auto* accesses : {&unit.reads, &unit.writes})
      for (const Access& access : *accesses) joined.Join(accesses->front().tensor, access.tensor);
    if (!unit.reads.empty() && !unit.writes.empty()) joined.Join(unit.reads[0].tensor, unit.writes[0].tensor);
  }
  std::vector<std::size_t> number(values_.size(), values_.size());
  for (std::size_t tensor = 0; tensor < values_.size(); ++tensor) {
    std::size_t& of_root = number[joined.Find(tensor)];
    if (of_root == values_.size()) {
      of_root = orders_.size();
      orders_.push_back({0});
    }
    class_of_.push_back(of_root);
  }
  // What giving an order up costs the unit that would miss it most.
  std::vector<std::vector<Latency>> worth(orders_.size(), {Latency(0)});
  const auto add = [&](std::size_t tensor, std::uint32_t order, Latency value) {
    if (order == 0) return;
    std::vector<std::uint32_t>& orders = orders_[class_of_[tensor]];
    std::vector<Latency>& values = worth[class_of_[tensor]];
    const auto found = std::ranges::find_if(orders, [&](std::uint32_t known) { return table_.IsSame(known, order); });
    if (found == orders.end()) {
      orders.push_back(order);
      values.push_back(value);
      return;
    }
    Latency& known = values[static_cast<std::size_t>(found - orders.begin())];
    known = std::max(known, value);
    // Changes are best named in the shape with the most dimensions.
    if (table_[order].shape.rank() > table_[*found].shape.rank()) *found = order;
  };
  for (const Unit& unit : units_) {
    if (unit.keeps_order) continue;
    Latency worst{0};
    for (const Way& way : unit.ways) worst = std::max(worst, way.cost);
    for (const Way& way : unit.ways) {
      for (std::size_t k = 0; k < way.reads.size(); ++k) add(unit.reads[k].tensor, way.reads[k], worst - way.cost);
      for (std::size_t k = 0; k < way.writes.size(); ++k) add(unit.writes[k].tensor, way.writes[k], worst - way.cost);
    }
  }
  for (std::size_t i = 0; i < orders_.size(); ++i) {
    if (orders_[i].size() <= kMostLayouts) continue;
    is_complete_ = false;
    std::vector<std::size_t> rank(orders_[i].size() - 1);
    std::iota(rank.begin(), rank.end(), 1u);
    std::ranges::stable_sort(rank, std::greater<>(), [&](std::size_t order) { return worth[i][order]; });
    std::vector<std::uint32_t> kept = {0};
    for (std::size_t k = 0; kept.size() < kMostLayouts; ++k) kept.push_back(orders_[i][rank[k]]);
    orders_[i] = std::move(kept);
  }
}

void LayoutGraph::NumberOptions() {
  problem_.layers = graph_.layers.size();
  std::vector<bool> is_written(values_.size(), false);
  for (const Unit& unit : units_)
    for (const Access& access : unit.writes) is_written[access.tensor] = true;
  for (std::size_t tensor = 0; tensor < values_.size(); ++tensor) {
    LayoutTensor described;
    described.layouts = orders_[class_of_[tensor]].size();
    described.is_given = !is_written[tensor];
    problem_.tensors.push_back(std::move(described));
  }
  for (const ValueId output : graph_.outputs)
    if (const auto tensor = tensor_of_[roots_[output.index()].index()]) problem_.tensors[*tensor].is_output = true;
  const auto number = [&](const Access& access, std::uint32_t order) -> std::optional<std::uint8_t> {
    const std::vector<std::uint32_t>& orders = orders_[class_of_[access.tensor]];
    const auto found = std::ranges::find_if(orders, [&](std::uint32_t known) { return table_.IsSame(known, order); });
    if (found == orders.end()) return std::nullopt;
    return static_cast<std::uint8_t>(found - orders.begin());
  };
  for (const Unit& unit : units_) {
    LayoutUnit numbered;
    numbered.layers = unit.layers;
    for (const Access& access : unit.reads) numbered.reads.push_back(access.tensor);
    for (const Access& access : unit.writes) numbered.writes.push_back(access.tensor);
    std::vector<Behind> behind;
    const auto add = [&](const Way& way, std::vector<std::uint8_t> reads, std::vector<std::uint8_t> writes) {
      numbered.options.push_back({way.cost, std::move(reads), std::move(writes)});
      behind.push_back({way.candidate, way.unstated});
    };
    if (unit.keeps_order) {
      const std::size_t count = unit.writes.empty() ? 1 : orders_[class_of_[unit.writes[0].tensor]].size();
      for (std::size_t order = 0; order < count; ++order) {
        if (order > 0 && !OrderOf(unit.writes[0].tensor, order).order.is_dense()) continue;
        const auto same = static_cast<std::uint8_t>(order);
        add(unit.ways[0], std::vector<std::uint8_t>(unit.reads.size(), same),
            std::vector<std::uint8_t>(unit.writes.size(), same));
      }
    } else {
      for (const Way& way : unit.ways) {
        std::vector<std::uint8_t> reads, writes;
        for (std::size_t k = 0; k < way.reads.size(); ++k)
          if (const auto known = number(unit.reads[k], way.reads[k])) reads.push_back(*known);
        for (std::size_t k = 0; k < way.writes.size(); ++k)
          if (const auto known = number(unit.writes[k], way.writes[k])) writes.push_back(*known);
        if (reads.size() == way.reads.size() && writes.size() == way.writes.size())
          add(way, std::move(reads), std::move(writes));
      }
      // All of its orders were given up: the fastest way counts as row-major, which makes the cost too low.
      if (numbered.options.empty())
        add(*std::ranges::min_element(unit.ways, {}, &Way::cost), std::vector<std::uint8_t>(unit.reads.size(), 0),
            std::vector<std::uint8_t>(unit.writes.size(), 0));
    }
    problem_.units.push_back(std::move(numbered));
    behind_.push_back(std::move(behind));
  }
}

std::span<const std::size_t> LayoutGraph::ReordersOf(std::size_t tensor, std::size_t from, std::size_t to) const {
  if (from == to) return {};
  return reorders_of_[tensor][from * problem_.tensors[tensor].layouts + to];
}

std::vector<ReorderConfig> LayoutGraph::MakeReorders(std::size_t tensor, std::size_t from, std::size_t to) const {
  const DataType type = graph_.value(values_[tensor]).type;
  const OperandTypes types{type, DataType::kNone, type};
  const NamedOrder& source = OrderOf(tensor, from);
  const NamedOrder& target = OrderOf(tensor, to);
  const auto plain = [&](const NamedOrder& beside) { return RowMajorName(beside.shape.rank()); };
  if (source.name.empty()) return {{types, target.shape, plain(target), target.name}};
  if (target.name.empty()) return {{types, source.shape, source.name, plain(source)}};
  if (source.shape == target.shape) return {{types, source.shape, source.name, target.name}};
  return {{types, source.shape, source.name, plain(source)}, {types, target.shape, plain(target), target.name}};
}

void LayoutGraph::FindReorders() {
  std::unordered_map<std::string, std::size_t> known;
  reorders_of_.resize(values_.size());
  for (std::size_t tensor = 0; tensor < values_.size(); ++tensor) {
    const std::size_t layouts = problem_.tensors[tensor].layouts;
    if (layouts == 1) continue;
    reorders_of_[tensor].resize(layouts * layouts);
    for (std::size_t from = 0; from < layouts; ++from)
      for (std::size_t to = 0; to < layouts; ++to) {
        if (from == to) continue;
        for (const ReorderConfig& reorder : MakeReorders(tensor, from, to)) {
          Workload workload = LayerConfig(reorder);
          WorkloadKey key = KeyOf(workload);
          const auto [entry, is_new] = known.try_emplace(key.text, reorders_.size());
          if (is_new) reorders_.push_back({std::move(workload), std::move(key)});
          reorders_of_[tensor][from * layouts + to].push_back(entry->second);
        }
      }
  }
}

void LayoutGraph::SetTimes(std::span<const Latency> times) {
  for (std::size_t tensor = 0; tensor < values_.size(); ++tensor) {
    LayoutTensor& described = problem_.tensors[tensor];
    if (described.layouts == 1) continue;
    described.change.assign(described.layouts * described.layouts, Latency(0));
    for (std::size_t i = 0; i < described.change.size(); ++i)
      for (std::size_t reorder : reorders_of_[tensor][i]) described.change[i] += times[reorder];
  }
}

}  // namespace infimum
