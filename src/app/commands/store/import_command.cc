// infimum import FILE...: results and runs into the store.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/alignment/align_run.h"
#include "infimum/db/store.h"
#include "infimum/measurement/contract.h"
#include "reports/text/fact_text.h"
#include "src/app/command.h"
#include "src/app/commands/measure/profile_run.h"
#include "src/app/commands/store/store_transfer.h"
#include "src/app/options.h"
#include "src/app/processes/progress_log.h"
#include "src/app/runners/campaign.h"
#include "src/app/runners/device_choice.h"
#include "src/readers/onnx/read_model.h"
#include "src/readers/read_profile.h"

namespace infimum::cli {
namespace {

// Profiles of other tools into the store, as runs of a model: what they leave unsaid is told.
//
//   ImportProfiles({"trace.json.gz"}, {.model = "resnet50.onnx", .dims = {{"batch", 8}}, .device = "H100"}, store);
//
// A profile without end-to-end times is kept with the inferences under its profiler: it can be compared, and no bound
// is held against it.
struct ProfiledModel {
  std::filesystem::path model;
  std::map<std::string, std::int64_t> dims;
  std::string device;                       // empty: as the profile tells; "here": this one
  std::optional<std::int64_t> threads;      // absent: as the profile tells
  std::optional<NumericContract> contract;  // absent: as the profile tells, else unsaid, and it limits no bound
};

struct ImportedProfiles {
  ImportCount count;
  std::vector<std::string> remarks;  // of each file how much of it is at layers of the model
};

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
  return Within(source, ChooseDevice(told, installation, CampaignOptions(), store));
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

// Files of one engine count as one profile. Nothing is kept where one of them cannot be read; tells no device, or of a
// processor no threads, while none are given; is of another model by its SHA-256; or where less than a fifth of its
// layers' time, or of its layers where they have no times, is at layers of the model.
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

struct ImportOptions {
  std::vector<std::string> files;
  DimOptions dims;
  ProfiledModel profiled;
  std::string model;
  std::int64_t threads = 0;  // 0: as the profile tells
  std::string database = "infimum.db";
  ProgressLogOptions log;
};

Result<int> RunImport(const ImportOptions& options) {
  ProgressLog log = options.log.Make();
  INFIMUM_ASSIGN_OR_RETURN(const auto dims, options.dims.Parse());
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadWrite));
  if (!options.model.empty()) {
    ProfiledModel about = options.profiled;
    about.model = options.model;
    about.dims = dims;
    if (options.threads > 0) about.threads = options.threads;
    INFIMUM_ASSIGN_OR_RETURN(const ImportedProfiles imported,
                             ImportProfiles({options.files.begin(), options.files.end()}, about, *store));
    for (const std::string& remark : imported.remarks) log.Say(remark);
    const ImportCount& count = imported.count;
    log.Say(fmt::format("{}: {} added, {} {} known", options.model,
                        CountText(static_cast<std::size_t>(count.added), "run"), count.known,
                        count.known == 1 ? "was" : "were"));
    return kDone;
  }
  if (!options.profiled.device.empty() || options.profiled.contract || options.threads > 0)
    return UsageError("--device, --threads and --contract apply to profiles: give --model MODEL too");
  bool failed = false;
  for (const std::string& file : options.files) {
    // A bad file is reported and does not stop the others.
    const Result<ImportCount> count = ImportFileOf(file, dims, *store, log);
    if (!count) {
      Complain(count.error().message);
      failed = true;
      continue;
    }
    log.Say(fmt::format("{}: {} rows added, {} were known", file, count->added, count->known));
  }
  return failed ? kFailed : kDone;
}

}  // namespace

void AddImportCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = NewCommand(
      app, "import", "import results of runners and framework runs into the store",
      "Takes results journals (.jsonl), Google Benchmark JSON of our runners and of other programs (the Benanza\n"
      "measurements of 2019 among them), and runs (infimum.run/1), each also compressed with gzip; and ONNX models "
      "(.onnx),\n"
      "so that queries can be about them. A file is taken as a whole or not at all; importing again adds nothing. A "
      "bad\n"
      "file is reported with its place and does not stop the others.\n"
      "With --model: profiles of other tools (what infimum compare --run reads) as runs of that model. One is refused "
      "of\n"
      "which less than a fifth is at layers of the model, or that lacks its device or threads while none are given.",
      "infimum import results.jsonl run.json resnet50.onnx --dim batch=1 --db postgresql://me@db.example.org/infimum");
  command->add_option("FILE", options->files, "files to import")->required();
  AddDims(command, options->dims);
  AddValue(command, "--model", options->model, "FILE", "ONNX file: the files are profiles of this model");
  AddValue(command, "--device", options->profiled.device, "NAME",
           "the profiles' device; here: this device (default: as recorded)");
  AddValue(command, "--threads", options->threads, "N", "threads of profiles on a CPU (default: as recorded)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}));
  AddContract(command, options->profiled.contract);
  AddDatabase(command, options->database);
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunImport(*options); });
}

}  // namespace infimum::cli
