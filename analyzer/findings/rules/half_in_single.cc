#include <algorithm>
#include <string>

#include "analyzer/alignment/match_by_shape.h"
#include "analyzer/findings/engine_layers.h"
#include "analyzer/findings/rules.h"
#include "infimum/base/quantity_text.h"

namespace infimum::findings {

bool WasMovedToSingle(const ProfiledLayer& layer) {
  const auto is_inserted = [](const std::string& name) {
    return name.find("InsertedPrecisionFreeCast_") != std::string::npos ||
           name.find("InsertedCast_") != std::string::npos;
  };
  return is_inserted(layer.name) || std::any_of(layer.inputs.begin(), layer.inputs.end(), is_inserted) ||
         std::any_of(layer.outputs.begin(), layer.outputs.end(), is_inserted);
}

std::optional<Finding> HalfInSingle(const EngineFacts& facts, LayerClaims& claims) {
  const RunProfile& run = facts.run;
  if (claims.AnyPrecision()) return std::nullopt;  // the same cause was found with the numbers of a bound
  TimeBy moved, casts, between, layouts;
  // Without such names, what reads f32 beside such casts; a cast reads what it is to change.
  const bool any_moved = std::ranges::any_of(run.layers, WasMovedToSingle);
  const auto reads_single = [any_moved](const ProfiledLayer& layer) {
    const auto is = [&layer](std::string_view type) {
      return std::ranges::find(layer.input_tensors, type, &ProfiledTensor::dtype) != layer.input_tensors.end();
    };
    return any_moved && layer.op != "Cast" && !ChangesLayout(layer) && is("f32") && !is("f16");
  };
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < run.layers.size(); ++i) {
    const ProfiledLayer& layer = run.layers[i];
    if (!claims.IsFree(i)) continue;
    const bool is_cast = layer.op == "Cast", is_layout = ChangesLayout(layer);
    const bool is_between = KindOf(layer.op) == OperatorKind::kElementwise;
    if (is_cast)
      casts.Add(layer.name, TimeOf(layer));
    else if (is_layout)
      layouts.Add(layer.name, TimeOf(layer));
    else if (is_between)
      between.Add(layer.op, TimeOf(layer));
    if (is_cast || is_layout || is_between) taken.push_back(i);
    if (!is_cast && !is_layout && (WasMovedToSingle(layer) || reads_single(layer)))
      moved.Add(layer.name, TimeOf(layer));
  }
  const Latency all = TimeOf(run);
  if (moved.count() == 0 || moved.total() < all * kLeastShare) return std::nullopt;
  claims.Take(taken);
  Finding finding;
  finding.kind = kHalfPrecisionNotUsed;
  // The arithmetic is that of the f32 model. What that one need not do: casts, layers that it fuses, layouts that it
  // keeps.
  finding.gain = casts.total() + between.total() + layouts.total();
  finding.layers = moved.Largest(5);
  finding.evidence =
      std::to_string(moved.count()) + " of " + std::to_string(run.layers.size()) + " layers, " +
      FormatLatency(moved.total()) + " of " + FormatLatency(all) +
      ", compute in f32 although the model's values are half precision: the provider has no kernel for them and "
      "casts (names with InsertedPrecisionFreeCast_)";
  if (between.count() > 0)
    finding.evidence += "; element-wise layers between them stay unfused, " + between.Frequencies(3) + ": " +
                        FormatLatency(between.total());
  if (layouts.count() > 0)
    finding.evidence +=
        "; " + std::to_string(layouts.count()) + " reorders around those: " + FormatLatency(layouts.total());
  finding.evidence += "; remaining casts: " + FormatLatency(casts.total());
  finding.action =
      "half precision cannot be faster on this provider: run the f32 model (or int8) here, and f16 where it has "
      "kernels (CUDA, TensorRT, CoreML, processors of 64-bit Arm with half-precision arithmetic)";
  return finding;
}

}  // namespace infimum::findings
