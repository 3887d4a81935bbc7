#include "analyzer/layouts/layout_options.h"

#include "src/core/graph/views.h"

namespace infimum {

std::size_t LayoutTable::AskedHash::operator()(AskedView asked) const {
  std::size_t hash = std::hash<std::string_view>()(asked.name);
  // By 2^64 over the golden ratio, whose products spread over all bits.
  for (const std::int64_t extent : asked.extents) hash = (hash ^ static_cast<std::size_t>(extent)) * 0x9E3779B97F4A7C15;
  return hash ^ hash >> 32;
}

std::optional<std::uint32_t> LayoutTable::NumberOf(std::string_view name, const Shape& shape) {
  if (const auto known = numbers_.find(AskedView(name, shape)); known != numbers_.end()) return known->second;
  return numbers_.emplace(Asked{std::string(name), shape}, Add(name, shape)).first->second;
}

std::optional<std::uint32_t> LayoutTable::Add(std::string_view name, const Shape& shape) {
  std::optional<ElementOrder> order = ParseLayout(name, shape);
  if (!order) return std::nullopt;
  if (order->is_row_major()) return 0;
  const auto number = static_cast<std::uint32_t>(layouts_.size());
  std::vector<std::int64_t> runs;
  for (const ElementRun& run : order->runs) runs.insert(runs.end(), {run.extent, run.logical, run.physical});
  const std::size_t first = first_.try_emplace({std::move(runs), order->padded}, number).first->second;
  LayoutView view = ViewOf(name, shape);
  layouts_.push_back({*std::move(order), std::move(view.letters), std::move(view.shape), first});
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

  DeclaredNodes Find(const std::vector<ResolvedLayer>& layers, const std::vector<ResolvedRegion>& regions) {
    found_.nodes.reserve(layers.size() + regions.size());
    found_.options.reserve(2 * found_.nodes.capacity());
    found_.layouts.reserve(4 * found_.nodes.capacity());
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (TakesPart(graph_.layers[i])) AddLayer(i, layers[i]);
    for (std::size_t i = 0; i < regions.size(); ++i) AddRegion(i, regions[i]);
    return std::move(found_);
  }

 private:
  // Where a candidate's texts name the order of one of the node's tensors, and in which shape the workload sees it.
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

  DeclaredNode Begin() {
    ++nodes_;
    places_.clear();
    DeclaredNode node;
    node.first_option = found_.options.size();
    node.first_layout = found_.layouts.size();
    return node;
  }

  // Of what a node reads twice the first time counts.
  void Read(std::size_t tensor, const Place& place, DeclaredNode& node) {
    if (std::exchange(read_by_[tensor], nodes_) == nodes_) return;
    node.reads.push_back(tensor);
    places_.push_back(place);
  }

  // `value_of` gives the values of the first `known` operands as its layer or region lists them.
  template <class ValueOf>
  void ReadOperands(const VaryingOperands& operands, std::size_t known, const ValueOf& value_of, DeclaredNode& node) {
    node.keeps_layout = operands.keeps_layout;
    for (std::size_t name = 0; name < operands.reads.size(); ++name) {
      const VaryingOperands::Read& read = operands.reads[name];
      if (read.place >= known) continue;
      const std::optional<ValueId> value = value_of(read.place);
      const std::optional<std::size_t> tensor = value ? TensorOf(*value) : std::nullopt;
      node.keeps_layout &= tensor.has_value();
      if (tensor) Read(*tensor, {name, &read.shape}, node);
    }
  }

  void Write(ValueId value, const Shape& shape, DeclaredNode& node) {
    const std::optional<std::size_t> tensor = TensorOf(value);
    if (!tensor) return;
    places_.push_back({node.writes.size(), &shape});
    node.writes.push_back(*tensor);
  }

  // What a body takes from outside by name.
  void ReadCaptured(const SubGraph& body, DeclaredNode& node) {
    if (body.graph == nullptr) return;
    for (ValueId input : body.graph->inputs) {
      const auto found = named_.find(body.graph->value(input).name);
      if (found == named_.end()) continue;
      if (const std::optional<std::size_t> tensor = TensorOf(found->second)) Read(*tensor, {}, node);
    }
  }

  void AddLayer(std::size_t number, const ResolvedLayer& resolved) {
    const Layer& layer = graph_.layers[number];
    DeclaredNode node = Begin();
    node.layers = {number};
    VaryingOperands own;
    const VaryingOperands* operands = nullptr;
    if (layer.workload && layer.bodies.empty()) {
      if (resolved.rows == nullptr) own = VaryingOperandsOf(*layer.workload);
      operands = resolved.rows != nullptr ? &resolved.rows->operands : &own;
      const auto value_of = [&](std::size_t place) {
        const std::size_t input = layer.operand_inputs[place];
        return input < layer.inputs.size() ? layer.inputs[input] : std::nullopt;
      };
      ReadOperands(*operands, layer.operand_inputs.size(), value_of, node);
    } else {
      for (const std::optional<ValueId>& input : layer.inputs)
        if (const std::optional<std::size_t> tensor = input ? TensorOf(*input) : std::nullopt) Read(*tensor, {}, node);
      for (const SubGraph& body : layer.bodies) ReadCaptured(body, node);
    }
    for (std::size_t k = 0; k < layer.outputs.size(); ++k) {
      const std::optional<ValueId>& output = layer.outputs[k];
      if (!output) continue;
      const bool is_declared = operands != nullptr && k < operands->writes.size();
      Write(*output, is_declared ? operands->writes[k] : *graph_.value(*output).shape, node);
    }
    node.movement = MovementOf(layer, node);
    AddOptions(resolved.rows, resolved.times.best, node);
    // Estimated, missing, seen in a run, or a sum over bodies. Rows that say nothing of their layouts count as
    // row-major.
    if (node.option_count == 0) {
      const Candidate* const candidate =
          resolved.known.candidate ? &found_.shown.emplace_back(*resolved.known.candidate) : nullptr;
      layouts_.assign(node.width(), 0);
      AddOption({candidate, resolved.fused.best, resolved.rows != nullptr}, node);
    }
    found_.nodes.push_back(std::move(node));
  }

  // Whether two values are the same numbers, as far as is known before a run.
  bool AreEqual(std::optional<ValueId> a, std::optional<ValueId> b) const {
    if (a == b) return true;
    const auto numbers = [&](std::optional<ValueId> id) -> std::optional<std::vector<double>> {
      if (!id || !graph_.value(*id).constant) return std::nullopt;
      return NumbersOf(&*graph_.value(*id).constant);
    };
    const auto first = numbers(a);
    return first && first == numbers(b);
  }

  // A concatenation of bytes of several scales writes other bytes than it reads. Its inputs are the result's scale and
  // zero point, then each part with its own.
  bool KeepsBytes(const Layer& layer) const {
    if (layer.op != "com.microsoft.QLinearConcat") return true;
    for (std::size_t i = 2; i + 2 < layer.inputs.size(); i += 3)
      if (!AreEqual(layer.inputs[0], layer.inputs[i + 1]) || !AreEqual(layer.inputs[1], layer.inputs[i + 2]))
        return false;
    return true;
  }

  const MovementConfig* MovementOf(const Layer& layer, const DeclaredNode& node) const {
    const auto* config = layer.workload ? std::get_if<LayerConfig>(&*layer.workload) : nullptr;
    const auto* movement = config != nullptr ? std::get_if<MovementConfig>(config) : nullptr;
    if (movement == nullptr || !MayStayInPlace(*movement) || !KeepsBytes(layer)) return nullptr;
    const bool has_all = node.reads.size() == movement->inputs.size() && node.writes.size() == movement->outputs.size();
    const auto is_read = [&](std::size_t tensor) { return std::ranges::find(node.reads, tensor) != node.reads.end(); };
    return has_all && !std::ranges::any_of(node.writes, is_read) ? movement : nullptr;
  }

  void AddRegion(std::size_t place, const ResolvedRegion& resolved) {
    if (resolved.known == nullptr) return;  // seen in a run: nothing says what it reads and writes
    const FusableRegion& region = resolved.known->region;
    // Of products by joined weights the results are parts of one tensor.
    if (region.outputs.size() != resolved.rows->operands.writes.size()) return;
    DeclaredNode node = Begin();
    node.region = place;
    for (LayerId layer : region.layers)
      if (TakesPart(graph_.layer(layer))) node.layers.push_back(layer.index());
    const VaryingOperands& operands = resolved.rows->operands;
    const auto value_of = [&](std::size_t operand) { return std::optional<ValueId>(region.operands[operand]); };
    ReadOperands(operands, region.operands.size(), value_of, node);
    for (std::size_t k = 0; k < region.outputs.size() && k < operands.writes.size(); ++k)
      Write(region.outputs[k], operands.writes[k], node);
    AddOptions(resolved.rows, resolved.times.best, node);
    if (node.option_count > 0 && !node.layers.empty()) {
      found_.nodes.push_back(std::move(node));
      return;
    }
    found_.options.resize(node.first_option);
    found_.layouts.resize(node.first_layout);
  }

  // Of the rows that read and write alike, the fastest is a option. The cross-fitted time of the best of all of them,
  // `best`, is its own; the others are as much slower as their rows say.
  void AddOptions(const WorkloadRows* rows, Latency best, DeclaredNode& node) {
    if (rows == nullptr) return;
    Latency least = Latency::max();
    for (const TimedRow& row : rows->On(threads_))
      if (row.time >= Latency(0)) least = std::min(least, row.time);
    // First by the texts, which are few: most rows share theirs with another one.
    fastest_.clear();
    for (const TimedRow& row : rows->On(threads_)) {
      if (!(row.time >= Latency(0))) continue;
      const auto same = std::ranges::find_if(
          fastest_, [&](const FastestRow& other) { return node.keeps_layout || other.layouts == row.layouts; });
      const Latency cost = row.time > least && least > Latency(0) ? std::max(row.time * (best / least), best) : best;
      const DeclaredOption option{&row.row->candidate, cost, false};
      if (same == fastest_.end()) {
        fastest_.push_back({option, row.layouts});
      } else if (IsFaster(option, same->option)) {
        *same = {option, row.layouts};
      }
    }
    for (FastestRow& row : fastest_)
      if (ReadLayouts(node, *row.layouts, row.option)) AddOption(row.option, node);
  }

  static bool IsFaster(const DeclaredOption& option, const DeclaredOption& other) {
    return option.cost < other.cost ||
           (option.cost == other.cost && option.candidate->name() < other.candidate->name());
  }

  // Of the options whose layouts are the same, maybe by other names, the fastest.
  void AddOption(const DeclaredOption& option, DeclaredNode& node) {
    const auto is_same = [&](std::uint32_t a, std::uint32_t b) { return found_.table.IsSame(a, b); };
    for (std::size_t other = 0; other < node.option_count; ++other) {
      const std::span<const std::uint32_t> known = found_.LayoutsOf(node, other);
      if (!std::ranges::equal(known, layouts_, is_same)) continue;
      DeclaredOption& same = found_.options[node.first_option + other];
      if (!IsFaster(option, same)) return;
      same = option;
      std::ranges::copy(layouts_, found_.layouts.begin() + (known.data() - found_.layouts.data()));
      return;
    }
    ++node.option_count;
    found_.options.push_back(option);
    found_.layouts.insert(found_.layouts.end(), layouts_.begin(), layouts_.end());
  }

  // Into `layouts_`. False where an layout has no name: it can only be had from the same candidate.
  bool ReadLayouts(const DeclaredNode& node, const DeclaredLayouts& layouts, DeclaredOption& option) {
    layouts_.assign(node.width(), 0);
    if (node.keeps_layout) return true;
    if (layouts.is_opaque) return false;
    for (std::size_t i = 0; i < layouts_.size(); ++i) {
      const std::vector<LayoutName>& names = i < node.reads.size() ? layouts.inputs : layouts.outputs;
      // Row-major where the candidate names none, or says nothing that can be read.
      if (places_[i].name >= names.size()) continue;
      const LayoutName& name = names[places_[i].name];
      if (name.IsRowMajor(places_[i].shape->rank())) continue;
      const std::optional<std::uint32_t> layout = found_.table.NumberOf(name.text, *places_[i].shape);
      option.undeclared |= !layout.has_value();
      layouts_[i] = layout.value_or(0);
    }
    return true;
  }

  const ModelGraph& graph_;
  std::int64_t threads_;
  DeclaredNodes found_;
  std::unordered_map<std::string_view, ValueId> named_;  // where layers have bodies
  // Of each tensor the last node that reads it, and how many nodes were begun.
  std::vector<std::size_t> read_by_;
  std::size_t nodes_ = 0;
  // Of the node at hand.
  std::vector<Place> places_;  // of its reads, then of its writes
  struct FastestRow {
    DeclaredOption option;
    const DeclaredLayouts* layouts = nullptr;
  };
  std::vector<FastestRow> fastest_;  // of those that declare the same
  std::vector<std::uint32_t> layouts_;
};

}  // namespace

DeclaredNodes FindDeclaredNodes(const ModelGraph& graph, std::int64_t threads, const std::vector<ResolvedLayer>& layers,
                                const std::vector<ResolvedRegion>& regions) {
  return Finder(graph, threads).Find(layers, regions);
}

}  // namespace infimum
