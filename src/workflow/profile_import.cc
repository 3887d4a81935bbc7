#include "infimum/workflow/profile_import.h"

#include <fmt/format.h>

#include <utility>

#include "infimum/analyzer/timeline_run.h"
#include "infimum/ingest/read_profile.h"
#include "infimum/onnx/read_model.h"
#include "infimum/workflow/campaign.h"
#include "infimum/workflow/device_choice.h"

namespace infimum {
namespace {

// Where it ran, by what is given, what the profile tells, and what a device of that name is.
Result<std::string> DeviceOf(const RunProfile& run, const std::string& source, const ProfiledModel& about,
                             const Installation& installation, Store& store) {
  std::string told = about.device.empty() ? run.device : about.device;
  if (const auto name = run.settings.find("device_name"); told.empty() && name != run.settings.end())
    told = name->second;
  if (told.empty())
    return Error{
        source +
        ": the profile does not say where it ran: --device NAME does, --device here of this one (see infimum devices)"};
  Result<Device> device = ChooseDevice(told, installation, CampaignOptions(), store);
  if (!device.ok()) return Within(source, device.error());
  return device->Key().text;
}

}  // namespace

Result<ImportCount> ImportProfiles(const std::vector<std::filesystem::path>& files, const ProfiledModel& about,
                                   Store& store) {
  INFIMUM_ASSIGN_OR_RETURN(const ModelGraph graph, ReadModel(about.model, ReadOptions{about.dims}));
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_ASSIGN_OR_RETURN(std::vector<NamedProfile> profiles, ReadProfiles(files));
  std::vector<RunProfile> runs;
  for (NamedProfile& named : profiles) {
    auto* told = std::get_if<RunProfile>(&named.profile);
    RunProfile run = told != nullptr ? std::move(*told) : RunOf(std::get<Timeline>(named.profile));
    if (run.layers.empty() && run.end_to_end.empty())
      return Error{named.source + ": it shows no layers, operators or kernels"};
    if (!run.model_sha256.empty() && run.model_sha256 != graph.sha256)
      return Error{
          fmt::format("{}: a run of another file than {}, by its SHA-256", named.source, about.model.string())};
    INFIMUM_ASSIGN_OR_RETURN(run.device, DeviceOf(run, named.source, about, installation, store));
    run.model_sha256 = graph.sha256;
    run.model_name = about.model.stem().string();
    run.dims = about.dims;
    if (about.threads) run.threads = *about.threads;
    if (about.contract) run.contract = Name(*about.contract);
    runs.push_back(std::move(run));
  }
  ImportCount count;
  for (const RunProfile& run : runs) {
    INFIMUM_ASSIGN_OR_RETURN(const ImportCount one, store.ImportRun(run));
    count += one;
  }
  INFIMUM_RETURN_IF_ERROR(store.ImportModel(DescribeModel(about.model.stem().string(), graph, about.dims)));
  return count;
}

}  // namespace infimum
