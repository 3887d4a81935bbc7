#include "src/readers/onnx/rewrites.h"
#include "src/readers/onnx/rewrites/graph_edit.h"

namespace infimum {
namespace {

// With constant parameters, y = a x + b for each channel: a goes into the weights, b into the bias.
bool IsConstantNormalization(const Layer& layer, const GraphEdit& edit) {
  if (layer.op != "BatchNormalization" || IntegerOf(layer, "training_mode", 0) != 0) return false;
  for (std::size_t i = 1; i < 5; ++i)
    if (!edit.IsConstant(InputOf(layer, i))) return false;
  for (std::size_t i = 1; i < layer.outputs.size(); ++i)
    if (layer.outputs[i]) return false;
  return true;
}

bool TakesScaleAndBias(const Layer& layer, const GraphEdit& edit) {
  if (layer.op != "Conv" && layer.op != "ConvTranspose" && layer.op != "Gemm") return false;
  return edit.IsConstant(InputOf(layer, 1)) && (!InputOf(layer, 2) || edit.IsConstant(InputOf(layer, 2)));
}

}  // namespace

RewritePass FoldBatchNormalization(ModelGraph& graph) {
  RewritePass pass{"fold-batch-normalization",
                   "BatchNormalization with constant parameters becomes weights and bias of the layer before it",
                   {}};
  if (!HasOperator(graph, {"BatchNormalization"})) return pass;
  GraphEdit edit(graph);
  for (Layer& normalization : graph.layers) {
    if (!IsConstantNormalization(normalization, edit)) continue;
    Layer* product = edit.ProducerOf(InputOf(normalization, 0));
    if (product == nullptr || !TakesScaleAndBias(*product, edit) || edit.OnlyReaderOf(product->outputs[0]) == nullptr)
      continue;
    if (!InputOf(*product, 2)) {
      const Value& scale = graph.value(*normalization.inputs[2]);
      const DataType type = graph.value(*product->inputs[1]).type;
      if (!scale.shape) continue;
      const Shape shape = *scale.shape;
      edit.SetInput(*product, 2, edit.AddWeight(product->name + "_folded_bias", type, shape));
      product->bias_is_folded = true;
    }
    product->folded.push_back({*normalization.inputs[1], *normalization.inputs[2], *normalization.inputs[3],
                               *normalization.inputs[4], NumberOf(normalization, "epsilon", 1e-5)});
    pass.rewrites.push_back(normalization.name + " into " + product->name);
    GraphEdit::AppendOrigins(*product, normalization);
    const ValueId result = *normalization.outputs[0];
    edit.Remove(normalization);
    edit.SetOutput(*product, 0, result);
  }
  edit.Apply();
  return pass;
}

}  // namespace infimum
