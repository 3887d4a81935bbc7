#include <string>

#include "analyzer/findings/engine_layers.h"
#include "analyzer/findings/quantized_work.h"
#include "analyzer/findings/rules.h"
#include "infimum/base/quantity_text.h"

namespace infimum::findings {
namespace {

// All computes on 8 bits, but some of it writes floating point, which is quantized again by layers of its own.
Finding OfConversions(const RunProfile& run, const QuantizedWork& work, Latency all) {
  Finding finding;
  finding.kind = kQuantizationConversions;
  finding.gain = work.conversions.total();
  TimeBy largest;
  for (const std::size_t index : work.converting) largest.Add(run.layers[index].name, TimeOf(run.layers[index]));
  finding.layers = largest.Largest(5);
  finding.evidence = work.conversions.Frequencies(3) + ": " + std::to_string(work.conversions.count()) +
                     " layers of their own take " + FormatLatency(work.conversions.total()) + " of " +
                     FormatLatency(all) + "; " + std::to_string(work.writing_float.count()) + " of " +
                     std::to_string(work.heavy()) +
                     " convolutions and matmuls compute on 8 bits and write floating point";
  finding.action =
      "write what is computed on 8 bits as 8 bits: QuantizeLinear and DequantizeLinear on both inputs of every "
      "residual sum, and after the activation that reads it, so that no conversion is left between layers on 8 bits";
  return finding;
}

}  // namespace

std::optional<Finding> QuantizedInFloat(const EngineFacts& facts, LayerClaims& claims) {
  const RunProfile& run = facts.run;
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < run.layers.size(); ++i)
    if (claims.IsFree(i)) free.push_back(i);
  const QuantizedWork work = QuantizedWorkOf(run, free);
  const Latency all = TimeOf(run);
  if (!work.is_quantized || work.conversions.total() < all * kLeastShare || !(all.count() > 0)) return std::nullopt;
  if (work.in_float.count() == 0 && work.writing_float.count() == 0) return std::nullopt;
  claims.Take(work.converting);
  if (work.in_float.count() == 0) return OfConversions(run, work, all);

  Finding finding;
  finding.kind = kQuantizedLayersInFloat;
  // What is surely lost; what the float layers would take on 8 bits is not known from this run.
  finding.gain = work.conversions.total();
  finding.is_part = true;
  finding.layers = work.in_float.Largest(5);
  for (const std::string& name : finding.layers)
    for (const std::size_t index : free)
      if (run.layers[index].name == name) {
        finding.cases.push_back(
            {name, run.layers[index].algorithm.empty() ? run.layers[index].op : run.layers[index].algorithm,
             TimeOf(run.layers[index]), std::nullopt, "", ""});
        break;
      }
  finding.evidence = std::to_string(work.in_float.count()) + " of " + std::to_string(work.heavy()) +
                     " convolutions and matmuls run in floating point on dequantized values (" +
                     FormatLatency(work.in_float.total()) + "), the others on 8 bits (" +
                     FormatLatency(work.in_integers.total()) + "); quantize/dequantize conversions take " +
                     FormatLatency(work.conversions.total()) + " of " + FormatLatency(all) + ": " +
                     work.conversions.Frequencies(3) + (work.of_mixed_types > 0 ? "; " + MixedTypesText(work) : "") +
                     "; what those layers themselves would gain on 8 bits is additional, and is known once the model’s "
                     "layers are measured";
  finding.action = ActionForFloatLayers(run, work);
  return finding;
}

}  // namespace infimum::findings
