// infimum compare [MODEL] --run FILE...: what profiles say of a run, by themselves or layer by layer of a model.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <utility>
#include <variant>

#include "infimum/ingest/alignment_file.h"
#include "infimum/ingest/read_profile.h"
#include "infimum/reports/profile_view.h"
#include "infimum/workflow/run_comparison.h"
#include "infimum/workflow/run_gate.h"
#include "src/cli/command.h"
#include "src/cli/options.h"

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

// The first run's end-to-end time against that of the baseline's file.
Result<Gate> HoldAgainstBaseline(const CompareOptions& options, const std::vector<NamedProfile>& profiles,
                                 const RunProfile* run) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<NamedProfile> baseline, ReadProfiles({options.baseline}));
  const auto* before = std::get_if<RunProfile>(&baseline.front().profile);
  if (run == nullptr && !profiles.empty()) run = std::get_if<RunProfile>(&profiles.front().profile);
  if (before == nullptr || run == nullptr)
    return Error{
        (before == nullptr ? options.baseline : profiles.front().source) +
        ": a trace, which has no end-to-end samples for --baseline; `infimum measure -o` writes runs that have"};
  return BaselineGate(*run, *before, options.threshold / 100);
}

int ExitCode(const std::vector<Gate>& gates) { return std::ranges::all_of(gates, &Gate::held) ? kDone : kGateFailed; }

Result<int> CompareWithModel(const CompareOptions& options, std::vector<NamedProfile> profiles) {
  RunComparisonOptions asked = options.comparison;
  asked.model = options.model;
  INFIMUM_ASSIGN_OR_RETURN(asked.dims, options.dims.Parse());
  INFIMUM_ASSIGN_OR_RETURN(asked.campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));
  if (options.threads > 0) asked.threads = options.threads;
  if (!options.alignment.empty()) {
    std::ifstream file(options.alignment, std::ios::binary);
    if (!file) return Error{options.alignment + ": cannot be read"};
    INFIMUM_ASSIGN_OR_RETURN(asked.overrides, ReadAlignmentFile(file, options.alignment));
  }
  INFIMUM_ASSIGN_OR_RETURN(const RunComparison comparison, CompareRuns(asked, std::move(profiles)));
  ModelAccount account = AccountOf(comparison, asked);
  if (options.max_gap > 0) {
    for (std::size_t i = 0; i < account.runs.size(); ++i) {
      INFIMUM_ASSIGN_OR_RETURN(Gate gate,
                               GapGate(account.runs[i], comparison.runs[i].bracket.coverage, options.max_gap));
      account.gates.push_back(std::move(gate));
    }
  }
  if (!options.baseline.empty()) {
    INFIMUM_ASSIGN_OR_RETURN(Gate gate, HoldAgainstBaseline(options, {}, &comparison.runs.front().run));
    account.gates.push_back(std::move(gate));
  }
  std::string text;
  switch (options.format) {
    case OutputFormat::kTable: {
      AccountStyle style = options.style;
      style.width = TerminalWidth();
      text = AccountText(account, style);
      break;
    }
    case OutputFormat::kJson:
      text = AccountJson(account);
      break;
    case OutputFormat::kCsv:
      text = NodeTableCsv(account.nodes);
      break;
  }
  INFIMUM_RETURN_IF_ERROR(WriteOutput(options.output, text));
  for (const Gate& gate : account.gates)
    if (!gate.held && options.format != OutputFormat::kTable) fmt::print(stderr, "{}: {}\n", gate.name, gate.text);
  return ExitCode(account.gates);
}

