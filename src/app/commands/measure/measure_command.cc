// infimum measure MODEL --framework F: a framework's run, with and without profiler.
#include <fmt/format.h>

#include <memory>

#include "analyzer/bracket/bracket.h"
#include "analyzer/gap/run_latency.h"
#include "infimum/base/utf8.h"
#include "infimum/db/store.h"
#include "infimum/measurement/statistics.h"
#include "src/app/command.h"
#include "src/app/commands/analyze/analysis.h"
#include "src/app/commands/measure/brick_times.h"
#include "src/app/options.h"
#include "src/app/runners/campaign.h"
#include "src/app/runners/framework_run.h"
#include "src/core/graph/framework_names.h"
#include "src/readers/onnx/read_model.h"
#include "src/readers/profiles/run_file.h"

namespace infimum::cli {
namespace {

constexpr double kSeconds = 4;
constexpr double kBrickSeconds = 0.3;
constexpr std::int64_t kBrickProcesses = 2;

struct MeasureOptions {
  std::string model;
  DimOptions dims;
  std::string database = "infimum.db";
  CampaignOptions campaign;
  std::vector<std::string> backend_options;
  FrameworkOptions framework;
  std::string profile;
  std::optional<std::int64_t> repetitions;
  std::optional<double> seconds;  // of each process
  bool by_bricks = false;
  synth::Cut cut{synth::CutInto::kBlocks, 20, ""};
  std::string output;
  ProgressLogOptions log;
};

Latency MedianOf(const std::vector<Latency>& samples) { return Summarize(samples).median; }

// "; under the profiler 23.900 ms (+3.4 %), of which layers 23.400 ms"
std::string ProfiledText(const RunProfile& run, Latency end_to_end) {
  Latency layers{0};
  for (const ProfiledLayer& layer : run.layers)
    if (!layer.samples.empty()) layers += MedianOf(layer.samples);
  if (run.layers.empty() && run.profiled.empty()) return "; without layers";
  if (run.profiled.empty())
    return fmt::format("; the layers {:.3f} ms together, under a profiler whose cost {} does not report",
                       layers.count() / 1000.0, run.framework);
  const Latency profiled = MedianOf(run.profiled);
  return fmt::format("; under the profiler {:.3f} ms ({:+.1f} %), of which layers {:.3f} ms", profiled.count() / 1000.0,
                     100 * (profiled / end_to_end - 1), layers.count() / 1000.0);
}

// A profiler makes nothing faster.
constexpr double kClearlyFaster = 0.97;

void WarnOfNoise(const RunProfile& run, Latency end_to_end, ProgressLog& log) {
  if (run.profiled.empty() || MedianOf(run.profiled) > kClearlyFaster * end_to_end) return;
  log.Warn(
      "inferences under the profiler were faster than those without: other programs disturbed the latter; measure "
      "again on a quiet machine");
}

// A run is kept under its device's identity, which a runner knows.
Result<RunnerDescription> DescribeHere(const Installation& installation, const CampaignOptions& campaign,
                                       const FrameworkOptions& framework) {
  Result<RunnerDescription> here = DescribeRunner(installation, campaign);
  if (here) return here;
  return Error{fmt::format("{} is measured on the device that --backend {} describes, and it describes none: {}",
                           framework.framework, campaign.backend, here.error().message)};
}

Result<int> MeasureByBricks(const MeasureOptions& options, FrameworkOptions framework, const Installation& installation,
                            RunnerDescription here, Store& store, ProgressLog& log) {
  const DeviceKey device = here.device.Key();
  BrickRuns runs;
  runs.find = [&](const std::string& sha256) {
    return store.FindRun(sha256, device, {}, framework.threads, framework.framework);
  };
  runs.keep = [&](RunProfile& run, const std::filesystem::path& file) -> Status {
    run.device = device.text;
    INFIMUM_ASSIGN_OR_RETURN(const ModelGraph graph, ReadModel(file, {.dims = run.dims}));
    run.contract = std::string(Name(MainContract(graph)));  // of its own types, which may not be the model's
    INFIMUM_RETURN_IF_ERROR(store.ImportRun(run));
    INFIMUM_RETURN_IF_ERROR(store.ImportModel(DescribeModel(file.stem().string(), graph, run.dims)));
    return {};
  };
  INFIMUM_ASSIGN_OR_RETURN(const ComposedTime composed,
                           MeasureBricks(installation, options.model, framework, options.cut, runs, log));
  std::vector<Measurement> rows = ObservedRows(composed, UtcNow());
  if (!rows.empty()) {
    here.environment.libraries = {
        {framework.framework, rows.front().candidate.algorithm.substr(framework.framework.size() + 1)}};
    for (Measurement& row : rows) {
      row.device = device;
      row.environment = here.environment.Key();
      row.evidence = here.environment.Told();
    }
    INFIMUM_RETURN_IF_ERROR(store.Import(here.device, here.environment, rows, {}));
  }
  for (const BrickTime& one : composed.bricks)
    if (!one.latency)
      log.Warn(fmt::format("{}, there {} times, is left out of the sum: {}", one.brick.name, one.brick.count(),
                           Printable(one.why_not)));
  if (!composed.why_not_whole.empty())
    log.Warn("the whole model has no time to hold the sum against: " + Printable(composed.why_not_whole));
  if (!options.output.empty()) INFIMUM_RETURN_IF_ERROR(WriteOutput(options.output, ComposedJson(composed)));
  if (options.output != "-") INFIMUM_RETURN_IF_ERROR(WriteOutput("-", ComposedText(composed, TerminalWidth())));
  return kDone;
}

Result<int> RunMeasure(const MeasureOptions& options) {
  if (options.by_bricks && options.framework.framework != framework::kOnnxRuntime &&
      options.framework.framework != framework::kOpenVino)
    return UsageError("--by-bricks: bricks are ONNX files, which onnxruntime and openvino run");
  if (options.by_bricks && !options.framework.inputs.empty())
    return UsageError("--by-bricks: --inputs are the model's, and bricks have others");
  INFIMUM_RETURN_IF_ERROR(CheckWritable(options.output));
  ProgressLog log = options.log.Make();
  FrameworkOptions framework = options.framework;
  INFIMUM_ASSIGN_OR_RETURN(framework.dims, options.dims.Parse());
  framework.threads = options.campaign.threads;
  const double seconds = options.seconds.value_or(options.by_bricks ? kBrickSeconds : kSeconds);
  framework.sampling = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  framework.repetitions = options.repetitions.value_or(options.by_bricks ? kBrickProcesses : framework.repetitions);
  framework.profile = options.profile;
  if (framework.framework != framework::kTensorRt) INFIMUM_RETURN_IF_ERROR(CheckWritable(options.profile));
  CampaignOptions campaign = options.campaign;
  INFIMUM_ASSIGN_OR_RETURN(campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));
  // TensorRT is on a GPU, OpenVINO measured on processors.
  if (campaign.backend.empty()) {
    campaign.backend = framework.framework == framework::kOpenVino ? "onednn" : DefaultBackend();
    if (NeedsGpu(framework.framework)) campaign.backend = "cuda";
  }

