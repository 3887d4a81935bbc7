#include "analyzer/layouts/layout_options.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "src/core/graph/views.h"

namespace infimum {

std::size_t OrderTable::AskedHash::operator()(AskedView asked) const {
  std::size_t hash = std::hash<std::string_view>()(asked.name);
  // By 2^64 over the golden ratio, whose products spread over all bits.
  for (const std::int64_t extent : asked.extents) hash = (hash ^ static_cast<std::size_t>(extent)) * 0x9E3779B97F4A7C15;
  return hash ^ hash >> 32;
}

std::optional<std::uint32_t> OrderTable::NumberOf(std::string_view name, const Shape& shape) {
  if (const auto known = numbers_.find(AskedView(name, shape)); known != numbers_.end()) return known->second;
  return numbers_.emplace(Asked{std::string(name), shape}, Add(name, shape)).first->second;
}

std::optional<std::uint32_t> OrderTable::Add(std::string_view name, const Shape& shape) {
  std::optional<ElementOrder> order = ParseLayout(name, shape);
  if (!order) return std::nullopt;
  if (order->is_row_major()) return 0;
  const auto number = static_cast<std::uint32_t>(orders_.size());
  std::vector<std::int64_t> runs;
  for (const ElementRun& run : order->runs) runs.insert(runs.end(), {run.extent, run.logical, run.physical});
  const std::size_t first = first_.try_emplace({std::move(runs), order->padded}, number).first->second;
  LayoutView view = ViewOf(name, shape);
  orders_.push_back({*std::move(order), std::move(view.letters), std::move(view.shape), first});
  return number;
}

namespace {

class Finder {
 public:
  Finder(const ModelGraph& graph, std::int64_t threads)
      : graph_(graph), threads_(threads), read_by_(graph.values.size(), 0) {
    found_.roots = RootsOfViews(graph);
    found_.tensor_of.resize(graph.values.size());
    const auto has_bodies = [](const Layer& layer) { return !layer.bodies.empty(); };
    if (std::ranges::any_of(graph.layers, has_bodies))
      for (std::size_t i = 0; i < graph.values.size(); ++i) named_.emplace(graph.values[i].name, ValueId(i));
  }

  StatedUnits Find(const std::vector<ResolvedLayer>& layers, const std::vector<ResolvedRegion>& regions) {
    found_.units.reserve(layers.size() + regions.size());
    found_.ways.reserve(2 * found_.units.capacity());
    found_.orders.reserve(4 * found_.units.capacity());
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (TakesPart(graph_.layers[i])) AddLayer(i, layers[i]);
    for (std::size_t i = 0; i < regions.size(); ++i) AddRegion(i, regions[i]);
    return std::move(found_);
  }

 private:
  // Where a candidate's texts name the order of one of the unit's tensors, and in which shape the workload sees it.
  struct Place {
    std::size_t name = 0;
    const Shape* shape = nullptr;
  };

  // Views take none. What a free layer makes of other bytes (a cast of bits) is row-major, and so is what it reads.
  bool TakesPart(const Layer& layer) const {
    if (layer.status != LayerStatus::kFree || !layer.bodies.empty()) return true;
    return std::ranges::any_of(layer.outputs, [&](const std::optional<ValueId>& output) {
      return output && graph_.value(*output).kind == ValueKind::kIntermediate &&
             found_.roots[output->index()] == *output;
    });
  }

  std::optional<std::size_t> TensorOf(ValueId value) {
    const ValueId root = found_.roots[value.index()];
    const Value& described = graph_.value(root);
    if (described.kind == ValueKind::kWeight || !described.shape) return std::nullopt;
    std::optional<std::size_t>& known = found_.tensor_of[root.index()];
    if (!known) {
      known = found_.values.size();
      found_.values.push_back(root);
    }
    return known;
  }

  StatedUnit Begin() {
    ++units_;
    places_.clear();
    StatedUnit unit;
    unit.first_way = found_.ways.size();
    unit.first_order = found_.orders.size();
    return unit;
  }

  // Of what a unit reads twice the first time counts.
  void Read(std::size_t tensor, const Place& place, StatedUnit& unit) {
    if (std::exchange(read_by_[tensor], units_) == units_) return;
    unit.reads.push_back(tensor);
    places_.push_back(place);
  }

