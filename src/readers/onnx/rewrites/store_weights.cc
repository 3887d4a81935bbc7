// A model as it could be with the weights of its products in fewer bits: what weight-only quantization makes of it.
#include <algorithm>
#include <string_view>

#include "src/readers/onnx/parse/node_view.h"
#include "src/readers/onnx/rewrites.h"
#include "src/readers/onnx/rewrites/graph_edit.h"

namespace infimum {
namespace {

// Rows of k that share a scale, as quantizers of language models have it (ONNX Runtime's and llama.cpp's default).
constexpr std::int64_t kBlock = 32;

}  // namespace

RewritePass StoreWeightsAs(DataType type, ModelGraph& graph) {
  RewritePass pass{"store-weights", "constant weights of products are read as " + std::string(Name(type)), {}};
  GraphEdit edit(graph);
  for (Layer& layer : graph.layers) {
    if (layer.op != "MatMul" && layer.op != "Gemm") continue;
    const std::optional<ValueId> weights = InputOf(layer, 1);
    if (!layer.reason.empty() || !edit.IsConstant(weights) || layer.attributes.contains(kStoredBlock)) continue;
    const Value stored = graph.value(*weights);
    if (!IsFloatingPoint(stored.type) || !stored.shape || stored.shape->rank() != 2) continue;
    edit.SetInput(layer, 1, edit.AddWeight(stored.name, type, *stored.shape));
    pass.rewrites.push_back(layer.name);
    if (BitsPerElement(type) > 8 || IsFloatingPoint(type)) continue;  // one scale for all
    // Blocks lie along k, which a transposed weight has in its columns.
    const std::size_t k = layer.op == "Gemm" && IntegerOf(layer, "transB", 0) != 0 ? 1 : 0;
    Shape block{{1, 1}}, scales = *stored.shape;
    block.dims[k] = std::min(kBlock, scales.dims[k]);
    scales.dims[k] = (scales.dims[k] + block.dims[k] - 1) / block.dims[k];
    layer.attributes[kStoredBlock] = block.dims;
    edit.SetInput(layer, kStoredScales, edit.AddWeight(stored.name + ".scales", stored.type, scales));
  }
  edit.Apply();
  return pass;
}

}  // namespace infimum
