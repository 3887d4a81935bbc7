#include "src/readers/onnx/classification.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "src/readers/onnx/lowering/lower.h"
#include "src/readers/onnx/parse/node_view.h"

namespace infimum {
namespace {

std::vector<std::optional<OperandView>> ViewsOf(const ModelGraph& graph,
                                                const std::vector<std::optional<ValueId>>& ids) {
  std::vector<std::optional<OperandView>> views;
  views.reserve(ids.size());
  for (const std::optional<ValueId>& id : ids) {
    if (!id) {
      views.emplace_back();
      continue;
    }
    const Value& value = graph.value(*id);
    views.push_back(OperandView{value.name, value.type, value.shape ? &*value.shape : nullptr,
                                value.kind == ValueKind::kWeight, value.constant ? &*value.constant : nullptr});
  }
  return views;
}

Bytes SizeOf(const Value& value) {
  if (!value.shape || value.type == DataType::kNone) return {};
  return SizeOf(value.type, ElementCount(*value.shape));
}

// Nothing to compute: a cache that is still empty, a slice of nothing.
bool HasNoElements(const ModelGraph& graph, const Layer& layer) {
  bool any = false;
  for (const std::optional<ValueId>& output : layer.outputs) {
    if (!output) continue;
    const Value& value = graph.value(*output);
    if (!value.shape || ElementCount(*value.shape) > 0) return false;
    any = true;
  }
  return any;
}

void LowerLayer(const ModelGraph& graph, const Opsets& opsets, Layer& layer) {
  if (HasNoElements(graph, layer)) {
    layer.status = LayerStatus::kFree;
    layer.reason = "its result has no elements";
    return;
  }
  const std::size_t dot = layer.op.rfind('.');
  const std::string_view op = layer.op;
  NodeView view{dot == std::string::npos ? op : op.substr(dot + 1),
                dot == std::string::npos ? std::string_view() : op.substr(0, dot),
                0,
                ViewsOf(graph, layer.inputs),
                ViewsOf(graph, layer.outputs),
                layer.attributes};
  if (const auto version = opsets.find(view.domain); version != opsets.end()) view.opset = version->second;
  Lowering lowering = Lower(view);
  if (lowering.status == LayerStatus::kMeasurable) {
    const Status valid = lowering.workload ? Validate(*lowering.workload) : Status(Error{"it has no workload"});
    if (!valid.ok()) {
      lowering.status = LayerStatus::kUnknown;
      lowering.reason = "its parameters make no valid layer: " + valid.error().message;
      lowering.operand_inputs.clear();
    }
  }
  if (lowering.status != LayerStatus::kMeasurable) lowering.workload.reset();
  layer.status = lowering.status;
  layer.workload = std::move(lowering.workload);
  layer.operand_inputs = std::move(lowering.operand_inputs);
  layer.reason = std::move(lowering.reason);
}

// Each distinct value once, however often the layer names it.
void CountWork(const ModelGraph& graph, Layer& layer) {
  if (layer.status == LayerStatus::kFree) return;
  std::vector<ValueId> seen;
  for (const std::optional<ValueId>& input : layer.inputs) {
    if (!input || std::find(seen.begin(), seen.end(), *input) != seen.end()) continue;
    seen.push_back(*input);
    const Value& value = graph.value(*input);
    if (value.kind == ValueKind::kWeight) layer.parameters += SizeOf(value);
    if (layer.status == LayerStatus::kUnknown) layer.work.operand_reads.push_back(SizeOf(value));
  }
  if (layer.status == LayerStatus::kMeasurable) {
    layer.work = WorkOf(*layer.workload);
    return;
  }
  for (const std::optional<ValueId>& output : layer.outputs)
    if (output) layer.work.written += SizeOf(graph.value(*output));
}

}  // namespace

void ClassifyLayers(ModelGraph& graph, const Opsets& opsets) {
  for (Layer& layer : graph.layers) {
    if (layer.reason.empty()) LowerLayer(graph, opsets, layer);
    CountWork(graph, layer);
  }
}

}  // namespace infimum
