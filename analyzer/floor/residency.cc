#include "analyzer/floor/residency.h"

#include <algorithm>
#include <vector>

#include "analyzer/floor/compulsory_traffic.h"
#include "analyzer/floor/floor.h"
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

}  // namespace

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
    : device_(std::move(device)), working_set_(WorkingSetOf(graph)) {
  for (const Layer& layer : graph.layers) between_ += FloorOfLayer(layer, device_);
}

NearConstants Residency::Of(const Workload& workload) const {
  if (!HasConstants(workload)) return {};
  const double bytes = ConstantBytesOf(workload);
  return {bytes, device_.ShareNear(bytes, working_set_) * device_.ShareKept(working_set_, between_)};
}

}  // namespace infimum
