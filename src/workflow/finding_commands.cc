#include "src/workflow/finding_commands.h"

#include <fmt/format.h>

#include "infimum/base/text.h"
#include "infimum/emit/project.h"
#include "infimum/reports/report_model.h"

namespace infimum {
namespace {

// The library whose calls a candidate's source has: of kernels of ours and of engines it is none.
std::optional<std::string> EmittedLibraryOf(std::string_view candidate) {
  const std::string_view library = candidate.substr(0, candidate.find('/'));
  if (library == "onednn") return "onednn";
  if (library == "cudnn-graph") return "cudnn";
  if (library == "cublaslt") return "cublaslt";
  return std::nullopt;
}

std::optional<std::string> EmitCommand(const FindingCase& one, std::optional<NumericContract> contract,
                                       const std::string& folder) {
  const std::optional<std::string> library = EmittedLibraryOf(one.candidate);
  const Result<Workload> workload = ParseWorkload(one.workload);
  if (!library || !workload.ok()) return std::nullopt;
  PlanEntry entry;
  entry.workload = *workload;
  entry.contract = contract.value_or(NativeContract(*workload));
  const EmitOptions options{*library, {}, {}};
  const Result<EmittedProject> project = EmitProject(Plan{{}, {std::move(entry)}}, options);
  if (!project.ok() || project->layers == 0) return std::nullopt;
  std::string command = "infimum emit --layer " + ShellQuoted(one.workload);
  if (options.library != EmitOptions().library) command += " --library " + options.library;
  if (contract) command += fmt::format(" --contract {}", Name(*contract));
  return command + " -o " + folder;
}

}  // namespace

void AddCommands(const std::optional<std::string>& bench_options, std::optional<NumericContract> contract,
                 std::vector<Finding>& findings) {
  std::size_t number = 0;
  for (Finding& finding : findings) {
    ++number;
    finding.commands.clear();
    if (finding.cases.empty() || finding.cases.front().workload.empty()) continue;
    const FindingCase& largest = finding.cases.front();
    const std::string candidate = largest.candidate.empty() ? "" : " --candidate " + ShellQuoted(largest.candidate);
    if (bench_options)
      finding.commands.push_back({"measure", ReproductionCommand(largest.workload, *bench_options + candidate)});
    if (std::optional<std::string> emit = EmitCommand(largest, contract, fmt::format("{}-{}", finding.kind, number)))
      finding.commands.push_back({"source", *std::move(emit)});
  }
}

}  // namespace infimum
