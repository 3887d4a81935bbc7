#include "src/app/model_report/emitted_layer.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "infimum/base/text.h"
#include "src/app/runners/installation.h"
#include "src/emit/project.h"

namespace infimum {
namespace {

// The library whose calls a candidate's source has: of kernels of ours and of engines it is none.
std::optional<std::string> EmittedLibraryOf(std::string_view candidate) {
  const std::string_view library = candidate.substr(0, candidate.find('/'));
  if (library == "onednn") return "onednn";
  if (library == "cudnn-graph" || library == "cudnn-legacy") return "cudnn";
  if (library == "cublaslt" || library == "cublas" || library == "cusparselt") return "cublaslt";
  return std::nullopt;
}

}  // namespace

std::string EmittedLayer::CommandInto(std::string folder) const {
  if (folder.empty()) folder = file_name.substr(0, file_name.rfind('.'));
  std::string command = "infimum emit --layer " + ShellQuoted(workload);
  if (library != EmitOptions().library) command += " --library " + library;
  if (contract) command += fmt::format(" --contract {}", Name(*contract));
  return command + " -o " + folder;
}

Result<EmittedLayer> EmitLayer(const std::string& workload, std::span<const std::string> candidates,
                               std::optional<NumericContract> contract) {
  std::optional<std::string> library;
  for (const std::string& candidate : candidates)
    if (!library) library = EmittedLibraryOf(candidate);
  if (!library)
    return Error{candidates.empty() ? std::string("none of its candidates was measured")
                                    : candidates.front() + " is from a library that emit does not support"};
  INFIMUM_ASSIGN_OR_RETURN(Workload parsed, ParseWorkload(workload));
  PlanEntry entry;
  entry.contract = contract.value_or(NativeContract(parsed));
  entry.workload = std::move(parsed);
  const EmitOptions options{*library, {}, std::string(InfimumVersion())};
  INFIMUM_ASSIGN_OR_RETURN(EmittedProject project, EmitProject(Plan{{}, {std::move(entry)}}, options));
  if (project.layers == 0 || project.files.empty()) return Error{"there is no source for it"};
  EmittedFile& own = project.files.back();  // sources stand behind what all have in common
  return EmittedLayer{*library, std::move(own.name), std::move(own.text), workload, contract};
}

}  // namespace infimum
