#include "analyzer/floor/needed_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "src/core/graph/run_time_quantities.h"

namespace infimum {
namespace {

constexpr double kNextToNothing = 1e-12;  // more than what is not needed at all

const Value* OperandValue(const ModelGraph& graph, const Layer& layer, std::size_t operand) {
  if (operand >= layer.operand_inputs.size()) return nullptr;
  const std::size_t input = layer.operand_inputs[operand];
  if (input >= layer.inputs.size() || !layer.inputs[input]) return nullptr;
  return &graph.value(*layer.inputs[input]);
}

// How many of these are distinct: where they are not known, all may be one.
double DistinctOf(const Value& indices) {
  const auto known = indices.constant ? IntegersOf(&*indices.constant) : std::nullopt;
  return known ? static_cast<double>(std::set(known->begin(), known->end()).size()) : 1;
}

// Of a gather by a router's choices; null of others.
const RunTimeQuantity* FindChoices(const ModelGraph& graph, const Layer& layer) {
  const auto found = std::ranges::find_if(graph.quantities, [&](const RunTimeQuantity& quantity) {
    return quantity.layer == layer.name && quantity.name == kMoeExperts;
  });
  return found == graph.quantities.end() ? nullptr : &*found;
}

// Of a router's choices as many differ as are stated, or as one token has.
double DistinctIndices(const ModelGraph& graph, const Layer& layer) {
  if (const RunTimeQuantity* const choices = FindChoices(graph, layer))
    return static_cast<double>(choices->stated.value_or(choices->least));
  const Value* indices = OperandValue(graph, layer, 1);
  return indices != nullptr ? DistinctOf(*indices) : 1;
}

// Of windows over an image: so much of its elements does a share of the outputs need at least. Each output sees a whole
// pixel, or its own channel of one, and no pixel is in more windows than every stride-th of those that its taps fit
// into: taps lie on the stride's grid in steps of their greatest common divisor. 0 where a window may see padding
// alone.
template <class Config>
double ShareUnderWindows(const Config& config, const Shape& output, double share) {
  const std::size_t spatial = config.kernel.rank();
  for (std::size_t d = 0; d < spatial; ++d) {
    const std::int64_t taps = config.kernel.dims[d], step = std::max<std::int64_t>(config.stride.dims[d], 1);
    const std::int64_t apart = std::max<std::int64_t>(config.dilation.dims[d], 1);
    for (const std::size_t end : {d, d + spatial})
      if (end < config.padding.size() && config.padding[end] > (taps - 1) * apart) return 0;
    const auto every = static_cast<double>(step / std::gcd(step, apart));
    const double in = static_cast<double>(std::max<std::int64_t>(config.input.dims[d + 2], 1));
    const double out = static_cast<double>(std::max<std::int64_t>(output.dims[d + 2], 1));
    share *= out / (in * std::max(std::ceil(static_cast<double>(taps) / every), 1.0));
  }
  return share;
}

double ElementsOf(const std::vector<Shape>& shapes) {
  double all = 0;
  for (const Shape& shape : shapes) all += static_cast<double>(ElementCount(shape));
  return all;
}

// A movement's result can be made of other things than one operand: of the other operands, of zeros, of the same rows
// again. So much of an operand is left when the part that is not needed is all of that operand.
double ShareOfMovement(const ModelGraph& graph, const Layer& layer, const MovementConfig& movement, std::size_t operand,
                       double share) {
  const double all = ElementsOf(movement.outputs);
  // `given`: how many elements of the result come from the operand.
  const auto left = [&](double given) {
    return given > 0 ? std::clamp((share * all - (all - given)) / given, 0.0, 1.0) : 0.0;
  };
  switch (movement.kind) {
    case MovementKind::kConcat:
      return left(static_cast<double>(ElementCount(movement.inputs[operand])));
    case MovementKind::kPad:
      return left(std::min(static_cast<double>(ElementCount(movement.inputs[0])), all));
    case MovementKind::kScatter:
      if (share >= 1) return 1;
      return operand == 0 ? left(all - static_cast<double>(ElementCount(movement.inputs[1]))) : kNextToNothing;
    case MovementKind::kGather: {
      if (operand != 0 || movement.indices <= 0) return share;
      const double distinct = DistinctIndices(graph, layer);
      const double dropped = (1 - share) * static_cast<double>(movement.indices);
      // Each token chooses an expert once, so that no part of one serves more results than there are tokens.
      const RunTimeQuantity* const choices = FindChoices(graph, layer);
      const double of_each = choices != nullptr ? share * static_cast<double>(choices->least) / distinct : 0;
      return std::max({(distinct - dropped) / distinct, of_each, kNextToNothing});
    }
    default:
      return share;
  }
}

// An input that is known, or the attribute in its place.
std::optional<std::vector<std::int64_t>> NumbersOf(const ModelGraph& graph, const Layer& layer, std::size_t input,
                                                   const char* name) {
  if (input < layer.inputs.size() && layer.inputs[input]) {
    const Value& value = graph.value(*layer.inputs[input]);
    return value.constant ? IntegersOf(&*value.constant) : std::nullopt;
  }
  const auto found = layer.attributes.find(name);
  if (found == layer.attributes.end()) return std::nullopt;
  const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second);
  return list != nullptr ? std::optional(*list) : std::nullopt;
}

bool IsKnownBefore(const ModelGraph& graph, const Layer& layer) {
  return std::all_of(layer.outputs.begin(), layer.outputs.end(), [&](const std::optional<ValueId>& output) {
    return !output || graph.value(*output).kind == ValueKind::kWeight;
  });
}

// The shape that a reshape or an expand is given says nothing where shapes are known.
bool SaysNothing(const ModelGraph& graph, const Layer& layer, std::size_t input) {
  const DataType type = graph.value(*layer.inputs[input]).type;
  return input > 0 && layer.status == LayerStatus::kFree && (type == DataType::kS64 || type == DataType::kS32) &&
         !layer.outputs.empty() && layer.outputs[0] && graph.value(*layer.outputs[0]).shape.has_value();
}

// What a graph makes or is handed; a body sees everything else in its surroundings.
std::vector<bool> OwnValues(const ModelGraph& graph) {
  std::vector<bool> own(graph.values.size(), false);
  for (ValueId input : graph.inputs) own[input.index()] = true;
  for (const Layer& layer : graph.layers)
    for (const std::optional<ValueId>& output : layer.outputs)
      if (output) own[output->index()] = true;
  return own;
}

}  // namespace

