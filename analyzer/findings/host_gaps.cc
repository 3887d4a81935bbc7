#include "analyzer/findings/run_rules.h"
#include "infimum/base/quantity_text.h"

namespace infimum::findings {

std::optional<Finding> HostGapsOfRun(const RunFacts& facts) {
  const GapStep* step = facts.waterfall.Find(GapCause::kHostGaps);
  if (step == nullptr || !IsWorthTelling(facts, step->latency)) return std::nullopt;
  Finding finding;
  finding.kind = facts.run.idle ? "launch-bound" : "framework-overhead";
  finding.gain = step->latency;
  std::size_t layers = 0;
  for (const ProfiledLayer& layer : facts.run.layers) layers += layer.samples.empty() ? 0 : 1;
  const std::string whole = " of " + FormatLatency(facts.waterfall.measured);
  if (facts.run.idle) {
    // What waits for other work is no launch's fault.
    finding.gain = facts.run.idle->host + facts.run.idle->launch;
    if (!IsWorthTelling(facts, finding.gain)) return std::nullopt;
    finding.evidence = "the device was idle for " + FormatLatency(facts.run.idle->total()) + whole + ": " +
                       FormatLatency(facts.run.idle->host) + " because the host had not asked yet, " +
                       FormatLatency(facts.run.idle->launch) + " between asking and beginning, " +
                       FormatLatency(facts.run.idle->queued) + " between work that was queued; " +
                       std::to_string(layers) + " layers";
    finding.action =
        "launch more at a time: capture the inference as a CUDA graph (PyTorch: "
        "torch.compile(mode=\"reduce-overhead\"); "
        "ONNX Runtime: enable_cuda_graph=1; trtexec: --useCudaGraph), or raise the batch";
    return finding;
  }
  finding.evidence = FormatLatency(step->latency) + whole + " pass outside the " + std::to_string(layers) +
                     " layers, " +
                     FormatLatency(step->latency / static_cast<double>(std::max<std::size_t>(layers, 1))) + " for each";
  if (facts.run.profiled.empty())
    finding.evidence +=
        " (the profile does not tell how long its inferences took: if the run without the profiler shared "
        "the machine with other work, that stands here too)";
  finding.action = facts.run.framework == "onnxruntime"
                       ? "fewer and larger layers cost less of it; bind inputs and outputs once (IO binding), and let "
                         "threads spin (session.intra_op.allow_spinning)"
                       : "fewer and larger layers cost less of it: compile or fuse the model, or raise the batch";
  return finding;
}

}  // namespace infimum::findings
