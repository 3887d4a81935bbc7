#include "analyzer/floor/residency.h"

#include <algorithm>

#include "analyzer/floor/compulsory_traffic.h"
#include "analyzer/floor/needed_shares.h"
#include "infimum/graph/replay_schedule.h"
#include "src/core/graph/views.h"

namespace infimum {
namespace {

// The most that intermediates take at once, each from the layer that makes it to the last that reads it.
double IntermediatesOf(const ModelGraph& graph) {
  const std::vector<ValueId> roots = RootsOfViews(graph);
  std::vector<std::size_t> last(graph.values.size(), 0);
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    for (const std::optional<ValueId>& input : graph.layers[i].inputs)
      if (input) last[roots[input->index()].index()] = i;
  std::vector<std::vector<ValueId>> dying(graph.layers.size());
  double live = 0, most = 0;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    for (const std::optional<ValueId>& output : graph.layers[i].outputs) {
      if (!output || roots[output->index()] != *output) continue;
      const Value& value = graph.value(*output);
      if (value.kind != ValueKind::kIntermediate || value.is_graph_output) continue;
      live += BytesOf(value);
      dying[std::max(last[output->index()], i)].push_back(*output);
    }
    most = std::max(most, live);
    for (const ValueId value : dying[i]) live -= BytesOf(graph.value(value));
  }
  return most;
}

Roofline SumOfLayers(const ModelGraph& graph, const Residency& residency, const DeviceModel& device) {
  Roofline sum;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    if (layer.bodies.empty()) {
      const Latency floor = FloorOfLayer(layer, device, residency.BytesOf(graph, i));
      sum.latency += floor;
      if (floor > Latency(0)) sum.launches += std::max(device.launch() - floor, Latency(0));
      continue;
    }
    std::optional<Roofline> least;
    for (const SubGraph& body : layer.bodies) {
      const std::int64_t known = std::max<std::int64_t>(body.least_executions, body.may_run_oftener ? 1 : 0);
      const double times = static_cast<double>(layer.bodies.size() > 1 ? 1 : known);
      const Roofline once = body.graph != nullptr ? SumOfLayers(*body.graph, residency, device) : Roofline();
      const Roofline all{once.latency * times, once.launches * times};
      if (!least || all.latency < least->latency) least = all;
    }
    sum.latency += least->latency;
    sum.launches += least->launches;
  }
  return sum;
}

}  // namespace

Roofline RooflineOf(const ModelGraph& graph, const DeviceModel& device, Latency textbook) {
  Roofline roofline = SumOfLayers(graph, Residency(graph, device), device);
  roofline.latency = std::max(roofline.latency + roofline.launches, textbook);
  return roofline;
}

Latency LaunchesOf(const ModelGraph& graph, const DeviceModel& device, const Residency& residency) {
  return device.launch() > Latency(0) ? SumOfLayers(graph, residency, device).launches : Latency(0);
}

double WorkingSetOf(const ModelGraph& graph) {
  const CompulsoryTraffic traffic = FindCompulsoryTraffic(graph);
  return traffic.read + traffic.written + IntermediatesOf(graph);
}

double ConstantBytesOf(const Workload& workload) {
  double bytes = 0;
  for (const Operand& operand : OperandsOf(workload))
    if (operand.constant) bytes += static_cast<double>(ElementCount(operand.shape)) * BitsPerElement(operand.type) / 8;
  return bytes;
}

Residency::Residency(const ModelGraph& graph, DeviceModel device)
    : graph_(graph),
      roots_(RootsOfViews(graph)),
      updates_(graph),
      device_(std::move(device)),
      working_set_(WorkingSetOf(graph)) {
  for (const Layer& layer : graph.layers) between_ += FloorOfLayer(layer, device_);
}

double Residency::ShareNear(double bytes) const {
  return device_.ShareNear(bytes, working_set_) * device_.ShareKept(working_set_, between_);
}

NearConstants Residency::Of(const Workload& workload) const {
  if (!HasConstants(workload)) return {};
  const double bytes = ConstantBytesOf(workload);
  return {bytes, ShareNear(bytes)};
}

LayerBytes Residency::BytesOf(const ModelGraph& graph, std::size_t index) const {
  const Layer& layer = graph.layers[index];
  const bool is_main = &graph == &graph_;
  LayerBytes bytes = BytesOfLayer(layer);
  if (is_main) bytes.written = std::max(bytes.written - updates_.UnwrittenBy(index), 0.0);
  const std::set<std::size_t>* kept = is_main ? updates_.KeptBy(index) : nullptr;
  double stored = 0;
  for (std::size_t operand = 0; operand < layer.operand_inputs.size(); ++operand) {
    const std::size_t input = layer.operand_inputs[operand];
    if (operand >= layer.work.operand_reads.size() || input >= layer.inputs.size() || !layer.inputs[input]) continue;
    const double read = static_cast<double>(layer.work.operand_reads[operand].value);
    if (kept != nullptr && kept->contains(operand)) {
      bytes.read = std::max(bytes.read - read, 0.0);
      continue;
    }
    const Value& value = graph.value(is_main ? roots_[layer.inputs[input]->index()] : *layer.inputs[input]);
    if (value.kind == ValueKind::kWeight || (is_main && value.kind == ValueKind::kGraphInput)) stored += read;
  }
  if (stored > 0) bytes.far = stored * (1 - ShareNear(stored));
  return bytes;
}

}  // namespace infimum