// nullopt where a part's place is not known, or is in several dimensions.
std::optional<Cuts::Cut> Cuts::CutOf(const ModelGraph& graph, const Layer& layer) {
  if (layer.inputs.empty() || !layer.inputs[0] || layer.outputs.empty() || !layer.outputs[0]) return std::nullopt;
  const std::optional<Shape>&from = graph.value(*layer.inputs[0]).shape, &to = graph.value(*layer.outputs[0]).shape;
  if (!from || !to) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(from->rank());
  std::int64_t axis = 0, first = 0, count = 1;
  if (layer.op == "Gather") {
    const auto given = layer.attributes.find("axis");
    if (given != layer.attributes.end())
      if (const auto* number = std::get_if<std::int64_t>(&given->second)) axis = *number;
    const auto index = NumbersOf(graph, layer, 1, "");
    if (!index || index->size() != 1) return std::nullopt;
    first = index->front();
    if (axis < 0) axis += rank;
  } else if (layer.op == "Slice" && from->rank() == to->rank()) {
    const auto starts = NumbersOf(graph, layer, 1, "starts"), axes = NumbersOf(graph, layer, 3, "axes"),
               steps = NumbersOf(graph, layer, 4, "steps");
    const bool has_steps = layer.inputs.size() > 4 && layer.inputs[4];
    if (!starts || !axes || axes->size() != 1 || starts->size() != 1 || (has_steps && !steps)) return std::nullopt;
    if (steps && std::ranges::any_of(*steps, [](std::int64_t step) { return step != 1; })) return std::nullopt;
    axis = axes->front() < 0 ? axes->front() + rank : axes->front();
    first = starts->front();
    if (axis >= 0 && axis < rank) count = to->dims[static_cast<std::size_t>(axis)];
  } else {
    return std::nullopt;
  }
  if (axis < 0 || axis >= rank) return std::nullopt;
  const std::int64_t extent = from->dims[static_cast<std::size_t>(axis)];
  const std::int64_t begin = std::clamp<std::int64_t>(first < 0 ? first + extent : first, 0, extent);
  return Cut{static_cast<std::size_t>(axis), begin, begin + count, 0};
}

