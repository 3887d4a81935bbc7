#include <algorithm>

#include "analyzer/findings/rules.h"
#include "analyzer/findings/run_rows.h"
#include "infimum/base/quantity_text.h"
#include "src/core/graph/framework_names.h"

namespace infimum::findings {
namespace {

std::string CountText(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::size_t LayersWithTimes(const RunProfile& run) {
  return static_cast<std::size_t>(
      std::ranges::count_if(run.layers, [](const ProfiledLayer& layer) { return !layer.samples.empty(); }));
}

std::string ActionOfOnnxRuntime(const RunProfile& run) {
  std::string action = "fewer and larger layers cost less of it; bind inputs and outputs once (IO binding)";
  const auto spinning = run.settings.find("session.intra_op.allow_spinning");
  if (run.threads > 1 && spinning != run.settings.end() && spinning->second == "0")
    action += ", and let threads spin (session.intra_op.allow_spinning was 0)";
  return action;
}

}  // namespace

// An accelerator's, by its timeline.
std::vector<Finding> LaunchBound(const RunFacts& facts, const LayerClaims&) {
  if (!facts.waterfall.idle) return {};
  const DeviceIdle& idle = *facts.waterfall.idle;
  Finding finding;
  finding.kind = kLaunchBound;
  // What waits for other work is no launch's fault.
  finding.gain = std::min(idle.host + idle.launch, facts.waterfall.measured);
  if (!IsWorthReporting(facts, finding.gain)) return {};
  finding.evidence = "the device was idle for " + FormatLatency(idle.total()) + " of " +
                     FormatLatency(facts.waterfall.measured) + ": " + FormatLatency(idle.host) +
                     " because the host had not launched work yet, " + FormatLatency(idle.launch) +
                     " between launch and start, " + FormatLatency(idle.queued) + " between queued work; " +
                     CountText(LayersWithTimes(facts.run), "layer");
  if (facts.waterfall.measured_by != MeasuredBy::kEndToEnd)
    finding.evidence += "; a profiler slows the host, so there is less of this without it: time the run without it too";
  else if (idle != *facts.run.idle)
    finding.evidence += " (under the profiler " + FormatLatency(facts.run.idle->total()) +
                        ", which slows the host: counted as far as the run without it is longer than its layers)";
  finding.action =
      "launch more at a time: capture the inference as a CUDA graph (PyTorch: "
      "torch.compile(mode=\"reduce-overhead\"); ONNX Runtime: enable_cuda_graph=1; trtexec: --useCudaGraph), or raise "
      "the batch";
  return {std::move(finding)};
}

std::vector<Finding> FrameworkOverhead(const RunFacts& facts, const LayerClaims&) {
  if (facts.waterfall.idle) return {};
  Finding finding;
  finding.kind = kFrameworkOverhead;
  finding.gain = facts.waterfall.Of(GapCause::kHostGaps);
  // Layers that the profile does not show ran outside those that it shows.
  Latency unseen{0};
  std::size_t unseen_rows = 0;
  for (const ComparedRow& row : facts.waterfall.rows) {
    if (row.measured || !row.best) continue;
    unseen += *row.best * facts.waterfall.in_context;
    ++unseen_rows;
  }
  finding.gain -= unseen;
  if (!IsWorthReporting(facts, finding.gain)) return {};
  const std::size_t layers = LayersWithTimes(facts.run);
  finding.evidence = FormatLatency(finding.gain) + " of " + FormatLatency(facts.waterfall.measured) +
                     " are spent outside the " + CountText(layers, "layer") + ", " +
                     FormatLatency(finding.gain / static_cast<double>(std::max<std::size_t>(layers, 1))) + " for each";
  if (unseen_rows > 0)
    finding.evidence += "; without " + FormatLatency(unseen) + " that " + CountText(unseen_rows, "row") +
                        " of the model that the profile does not show would take at best";
  if (layers < facts.run.layers.size())
    finding.evidence += "; " + CountText(facts.run.layers.size() - layers, "layer") +
                        " of the profile have no time and would count here too";
  if (facts.waterfall.measured_by == MeasuredBy::kProfiled)
    finding.evidence +=
        "; a profiler writes between the layers, so most of this may be its own: time the run without it too "
        "(infimum measure)";
  if (facts.run.profiled.empty())
    finding.evidence +=
        " (the profile does not report how long its inferences took: if the run without the profiler shared the "
        "machine with other work, that counts here too)";
  finding.action = facts.run.framework == framework::kOnnxRuntime
                       ? ActionOfOnnxRuntime(facts.run)
                       : "fewer and larger layers cost less of it: compile or fuse the model, or raise the batch";
  return {std::move(finding)};
}

}  // namespace infimum::findings
