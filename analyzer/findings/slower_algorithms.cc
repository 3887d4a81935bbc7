#include <algorithm>
#include <map>

#include "analyzer/findings/run_rules.h"
#include "infimum/base/quantity_text.h"

namespace infimum::findings {
namespace {

// Where the engine lets its user choose.
std::string ActionFor(const RunFacts& facts, const std::string& family, const FindingCase& largest) {
  const bool is_gpu = facts.bracket.selection.device.text.starts_with("gpu");
  const std::string& framework = facts.run.framework;
  std::string action;
  if (framework == "onnxruntime" && is_gpu && family == "convolution") {
    action =
        "set cudnn_conv_algo_search=EXHAUSTIVE and cudnn_conv_use_max_workspace=1 of the CUDA provider, so that it "
        "times cuDNN's algorithms instead of asking its heuristic";
  } else if (framework == "onnxruntime" && is_gpu) {
    action = "compare with the TensorRT provider, which times its kernels for these layers";
  } else if (framework == "onnxruntime") {
    action =
        "the processor's provider has one kernel for such a layer and nothing to choose: a build with the oneDNN "
        "provider (--use_dnnl) has others, and the candidates below are what a kernel of its own has to reach";
  } else if (framework == "pytorch" && is_gpu && family == "convolution") {
    action = "set torch.backends.cudnn.benchmark = True, so that cuDNN's algorithms are timed, and try channels_last";
  } else if (framework == "pytorch" && is_gpu) {
    action = "let torch.compile(mode=\"max-autotune\") time the kernels";
  } else if (framework == "pytorch") {
    action = "weights that are packed once are faster: torch.compile with freezing, and channels_last for convolutions";
  } else if (framework == "tensorrt") {
    action =
        "build the engine with --builderOptimizationLevel=5 and a larger workspace (--memPoolSize=workspace:...), so "
        "that more tactics are timed";
  } else {
    action = "let the engine time its kernels for these shapes, or call the candidates below";
  }
  if (!largest.workload.empty()) action += "; infimum emit writes the source of a candidate";
  return action;
}

}  // namespace

std::vector<Finding> SlowerAlgorithms(const RunFacts& facts) {
  std::vector<Finding> found;
  const GapStep* step = facts.waterfall.Find(GapCause::kAlgorithmRegret);
  if (step == nullptr) return found;
  const std::vector<std::size_t> taken = RowsWithoutTensorCores(facts);
  struct Family {
    Latency gain{0}, measured{0}, best{0};
    std::vector<std::size_t> rows;
    std::size_t all = 0;
  };
  std::map<std::string, Family> families;
  for (const GapPart& part : step->parts) {
    const std::size_t r = part.rows.front();
    if (std::ranges::find(taken, r) != taken.end()) continue;
    const ComparedRow& row = facts.waterfall.rows[r];
    Family& family = families[RowFamily(facts, row)];
    if (part.latency.count() <= 0) continue;
    family.gain += part.latency;
    family.measured += *row.measured;
    family.best += *row.measured - part.latency;
    family.rows.push_back(r);
  }
  for (const ComparedRow& row : facts.waterfall.rows)
    if (!row.layers.empty() && row.measured)
      if (const auto family = families.find(RowFamily(facts, row)); family != families.end()) ++family->second.all;
  for (const auto& [name, family] : families) {
    if (!IsWorthTelling(facts, family.gain)) continue;
    Finding finding;
    finding.kind = "slower-algorithm";
    finding.gain = family.gain;
    finding.cases = LargestCases(facts, family.rows, 5);
    for (const FindingCase& one : finding.cases) finding.layers.push_back(one.layer);
    finding.evidence = name + ": " + std::to_string(family.rows.size()) + " of " + std::to_string(family.all) +
                       (family.rows.size() == 1 ? " rows takes " : " rows take ") + FormatLatency(family.measured) +
                       " where the best candidates known need " + FormatLatency(family.best) + "; " +
                       CaseText(finding.cases.front());
    finding.action = ActionFor(facts, name, finding.cases.front());
    found.push_back(std::move(finding));
  }
  return found;
}

}  // namespace infimum::findings
