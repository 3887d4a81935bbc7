#include "reports/model/report_commands.h"

#include <fmt/format.h>

#include "src/core/graph/framework_names.h"

namespace infimum {
namespace {

std::string Command(const ReportModel& report, std::string_view verb, std::initializer_list<std::string_view> options) {
  if (report.arguments.model.empty()) return "";
  std::string command = fmt::format("infimum {} {}", verb, report.arguments.model);
  for (const std::string_view option : options)
    if (!option.empty()) command += " " + std::string(option);
  return command;
}

}  // namespace

std::string AnalyzeCommand(const ReportModel& report, std::string_view contract) {
  if (!report.bench_options) return "";
  return Command(report, "analyze", {contract.empty() ? std::string_view(report.arguments.contract) : contract});
}

std::string MeasureCommand(const ReportModel& report) {
  if (!report.bench_options || !IsProcessor(report)) return "";
  // ONNX Runtime is the one that is measured unasked; a name that nobody knows is no option's value.
  const KnownFramework* const framework = report.run ? FindFramework(report.run->profile.framework) : nullptr;
  if (framework == nullptr || framework->name == framework::kOnnxRuntime) return Command(report, "measure", {});
  std::string which = "--framework " + std::string(framework->name);
  const std::map<std::string, std::string>& settings = report.run->profile.settings;
  for (const char* const option : {"module", "mode"})
    if (const auto found = settings.find(option); found != settings.end() && !found->second.empty())
      which += fmt::format(" --{} {}", option, ShellQuoted(found->second));
  return Command(report, "measure", {which});
}

std::string RunCommand(const ReportModel& report) {
  std::string measure = MeasureCommand(report);
  return measure.empty() ? Command(report, "import PROFILE --model", {report.arguments.device}) : measure;
}

std::string ReplayCommand(const ReportModel& report) {
  return report.bench_options ? Command(report, "replay", {report.arguments.contract}) : "";
}

std::string PlanCommand(const ReportModel& report, std::string_view options) {
  return Command(report, "plan", {report.arguments.device, options, "-o plan.txt"});
}

std::string CompareCommand(const ReportModel& report, std::initializer_list<std::string_view> options) {
  return Command(report, "report compare", options);
}

}  // namespace infimum