double Cuts::Add(const ModelGraph& graph, const Layer& layer, double share) {
  std::optional<Cut> cut = CutOf(graph, layer);
  if (!cut) return share;
  cut->share = share;
  constexpr double kRounding = 1e-9;  // that a sum of so many shares may lack of the whole
  std::vector<Cut>& along = known_[{*layer.inputs[0], cut->axis}];
  along.insert(std::ranges::upper_bound(along, cut->begin, {}, &Cut::begin), *cut);
  double sum = 0;
  std::int64_t end = 0;
  for (const Cut& one : along) {
    if (one.begin < end) continue;
    sum += one.share;
    end = one.end;
  }
  return sum > 1 - kRounding ? 1 : std::max(share, sum);
}

double ShareOfDistinct(const Value& indices) {
  const double all = indices.shape ? static_cast<double>(ElementCount(*indices.shape)) : 0;
  return all > 0 ? std::min(DistinctOf(indices) / all, 1.0) : 1;
}

double BytesOf(const Value& value) {
  if (!value.shape) return 0;
  double bits = BitsPerElement(value.type);
  for (std::int64_t extent : value.shape->dims) bits *= static_cast<double>(std::max<std::int64_t>(extent, 0));
  return bits / 8;
}

// Layers of which a part of the result needs only that part of the operands.
bool KeepsElementsApart(const Layer& layer) {
  if (layer.status == LayerStatus::kFree) return true;
  if (!layer.workload) return false;
  const auto* config = std::get_if<LayerConfig>(&*layer.workload);
  return config != nullptr &&
         (std::holds_alternative<PointwiseConfig>(*config) || std::holds_alternative<MovementConfig>(*config) ||
          std::holds_alternative<ReorderConfig>(*config));
}

double LeastRead(const ModelGraph& graph, const Layer& layer, std::size_t operand) {
  double read = static_cast<double>(layer.work.operand_reads[operand].value);
  // What a layer itself writes over an operand need not be read from it; a scatter counts so by itself.
  for (const InPlaceResult& result : layer.in_place)
    if (ConfigOf<MovementConfig>(layer) == nullptr && result.input == layer.operand_inputs[operand] &&
        result.output < layer.outputs.size() && layer.outputs[result.output] &&
        graph.value(*layer.outputs[result.output]).shape == graph.value(*layer.inputs[result.input]).shape)
      read = std::max(0.0, read - static_cast<double>(result.written.value));
  const MovementConfig* movement = ConfigOf<MovementConfig>(layer);
  const Value* value = OperandValue(graph, layer, operand);
  // A gather that dequantizes counts as many experts as there can be.
  if (const RunTimeQuantity* const choices = movement == nullptr ? FindChoices(graph, layer) : nullptr;
      choices != nullptr && layer.op.ends_with("GatherBlockQuantized") && value != nullptr &&
      value->kind == ValueKind::kWeight)
    return read * static_cast<double>(choices->stated.value_or(choices->least)) /
           static_cast<double>(choices->stated.value_or(choices->most));
  if (operand != 0 || movement == nullptr || movement->kind != MovementKind::kGather || movement->indices <= 0)
    return read;
  const double rows = static_cast<double>(SizeOf(movement->types.input, ElementCount(movement->outputs[0])).value);
  return std::min(read, rows * DistinctIndices(graph, layer) / static_cast<double>(movement->indices));
}

double ShareOfOperand(const ModelGraph& graph, const Layer& layer, std::size_t operand, double share) {
  if (const MovementConfig* movement = ConfigOf<MovementConfig>(layer))
    return ShareOfMovement(graph, layer, *movement, operand, std::min(share, 1.0));
  if (share >= 1 || KeepsElementsApart(layer)) return share;
  const auto* config = layer.workload ? std::get_if<LayerConfig>(&*layer.workload) : nullptr;
  if (config == nullptr) return kNextToNothing;
  if (const auto* convolution = std::get_if<ConvolutionConfig>(config)) {
    const Value* value = OperandValue(graph, layer, operand);
    if (convolution->transposed || value == nullptr || !value->shape ||
        value->shape->rank() != convolution->input.rank())
      return kNextToNothing;
    return std::max(ShareUnderWindows(*convolution, OutputsOf(*config)[0].shape, share), kNextToNothing);
  }
  if (const auto* pooling = std::get_if<PoolingConfig>(config))
    return std::max(ShareUnderWindows(*pooling, pooling->output, share), kNextToNothing);
  const bool is_in_proportion =
      std::holds_alternative<MatMulConfig>(*config) || std::holds_alternative<ReductionConfig>(*config) ||
      std::holds_alternative<SoftmaxConfig>(*config) || std::holds_alternative<NormalizationConfig>(*config);
  return is_in_proportion ? share : kNextToNothing;
}

