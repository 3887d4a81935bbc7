#include <algorithm>
#include <map>

#include "analyzer/alignment/engine_work.h"
#include "analyzer/findings/engine_layers.h"
#include "analyzer/findings/rules.h"
#include "infimum/base/quantity_text.h"
#include "src/core/graph/framework_names.h"

namespace infimum::findings {
namespace {

// ONNX Runtime computes convolutions on 8 bits channels last, and reorders around them.
bool AreAroundIntegers(const RunProfile& run, const TimeBy& operators) {
  const bool any_on_integers =
      std::ranges::any_of(run.layers, [](const ProfiledLayer& layer) { return layer.op.starts_with("QLinear"); });
  return any_on_integers && operators.Largest(1).front() == "Transpose";
}

std::string ActionFor(const RunProfile& run, const TimeBy& operators) {
  if (run.framework != framework::kOnnxRuntime)
    return "give inputs and outputs the layout that the engine computes in, and keep operators that force another one "
           "out of chains of convolutions";
  if (AreAroundIntegers(run, operators))
    return "convolutions on 8 bits run channels last, and a Transpose is inserted wherever one meets a layer in "
           "another layout: quantize the layers between them too, so that whole chains stay channels last";
  return "keep chains of convolutions free of operators without a kernel for the blocked layout (let the exporter "
         "write HardSwish, Clip or Relu in place of their formula)";
}

}  // namespace

std::optional<Finding> LayoutChanges(const EngineFacts& facts, LayerClaims& claims) {
  const RunProfile& run = facts.run;
  TimeBy changes, kinds, operators;
  std::vector<std::size_t> taken;
  for (const std::size_t i : facts.added) {
    if (!claims.IsFree(i)) continue;
    changes.Add(run.layers[i].name, TimeOf(run.layers[i]));
    kinds.Add(std::string(Name(OwnWorkOf(run.layers[i]))), TimeOf(run.layers[i]));
    operators.Add(run.layers[i].op, TimeOf(run.layers[i]));
    taken.push_back(i);
  }
  const Latency all = TimeOf(run);
  if (changes.total().count() <= 0 || changes.total() < all * kLeastShare) return std::nullopt;

  claims.Take(taken);

  // For whom the layout is changed back: readers that have no kernel for the engine's own.
  std::map<std::string, bool> given_back;
  for (const ProfiledLayer& layer : run.layers)
    if (layer.op == "ReorderOutput")
      for (const std::string& output : layer.outputs) given_back[output] = true;
  TimeBy readers;
  for (const ProfiledLayer& layer : run.layers) {
    if (ChangesLayout(layer)) continue;
    for (const std::string& input : layer.inputs)
      if (given_back.contains(input)) readers.Add(layer.op, Latency(0));
  }

  Finding finding;
  finding.kind = kLayoutChanges;
  finding.gain = changes.total();
  finding.layers = changes.Largest(5);
  finding.evidence = std::to_string(changes.count()) + (changes.count() == 1 ? " layer" : " layers") +
                     " of the engine's own, " + kinds.Frequencies(3) + ": " + FormatLatency(changes.total()) + " of " +
                     FormatLatency(all) + "; the largest is " + finding.layers.front();
  if (readers.count() > 0) finding.evidence += "; the plain layout is needed by " + readers.Frequencies(4);
  finding.action = ActionFor(run, operators);
  return finding;
}

}  // namespace infimum::findings
