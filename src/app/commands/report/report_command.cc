// infimum report MODEL: the report again, from what the store has.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "infimum/base/text.h"
#include "src/app/command.h"
#include "src/app/commands/analyze/analysis.h"
#include "src/app/commands/compare_sides/report_compare_command.h"
#include "src/app/commands/evaluate/cell_run.h"
#include "src/app/commands/report_store/report_store_command.h"
#include "src/app/commands/report_sweep/report_sweep_command.h"
#include "src/app/model_report/report_output.h"
#include "src/app/options.h"

namespace infimum::cli {
namespace {

struct ReportOptions {
  std::string model;
  DimOptions dims;
  StoredAnalysisOptions stored;
  std::vector<std::string> backend_options;
  std::string output;
  bool reproduce = false;
  ProgressLogOptions log;
};

// The run that the report is about, as an evaluation of one cell, which `infimum evaluate` runs again: the cell that it
// was made for, or what its settings say.
Result<std::string> EvaluationOf(const RunProfile& run, const std::string& model) {
  const auto setting = [&run](const char* name) {
    const auto found = run.settings.find(name);
    return found == run.settings.end() ? std::string() : found->second;
  };
  EvaluationCell cell;
  if (const std::string text = setting(kCellSetting); !text.empty()) {
    INFIMUM_ASSIGN_OR_RETURN(cell, ParseCell(text));
  } else {
    cell.dims = run.dims;
    cell.framework = {.name = run.framework, .version = run.framework_version, .mode = setting("mode")};
    if (const std::string level = setting("graph_optimization_level"); !level.empty() && level != "all")
      cell.framework.options["optimization"] = level;
    if (run.contract != Name(NumericContract::kStrictF32)) cell.contract = run.contract;
    cell.threads = run.threads.value_or(cell.threads);
    cell.input = ParseInteger(setting("seed")).value_or(cell.input);
    cell.method.seconds = ParseNumber(setting("seconds")).value_or(cell.method.seconds);
    cell.method.processes = static_cast<std::int64_t>(run.end_to_end.size());
  }
  cell.framework.module = setting("module");  // where it is, which no cell says
  Evaluation evaluation;
  evaluation.name = run.model_name;
  evaluation.description = fmt::format("as {} {} ran it on {}", run.framework, run.framework_version, run.device);
  evaluation.models.push_back({.file = std::filesystem::absolute(model).string()});
  for (const auto& [name, extent] : cell.dims) evaluation.models[0].dims[name] = std::to_string(extent);
  evaluation.frameworks = {cell.framework};
  if (!cell.contract.empty()) evaluation.contracts = {cell.contract};
  evaluation.threads = {cell.threads};
  evaluation.cores = cell.cores;
  evaluation.input = cell.input;
  evaluation.method = cell.method;
  return FormatEvaluation(evaluation);
}

Result<int> Reproduce(const ReportOptions& options, const Analysis& analysis) {
  const std::optional<ReportRun>& run = analysis.report.run;
  if (!run)
    return Error{fmt::format("the store holds no such run of {} to be reproduced; `infimum measure {}` makes one",
                             options.model, ShellQuoted(options.model))};
  INFIMUM_ASSIGN_OR_RETURN(const std::string text, EvaluationOf(run->profile, options.model));
  INFIMUM_RETURN_IF_ERROR(WriteOutput(options.output.empty() ? "-" : options.output, text));
  return kDone;
}

Result<int> RunReport(const ReportOptions& options) {
  if (options.model.empty()) return UsageError("MODEL is required; see infimum report --help");
  if (options.reproduce && options.stored.anonymize)
    return UsageError("--reproduce names the model's file, which --anonymize takes away");
  std::string output =
      options.output.empty() ? DefaultReportPath(options.model, options.stored.anonymize) : options.output;
  if (!options.reproduce) INFIMUM_RETURN_IF_ERROR(CheckReportForm(output));
  StoredAnalysisOptions stored = options.stored;
  stored.model = options.model;
  INFIMUM_ASSIGN_OR_RETURN(stored.dims, options.dims.Parse());
  INFIMUM_ASSIGN_OR_RETURN(stored.campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));
  INFIMUM_ASSIGN_OR_RETURN(const Analysis analysis, AnalyzeStored(stored));
  if (options.reproduce) return Reproduce(options, analysis);
  if (options.output.empty()) output = PathOfOwnReport(output, analysis.report.graph.sha256);
  INFIMUM_RETURN_IF_ERROR(WriteReport(output, analysis.report));
  if (output != "-") options.log.Make().Say(fmt::format("wrote {}", output));
  return kDone;
}

}  // namespace

void AddReportCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = NewCommand(app, "report", "one self-contained page about a model on a device, from the store",
                                 std::string(kReportForms) + " Of a file called compare, store or sweep: ./compare.",
                                 "infimum report resnet50.onnx --dim batch=8 -o resnet50.html");
  // Not required where `compare`, `store` or `sweep` follows.
  AddModel(command, options->model);
  command->get_option("MODEL")->required(false);
  AddDims(command, options->dims);
  AddDatabase(command, options->stored.database);
  AddValue(command, "--device", options->stored.device, "NAME",
           "a device from the store or a data sheet (default: this one)");
  AddList(command, "--framework", options->stored.frameworks, "F,...",
          "whose run of the model it is about, of several the fastest (default: of any)")
      ->delimiter(',');
  AddThreads(command, options->stored.campaign.threads);
  AddContract(command, options->stored.contract);
  AddBackend(command, options->stored.campaign.backend, options->backend_options);
  AddValue(command, "-o,--output", options->output, "FILE",
           "file to write (default: MODEL's name, .html; with --anonymize model.html)");
  AddAnonymize(command, options->stored.anonymize);
  command->add_flag(
      "--reproduce", options->reproduce,
      "in place of the report an evaluation file that `infimum evaluate` measures the framework's run by");
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunReport(*options); });
  AddReportCompareCommand(*command, invocation);
  AddReportStoreCommand(*command, invocation);
  AddReportSweepCommand(*command, invocation);
}

}  // namespace infimum::cli
