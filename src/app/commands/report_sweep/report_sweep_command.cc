// infimum report sweep FILE: what the cells of an evaluation say together.
#include "src/app/commands/report_sweep/report_sweep_command.h"

#include <fmt/format.h>

#include <memory>

#include "src/app/commands/report_sweep/sweep_filling.h"
#include "src/app/model_report/report_output.h"
#include "src/app/options.h"

namespace infimum::cli {
namespace {

struct ReportSweepOptions {
  SweepOptions sweep;
  std::string evaluation;
  std::vector<std::string> backend_options;
  double threshold = 5;  // percent
  OutputFormat format = OutputFormat::kTable;
  std::string output;
  ProgressLogOptions log;
};

Status WriteSweep(const ReportSweepOptions& options, const SweepReport& report) {
  const auto json = [&] { return SweepJson(report); };
  const auto csv = [&] { return SweepCsv(report); };
  if (!options.output.empty())
    return WriteReportForm(options.output, {.page = [&] { return SweepPage(report); },
                                            .markdown = [&] { return SweepMarkdown(report); },
                                            .json = json,
                                            .csv = csv});
  return WriteAnswer(options.format, "-",
                     {.table = [&] { return SweepText(report, TerminalWidth()); }, .json = json, .csv = csv});
}

Result<int> RunReportSweep(const ReportSweepOptions& options) {
  if (!options.output.empty()) INFIMUM_RETURN_IF_ERROR(CheckReportForm(options.output));
  SweepOptions sweep = options.sweep;
  sweep.evaluation = options.evaluation;
  sweep.threshold = options.threshold / 100;
  INFIMUM_ASSIGN_OR_RETURN(sweep.campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));
  ProgressLog log = options.log.Make();
  INFIMUM_ASSIGN_OR_RETURN(const SweepReport report, MakeSweepReport(sweep, log));
  INFIMUM_RETURN_IF_ERROR(WriteSweep(options, report));
  if (!options.output.empty() && options.output != "-") {
    log.Say(SweepHeadline(report));
    log.Say(sweep.anonymize ? "wrote the report" : fmt::format("wrote {}", options.output));
  }
  return kDone;
}

}  // namespace

void AddReportSweepCommand(CLI::App& report, Invocation& invocation) {
  auto options = std::make_shared<ReportSweepOptions>();
  CLI::App* command = NewCommand(
      report, "sweep",
      "what the cells of an evaluation say together: maps over two axes, what decides, what is worth it",
      std::string("Which axes decide the time; the share of the floor over two of them; what threads, frameworks,\n"
                  "contracts and devices win, pair by pair; what fits into memory; Pareto fronts; ranks; every cell.\n"
                  "A device without results shows what is least there, by its data sheet or its peaks.\n"
                  "Nothing is measured. Without -o it is shown here. ") +
          kReportForms,
      "infimum report sweep fc.json --x nodes --y batch -o fc.html");
  command->add_option("FILE", options->evaluation, "the evaluation (infimum.evaluation/1)")->required();
  AddDatabase(command, options->sweep.database);
  AddList(command, "--device", options->sweep.devices, "NAME",
          "where, in this order (default: all that have results, and those of FILE)");
  AddValue(command, "--x", options->sweep.x, "FIELD",
           "axis of the maps' columns (default: the number that explains most)");
  AddValue(command, "--y", options->sweep.y, "FIELD", "axis of their rows (default: the next one)");
  AddList(command, "--what-if", options->sweep.what_ifs, "WHAT",
          "each device also with other peaks, its floors side by side: peak:memory=1.5x, peak:f16=2.33x");
  AddBackend(command, options->sweep.campaign.backend, options->backend_options);
  AddValue(command, "--threshold", options->threshold, "PERCENT", "smallest relevant difference, in percent")
      ->check(NumberBetween(0.1, 1000))
      ->capture_default_str();
  AddFormat(command, options->format);
  AddValue(command, "-o,--output", options->output, "FILE", "file to write; - for the page on standard output");
  AddAnonymize(command, options->sweep.anonymize);
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunReportSweep(*options); });
}

}  // namespace infimum::cli