  // `value_of` tells the values of the first `known` operands as its layer or region lists them.
  template <class ValueOf>
  void ReadOperands(const VaryingOperands& operands, std::size_t known, const ValueOf& value_of, StatedUnit& unit) {
    unit.keeps_order = operands.keeps_order;
    for (std::size_t name = 0; name < operands.reads.size(); ++name) {
      const VaryingOperands::Read& read = operands.reads[name];
      if (read.place >= known) continue;
      const std::optional<ValueId> value = value_of(read.place);
      const std::optional<std::size_t> tensor = value ? TensorOf(*value) : std::nullopt;
      unit.keeps_order &= tensor.has_value();
      if (tensor) Read(*tensor, {name, &read.shape}, unit);
    }
  }

  void Write(ValueId value, const Shape& shape, StatedUnit& unit) {
    const std::optional<std::size_t> tensor = TensorOf(value);
    if (!tensor) return;
    places_.push_back({unit.writes.size(), &shape});
    unit.writes.push_back(*tensor);
  }

  // What a body takes from outside by name.
  void ReadCaptured(const SubGraph& body, StatedUnit& unit) {
    if (body.graph == nullptr) return;
    for (ValueId input : body.graph->inputs) {
      const auto found = named_.find(body.graph->value(input).name);
      if (found == named_.end()) continue;
      if (const std::optional<std::size_t> tensor = TensorOf(found->second)) Read(*tensor, {}, unit);
    }
  }

  void AddLayer(std::size_t number, const ResolvedLayer& resolved) {
    const Layer& layer = graph_.layers[number];
    StatedUnit unit = Begin();
    unit.layers = {number};
    VaryingOperands own;
    const VaryingOperands* operands = nullptr;
    if (layer.workload && layer.bodies.empty()) {
      if (resolved.rows == nullptr) own = VaryingOperandsOf(*layer.workload);
      operands = resolved.rows != nullptr ? &resolved.rows->operands : &own;
      const auto value_of = [&](std::size_t place) {
        const std::size_t input = layer.operand_inputs[place];
        return input < layer.inputs.size() ? layer.inputs[input] : std::nullopt;
      };
      ReadOperands(*operands, layer.operand_inputs.size(), value_of, unit);
    } else {
      for (const std::optional<ValueId>& input : layer.inputs)
        if (const std::optional<std::size_t> tensor = input ? TensorOf(*input) : std::nullopt) Read(*tensor, {}, unit);
      for (const SubGraph& body : layer.bodies) ReadCaptured(body, unit);
    }
    for (std::size_t k = 0; k < layer.outputs.size(); ++k) {
      const std::optional<ValueId>& output = layer.outputs[k];
      if (!output) continue;
      const bool is_stated = operands != nullptr && k < operands->writes.size();
      Write(*output, is_stated ? operands->writes[k] : *graph_.value(*output).shape, unit);
    }
    AddWays(resolved.rows, unit);
    // Estimated, missing, seen in a run, or a sum over bodies. Rows that say nothing of their layouts count as
    // row-major.
    if (unit.way_count == 0) {
      const Candidate* candidate = resolved.known.candidate ? &*resolved.known.candidate : nullptr;
      orders_.assign(unit.width(), 0);
      AddWay({candidate, resolved.fused.best, resolved.rows != nullptr}, unit);
    }
    found_.units.push_back(std::move(unit));
  }

  void AddRegion(std::size_t place, const ResolvedRegion& resolved) {
    if (resolved.known == nullptr) return;  // seen in a run: nothing says what it reads and writes
    const FusableRegion& region = resolved.known->region;
    StatedUnit unit = Begin();
    unit.region = place;
    for (LayerId layer : region.layers)
      if (TakesPart(graph_.layer(layer))) unit.layers.push_back(layer.index());
    const VaryingOperands& operands = resolved.rows->operands;
    const auto value_of = [&](std::size_t operand) { return std::optional<ValueId>(region.operands[operand]); };
    ReadOperands(operands, region.operands.size(), value_of, unit);
    for (std::size_t k = 0; k < region.outputs.size() && k < operands.writes.size(); ++k)
      Write(region.outputs[k], operands.writes[k], unit);
    AddWays(resolved.rows, unit);
    if (unit.way_count > 0 && !unit.layers.empty()) {
      found_.units.push_back(std::move(unit));
      return;
    }
    found_.ways.resize(unit.first_way);
    found_.orders.resize(unit.first_order);
  }

