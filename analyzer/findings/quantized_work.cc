#include "analyzer/findings/quantized_work.h"

#include <optional>

#include "analyzer/findings/graph_optimization.h"
#include "analyzer/order_alignment.h"

namespace infimum::findings {
namespace {

// "QLinearConv", "QGemm", "MatMulInteger": computes on 8 bits.
bool IsQuantized(std::string_view op) {
  return op.starts_with("QLinear") || op == "QGemm" || op.find("Integer") != std::string_view::npos;
}

bool IsEightBits(const std::vector<ProfiledTensor>& tensors) {
  return !tensors.empty() && (tensors.front().dtype == "s8" || tensors.front().dtype == "u8");
}

bool IsFloat(const std::vector<ProfiledTensor>& tensors) {
  return !tensors.empty() && (tensors.front().dtype.starts_with("f") || tensors.front().dtype.starts_with("bf"));
}

// The operator, or the node that an engine's layer is: TensorRT runs "QuantizeLinear_2" as a Reformat.
std::string ConversionOf(const ProfiledLayer& layer) {
  for (const char* conversion : {"DequantizeLinear", "QuantizeLinear"}) {
    if (layer.op == conversion) return conversion;
    if (layer.op == "Reformat" && layer.nodes.size() == 1 && layer.nodes.front().find(conversion) != std::string::npos)
      return conversion;
  }
  return "";
}

bool IsHeavy(const ProfiledLayer& layer) {
  const OperatorKind kind = KindOf(layer.op);
  return kind == OperatorKind::kConvolution || kind == OperatorKind::kProduct;
}

}  // namespace

QuantizedWork QuantizedWorkOf(const RunProfile& run, const std::vector<std::size_t>& layers) {
  QuantizedWork work;
  for (const std::size_t index : layers) {
    const ProfiledLayer& layer = run.layers[index];
    const std::string conversion = ConversionOf(layer);
    if (!conversion.empty() || (layer.op == "Transpose" && ChangesLayout(layer))) {
      work.conversions.Add(conversion.empty() ? layer.op : conversion, TimeOf(layer));
      work.converting.push_back(index);
      work.is_quantized |= !conversion.empty();
    } else if (IsHeavy(layer)) {
      const bool is_on_integers = IsQuantized(layer.op) || IsEightBits(layer.input_tensors);
      (is_on_integers ? work.in_integers : work.in_float).Add(layer.name, TimeOf(layer));
      if (is_on_integers && IsFloat(layer.output_tensors)) work.writing_float.Add(layer.name, TimeOf(layer));
    }
  }
  work.is_quantized |= work.in_integers.count() > 0;
  return work;
}

std::string ActionForFloatLayers(const RunProfile& run, const QuantizedWork& work) {
  const std::optional<GraphOptimization> told = ToldOptimization(run), known = OptimizationOf(run);
  const bool is_low = known ? *known < GraphOptimization::kExtended : work.in_integers.count() == 0;
  if (run.framework == "onnxruntime" && is_low)
    return "set graph_optimization_level to ORT_ENABLE_ALL" +
           (told ? " (it was " + std::string(Name(*told)) + ")" : std::string(", unless it was so")) +
           ": from extended on a layer between DequantizeLinear and QuantizeLinear becomes one on 8 bits";
  return "give each of these layers a quantized output of its own (QuantizeLinear directly behind it, or behind its "
         "activation), so that the engine can run it on 8 bits; quantize residual sums too; a layer that must stay in "
         "float belongs at an end of the model, not between quantized ones";
}

}  // namespace infimum::findings
