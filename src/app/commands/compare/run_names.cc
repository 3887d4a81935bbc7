#include "src/app/commands/compare/run_names.h"

#include <filesystem>
#include <map>

namespace infimum {
namespace {

// What a column is called: the file's own name, of a folder the folder's.
std::string ColumnOf(const std::string& source) {
  const std::filesystem::path path(source);
  const std::filesystem::path name = path.filename().empty() ? path.parent_path().filename() : path.filename();
  return name.empty() ? source : name.string();
}

// What of a run's device is known, that stays; else it is any text.
void KeepKnownDevice(const Device& device, std::string& told) {
  if (told != device.name && told != device.Key().text) told.clear();
}

}  // namespace

void NameRuns(bool anonymize, std::vector<ComparedRun>& runs) {
  if (anonymize) {
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].name = "run-" + std::to_string(i + 1);
    return;
  }
  for (ComparedRun& compared : runs) compared.name = ColumnOf(compared.source);
  std::map<std::string, std::size_t> count;
  for (const ComparedRun& compared : runs) ++count[compared.name];
  for (ComparedRun& compared : runs)
    if (count[compared.name] > 1) compared.name = compared.source;
}

void NumberFiles(std::vector<ComparedRun>& runs) {
  std::map<std::string, std::size_t> files;
  for (ComparedRun& compared : runs) {
    const std::string& sha256 = compared.run.model_sha256;
    if (!sha256.empty()) compared.file = files.try_emplace(sha256, files.size() + 1).first->second;
  }
}

void RemoveNames(Anonymizer& anonymizer, RunComparison& comparison) {
  for (ComparedModel& model : comparison.models) {
    anonymizer.Rename(model.graph);
    model.dims = anonymizer.Renamed(model.dims);
  }
  for (ComparedRun& compared : comparison.runs) {
    RunProfile& run = compared.run;
    const std::size_t warnings = run.warnings.size();
    const bool has_other_contract = !run.contract.empty() && !FindContract(run.contract);
    std::string device_name;
    if (const auto told = run.settings.find("device_name"); told != run.settings.end()) device_name = told->second;
    anonymizer.Rename(run);
    anonymizer.Rename(compared.bracket);
    if (has_other_contract) run.contract = "other";  // it is told, and not that of the bound
    KeepKnownDevice(compared.device, run.device);
    KeepKnownDevice(compared.device, device_name);
    if (!device_name.empty()) run.settings["device_name"] = device_name;
    run.warnings.assign(warnings, "its profile has a warning, which may contain names and is left out");
    compared.source = compared.name;
    compared.path.reset();
  }
}

}  // namespace infimum