  // Of the rows that read and write alike, the fastest is a way.
  void AddWays(const WorkloadRows* rows, StatedUnit& unit) {
    if (rows == nullptr) return;
    // First by the texts, which are few: most rows share theirs with another one.
    fastest_.clear();
    for (const TimedRow& row : rows->On(threads_)) {
      if (!(row.time >= Latency(0))) continue;
      const auto same = std::ranges::find_if(
          fastest_, [&](const FastestRow& other) { return unit.keeps_order || other.layouts == row.layouts; });
      const StatedWay way{&row.row->candidate, row.time, false};
      if (same == fastest_.end()) {
        fastest_.push_back({way, row.layouts});
      } else if (IsFaster(way, same->way)) {
        *same = {way, row.layouts};
      }
    }
    for (FastestRow& row : fastest_)
      if (ReadOrders(unit, *row.layouts, row.way)) AddWay(row.way, unit);
  }

  static bool IsFaster(const StatedWay& way, const StatedWay& other) {
    return way.cost < other.cost || (way.cost == other.cost && way.candidate->name() < other.candidate->name());
  }

  // Of the ways whose orders are the same, maybe by other names, the fastest.
  void AddWay(const StatedWay& way, StatedUnit& unit) {
    const auto is_same = [&](std::uint32_t a, std::uint32_t b) { return found_.table.IsSame(a, b); };
    for (std::size_t other = 0; other < unit.way_count; ++other) {
      const std::span<const std::uint32_t> known = found_.OrdersOf(unit, other);
      if (!std::ranges::equal(known, orders_, is_same)) continue;
      StatedWay& same = found_.ways[unit.first_way + other];
      if (!IsFaster(way, same)) return;
      same = way;
      std::ranges::copy(orders_, found_.orders.begin() + (known.data() - found_.orders.data()));
      return;
    }
    ++unit.way_count;
    found_.ways.push_back(way);
    found_.orders.insert(found_.orders.end(), orders_.begin(), orders_.end());
  }

  // Into `orders_`. False where an order has no name: it can only be had from the same candidate.
  bool ReadOrders(const StatedUnit& unit, const StatedLayouts& layouts, StatedWay& way) {
    orders_.assign(unit.width(), 0);
    if (unit.keeps_order) return true;
    if (layouts.is_opaque) return false;
    for (std::size_t i = 0; i < orders_.size(); ++i) {
      const std::vector<LayoutName>& names = i < unit.reads.size() ? layouts.inputs : layouts.outputs;
      // Row-major where the candidate names none, or says nothing that can be read.
      if (places_[i].name >= names.size()) continue;
      const LayoutName& name = names[places_[i].name];
      if (name.IsRowMajor(places_[i].shape->rank())) continue;
      const std::optional<std::uint32_t> order = found_.table.NumberOf(name.text, *places_[i].shape);
      way.unstated |= !order.has_value();
      orders_[i] = order.value_or(0);
    }
    return true;
  }

  const ModelGraph& graph_;
  std::int64_t threads_;
  StatedUnits found_;
  std::unordered_map<std::string_view, ValueId> named_;  // where layers have bodies
  // Of each tensor the last unit that reads it, and how many units were begun.
  std::vector<std::size_t> read_by_;
  std::size_t units_ = 0;
  // Of the unit at hand.
  std::vector<Place> places_;  // of its reads, then of its writes
  struct FastestRow {
    StatedWay way;
    const StatedLayouts* layouts = nullptr;
  };
  std::vector<FastestRow> fastest_;  // of those that state the same
  std::vector<std::uint32_t> orders_;
};

}  // namespace

StatedUnits FindStatedUnits(const ModelGraph& graph, std::int64_t threads, const std::vector<ResolvedLayer>& layers,
                            const std::vector<ResolvedRegion>& regions) {
  return Finder(graph, threads).Find(layers, regions);
}

}  // namespace infimum
