#include "analyzer/findings/quantized_work.h"

#include <map>
#include <optional>
#include <string_view>

#include "analyzer/alignment/match_by_shape.h"
#include "analyzer/findings/graph_optimization.h"
#include "src/core/graph/framework_names.h"

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

// Who makes and who reads each value.
class Values {
 public:
  explicit Values(const RunProfile& run) {
    for (const ProfiledLayer& layer : run.layers) {
      for (const std::string& output : layer.outputs) maker_[output] = &layer;
      for (const std::string& input : layer.inputs) readers_[input].push_back(&layer);
    }
  }

  // The 8-bit type that a layer's values were dequantized from; empty where its input is made otherwise.
  std::string DequantizedFrom(const ProfiledLayer& layer) const {
    if (layer.inputs.empty()) return "";
    const auto maker = maker_.find(layer.inputs.front());
    if (maker == maker_.end() || ConversionOf(*maker->second) != "DequantizeLinear") return "";
    return maker->second->input_tensors.empty() ? "" : maker->second->input_tensors.front().dtype;
  }

  // Whether its second input is dequantized from what no layer makes, and its first is not dequantized at all.
  bool HasStoredWeights(const ProfiledLayer& layer) const {
    if (layer.inputs.size() < 2 || !DequantizedFrom(layer).empty()) return false;
    auto maker = maker_.find(layer.inputs[1]);
    const auto is_view = [](std::string_view op) { return op == "Transpose" || op == "Cast" || op == "Reshape"; };
    for (int steps = 0; steps < 4 && maker != maker_.end() && !maker->second->inputs.empty(); ++steps) {
      const ProfiledLayer& made = *maker->second;
      if (ConversionOf(made) == "DequantizeLinear") return IsOfModel(made);
      if (!is_view(made.op)) return false;
      maker = maker_.find(made.inputs.front());
    }
    return false;
  }

  // Whether it reads an input of the model, which no layer makes.
  bool IsOfModel(const ProfiledLayer& layer) const {
    return !layer.inputs.empty() && !maker_.contains(layer.inputs.front());
  }

  // The 8-bit type that its values are quantized to by all who read them; empty where one of them is another layer.
  std::string QuantizedTo(const ProfiledLayer& layer) const {
    std::string type;
    for (const std::string& output : layer.outputs) {
      const auto readers = readers_.find(output);
      if (readers == readers_.end()) continue;
      for (const ProfiledLayer* reader : readers->second) {
        if (ConversionOf(*reader) != "QuantizeLinear" || reader->output_tensors.empty()) return "";
        type = reader->output_tensors.front().dtype;
      }
    }
    return type;
  }

 private:
  std::map<std::string_view, const ProfiledLayer*> maker_;
  std::map<std::string_view, std::vector<const ProfiledLayer*>> readers_;
};

}  // namespace

std::string MixedTypesText(const QuantizedWork& work) {
  if (work.of_mixed_types == 0) return "";
  return std::to_string(work.of_mixed_types) +
         " of them are between DequantizeLinear and QuantizeLinear and read signed 8 bits but write unsigned, or the "
         "reverse";
}

QuantizedWork QuantizedWorkOf(const RunProfile& run, const std::vector<std::size_t>& layers) {
  QuantizedWork work;
  const Values values(run);
  for (const std::size_t index : layers) {
    const ProfiledLayer& layer = run.layers[index];
    const std::string conversion = ConversionOf(layer);
    if (conversion == "QuantizeLinear" && values.IsOfModel(layer)) {
      work.is_quantized = true;  // what comes in as floating point has to be quantized
    } else if (!conversion.empty() || (layer.op == "Transpose" && ChangesLayout(layer))) {
      work.conversions.Add(conversion.empty() ? layer.op : conversion, TimeOf(layer));
      work.converting.push_back(index);
      work.is_quantized |= !conversion.empty();
    } else if (IsHeavy(layer) && layer.op != "MatMulNBits") {  // which reads weights as they are stored
      const bool is_on_integers = IsQuantized(layer.op) || IsEightBits(layer.input_tensors);
      (is_on_integers ? work.in_integers : work.in_float).Add(layer.name, TimeOf(layer));
      if (!is_on_integers) {
        const std::string from = values.DequantizedFrom(layer), to = values.QuantizedTo(layer);
        if (!from.empty() && !to.empty()) ++work.between_conversions;
        if (!from.empty() && !to.empty() && from != to) ++work.of_mixed_types;
        if (KindOf(layer.op) == OperatorKind::kProduct && values.HasStoredWeights(layer)) ++work.of_stored_weights;
      }
      if (is_on_integers && IsFloat(layer.output_tensors)) work.writing_float.Add(layer.name, TimeOf(layer));
    }
  }
  work.is_quantized |= work.in_integers.count() > 0;
  return work;
}

std::string ActionForFloatLayers(const RunProfile& run, const QuantizedWork& work) {
  if (2 * work.of_stored_weights > work.in_float.count())
    return std::string("their weights alone are quantized, and become floating point anew in each inference: ") +
           (run.framework == framework::kOnnxRuntime
                ? "write them as MatMulNBits, whose kernels read the weights as they are stored "
                  "(onnxruntime.quantization.matmul_nbits_quantizer, quant_format=QuantFormat.QOperator)"
                : "export the products with the operator by which the engine reads such weights as they are stored");
  const std::optional<GraphOptimization> reported = ReportedOptimization(run), known = OptimizationOf(run);
  const bool is_low = known ? *known < GraphOptimization::kExtended : work.in_integers.count() == 0;
  if (run.framework == framework::kOnnxRuntime && is_low)
    return "set graph_optimization_level to ORT_ENABLE_ALL" +
           (reported ? " (it was " + std::string(Name(*reported)) + ")" : std::string(", unless it was set already")) +
           ": from extended on a layer between DequantizeLinear and QuantizeLinear becomes one on 8 bits";
  // Of a provider that runs others on 8 bits: one without such kernels is helped by no type.
  const bool has_kernels = work.in_integers.count() > 0;
  if (run.framework == framework::kOnnxRuntime && has_kernels && 2 * work.of_mixed_types > work.in_float.count())
    return "quantize activations to unsigned 8 bits throughout (QuantType.QUInt8; weights stay signed): the provider "
           "runs a layer on 8 bits only where it reads and writes one type, and of signed activations it turns only a "
           "part into unsigned ones by itself";
  if (2 * work.between_conversions > work.in_float.count())
    return "these layers are between DequantizeLinear and QuantizeLinear already: check for which types, scales and "
           "zero points the engine has 8-bit kernels, and export them so";
  return "give each of these layers a quantized output of its own (QuantizeLinear directly after it, or after its "
         "activation), so that the engine can run it on 8 bits; quantize residual sums too; a layer that must stay in "
         "float belongs at an end of the model, not between quantized ones";
}

}  // namespace infimum::findings