  // Read first: it refuses what ONNX Runtime would refuse less clearly, and names unbound dimensions.
  ReadOptions read;
  read.dims = framework.dims;
  read.needs_weights = true;
  INFIMUM_ASSIGN_OR_RETURN(const ModelGraph graph, ReadModel(options.model, read));
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadWrite));
  INFIMUM_ASSIGN_OR_RETURN(RunnerDescription here, DescribeHere(installation, campaign, framework));
  const Device device = here.device;
  framework.contract = MainContract(graph);
  framework.input_shapes = InputShapesOf(graph);
  framework.device = device.kind;
  if (device.kind == DeviceKind::kGpu) framework.device_name = device.name;
  if (options.by_bricks)
    return MeasureByBricks(options, std::move(framework), installation, std::move(here), *store, log);
  INFIMUM_ASSIGN_OR_RETURN(RunProfile run, MeasureFramework(installation, options.model, framework, log));
  for (const std::string& warning : run.warnings) log.Warn(warning);
  run.device = device.Key().text;
  INFIMUM_ASSIGN_OR_RETURN(const ImportCount count, store->ImportRun(run));
  INFIMUM_RETURN_IF_ERROR(store->ImportModel(DescribeModel(ModelName(options.model), graph, framework.dims)));
  if (!options.output.empty()) INFIMUM_RETURN_IF_ERROR(WriteOutput(options.output, FormatRun(run)));

  const std::string kept =
      fmt::format("{} kept in {}", count.added == 1 ? "run" : "known run", ShownAddress(options.database));
  const std::optional<Latency> time = EndToEndOf(run);
  if (!time) {
    log.Warn("the run is noisy and will not be compared with a bound: measure again while the machine is quiet");
    if (options.output == "-") return kDone;
    INFIMUM_RETURN_IF_ERROR(
        WriteOutput("-", fmt::format("{} {}: noisy, {}; {}\n", Printable(run.framework),
                                     Printable(run.framework_version), Printable(run.noisy), kept)));
    return kDone;
  }
  const Latency end_to_end = *time;
  WarnOfNoise(run, end_to_end, log);
  if (options.output != "-") {
    std::string threads;
    if (device.kind == DeviceKind::kCpu)
      threads = CountText(static_cast<std::size_t>(framework.threads), "thread") + ", ";
    INFIMUM_RETURN_IF_ERROR(
        WriteOutput("-", fmt::format("{} {}: {:.3f} ms (mean of {} process medians, {}{} layer{} profiled, {}){}\n",
                                     Printable(run.framework), Printable(run.framework_version),
                                     end_to_end.count() / 1000.0, run.end_to_end.size(), threads, run.layers.size(),
                                     run.layers.size() == 1 ? "" : "s", kept, ProfiledText(run, end_to_end))));
  }
  return kDone;
}

}  // namespace

void AddMeasureCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<MeasureOptions>();
  CLI::App* command = NewCommand(
      app, "measure", "measure a framework's run of a model: end to end, then layer by layer",
      "End-to-end samples come from fresh processes without a profiler, pinned; then one process runs with "
      "the framework's\n"
      "profiler, and what that costs is said. Weights that the file lacks are random, seeded, of a scale that "
      "keeps activations\n"
      "finite. PyTorch runs the module that the file was exported from (--module), TensorRT an engine that "
      "trtexec builds of it.",
      "infimum measure resnet50.onnx --dim batch=8 --framework onnxruntime -o run.json");
  AddModel(command, options->model);
  AddDims(command, options->dims);
  AddDatabase(command, options->database);
  AddThreads(command, options->campaign.threads);
  options->campaign.backend.clear();  // until the framework is known
  AddBackend(command, options->campaign.backend, options->backend_options);
  AddDeviceHere(command, options->campaign.backend);
  command->get_option("--backend")->default_str(DefaultBackend() + "; of tensorrt cuda, of openvino onednn");
  AddValue(command, "--framework", options->framework.framework, "F", "onnxruntime, openvino, pytorch or tensorrt")
      ->capture_default_str();
  AddFrameworkBuild(command, options->framework);
  AddContract(command, options->framework.converted);
  AddValue(command, "--repetitions", options->repetitions, "N", "processes")
      ->check(CLI::Range(1, 100))
      ->default_str(fmt::format("{}; of each brick {}", options->framework.repetitions, kBrickProcesses));
  AddValue(command, "--seconds", options->seconds, "S", "sampling time of each process")
      ->check(NumberBetween(0.01, 600))
      ->default_str(fmt::format("{:g}; of each brick's {:g}", kSeconds, kBrickSeconds));
  AddValue(command, "-o,--output", options->output, "FILE", "also write the run as JSON; - for standard output");
  AddValue(command, "--keep-profile", options->profile, "PATH",
           "also keep what the framework's profiler wrote: a file, of tensorrt a folder (infimum compare reads it)");
  CLI::Option* by_bricks =
      command->add_flag("--by-bricks", options->by_bricks,
                        "of onnxruntime and openvino: measure what the model is cut into (infimum synth bricks), each "
                        "unique brick once, and add up; bricks of --cut layers and fused count in the bound "
                        "best-known-or-observed");
  AddCut(command, options->cut, "20");
  for (const char* cut : {"--block", "--cut"}) command->get_option(cut)->needs(by_bricks);
  // Of bricks, in the model's own types, without a profiler.
  for (const char* other : {"--keep-profile", "--mode", "--module", "--contract"})
    by_bricks->excludes(command->get_option(other));
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunMeasure(*options); });
}

}  // namespace infimum::cli
