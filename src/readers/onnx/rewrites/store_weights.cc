// A model as it could be with the weights of its products in fewer bits: what weight-only quantization makes of it.
#include <algorithm>
#include <map>
#include <utility>

#include "src/readers/onnx/parse/node_view.h"
#include "src/readers/onnx/rewrites.h"
#include "src/readers/onnx/rewrites/graph_edit.h"
#include "src/readers/onnx/weight_sample.h"

namespace infimum {
namespace {

// Rows of k that share a scale, as quantizers of language models have it (ONNX Runtime's and llama.cpp's default).
constexpr std::int64_t kBlock = 32;

// Experts' weights become QMoE's, in bytes of several elements, with a scale for each block of k; floats stay a MoE's.
bool StoreExpertsAs(DataType type, GraphEdit& edit, const ModelGraph& graph, Layer& layer) {
  constexpr std::size_t kRouted = 2, kPair = 2, kProducts = 3;  // behind x and the router a pair for each product
  const std::int64_t packed = IsFloatingPoint(type) ? 1 : 8 / BitsPerElement(type);
  const auto is_stored_whole = [&](std::size_t product) {
    const std::optional<ValueId> weights = InputOf(layer, kRouted + kPair * product);
    if (!weights) return product > 1;  // the third product need not be there
    const Value& value = graph.value(*weights);
    return edit.IsConstant(weights) && IsFloatingPoint(value.type) && value.shape && value.shape->rank() == 3 &&
           value.shape->dims[2] % packed == 0;
  };
  for (std::size_t product = 0; product < kProducts; ++product)
    if (!is_stored_whole(product)) return false;
  std::vector<std::optional<ValueId>> inputs{InputOf(layer, 0), InputOf(layer, 1)};
  for (std::size_t product = 0; product < kProducts; ++product) {
    const std::optional<ValueId> weights = InputOf(layer, kRouted + kPair * product);
    if (!weights) break;
    const Value stored = graph.value(*weights);
    Shape shape = *stored.shape, scales = shape;
    shape.dims[2] /= packed;
    scales.dims[2] = (scales.dims[2] + kBlock - 1) / kBlock;
    inputs.push_back(edit.AddWeight(stored.name, IsFloatingPoint(type) ? type : DataType::kU8, shape));
    if (!IsFloatingPoint(type)) inputs.push_back(edit.AddWeight(stored.name + ".scales", stored.type, scales));
    inputs.push_back(InputOf(layer, kRouted + kPair * product + 1));
  }
  edit.SetInputs(layer, std::move(inputs));
  if (IsFloatingPoint(type)) return true;
  layer.op = "com.microsoft.QMoE";
  layer.attributes["expert_weight_bits"] = std::int64_t{BitsPerElement(type)};
  layer.attributes["block_size"] = kBlock;
  return true;
}

}  // namespace

RewritePass StoreWeightsAs(DataType type, ModelGraph& graph) {
  RewritePass pass{"store-weights", "constant weights of products are read as " + std::string(Name(type)), {}};
  GraphEdit edit(graph);
  struct Replacement {
    ValueId weights;
    std::optional<ValueId> scales;
  };
  std::map<std::pair<ValueId, std::size_t>, Replacement> replacements;  // by the weights and where k lies in them
  for (Layer& layer : graph.layers) {
    if (layer.op == "com.microsoft.MoE" && layer.reason.empty() && StoreExpertsAs(type, edit, graph, layer))
      pass.rewrites.push_back(layer.name);
    if (layer.op != "MatMul" && layer.op != "Gemm") continue;
    const std::optional<ValueId> weights = InputOf(layer, 1);
    if (!layer.reason.empty() || !edit.IsConstant(weights) || layer.attributes.contains(kStoredBlock)) continue;
    const Value stored = graph.value(*weights);
    if (!IsFloatingPoint(stored.type) || !stored.shape || stored.shape->rank() != 2) continue;
    pass.rewrites.push_back(layer.name);
    // Blocks lie along k, which a transposed weight has in its columns. Floats have one scale for all.
    const std::size_t k = layer.op == "Gemm" && IntegerOf(layer, "transB", 0) != 0 ? 1 : 0;
    Shape block{{1, 1}}, scales = *stored.shape;
    block.dims[k] = std::min(kBlock, scales.dims[k]);
    if (block.dims[k] > 0) scales.dims[k] = (scales.dims[k] + block.dims[k] - 1) / block.dims[k];
    auto found = replacements.find({*weights, k});
    if (found == replacements.end()) {
      Replacement made{edit.AddWeight(stored.name, type, *stored.shape), std::nullopt};
      if (HasZeroPattern(type)) graph.values[made.weights.index()].zeros = stored.zeros;
      if (!IsFloatingPoint(type)) made.scales = edit.AddWeight(stored.name + ".scales", stored.type, scales);
      found = replacements.emplace(std::pair(*weights, k), made).first;
    }
    edit.SetInput(layer, 1, found->second.weights);
    if (!found->second.scales) continue;
    layer.attributes[kStoredBlock] = block.dims;
    edit.SetInput(layer, kStoredScales, found->second.scales);
  }
  edit.Apply();
  return pass;
}

}  // namespace infimum