Result<int> RunCompare(const CompareOptions& options) {
  INFIMUM_RETURN_IF_ERROR(CheckWritable(options.output));
  if (options.model.empty() && options.runs.empty()) return UsageError("give a profile (--run FILE), a model, or both");
  if (options.model.empty() && !options.alignment.empty())
    return UsageError("--alignment is about a model's layers: give the model too");
  if (options.model.empty() && options.max_gap > 0)
    return UsageError("--max-gap is a multiple of a model's bound: give the model too");
  INFIMUM_ASSIGN_OR_RETURN(std::vector<NamedProfile> profiles,
                           ReadProfiles({options.runs.begin(), options.runs.end()}));
  if (!options.model.empty()) return CompareWithModel(options, std::move(profiles));
  std::vector<Gate> gates;
  if (!options.baseline.empty()) {
    INFIMUM_ASSIGN_OR_RETURN(Gate gate, HoldAgainstBaseline(options, profiles, nullptr));
    gates.push_back(std::move(gate));
  }
  std::vector<ProfileView> views;
  for (const NamedProfile& named : profiles) {
    views.push_back(std::visit([&named](const auto& profile) { return ProfileView(ViewOf(profile, named.source)); },
                               named.profile));
  }
  std::string text;
  switch (options.format) {
    case OutputFormat::kTable:
      for (const ProfileView& view : views) text += (text.empty() ? "" : "\n") + ProfileText(view, TerminalWidth());
      break;
    case OutputFormat::kJson:
      text = ProfilesJson(views);
      break;
    case OutputFormat::kCsv:
      text = ProfilesCsv(views);
      break;
  }
  INFIMUM_RETURN_IF_ERROR(WriteOutput(options.output, text));
  for (const Gate& gate : gates) fmt::print(stderr, "{}: {}\n", gate.name, gate.text);
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
      "With MODEL: the way from the measured time to the bound in steps that add up, findings ranked by their gain,\n"
      "and one table over the model's layers with what each engine took for them, fused or not. The bound is of the\n"
      "store (infimum analyze fills it); without one all but the bound is said. Without --run: the store's own run.\n"
      "--max-gap and --baseline are gates: exit code 3 where one does not hold.",
      "infimum compare resnet50.onnx --run trace.json.gz --max-gap 1.3");
  command->add_option("MODEL", options->model, "ONNX file: align the run with its layers, account for its gap");
  AddDims(command, options->dims);
  command->add_option("--run", options->runs, "a profile; several stand beside each other")->type_name("FILE");
  command
      ->add_option("--alignment", options->alignment,
                   "which engine layers are which of the model's, where you know better (infimum.alignment/1)")
      ->type_name("FILE");
  AddDatabase(command, options->comparison.database);
  command
      ->add_option("--device", options->comparison.device,
                   "where it ran, a device of the store or of a data sheet (default: as the run tells, else this one)")
      ->type_name("NAME");
  command->add_option("--threads", options->threads, "of the bound (default: as the run tells)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}));
  command->add_option("--framework", options->comparison.framework, "whose run of the store, where no --run is given")
      ->type_name("F")
      ->capture_default_str();
  AddContract(command, options->comparison.contract);
  AddCache(command, options->comparison.campaign.cache, "rows of this cache state");
  AddBackend(command, options->comparison.campaign.backend, options->backend_options);
  command->add_option("--max-gap", options->max_gap, "gate: a run may take so many times its bound")
      ->type_name("X")
      ->check(CLI::Range(1.0, 1e6));
  command->add_option("--baseline", options->baseline, "gate: the run must not be slower than this one")
      ->type_name("FILE");
  command->add_option("--threshold", options->threshold, "what matters of a difference to the baseline, in percent")
      ->type_name("PERCENT")
      ->check(CLI::Range(0.1, 1000.0))
      ->capture_default_str();
  command->add_option("--rows", options->style.rows, "layers in the table, the longest; 0: all")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--findings", options->style.findings, "findings of each run; JSON has all")
      ->type_name("N")
      ->capture_default_str();
  AddFormat(command, options->format);
  command->add_option("-o,--output", options->output, "file to write; - for standard output")->type_name("FILE");
  invocation.Bind(command, [options] { return RunCompare(*options); });
}

}  // namespace infimum::cli
