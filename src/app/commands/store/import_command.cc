// infimum import FILE...: results and runs into the store.
#include <fmt/format.h>

#include <memory>

#include "infimum/db/store.h"
#include "reports/text/quantity_text.h"
#include "src/app/command.h"
#include "src/app/commands/store/profile_import.h"
#include "src/app/commands/store/store_transfer.h"
#include "src/app/options.h"
#include "src/app/processes/progress_log.h"

namespace infimum::cli {
namespace {

struct ImportOptions {
  std::vector<std::string> files;
  DimOptions dims;
  ProfiledModel profiled;
  std::string model;
  std::int64_t threads = 0;  // 0: as the profile tells
  std::string database = "infimum.db";
  TalkOptions talk;
};

Result<int> RunImport(const ImportOptions& options) {
  Talk talk = options.talk.Make();
  INFIMUM_ASSIGN_OR_RETURN(const auto dims, options.dims.Parse());
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadWrite));
  if (!options.model.empty()) {
    ProfiledModel about = options.profiled;
    about.model = options.model;
    about.dims = dims;
    if (options.threads > 0) about.threads = options.threads;
    INFIMUM_ASSIGN_OR_RETURN(const ImportedProfiles imported,
                             ImportProfiles({options.files.begin(), options.files.end()}, about, *store));
    for (const std::string& remark : imported.remarks) talk.Say(remark);
    const ImportCount& count = imported.count;
    talk.Say(fmt::format("{}: {} added, {} {} known", options.model,
                         CountText(static_cast<std::size_t>(count.added), "run"), count.known,
                         count.known == 1 ? "was" : "were"));
    return kDone;
  }
  if (!options.profiled.device.empty() || options.profiled.contract || options.threads > 0)
    return UsageError("--device, --threads and --contract apply to profiles: give --model MODEL too");
  bool failed = false;
  for (const std::string& file : options.files) {
    // A bad file is reported and does not stop the others.
    const Result<ImportCount> count = ImportFileOf(file, dims, *store, talk);
    if (!count) {
      Complain(count.error().message);
      failed = true;
      continue;
    }
    talk.Say(fmt::format("{}: {} rows added, {} were known", file, count->added, count->known));
  }
  return failed ? kFailed : kDone;
}

}  // namespace

void AddImportCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = NewCommand(
      app, "import", "import import results of runners and framework runs into the store",
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
  command->add_option("--model", options->model, "ONNX file: the files are profiles of this model")->type_name("FILE");
  command
      ->add_option("--device", options->profiled.device,
                   "the profiles' device; here: this device (default: as recorded)")
      ->type_name("NAME");
  command->add_option("--threads", options->threads, "threads of profiles on a CPU (default: as recorded)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}));
  AddContract(command, options->profiled.contract);
  AddDatabase(command, options->database);
  AddTalk(command, options->talk);
  invocation.Bind(command, [options] { return RunImport(*options); });
}

}  // namespace infimum::cli
