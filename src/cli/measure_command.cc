// infimum measure MODEL --framework F: a framework's run, with and without profiler.
#include <fmt/format.h>

#include <memory>

#include "infimum/analyzer/bracket.h"
#include "infimum/db/store.h"
#include "infimum/ingest/run_file.h"
#include "infimum/measurement/statistics.h"
#include "infimum/onnx/read_model.h"
#include "infimum/workflow/campaign.h"
#include "infimum/workflow/framework_run.h"
#include "src/cli/command.h"
#include "src/cli/options.h"

namespace infimum::cli {
namespace {

struct MeasureOptions {
  std::string model;
  DimOptions dims;
  std::string database = "infimum.db";
  CampaignOptions campaign;
  std::vector<std::string> backend_options;
  FrameworkOptions framework;
  double seconds = 4;
  std::string output;
  TalkOptions talk;
};

Result<int> RunMeasure(const MeasureOptions& options) {
  INFIMUM_RETURN_IF_ERROR(CheckWritable(options.output));
  Talk talk = options.talk.Make();
  FrameworkOptions framework = options.framework;
  INFIMUM_ASSIGN_OR_RETURN(framework.dims, options.dims.Parse());
  framework.threads = options.campaign.threads;
  framework.sampling = std::chrono::milliseconds(static_cast<std::int64_t>(options.seconds * 1000));
  CampaignOptions campaign = options.campaign;
  INFIMUM_ASSIGN_OR_RETURN(campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));

  // Read first: it refuses what ONNX Runtime would refuse less clearly, and names unbound dimensions.
  ReadOptions read;
  read.dims = framework.dims;
  INFIMUM_ASSIGN_OR_RETURN(const ModelGraph graph, ReadModel(options.model, read));
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadWrite));
  INFIMUM_ASSIGN_OR_RETURN(const RunnerDescription here, DescribeRunner(installation, campaign));
  // Of another device such a run would be no run at all.
  if (here.device.kind != DeviceKind::kCpu)
    return Error{
        fmt::format("{} is measured on processors alone, and --backend {} is of {}; `infimum import` takes runs",
                    framework.framework, campaign.backend, here.device.name)};
  framework.contract = MainContract(graph);
  INFIMUM_ASSIGN_OR_RETURN(RunProfile run, MeasureFramework(installation, options.model, framework, talk));
  run.device = here.device.Key().text;
  INFIMUM_ASSIGN_OR_RETURN(const ImportCount count, store->ImportRun(run));
  INFIMUM_RETURN_IF_ERROR(
      store->ImportModel(DescribeModel(std::filesystem::path(options.model).stem().string(), graph, framework.dims)));
  if (!options.output.empty()) INFIMUM_RETURN_IF_ERROR(WriteOutput(options.output, FormatRun(run)));

  std::vector<Repetition> repetitions;
  for (const RunRepetition& repetition : run.end_to_end) repetitions.push_back(Summarize(repetition.samples));
  if (options.output != "-") {
    INFIMUM_RETURN_IF_ERROR(WriteOutput(
        "-", fmt::format(
                 "{} {}: {:.3f} ms (smallest of {} process medians, {} thread{}, {} layers profiled, {} kept in {})\n",
                 run.framework, run.framework_version, PointValue(repetitions).count() / 1000.0, repetitions.size(),
                 run.threads, run.threads == 1 ? "" : "s", run.layers.size(), count.added == 1 ? "run" : "known run",
                 ShownAddress(options.database))));
  }
  return kDone;
}

}  // namespace

void AddMeasureCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<MeasureOptions>();
  CLI::App* command =
      NewCommand(app, "measure", "how long a framework takes for a model: end to end, then layer by layer",
                 "End-to-end samples come from fresh processes without a profiler, pinned; then one process runs with "
                 "the framework's\n"
                 "profiler. Weights that the file lacks are random, seeded, of a scale that keeps activations finite.",
                 "infimum measure resnet50.onnx --dim batch=8 --framework onnxruntime -o run.json");
  AddModel(command, options->model);
  AddDims(command, options->dims);
  AddDatabase(command, options->database);
  AddThreads(command, options->campaign.threads);
  AddBackend(command, options->campaign.backend, options->backend_options);
  command->add_option("--framework", options->framework.framework, "onnxruntime")
      ->type_name("F")
      ->capture_default_str();
  command->add_option("--python", options->framework.python, "the Python whose framework build is measured")
      ->type_name("PATH");
  command->add_option("--repetitions", options->framework.repetitions, "processes")
      ->type_name("N")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "sampling time of each process")
      ->type_name("S")
      ->check(CLI::Range(0.01, 600.0))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "also write the run as JSON; - for standard output")
      ->type_name("FILE");
  AddTalk(command, options->talk);
  invocation.Bind(command, [options] { return RunMeasure(*options); });
}

}  // namespace infimum::cli
