#include "src/app/model_report/finding_commands.h"

#include <fmt/format.h>

#include "infimum/base/text.h"
#include "reports/model/report_model.h"
#include "src/app/model_report/emitted_layer.h"

namespace infimum {

void AddCommands(const std::optional<std::string>& bench_options, std::optional<NumericContract> contract,
                 std::vector<Finding>& findings) {
  std::size_t number = 0;
  for (Finding& finding : findings) {
    ++number;
    finding.commands.clear();
    for (FindingCase& one : finding.cases) {
      if (!bench_options || one.workload.empty()) continue;
      const std::string candidate = one.candidate.empty() ? "" : " --candidate " + ShellQuoted(one.candidate);
      one.command = ReproductionCommand(one.workload, *bench_options + candidate);
    }
    if (finding.cases.empty() || finding.cases.front().workload.empty()) continue;
    const FindingCase& largest = finding.cases.front();
    if (!largest.command.empty()) finding.commands.push_back({"measure", largest.command});
    const Result<EmittedLayer> source = EmitLayer(largest.workload, {&largest.candidate, 1}, contract);
    if (source.ok())
      finding.commands.push_back({"source", source->CommandInto(fmt::format("{}-{}", finding.kind, number))});
  }
}

}  // namespace infimum
