// infimum compare [MODEL] --run FILE...: what profiles say of a run, by themselves or layer by layer of a model.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "reports/profile/profile_view.h"
#include "src/app/command.h"
#include "src/app/commands/compare/run_comparison.h"
#include "src/app/commands/compare/run_gate.h"
#include "src/app/commands/measure/profile_run.h"
#include "src/app/options.h"
#include "src/app/processes/progress_log.h"
#include "src/readers/profiles/alignment_file.h"
#include "src/readers/read_profile.h"

namespace infimum::cli {
namespace {

struct CompareOptions {
  RunComparisonOptions comparison;
  std::string model;
  DimOptions dims;
  std::vector<std::string> runs;
  std::vector<std::string> backend_options;
  std::int64_t threads = 0;  // 0: as the runs tell
  double max_gap = 0;        // 0: no gate
  std::string alignment;
  std::string baseline;
  double threshold = 5;  // percent
  AccountStyle style;
  OutputFormat format = OutputFormat::kTable;
  std::string output = "-";
};

// Each run's times against those of the baseline's file; where the file tells of layers, it is held against the model
// too.
Status AddBaselineGates(const CompareOptions& options, const RunComparisonOptions& asked,
                        const RunComparison& comparison, std::vector<Gate>& gates) {
  if (options.baseline.empty()) return {};
  INFIMUM_ASSIGN_OR_RETURN(std::vector<NamedProfile> baseline, ReadProfiles({options.baseline}));
  const auto* run = std::get_if<RunProfile>(&baseline.front().profile);
  if (run != nullptr && run->layers.empty()) {
    for (const ComparedRun& compared : comparison.runs)
      gates.push_back(
          BaselineGate({compared.name, compared.run}, {baseline.front().source, *run}, options.threshold / 100));
    return {};
  }
  RunComparisonOptions alone = asked;
  // What a person stated of layers that the baseline has too.
  std::erase_if(alone.overrides, [run](const AlignmentOverride& stated) {
    return run == nullptr || std::ranges::any_of(stated.engine_layers, [run](const std::string& name) {
             return std::ranges::find(run->layers, name, &ProfiledLayer::name) == run->layers.end();
           });
  });
  Result<RunComparison> before = CompareRuns(alone, std::move(baseline));
  if (!before.ok()) {
    // It may not tell its dimensions: then they are the run's.
    alone.dims = comparison.models[comparison.runs.front().model].dims;
    INFIMUM_ASSIGN_OR_RETURN(baseline, ReadProfiles({options.baseline}));
    before = CompareRuns(alone, std::move(baseline));
  }
  if (!before.ok()) return Within("--baseline", before.error());
  for (const ComparedRun& compared : comparison.runs)
    gates.push_back(BaselineGate(comparison, compared, *before, options.threshold / 100));
  return {};
}

// Each run's times against those of the baseline's file.
Status AddBaselineGates(const CompareOptions& options, const std::vector<JudgedRun>& runs, std::vector<Gate>& gates) {
  if (options.baseline.empty()) return {};
  INFIMUM_ASSIGN_OR_RETURN(std::vector<NamedProfile> baseline, ReadProfiles({options.baseline}));
  const RunProfile before = RunOfProfile(std::move(baseline.front().profile));
  const std::string name = std::filesystem::path(options.baseline).filename().string();
  for (const JudgedRun& run : runs)
    gates.push_back(BaselineGate(run, {name.empty() ? options.baseline : name, before}, options.threshold / 100));
  return {};
}

// What was not judged is no pass.
int ExitCode(const std::vector<Gate>& gates) {
  switch (Worst(gates)) {
    case GateOutcome::kHeld:
      return kDone;
    case GateOutcome::kNotHeld:
      return kGateFailed;
    case GateOutcome::kNotJudged:
      return kFailed;
  }
  return kFailed;
}

// An obstacle is an error; what did not hold is said here too where the report is of a format for programs.
void SayGates(const CompareOptions& options, const std::vector<Gate>& gates) {
  for (const Gate& gate : gates) {
    if (gate.outcome == GateOutcome::kNotJudged) {
      Complain(GateText(gate));
    } else if (gate.outcome == GateOutcome::kNotHeld && options.format != OutputFormat::kTable) {
      WriteToStandardError(GateText(gate) + "\n");
    }
  }
}

Result<int> CompareWithModel(const CompareOptions& options, std::vector<NamedProfile> profiles) {
  RunComparisonOptions asked = options.comparison;
  asked.model = options.model;
  INFIMUM_ASSIGN_OR_RETURN(asked.dims, options.dims.Parse());
  INFIMUM_ASSIGN_OR_RETURN(asked.campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));
  if (options.threads > 0) asked.threads = options.threads;
  if (!options.alignment.empty()) {
    std::error_code error;
    if (std::filesystem::is_directory(options.alignment, error))
      return Error{options.alignment + ": a folder: --alignment wants a file of infimum.alignment/1"};
    errno = 0;
    std::ifstream file(options.alignment, std::ios::binary);
    if (!file) return Error{fmt::format("{}: cannot be read: {}", options.alignment, std::strerror(errno))};
    INFIMUM_ASSIGN_OR_RETURN(asked.overrides, ReadAlignmentFile(file, options.alignment));
  }
  INFIMUM_ASSIGN_OR_RETURN(const RunComparison comparison, CompareRuns(asked, std::move(profiles)));
  ModelAccount account = AccountOf(comparison, asked);
  if (options.max_gap > 0)
    for (const ComparedRun& run : comparison.runs) account.gates.push_back(GapGate(run, options.max_gap));
  INFIMUM_RETURN_IF_ERROR(AddBaselineGates(options, asked, comparison, account.gates));
  AccountStyle style = options.style;
  style.width = TerminalWidth();
  INFIMUM_RETURN_IF_ERROR(WriteAnswer(options.format, options.output,
                                      {.table = [&] { return AccountText(account, style); },
                                       .json = [&] { return AccountJson(account); },
                                       .csv = [&] { return NodeTableCsv(account.nodes); }}));
  SayGates(options, account.gates);
  return ExitCode(account.gates);
}

// --run takes all that follows, MODEL too where it stands last: a model is told from a profile by its name.
Result<CompareOptions> WithModelApart(CompareOptions options) {
  const auto is_model = [](const std::string& file) {
    std::string extension = std::filesystem::path(file).extension().string();
    std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
    return extension == ".onnx";
  };
  const auto model = std::find_if(options.runs.begin(), options.runs.end(), is_model);
  if (model == options.runs.end()) return options;
  if (!options.model.empty() || std::find_if(model + 1, options.runs.end(), is_model) != options.runs.end())
    return Error{fmt::format("--run {}: a model, not a profile; a comparison is about one model, here {}", *model,
                             options.model.empty() ? "there are several" : options.model)};
  options.model = *model;
  options.runs.erase(model);
  return options;
}

Result<int> RunCompare(const CompareOptions& given) {
  const Result<CompareOptions> understood = WithModelApart(given);
  if (!understood) return UsageError(understood.error().message);
  const CompareOptions& options = *understood;
  if (options.output.ends_with(".html") || options.output.ends_with(".htm"))
    return UsageError(options.output +
                      ": compare writes text, JSON or CSV (--format); `infimum report MODEL` writes a page about a "
                      "stored run, `infimum report compare MODEL --run A --run B` one about several runs");
  INFIMUM_RETURN_IF_ERROR(CheckWritable(options.output));
  if (options.model.empty() && options.runs.empty()) return UsageError("give a profile (--run FILE), a model, or both");
  if (options.model.empty() && !options.alignment.empty()) return UsageError("--alignment needs a model");
  if (options.model.empty() && options.max_gap > 0)
    return UsageError("--max-gap needs a model: it is a multiple of the model's bound");
  INFIMUM_ASSIGN_OR_RETURN(std::vector<NamedProfile> profiles,
                           ReadProfiles({options.runs.begin(), options.runs.end()}));
  if (!options.model.empty()) return CompareWithModel(options, std::move(profiles));
  std::vector<ProfileView> views;
  for (const NamedProfile& named : profiles) {
    views.push_back(std::visit([&named](const auto& profile) { return ProfileView(ViewOf(profile, named.source)); },
                               named.profile));
  }
  std::vector<Gate> gates;
  if (!options.baseline.empty()) {
    std::vector<RunProfile> runs;
    for (NamedProfile& named : profiles) runs.push_back(RunOfProfile(std::move(named.profile)));
    std::vector<JudgedRun> judged;
    for (std::size_t i = 0; i < runs.size(); ++i) judged.push_back({profiles[i].source, runs[i]});
    INFIMUM_RETURN_IF_ERROR(AddBaselineGates(options, judged, gates));
  }
  const auto table = [&] {
    std::string text;
    for (const ProfileView& view : views) text += (text.empty() ? "" : "\n") + ProfileText(view, TerminalWidth());
    return text + GatesText(gates, TerminalWidth());
  };
  INFIMUM_RETURN_IF_ERROR(WriteAnswer(
      options.format, options.output,
      {.table = table, .json = [&] { return ProfilesJson(views, gates); }, .csv = [&] { return ProfilesCsv(views); }}));
  SayGates(options, gates);
  return ExitCode(gates);
}

}  // namespace

void AddCompareCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = NewCommand(
      app, "compare", "where the time of a profiled run went, and what to change",
      "Takes traces of PyTorch's profiler (torch.profiler, Kineto), exports of Nsight Systems\n"
      "(nsys export --type sqlite), what trtexec says of a TensorRT engine (--exportLayerInfo, --exportProfile,\n"
      "--exportTimes: its files, or their folder), profiles of ONNX Runtime (enable_profiling), Chakra's traces and\n"
      "runs that infimum measure -o wrote; texts also compressed with gzip. By itself a trace says what each device "
      "did with\n"
      "its time, for whom it waited, the operators and kernels that took it; an engine's layers which operators and\n"
      "layers took the time; and both findings by what they can win.\n"
      "With MODEL: the way from the measured time to the bound in steps that add up, findings ranked by how their\n"
      "gain is known (observed, bounded, guessed) and its size,\n"
      "and one table over the model's layers with what each engine took for them, fused or not. The bound is of the\n"
      "store (infimum analyze fills it); without one all but the bound is said. Without --run: the store's own run.\n"
      "\n--max-gap and --baseline are gates, of every run: exit code 3 where one does not hold, else 1 where one "
      "cannot\n"
      "be judged, which is no pass: a run of another model, dimensions, threads or contract than what it is held\n"
      "against, as far as both are told; too few repetitions to tell a difference from noise; a bound that is missing\n"
      "or that the run beats. A difference whose size the spread leaves undecided passes, and says so.",
      "infimum compare resnet50.onnx --run trace.json.gz --max-gap 1.3");
  command->add_option("MODEL", options->model, "ONNX file: align the run with its layers, account for its gap");
  AddDims(command, options->dims);
  AddValue(command, "--run", options->runs, "FILE", "a profile; several are shown side by side");
  AddValue(command, "--alignment", options->alignment, "FILE",
           "which engine layers stand for which model layers (infimum.alignment/1), to override the alignment; "
           "applies to every run that has these layers");
  AddDatabase(command, options->comparison.database);
  AddValue(command, "--device", options->comparison.device, "NAME",
           "where it ran: a device from the store or a data sheet (default: as recorded in the run, else this one)");
  AddValue(command, "--threads", options->threads, "N",
           "threads of the bound, and of a run that does not record them (default: as recorded in the run, else 1)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}));
  AddValue(command, "--framework", options->comparison.framework, "F",
           "the framework whose stored run is used if no --run is given")
      ->capture_default_str();
  AddContract(command, options->comparison.contract);
  AddCache(command, options->comparison.campaign.cache, "rows measured in this cache state");
  AddBackend(command, options->comparison.campaign.backend, options->backend_options);
  AddValue(command, "--max-gap", options->max_gap, "X", "gate: the largest allowed ratio of a run to its bound")
      ->check(NumberBetween(1, 1e6));
  AddValue(command, "--baseline", options->baseline, "FILE", "gate: no run may be slower than this one");
  AddValue(command, "--threshold", options->threshold, "PERCENT",
           "smallest relevant difference to the baseline, in percent")
      ->check(NumberBetween(0.1, 1000))
      ->capture_default_str();
  AddValue(command, "--rows", options->style.rows, "N", "layers in the table, the longest; 0: all")
      ->check(Count())
      ->capture_default_str();
  AddValue(command, "--findings", options->style.findings, "N", "findings of each run; JSON has all")
      ->check(Count())
      ->capture_default_str();
  AddFormat(command, options->format);
  AddValue(command, "-o,--output", options->output, "FILE", "file to write; - for standard output");
  invocation.Bind(command, [options] { return RunCompare(*options); });
}

}  // namespace infimum::cli
