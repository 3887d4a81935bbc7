#include "src/app/commands/store/profile_import.h"

#include <fmt/format.h>

#include <utility>

#include "analyzer/alignment/align_run.h"
#include "reports/text/quantity_text.h"
#include "src/app/commands/measure/profile_run.h"
#include "src/app/runners/campaign.h"
#include "src/app/runners/device_choice.h"
#include "src/readers/onnx/read_model.h"
#include "src/readers/read_profile.h"

namespace infimum {
namespace {

// Less at layers of the model, and the profile is of another one.
constexpr double kLeastAligned = 0.2;

// Where it ran, by what is given, what the profile tells, and what a device of that name is.
Result<Device> DeviceOf(const RunProfile& run, const std::string& source, const ProfiledModel& about,
                        const Installation& installation, Store& store) {
  std::string told = about.device.empty() ? run.device : about.device;
  if (const auto name = run.settings.find("device_name"); told.empty() && name != run.settings.end())
    told = name->second;
  if (told.empty())
    return Error{source +
                 ": the profile does not record its device: give --device NAME, or --device here for this one (see "
                 "infimum devices)"};
  Result<Device> device = ChooseDevice(told, installation, CampaignOptions(), store);
  if (!device.ok()) return Within(source, device.error());
  return device;
}

// A store is asked for runs on so many threads: none is made up.
Result<std::int64_t> ThreadsOf(const RunProfile& run, const std::string& source, const ProfiledModel& about,
                               const Device& device) {
  if (about.threads) return *about.threads;
  if (device.kind == DeviceKind::kGpu) return 1;  // it works as a whole
  if (run.threads) return *run.threads;
  return Error{source + ": the profile does not record its number of threads: give --threads N"};
}

// How much of a profile is at layers of the model, of its time, or of its layers where they have no times.
struct AlignedShare {
  double share = 0;
  const char* of;
};

AlignedShare AlignedShareOf(const Alignment& alignment) {
  const Latency meant = alignment.measured - alignment.own;
  if (meant.count() > 0) return {1 - alignment.unmatched / meant, "of the layers' time"};
  std::size_t matched = 0, all = 0;
  for (const AlignedRow& row : alignment.rows) {
    if (row.is_own()) continue;
    ++all;
    if (!row.layers.empty()) ++matched;
  }
  return {all > 0 ? static_cast<double>(matched) / static_cast<double>(all) : 0, "of the layers, which have no times,"};
}

// Whether the profile can be of this model, and how far it is; a remark for the user.
Result<std::string> CheckModel(const RunProfile& run, const std::string& source, const ProfiledModel& about,
                               const ModelGraph& graph) {
  const std::string model = about.model.string();
  if (!run.model_sha256.empty() && run.model_sha256 != graph.sha256)
    return Error{fmt::format("{}: a run of another file than {}, by its SHA-256", source, model)};
  if (run.layers.empty())
    return fmt::format("{}: it has no layers, so whether it is of {} was not checked", source, model);
  const Alignment alignment = AlignRun(graph, run);
  const AlignedShare aligned = AlignedShareOf(alignment);
  std::string text = fmt::format("{}: {} {} is at layers of {}", source, PercentText(aligned.share), aligned.of, model);
  if (aligned.share < kLeastAligned)
    return Error{text + ", too little for a run of this model: give the model that ran, with its dimensions (--dim)"};
  return text;
}

}  // namespace

Result<ImportedProfiles> ImportProfiles(const std::vector<std::filesystem::path>& files, const ProfiledModel& about,
                                        Store& store) {
  INFIMUM_ASSIGN_OR_RETURN(const ModelGraph graph, ReadModel(about.model, ReadOptions{about.dims}));
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_ASSIGN_OR_RETURN(std::vector<NamedProfile> profiles, ReadProfiles(files));
  std::vector<RunProfile> runs;
  ImportedProfiles imported;
  for (NamedProfile& named : profiles) {
    RunProfile run = RunOfProfile(std::move(named.profile));
    if (run.layers.empty() && run.end_to_end.empty())
      return Error{named.source + ": it contains no layers, operators or kernels"};
    if (run.skipped_share > kMostSkipped)
      return Error{
          fmt::format("{}: about {} of its time could not be read, too much for a run: record the profile again",
                      named.source, PercentText(run.skipped_share))};
    INFIMUM_ASSIGN_OR_RETURN(std::string remark, CheckModel(run, named.source, about, graph));
    imported.remarks.push_back(std::move(remark));
    INFIMUM_ASSIGN_OR_RETURN(const Device device, DeviceOf(run, named.source, about, installation, store));
    INFIMUM_ASSIGN_OR_RETURN(run.threads, ThreadsOf(run, named.source, about, device));
    run.device = device.Key().text;
    run.model_sha256 = graph.sha256;
    run.model_name = ModelName(about.model);
    run.dims = about.dims;
    if (about.contract) run.contract = Name(*about.contract);
    runs.push_back(std::move(run));
  }
  for (const RunProfile& run : runs) {
    INFIMUM_ASSIGN_OR_RETURN(const ImportCount one, store.ImportRun(run));
    imported.count += one;
  }
  INFIMUM_RETURN_IF_ERROR(store.ImportModel(DescribeModel(ModelName(about.model), graph, about.dims)));
  return imported;
}

}  // namespace infimum
