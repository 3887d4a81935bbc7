// infimum confirm MODEL: measures what decides a bound again until its interval is narrow.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "infimum/base/text.h"
#include "reports/bound/bound_json.h"
#include "reports/bound/bound_table.h"
#include "src/app/command.h"
#include "src/app/commands/bound/confirm.h"
#include "src/app/options.h"

namespace infimum::cli {
namespace {

struct ConfirmCommandOptions {
  std::string model;
  DimOptions dims;
  ConfirmOptions confirm;
  double percent = 2;
  std::vector<std::string> backend_options;
  OutputFormat format = OutputFormat::kTable;
  std::string output = "-";
  TalkOptions talk;
};

// One line, without its end.
std::string Outcome(const Confirmation& done, const ConfirmOptions& options) {
  const std::string width = fmt::format("the interval is {:.2f} % of the fused-sequential bound", 100 * done.width);
  if (done.converged) return "confirmed  " + width;
  return fmt::format(
      "unconverged  {}, wanted {:.2f} %{}", width, 100 * options.width,
      done.interrupted ? ", interrupted" : "; try a larger --budget, more --repetitions or a quieter machine");
}

// The bound, and how its confirmation ended.
std::string ConfirmJson(const Confirmation& done, const ConfirmOptions& options) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(BoundJson(done.graph, done.bracket));
  json["confirmation"] = {{"outcome", done.converged     ? "confirmed"
                                      : done.interrupted ? "interrupted"
                                                         : "unconverged"},
                          {"width", done.width},
                          {"wanted", options.width}};
  return json.dump(2) + "\n";
}

Result<int> RunConfirm(const ConfirmCommandOptions& options) {
  INFIMUM_RETURN_IF_ERROR(CheckWritable(options.output));
  ConfirmOptions confirm = options.confirm;
  confirm.model = options.model;
  if (!(options.percent > 0 && options.percent < 100))
    return Error{"--width " + FormatNumber(options.percent) +
                 ": write percent of the bound, more than 0 and less than 100"};
  confirm.width = options.percent / 100;
  INFIMUM_ASSIGN_OR_RETURN(confirm.dims, options.dims.Parse());
  INFIMUM_ASSIGN_OR_RETURN(confirm.campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));
  Talk talk = options.talk.Make();
  INFIMUM_ASSIGN_OR_RETURN(const Confirmation done, Confirm(confirm, talk));
  INFIMUM_RETURN_IF_ERROR(WriteAnswer(
      options.format, options.output,
      {.table =
           [&] { return BoundTable(done.graph, done.bracket, false, TerminalWidth()) + Outcome(done, confirm) + "\n"; },
       .json = [&] { return ConfirmJson(done, confirm); },
       .csv = [&] { return BoundCsv(done.graph, done.bracket, false); }}));
  if (options.format != OutputFormat::kTable) talk.Say(Outcome(done, confirm));
  if (done.interrupted) return kFailed;
  return done.converged ? kDone : kGateFailed;
}

}  // namespace

void AddConfirmCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ConfirmCommandOptions>();
  options->confirm.campaign.budget = std::chrono::minutes(10);
  CLI::App* command = NewCommand(
      app, "confirm", "measure the candidates that decide a bound again until its interval is narrow",
      "The candidates that the fused-sequential bound is made of, and those that cannot be told from them, "
      "are measured in\n"
      "more and more repetitions, most uncertain first, until the interval is as narrow as asked for, or the "
      "budget is\n"
      "spent: then it says `unconverged`, with exit code 3. `infimum analyze` measures everything once, before.",
      "infimum confirm resnet50.onnx --dim batch=1 --width 2 --budget 10m");
  AddModel(command, options->model);
  AddDims(command, options->dims);
  AddDatabase(command, options->confirm.database);
  AddThreads(command, options->confirm.campaign.threads);
  AddBudget(command, options->confirm.campaign.budget);
  AddContract(command, options->confirm.contract);
  AddBackend(command, options->confirm.campaign.backend, options->backend_options);
  AddValue(command, "--width", options->percent, "PERCENT", "target width of the interval, in percent of the bound")
      ->check(NumberBetween(0.01, 100))
      ->capture_default_str();
  AddValue(command, "--repetitions", options->confirm.repetitions, "N", "maximum for one candidate")
      ->check(CLI::Range(8, 1000))
      ->capture_default_str();
  AddFormat(command, options->format);
  AddValue(command, "-o,--output", options->output, "FILE", "file to write; - for standard output");
  AddTalk(command, options->talk);
  invocation.Bind(command, [options] { return RunConfirm(*options); });
}

}  // namespace infimum::cli
