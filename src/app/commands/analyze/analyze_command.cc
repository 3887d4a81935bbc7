// infimum analyze MODEL: the main job.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "reports/model/report_forms.h"
#include "src/app/command.h"
#include "src/app/commands/analyze/analysis.h"
#include "src/app/model_report/report_output.h"
#include "src/app/options.h"

namespace infimum::cli {
namespace {

struct AnalyzeOptions {
  std::string model;
  DimOptions dims;
  AnalysisOptions analysis;
  std::vector<std::string> frameworks{"onnxruntime"};
  FrameworkOptions framework;  // what they share
  std::vector<std::string> backend_options;
  std::string device;
  std::string report;
  OutputFormat format = OutputFormat::kTable;
  ProgressLogOptions log;
};

// Here it measures; of another device the store or a data sheet is all there is.
Result<Analysis> AnalyzeHereOrThere(const AnalysisOptions& analysis, const std::string& device, ProgressLog& log) {
  if (const std::optional<std::string> backend = BackendOfDevice(device)) {
    INFIMUM_RETURN_IF_ERROR(CheckBackend(device, analysis.campaign.backend));
    AnalysisOptions own = analysis;
    own.campaign.backend = *backend;
    return Analyze(own, log);
  }
  if (device.empty()) return Analyze(analysis, log);
  log.Say("another device: uses the store and its data sheet; nothing is measured");
  StoredAnalysisOptions stored;
  stored.model = analysis.model;
  stored.dims = analysis.dims;
  stored.database = analysis.database;
  stored.device = device;
  stored.campaign = analysis.campaign;
  stored.contract = analysis.contract;
  for (const FrameworkOptions& framework : analysis.frameworks) stored.frameworks.push_back(framework.framework);
  stored.anonymize = analysis.anonymize;
  return AnalyzeStored(stored);
}

Result<int> RunAnalyze(const AnalyzeOptions& options) {
  AnalysisOptions analysis = options.analysis;
  analysis.model = options.model;
  INFIMUM_ASSIGN_OR_RETURN(analysis.dims, options.dims.Parse());
  INFIMUM_ASSIGN_OR_RETURN(analysis.campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));
  analysis.python = options.framework.python;
  Result<std::vector<FrameworkOptions>> frameworks = ChooseFrameworks(options.frameworks, options.framework);
  if (!frameworks) return UsageError("--framework: " + frameworks.error().message);
  analysis.frameworks = *std::move(frameworks);
  std::string report_path =
      options.report.empty() ? DefaultReportPath(options.model, options.analysis.anonymize) : options.report;
  INFIMUM_RETURN_IF_ERROR(CheckReportForm(report_path));

  ProgressLog log = options.log.Make();
  if (std::ranges::count(options.frameworks, "all") > 0 && options.framework.module.empty())
    log.Say("--framework all leaves out pytorch, which runs a module and not the file: --module FILE.py:NAME");
  INFIMUM_ASSIGN_OR_RETURN(const Analysis result, AnalyzeHereOrThere(analysis, options.device, log));
  if (options.report.empty()) report_path = PathOfOwnReport(report_path, result.report.graph.sha256);
  INFIMUM_RETURN_IF_ERROR(WriteReport(report_path, result.report));
  SummaryOptions summary;
  summary.color = isatty(STDOUT_FILENO) == 1;
  // A path that the user chose may hold names.
  if (!analysis.anonymize || options.report.empty()) summary.report_path = report_path;
  INFIMUM_RETURN_IF_ERROR(WriteAnswer(options.format, "-",
                                      {.table = [&] { return Summary(result.report, summary); },
                                       .json = [&] { return ReportJson(result.report); },
                                       .csv = [&] { return ReportCsv(result.report); }}));
  return result.interrupted || result.failed ? kFailed : kDone;
}

}  // namespace

void AddAnalyzeCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<AnalyzeOptions>();
  CLI::App* command =
      NewCommand(app, "analyze", "the main command: how fast this model could be here, and where time is lost",
                 "In seconds a first answer (the roofline, and how long measuring will take). Then a framework's run, "
                 "then the layers\n"
                 "that the store lacks, largest share first, within --budget; at the end a summary and an HTML report. "
                 "Once the first\n"
                 "answer is there, Ctrl-C still writes both, with what is missing. The second time nothing is measured "
                 "again.",
                 "infimum analyze resnet50.onnx --dim batch=8 --budget 10m --report resnet50.html");
  AddModel(command, options->model);
  AddDims(command, options->dims);
  AddDatabase(command, options->analysis.database);
  AddValue(command, "--device", options->device, "NAME",
           "cpu or gpu: this machine's; another one, from the store or a data sheet: nothing is measured (default: its "
           "GPU where it is NVIDIA's and has a driver, else its processor)");
  AddThreads(command, options->analysis.campaign.threads);
  AddBudget(command, options->analysis.campaign.budget);
  AddContract(command, options->analysis.contract);
  AddCache(command, options->analysis.campaign.cache, "what the caches hold when a layer is measured");
  AddBackend(command, options->analysis.campaign.backend, options->backend_options);
  AddList(command, "--framework", options->frameworks, "F,...",
          "whose runs to measure: onnxruntime, openvino, pytorch, all, or none; the fastest is compared in detail")
      ->delimiter(',')
      ->capture_default_str();
  AddFrameworkBuild(command, options->framework);
  command->add_flag("!--no-regions", options->analysis.regions,
                    "measure single layers only, no fusable regions: shorter, and the bound does not fuse");
  command->add_flag("!--no-replay", options->analysis.replay,
                    "do not run the best known kernels as one program: shorter, and no gap is shown");
  command->add_flag("--measure-again", options->analysis.measure_again,
                    "measure the framework even if the store has its run");
  AddValue(command, "-o,--report", options->report, "FILE",
           "report to write; .html, .md, .json or .csv (default: MODEL's name, .html; with --anonymize model.html)");
  AddAnonymize(command, options->analysis.anonymize);
  AddFormat(command, options->format);
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunAnalyze(*options); });
}

}  // namespace infimum::cli
