#include "reports/model/looked_for.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "reports/model/report_commands.h"

namespace infimum {

std::vector<LookedFor> LookedForInVain(const ReportModel& report) {
  std::vector<LookedFor> looked;
  if (!report.waterfall) return looked;
  const auto is_found = [&report](std::string_view kind) {
    return std::ranges::find(report.findings, kind, &Finding::kind) != report.findings.end();
  };
  // A step of the waterfall that is large, whatever rule tells it, was found.
  const auto is_lost = [&report](GapCause cause) {
    constexpr double kLeastShare = 0.01;
    return std::abs(report.waterfall->Of(cause).count()) >= kLeastShare * report.waterfall->measured.count();
  };
  const auto add = [&](std::string_view kind, std::string_view what, std::optional<GapCause> cause = {}) {
    if (!is_found(kind) && !(cause && is_lost(*cause))) looked.push_back({kind, what});
  };
  const NumericContract contract = report.bracket.contract;
  const bool is_half = is_found("half-precision-not-used"), is_in_float = is_found("quantized-layers-in-float");
  if (report.waterfall->bound) {
    add("slower-algorithm", "kernels slower than the best known", GapCause::kAlgorithmRegret);
    add("unfused-chain", "layers apart that run faster as one", GapCause::kMissedFusion);
    if (!IsProcessor(report) || report.environment.threads > 1)
      add("serial-branches", "independent layers one after the other", GapCause::kMissedParallelism);
    if (contract != NumericContract::kStrictF32 && !is_half && !is_in_float)
      add("wider-precision", "wider arithmetic than the contract asks for", GapCause::kPrecision);
    add("under-bound", "layers faster than their bound");
  }
  if (!IsProcessor(report)) add("tensor-cores-unused", "products that Tensor Cores could run");
  if (contract == NumericContract::kInt8 && !is_found("quantization-conversions"))
    add("quantized-layers-in-float", "quantized layers in floating point", GapCause::kPrecision);
  if ((contract == NumericContract::kF16 || contract == NumericContract::kBf16) && !is_found("wider-precision"))
    add("half-precision-not-used", "half precision computed in f32", GapCause::kPrecision);
  add("layout-changes", "reorders, reformats and copies of the engine’s own", GapCause::kLayoutChanges);
  add("needless-layers", "layers that need not run");
  if (!is_found("launch-bound")) add("framework-overhead", "time between and around the layers", GapCause::kHostGaps);
  return looked;
}

}  // namespace infimum
