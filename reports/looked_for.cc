#include "reports/looked_for.h"

#include <algorithm>

#include "reports/report_commands.h"

namespace infimum {

std::vector<LookedFor> LookedForInVain(const ReportModel& report) {
  std::vector<LookedFor> looked;
  if (!report.waterfall) return looked;
  const auto is_found = [&report](std::string_view kind) {
    return std::ranges::find(report.findings, kind, &Finding::kind) != report.findings.end();
  };
  const auto add = [&](std::string_view kind, std::string_view what) {
    if (!is_found(kind)) looked.push_back({kind, what});
  };
  if (report.waterfall->bound) {
    add("slower-algorithm", "kernels slower than the best known");
    add("unfused-chain", "layers apart that run faster as one");
    if (!IsProcessor(report) || report.environment.threads > 1)
      add("serial-branches", "independent layers one after the other");
    if (report.contract != "strict-f32") add("wider-precision", "wider arithmetic than the contract asks for");
    add("under-bound", "layers faster than their bound");
  }
  if (!IsProcessor(report)) add("tensor-cores-unused", "products that Tensor Cores could run");
  if (report.contract == "int8") add("quantized-layers-in-float", "quantized layers in floating point");
  if (report.contract == "f16" || report.contract == "bf16")
    add("half-precision-not-used", "half precision computed in f32");
  add("layout-changes", "reorders, reformats and copies of the engine’s own");
  add("needless-layers", "layers that need not run");
  if (!is_found("launch-bound")) add("framework-overhead", "time between and around the layers");
  return looked;
}

}  // namespace infimum