double ShareOfResult(const ModelGraph& graph, const Layer& layer, const std::vector<double>& outputs) {
  const MovementConfig* movement = ConfigOf<MovementConfig>(layer);
  double most = 0, needed_bits = 0;
  for (std::size_t i = 0; i < layer.outputs.size(); ++i) {
    if (!layer.outputs[i]) continue;
    most = std::max(most, outputs[i]);
    needed_bits += outputs[i] * 8 * BytesOf(graph.value(*layer.outputs[i]));
  }
  if (movement == nullptr || movement->kind != MovementKind::kSplit) return most;
  const double all = ElementsOf(movement->outputs) * BitsPerElement(movement->types.output);
  return all > 0 ? std::min(needed_bits / all, 1.0) : most;
}

ValueNames NamesOf(const ModelGraph& graph) {
  ValueNames names;
  names.reserve(graph.values.size());
  for (std::size_t i = 0; i < graph.values.size(); ++i)
    if (!graph.values[i].name.empty()) names.emplace(graph.values[i].name, ValueId(i));
  return names;
}

std::vector<std::optional<ValueId>> CapturedValues(const ModelGraph& body, const ValueNames& outer) {
  std::vector<std::optional<ValueId>> captured(body.values.size());
  const std::vector<bool> own = OwnValues(body);
  for (std::size_t i = 0; i < body.values.size(); ++i) {
    if (own[i]) continue;
    if (const auto found = outer.find(body.values[i].name); found != outer.end()) captured[i] = found->second;
  }
  return captured;
}

NeededShares::NeededShares(const ModelGraph& graph, UnknownLayers unknown)
    : whole_(graph), updates_(graph), unknown_(unknown) {
  AddWork(graph, false);
  std::vector<double> outputs(graph.outputs.size(), 1);
  // What an update in place adds is needed by itself.
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (updates_.of_outputs()[i] && !updates_.of_outputs()[i]->is_computed) outputs[i] = 0;
  Find(graph, outputs);
}

void NeededShares::AddWork(const ModelGraph& graph, bool is_body) {
  work_.emplace(&graph, NeededWork(graph, is_body));
  for (const Layer& layer : graph.layers)
    for (const SubGraph& body : layer.bodies)
      if (body.graph != nullptr) AddWork(*body.graph, true);
}

double NeededShares::of(const ModelGraph& graph, std::size_t layer) const {
  const auto found = layers_.find(&graph);
  return found == layers_.end() ? 0 : found->second[layer];
}

