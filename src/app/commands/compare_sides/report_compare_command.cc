// infimum report compare MODEL...: devices, library versions, contracts or runs side by side.
#include "src/app/commands/compare_sides/report_compare_command.h"

#include <fmt/format.h>

#include <memory>

#include "infimum/base/text.h"
#include "src/app/commands/compare_sides/side_report.h"
#include "src/app/model_report/report_output.h"
#include "src/app/options.h"

namespace infimum::cli {
namespace {

struct ReportCompareOptions {
  SideReportOptions sides;
  std::vector<std::string> models;
  DimOptions dims;
  std::string by;
  std::vector<std::string> contracts;
  std::vector<std::string> backend_options;
  double threshold = 5;  // percent
  OutputFormat format = OutputFormat::kTable;
  std::string output;
  ProgressLogOptions log;
};

const std::vector<std::string> kAxes = {"device", "library", "contract", "framework", "precision", "change"};

// What the other options ask for, where --by does not say it.
std::string AxisOf(const ReportCompareOptions& options) {
  if (!options.by.empty()) return options.by;
  if (!options.sides.frameworks.empty()) return "framework";
  if (!options.sides.runs.empty()) return options.sides.runs.size() == 2 ? "change" : "framework";
  if (!options.sides.libraries.empty()) return "library";
  return options.contracts.size() > 1 ? "contract" : "device";
}

// An option that another axis is about would be passed over in silence: the message.
std::string ContradictionIn(const ReportCompareOptions& options, ComparisonAxis axis) {
  const bool is_of_runs = IsOfRuns(axis);
  if (!(options.sides.runs.empty() && options.sides.frameworks.empty()) && !is_of_runs)
    return fmt::format("--run and --framework need --by framework, precision or change; --by {} compares bounds",
                       Name(axis));
  if (!options.sides.libraries.empty() && axis != ComparisonAxis::kLibrary && axis != ComparisonAxis::kDevice)
    return fmt::format("--library is of --by library and device, not of --by {}", Name(axis));
  if (options.contracts.size() > 1 && axis != ComparisonAxis::kContract)
    return fmt::format("several --contract are of --by contract, not of --by {}", Name(axis));
  return "";
}

Status WriteComparison(const ReportCompareOptions& options, const ComparisonReport& report) {
  const auto json = [&] { return ComparisonJson(report); };
  const auto csv = [&] { return ComparisonCsv(report); };
  if (!options.output.empty())
    return WriteReportForm(options.output, {.page = [&] { return ComparisonPage(report); },
                                            .markdown = [&] { return ComparisonMarkdown(report); },
                                            .json = json,
                                            .csv = csv});
  return WriteAnswer(options.format, "-",
                     {.table = [&] { return ComparisonText(report, TerminalWidth()); }, .json = json, .csv = csv});
}

Result<int> RunReportCompare(const ReportCompareOptions& options) {
  SideReportOptions sides = options.sides;
  sides.axis = FindComparisonAxis(AxisOf(options)).value_or(ComparisonAxis::kDevice);
  sides.axis_by_runs = options.by.empty();
  if (const std::string wrong = ContradictionIn(options, sides.axis); !wrong.empty()) return UsageError(wrong);
  if (!options.output.empty()) INFIMUM_RETURN_IF_ERROR(CheckReportForm(options.output));
  sides.models.assign(options.models.begin(), options.models.end());
  INFIMUM_ASSIGN_OR_RETURN(sides.dims, options.dims.Parse());
  INFIMUM_ASSIGN_OR_RETURN(sides.campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));
  for (const std::string& name : options.contracts) sides.contracts.push_back(*FindContract(name));
  if (sides.axis != ComparisonAxis::kContract && !sides.contracts.empty()) sides.contract = sides.contracts.front();
  sides.threshold = options.threshold / 100;
  INFIMUM_ASSIGN_OR_RETURN(const ComparisonReport report, MakeSideReport(sides));
  INFIMUM_RETURN_IF_ERROR(WriteComparison(options, report));
  if (!options.output.empty() && options.output != "-") {
    ProgressLog log = options.log.Make();
    log.Say(ComparisonHeadline(report));
    log.Say(sides.anonymize ? "wrote the report" : fmt::format("wrote {}", options.output));
  }
  return kDone;
}

std::string IsContract(const std::string& name) {
  if (FindContract(name)) return "";
  const std::vector<std::string_view> known{"strict-f32", "tf32", "f16", "bf16", "int8", "fp8"};
  return "unknown contract " + Quoted(name) + DidYouMean(name, known);
}

}  // namespace

void AddReportCompareCommand(CLI::App& report, Invocation& invocation) {
  auto options = std::make_shared<ReportCompareOptions>();
  CLI::App* command = NewCommand(
      report, "compare",
      "devices, library versions, contracts or runs side by side, with what is noise and what is not",
      std::string(
          "--by device      bounds on the devices of a store, by year: which is best for these models, and why\n"
          "--by library     bounds with versions of a library (--library): what gets slower with the newer one\n"
          "--by contract    bounds under numeric contracts: whether less precision pays, and why not\n"
          "--by framework, --by precision, --by change\n"
          "                 runs (--run, --framework) of MODEL or of other files of it, aligned with its nodes\n"
          "The first side is the baseline; sides are held against it on what all of them know.\n"
          "Without -o it is shown here. ") +
          kReportForms,
      "infimum report compare resnet50.onnx --by library --library 'cudnn 7.5.0' --library 'cudnn 7.6.4' --device "
      "V100");
  command->add_option("MODEL", options->models, "ONNX files: the models to compare on")->required();
  AddDims(command, options->dims);
  AddValue(command, "--by", options->by, "AXIS", "what to compare (default: implied by the other options, else device)")
      ->check(CLI::IsMember(kAxes));
  AddDatabase(command, options->sides.database);
  AddList(command, "--device", options->sides.devices, "NAME",
          "with --by device the sides, in this order (default: all that know half of each model); else where");
  AddList(command, "--library", options->sides.libraries, "NAME[ VERSION]",
          "of --by library: 'cudnn 7.6.4', one for each side; 'cudnn' for all of its versions. Of --by device the one "
          "version that all of them are compared with");
  AddList(command, "--contract", options->contracts, "C",
          "of --by contract the sides (default: all with rows); else one: strict-f32, tf32, f16, bf16, int8, "
          "fp8 (default: the model's own types)")
      ->check(CLI::Validator(IsContract, ""));
  AddList(command, "--run", options->sides.runs, "FILE", "a run's profile; the first is the baseline");
  AddList(command, "--framework", options->sides.frameworks, "F", "after those, the store's fastest run by this one");
  AddThreads(command, options->sides.campaign.threads);
  AddCache(command, options->sides.campaign.cache, "rows measured in this cache state");
  AddBackend(command, options->sides.campaign.backend, options->backend_options);
  AddValue(command, "--threshold", options->threshold, "PERCENT",
           "smallest relevant difference, in percent; also the assumed noise of rows without a spread")
      ->check(NumberBetween(0.1, 1000))
      ->capture_default_str();
  AddFormat(command, options->format);
  AddValue(command, "-o,--output", options->output, "FILE", "file to write; - for the page on standard output");
  AddAnonymize(command, options->sides.anonymize);
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunReportCompare(*options); });
}

}  // namespace infimum::cli
