#include "analyzer/bounds/ideal_fusion.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace infimum {
namespace {

bool MovesWithinATensor(const MovementConfig& movement) {
  switch (movement.kind) {
    case MovementKind::kCopy:
    case MovementKind::kTranspose:
    case MovementKind::kConcat:
    case MovementKind::kSplit:
    case MovementKind::kSlice:
    case MovementKind::kPad:
    case MovementKind::kExpand:
    case MovementKind::kTile:
    case MovementKind::kDepthToSpace:
    case MovementKind::kReverse:
      return true;
    default:
      return false;
  }
}

bool IsAbsorbed(const Layer& layer) {
  if (layer.status == LayerStatus::kFree) return layer.bodies.empty();
  if (layer.status != LayerStatus::kMeasurable || !layer.workload || !layer.bodies.empty()) return false;
  if (const auto* region = std::get_if<Region>(&*layer.workload)) {
    return std::ranges::all_of(region->members, [](const RegionMember& member) {
      return std::holds_alternative<PointwiseConfig>(member.config);
    });
  }
  const LayerConfig& config = std::get<LayerConfig>(*layer.workload);
  const auto* movement = std::get_if<MovementConfig>(&config);
  return std::holds_alternative<PointwiseConfig>(config) || std::holds_alternative<ReorderConfig>(config) ||
         (movement != nullptr && MovesWithinATensor(*movement));
}

double StoredBytesOf(const Value& value) {
  if (!value.shape || value.type == DataType::kNone) return 0;
  return static_cast<double>(SizeOf(value.type, ElementCount(*value.shape)).value);
}

class FusedGroups {
 public:
  explicit FusedGroups(const ModelGraph& graph)
      : graph_(graph),
        parent_(graph.layers.size()),
        has_anchor_(graph.layers.size(), false),
        writer_(graph.values.size(), kNone) {
    std::iota(parent_.begin(), parent_.end(), 0u);
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      has_anchor_[i] = !IsAbsorbed(graph.layers[i]);
      if (has_anchor_[i]) {
        Adopt(i);
      } else {
        JoinWriter(i);
      }
      for (const std::optional<ValueId>& output : graph.layers[i].outputs)
        if (output) writer_[output->index()] = i;
    }
  }

  std::size_t Find(std::size_t layer) {
    while (parent_[layer] != layer) layer = parent_[layer] = parent_[parent_[layer]];
    return layer;
  }
  bool HasAnchor(std::size_t group) const { return has_anchor_[group]; }
  std::size_t WriterOf(ValueId value) const { return writer_[value.index()]; }
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

 private:
  void JoinWriter(std::size_t layer) {
    double most = -1;
    std::size_t writer = kNone;
    for (const std::optional<ValueId>& input : graph_.layers[layer].inputs) {
      if (!input || writer_[input->index()] == kNone) continue;
      const double bytes = StoredBytesOf(graph_.value(*input));
      if (bytes <= most) continue;
      most = bytes;
      writer = writer_[input->index()];
    }
    if (writer != kNone) parent_[layer] = Find(writer);
    if (HasAnchor(Find(layer))) Adopt(layer);
  }
  // FusedGroups without an anchor that this layer reads become part of its own.
  void Adopt(std::size_t layer) {
    for (const std::optional<ValueId>& input : graph_.layers[layer].inputs) {
      if (!input || writer_[input->index()] == kNone) continue;
      const std::size_t other = Find(writer_[input->index()]);
      if (!has_anchor_[other]) parent_[other] = Find(layer);
    }
  }

  const ModelGraph& graph_;
  std::vector<std::size_t> parent_;
  std::vector<bool> has_anchor_;  // of the group's root
  std::vector<std::size_t> writer_;
};

}  // namespace

Latency IdealFusion(const ModelGraph& graph, std::span<const Latency> times, const DeviceModel& device) {
  FusedGroups fused(graph);
  struct Traffic {
    double read = 0, written = 0;
    Latency anchors{0};
    std::map<ValueId, double> inputs;  // from outside: what the member that reads most of it reads
  };
  std::map<std::size_t, Traffic> traffic;
  std::vector<bool> is_read_outside(graph.values.size(), false);
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    const std::size_t group = fused.Find(i);
    Traffic& own = traffic[group];
    if (!IsAbsorbed(layer)) own.anchors += times[i];
    if (layer.status != LayerStatus::kMeasurable || !layer.workload) continue;
    for (std::size_t operand = 0; operand < layer.operand_inputs.size(); ++operand) {
      const std::size_t place = layer.operand_inputs[operand];
      if (place >= layer.inputs.size() || !layer.inputs[place] || operand >= layer.work.operand_reads.size()) continue;
      const ValueId value = *layer.inputs[place];
      const std::size_t writer = fused.WriterOf(value);
      if (writer != FusedGroups::kNone && fused.Find(writer) == group) continue;
      is_read_outside[value.index()] = true;
      double& bytes = own.inputs[value];
      bytes = std::max(bytes, static_cast<double>(layer.work.operand_reads[operand].value));
    }
  }
  for (ValueId output : graph.outputs) is_read_outside[output.index()] = true;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const std::size_t writer = fused.WriterOf(ValueId(i));
    if (writer != FusedGroups::kNone && is_read_outside[i])
      traffic[fused.Find(writer)].written += StoredBytesOf(graph.values[i]);
  }
  Latency sum{0};
  for (auto& [group, own] : traffic) {
    for (const auto& [value, bytes] : own.inputs) own.read += bytes;
    sum += std::max(own.anchors, device.Memory(own.read, own.written).latency);
  }
  return sum;
}

}  // namespace infimum
