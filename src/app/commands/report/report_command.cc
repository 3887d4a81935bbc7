// infimum report MODEL: the report again, from what the store has.
#include <fmt/format.h>

#include <memory>

#include "src/app/command.h"
#include "src/app/commands/analyze/analysis.h"
#include "src/app/commands/compare_sides/report_compare_command.h"
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
  TalkOptions talk;
};

Result<int> RunReport(const ReportOptions& options) {
  if (options.model.empty()) return UsageError("MODEL is required; see infimum report --help");
  const std::string output =
      options.output.empty() ? DefaultReportPath(options.model, options.stored.anonymize) : options.output;
  INFIMUM_RETURN_IF_ERROR(CheckReportForm(output));
  StoredAnalysisOptions stored = options.stored;
  stored.model = options.model;
  INFIMUM_ASSIGN_OR_RETURN(stored.dims, options.dims.Parse());
  INFIMUM_ASSIGN_OR_RETURN(stored.campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));
  INFIMUM_ASSIGN_OR_RETURN(const Analysis analysis, AnalyzeStored(stored));
  INFIMUM_RETURN_IF_ERROR(WriteReport(output, analysis.report));
  if (output != "-") options.talk.Make().Say(fmt::format("wrote {}", output));
  return kDone;
}

}  // namespace

void AddReportCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = NewCommand(app, "report", "one self-contained page about a model on a device, from the store",
                                 std::string(kReportForms) + " Of a file called compare: ./compare.",
                                 "infimum report resnet50.onnx --dim batch=8 -o resnet50.html");
  // Not required where `compare` follows.
  AddModel(command, options->model);
  command->get_option("MODEL")->required(false);
  AddDims(command, options->dims);
  AddDatabase(command, options->stored.database);
  command->add_option("--device", options->stored.device, "a device from the store or a data sheet (default: this one)")
      ->type_name("NAME");
  AddThreads(command, options->stored.campaign.threads);
  AddContract(command, options->stored.contract);
  AddBackend(command, options->stored.campaign.backend, options->backend_options);
  command
      ->add_option("-o,--output", options->output,
                   "file to write (default: MODEL's name, .html; with --anonymize model.html)")
      ->type_name("FILE");
  AddAnonymize(command, options->stored.anonymize);
  AddTalk(command, options->talk);
  invocation.Bind(command, [options] { return RunReport(*options); });
  AddReportCompareCommand(*command, invocation);
}

}  // namespace infimum::cli