NeededShares::Needs NeededShares::Find(const ModelGraph& graph, const std::vector<double>& outputs) {
  Needs needs;
  needs.values.resize(graph.values.size(), 0);
  const auto raise = [&](ValueId id, double share) {
    double& needed = needs.values[id.index()];
    needed = std::max(needed, std::min(share, 1.0));
  };
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) raise(graph.outputs[i], outputs[i]);
  const ValueNames names = NamesOf(graph);
  Cuts cuts;
  std::vector<double> shares(graph.layers.size(), 0);
  for (std::size_t i = graph.layers.size(); i-- > 0;) {
    const Layer& layer = graph.layers[i];
    std::vector<double> of_outputs(layer.outputs.size(), 0);
    double bytes_needed = 0;
    for (std::size_t output = 0; output < layer.outputs.size(); ++output) {
      if (!layer.outputs[output]) continue;
      of_outputs[output] = needs.values[layer.outputs[output]->index()];
      bytes_needed = std::max(bytes_needed, of_outputs[output] * BytesOf(graph.value(*layer.outputs[output])));
    }
    shares[i] = ShareOfResult(graph, layer, of_outputs);
    if (const std::set<std::size_t>* kept = &graph == &whole_ ? updates_.KeptBy(i) : nullptr)
      for (std::size_t operand = 0; operand < layer.operand_inputs.size(); ++operand)
        if (!kept->contains(operand) && OperandValue(graph, layer, operand) != nullptr)
          raise(*layer.inputs[layer.operand_inputs[operand]], 1);
    if (shares[i] <= 0 || IsKnownBefore(graph, layer) || layer.op == "Shape" || layer.op == "Size") continue;

    std::vector<double> of_inputs(layer.inputs.size(), 1);
    if (!layer.bodies.empty()) {
      for (const auto& [name, share] : FindInBodies(layer, of_outputs, of_inputs)) {
        if (const auto found = names.find(name); found != names.end())
          raise(found->second, share);
        else
          needs.captured[name] = std::max(needs.captured[name], share);
      }
    } else if (layer.status == LayerStatus::kUnknown && !layer.least) {
      if (unknown_ == UnknownLayers::kReadNothing) std::fill(of_inputs.begin(), of_inputs.end(), 0.0);
    } else if (layer.status == LayerStatus::kFree) {
      // A view of a part (a split along the outermost dimension) needs that part.
      const double whole = !layer.inputs.empty() && layer.inputs[0] ? BytesOf(graph.value(*layer.inputs[0])) : 0;
      if (whole > 0) of_inputs[0] = bytes_needed / whole;
      for (std::size_t input = 1; input < layer.inputs.size(); ++input)
        if (layer.inputs[input] && SaysNothing(graph, layer, input)) of_inputs[input] = 0;
    } else {
      for (std::size_t operand = 0; operand < layer.operand_inputs.size(); ++operand) {
        const Value* value = OperandValue(graph, layer, operand);
        if (value == nullptr) continue;
        const double whole = BytesOf(*value);
        const double read = operand < layer.work.operand_reads.size() ? LeastRead(graph, layer, operand) : whole;
        // A product needs all of its operands; those that it reads where a gather picks them count there.
        const bool is_whole = whole <= 0 || ConfigOf<MatMulConfig>(layer) != nullptr;
        of_inputs[layer.operand_inputs[operand]] = (is_whole ? 1.0 : std::min(read / whole, 1.0)) *
                                                   ShareOfOperand(graph, layer, operand, shares[i]) *
                                                   of_operand(graph, i, operand);
      }
    }
    if (!of_inputs.empty()) of_inputs[0] = cuts.Add(graph, layer, of_inputs[0]);
    for (std::size_t input = 0; input < layer.inputs.size(); ++input)
      if (layer.inputs[input]) raise(*layer.inputs[input], of_inputs[input]);
  }
  // What a body neither makes nor is handed belongs to its surroundings.
  const std::vector<bool> own = OwnValues(graph);
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (own[i] || needs.values[i] <= 0 || graph.values[i].name.empty()) continue;
    double& captured = needs.captured[graph.values[i].name];
    captured = std::max(captured, needs.values[i]);
  }
  layers_[&graph] = std::move(shares);
  return needs;
}

NeededShares::ByName NeededShares::FindInBodies(const Layer& layer, const std::vector<double>& outputs,
                                                std::vector<double>& inputs) {
  const auto inside = [&](const ModelGraph& body) {
    // A Loop's body returns first whether it goes on. A part of a result is a part of some iteration's.
    const std::size_t first = body.outputs.size() - std::min(body.outputs.size(), layer.outputs.size());
    std::vector<double> needed(body.outputs.size(), 0);
    for (std::size_t i = first; i < needed.size(); ++i) {
      const double share = outputs[i - first];
      needed[i] = share >= 1 || share <= 0 ? share : kNextToNothing;
    }
    return Find(body, needed);
  };
  // Beyond what a layer is handed, its inputs are what its bodies see by name.
  const auto only_first = [&](std::size_t count) {
    for (std::size_t i = count; i < inputs.size(); ++i) inputs[i] = 0;
  };
  if (layer.bodies.size() > 1) {
    only_first(1);  // the condition
    std::optional<ByName> both;
    for (const SubGraph& body : layer.bodies) {
      ByName captured = body.graph != nullptr ? inside(*body.graph).captured : ByName{};
      if (both)
        for (auto& [name, share] : *both) share = std::min(share, captured[name]);
      else
        both = std::move(captured);
    }
    return *both;
  }
  const ModelGraph* body = layer.bodies.front().graph.get();
  if (body == nullptr) {
    if (unknown_ == UnknownLayers::kReadNothing) only_first(0);
    return {};
  }
  const std::size_t handed = std::min(body->inputs.size(), inputs.size());
  only_first(handed);
  if (layer.bodies.front().least_executions <= 0) {
    // Without an iteration a Loop returns its first state. What decides that there is none is needed.
    for (std::size_t i = layer.op == "Loop" ? 2 : 0; i < handed; ++i)
      inputs[i] = layer.op == "Loop" && i - 2 < outputs.size() ? std::min(inputs[i], outputs[i - 2]) : 0;
    return {};
  }
  Needs needs = inside(*body);
  for (std::size_t i = layer.op == "Loop" ? 2 : 0; i < handed; ++i) inputs[i] = needs.values[body->inputs[i].index()];
  return std::move(needs.captured);
}

}  // namespace infimum
