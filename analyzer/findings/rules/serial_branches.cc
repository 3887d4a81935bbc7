#include <algorithm>

#include "analyzer/findings/rules.h"
#include "analyzer/findings/run_rows.h"
#include "infimum/base/quantity_text.h"
#include "src/core/graph/framework_names.h"

namespace infimum::findings {
namespace {

std::string ActionFor(const RunFacts& facts) {
  const bool is_gpu = facts.bracket.selection.device.text.starts_with("gpu");
  const std::string& framework = facts.run.framework;
  if (framework == framework::kOnnxRuntime && !is_gpu)
    return "set execution_mode to ORT_PARALLEL with inter_op_num_threads of the branches, and fewer threads for each "
           "operator";
  if (framework == framework::kPyTorch && is_gpu)
    return "run the branches on streams of their own (torch.cuda.Stream) and capture them in one CUDA graph";
  if (framework == framework::kPyTorch)
    return "run the branches with torch.jit.fork or in threads, with fewer threads for each";
  if (framework == framework::kTensorRt) return "allow the engine auxiliary streams (--maxAuxStreams)";
  if (is_gpu) return "run the branches on streams of their own";
  return "run the branches at once, each on a part of the cores";
}

}  // namespace

std::vector<Finding> SerialBranches(const RunFacts& facts, const LayerClaims&) {
  const GapStep* step = facts.waterfall.Find(GapCause::kMissedParallelism);
  if (step == nullptr || !facts.waterfall.bound || !IsWorthReporting(facts, step->latency)) return {};
  // Beside the longest path: what could run at the same time.
  std::vector<std::size_t> beside;
  for (std::size_t r = 0; r < facts.waterfall.rows.size(); ++r) {
    const ComparedRow& row = facts.waterfall.rows[r];
    const bool on_path = std::ranges::any_of(
        row.layers, [&facts](LayerId layer) { return facts.bracket.layers[layer.index()].on_critical_path; });
    if (!row.layers.empty() && row.measured && !on_path) beside.push_back(r);
  }
  if (beside.empty()) return {};
  SortByTime(facts, beside);
  Finding finding;
  finding.kind = kSerialBranches;
  Latency off_path{0}, hidden{0};
  for (const std::size_t row : beside) {
    const ComparedRow& one = facts.waterfall.rows[row];
    off_path += *one.measured;
    // What is slower than its best is another finding; what runs at once hides no more than the rest.
    hidden += std::min(*one.measured, one.best.value_or(Latency(0)) * facts.waterfall.in_context);
    if (finding.layers.size() < 5) finding.layers.push_back(RowName(facts, facts.waterfall.rows[row]));
  }
  finding.gain = std::min(step->latency, hidden);
  if (!IsWorthReporting(facts, finding.gain)) return {};
  finding.evidence = std::to_string(beside.size()) + (beside.size() == 1 ? " row" : " rows") + " of " +
                     FormatLatency(off_path) +
                     " are not on the longest path; run at once, sharing the device, "
                     "the layers' best would take " +
                     FormatLatency(finding.gain) + " less than one after the other";
  finding.action = ActionFor(facts);
  return {std::move(finding)};
}

}  // namespace infimum::findings
