#include <map>
#include <string>

#include "analyzer/findings/engine_rules.h"
#include "analyzer/findings/graph_optimization.h"
#include "analyzer/findings/rules.h"
#include "analyzer/order_alignment.h"
#include "infimum/base/quantity_text.h"

namespace infimum::findings {
namespace {

// "QLinearConv", "QGemm", "MatMulInteger": computes on 8 bits.
bool IsQuantized(std::string_view op) {
  return op.starts_with("QLinear") || op == "QGemm" || op.find("Integer") != std::string_view::npos;
}

bool IsHeavy(const ProfiledLayer& layer) {
  const OperatorKind kind = KindOf(layer.op);
  return kind == OperatorKind::kConvolution || kind == OperatorKind::kProduct;
}

}  // namespace

std::optional<Finding> QuantizedInFloat(const RunProfile& run, LayerClaims& claims) {
  TimeBy conversions, in_float, in_integers;
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < run.layers.size(); ++i) {
    const ProfiledLayer& layer = run.layers[i];
    if (claims.Has(i)) continue;
    if (layer.op == "QuantizeLinear" || layer.op == "DequantizeLinear" ||
        (layer.op == "Transpose" && ChangesLayout(layer))) {
      conversions.Add(layer.op, TimeOf(layer));
      taken.push_back(i);
    } else if (IsHeavy(layer)) {
      (IsQuantized(layer.op) ? in_integers : in_float).Add(layer.name, TimeOf(layer));
    }
  }
  const bool is_quantized = in_integers.count() > 0 ||
                            conversions.Frequencies(1).find("quantize") != std::string::npos ||
                            conversions.Frequencies(1).find("Quantize") != std::string::npos;
  const Latency all = TimeOf(run);
  if (!is_quantized || in_float.count() == 0 || conversions.total() < all * kLeastShare) return std::nullopt;
  claims.Take(taken);

  Finding finding;
  finding.kind = "quantized-layers-in-float";
  // What is surely lost; what the float layers would take on 8 bits is not known from this run.
  finding.gain = conversions.total();
  finding.layers = in_float.Largest(5);
  finding.evidence =
      std::to_string(in_float.count()) + " of " + std::to_string(in_float.count() + in_integers.count()) +
      " convolutions and products run in floating point on dequantized values (" + FormatLatency(in_float.total()) +
      "), the others on 8 bits (" + FormatLatency(in_integers.total()) + "); going to and fro takes " +
      FormatLatency(conversions.total()) + " of " + FormatLatency(all) + ": " + conversions.Frequencies(3);
  const std::optional<GraphOptimization> told = ToldOptimization(run), known = OptimizationOf(run);
  const bool is_low = known ? *known < GraphOptimization::kExtended : in_integers.count() == 0;
  if (run.framework == "onnxruntime" && is_low)
    finding.action = "set graph_optimization_level to ORT_ENABLE_ALL" +
                     (told ? " (it was " + std::string(Name(*told)) + ")" : std::string(", unless it was so")) +
                     ": from extended on a layer between DequantizeLinear and QuantizeLinear becomes one on 8 bits";
  else
    finding.action =
        "give each of these layers a quantized output of its own (QuantizeLinear directly behind it, or behind its "
        "activation), so that the engine can run it on 8 bits; quantize residual sums too; a layer that must stay in "
        "float belongs at an end of the model, not between quantized ones";
  return finding;
}

}  // namespace infimum::findings
