// infimum bound MODEL: the bracket from what the store has; nothing is measured.
#include <fmt/format.h>

#include <memory>
#include <set>

#include "db/store/data_sheets.h"
#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "infimum/base/utf8.h"
#include "reports/bound/bound_json.h"
#include "reports/bound/bound_table.h"
#include "reports/text/fact_text.h"
#include "reports/text/layer_words.h"
#include "src/app/command.h"
#include "src/app/commands/analyze/analysis.h"
#include "src/app/commands/bound/estimate_question.h"
#include "src/app/model_report/report_filling.h"
#include "src/app/options.h"
#include "src/app/runners/device_choice.h"

namespace infimum::cli {
namespace {

void AddRules(CLI::App* command, BoundRules& rules) {
  const auto parse = [](const std::string& text) -> Result<BoundRules> {
    if (const std::optional<BoundRules> found = FindBoundRules(text)) return *found;
    const std::vector<std::string> names(BoundRulesNames().begin(), BoundRulesNames().end());
    const std::string guess = DidYouMean(text, BoundRulesNames());
    return Error{"unknown rules " + Quoted(text) + (guess.empty() ? "; they are " + Join(names, ", ") : guess)};
  };
  AddParsed(command, "--rules", rules, parse,
            "how layers become bounds: bracket; benanza-2019 and benanza-2019-fused are the Benanza paper's")
      ->type_name("R")
      ->default_str(std::string(Name(rules)));
}

struct BoundOptions {
  std::string model;
  DimOptions dims;
  StoredAnalysisOptions stored;
  std::vector<std::string> backend_options;
  bool layers = false, estimate = false;
  std::chrono::seconds advise{0};
  OutputFormat format = OutputFormat::kTable;
  std::string output = "-";
};

// What the candidates of one workload take in all their repetitions, as analyze guesses it too.
constexpr std::chrono::duration<double> kGuessedForEach{3.5};

Result<Estimate> EstimateFromOthers(const BoundOptions& options, const Analysis& analysis) {
  const std::string& database = options.stored.database;
  if (!StoreExists(database)) return Error{ShownAddress(database) + ": no such store, and no rows of other devices"};
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(database, OpenMode::kReadOnly));
  INFIMUM_ASSIGN_OR_RETURN(const EstimateQuestion question,
                           AskForEstimate(analysis.graph, analysis.bracket.selection, *store));
  INFIMUM_ASSIGN_OR_RETURN(Estimate estimate, EstimateModel(question));
  INFIMUM_ASSIGN_OR_RETURN(estimate.next,
                           WhatToMeasureNext(question, static_cast<std::size_t>(options.advise / kGuessedForEach)));
  return estimate;
}

// "NVIDIA H100 80GB HBM3, by its data sheet; \"h100\" may also be NVIDIA H100 PCIe, NVIDIA H100 NVL".
std::string Heading(const std::string& asked, const Device& device) {
  if (asked.empty()) return "";
  std::string heading = Printable(device.name);
  if (FindDataSheetByKey(device.Key()) != nullptr) heading += ", by its data sheet";
  if (const std::string others = OtherDevicesText(asked, device); !others.empty()) heading += "; " + others;
  return heading + "\n\n";
}

// What would be measured where nothing is, and by which command: a line below the table.
std::string MeasureText(const BoundOptions& options, const std::map<std::string, std::int64_t>& dims,
                        const Analysis& analysis) {
  std::set<std::string> missing;
  for (const LayerLatency& row : analysis.bracket.layers)
    if (const Layer& layer = analysis.graph.layer(row.layer); row.status == LatencyStatus::kMissing && layer.workload)
      missing.insert(ConfigOf(layer));
  if (!analysis.bracket.bounds.empty() || missing.empty()) return "";
  const std::string model = ModelArguments(options.model, dims);
  return fmt::format("measure    {}: {}\n", CountText(missing.size(), "workload"),
                     options.stored.device.empty() ? "infimum analyze " + model
                                                   : fmt::format("infimum plan {} --device {} -o plan.txt, run there",
                                                                 model, ShellQuoted(analysis.device.name)));
}

Result<int> RunBound(const BoundOptions& options) {
  INFIMUM_RETURN_IF_ERROR(CheckWritable(options.output));
  StoredAnalysisOptions stored = options.stored;
  stored.model = options.model;
  stored.fills_report = false;
  INFIMUM_ASSIGN_OR_RETURN(stored.dims, options.dims.Parse());
  INFIMUM_ASSIGN_OR_RETURN(stored.campaign.backend_options, ParsePairs(options.backend_options, "--backend-option"));
  INFIMUM_ASSIGN_OR_RETURN(Analysis analysis, AnalyzeStored(stored));
  if (options.estimate || options.advise.count() > 0) {
    INFIMUM_ASSIGN_OR_RETURN(analysis.bracket.estimate, Within("--estimate", EstimateFromOthers(options, analysis)));
  }
  INFIMUM_RETURN_IF_ERROR(
      WriteAnswer(options.format, options.output,
                  {.table =
                       [&] {
                         return Heading(options.stored.device, analysis.device) +
                                BoundTable(analysis.graph, analysis.bracket, options.layers, TerminalWidth()) +
                                MeasureText(options, stored.dims, analysis);
                       },
                   .json = [&] { return BoundJson(analysis.graph, analysis.bracket); },
                   .csv = [&] { return BoundCsv(analysis.graph, analysis.bracket, options.layers); }}));
  return kDone;
}

}  // namespace

void AddBoundCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<BoundOptions>();
  CLI::App* command =
      NewCommand(app, "bound", "the bracket of a model on a device, from the store",
                 "Floors by class of program and the bounds (sequential, parallel, fused, with changes of layout\n"
                 "paid, with the libraries' own choices), each with its interval and assumptions; "
                 "coverage says what of it was "
                 "measured, estimated or missing.\n"
                 "Nothing is measured: `infimum analyze` does that.\n"
                 "--rules benanza-2019 combines the layers as the tool behind the Benanza paper did, "
                 "to be set beside its results.",
                 "infimum bound resnet50.onnx --dim batch=8 --layers --what-if floor:op=Softmax");
  AddModel(command, options->model);
  AddDims(command, options->dims);
  AddDatabase(command, options->stored.database);
  AddValue(command, "--device", options->stored.device, "NAME",
           "a device from the store or a data sheet (default: this one); see infimum devices");
  AddThreads(command, options->stored.campaign.threads);
  AddContract(command, options->stored.contract);
  AddCache(command, options->stored.campaign.cache, "rows measured in this cache state");
  AddBackend(command, options->stored.campaign.backend, options->backend_options);
  AddRules(command, options->stored.rules);
  command->add_flag("--layers", options->layers, "also each layer and each measured region, with its best candidate");
  AddList(command, "--what-if", options->stored.what_ifs, "WHAT",
          "solve again under an assumption: free:LAYER, floor:op=Softmax, 0.5x:family=matmul, 12us:LAYER, "
          "gapless:all (on a GPU); "
          "contract:bf16, dim:batch=8, cache:cold-weights, layout:channels-last; floors with other peaks: "
          "peak:memory=1.5x, peak:f16=2x,launch=2x");
  command->add_flag("--estimate", options->estimate,
                    "also what `sequential` would be on a device with few rows or none: estimated from the rows of "
                    "other devices and the data sheets of all, with an interval of 80 %");
  const auto parse_time = [](const std::string& text) -> Result<std::chrono::seconds> {
    INFIMUM_ASSIGN_OR_RETURN(const Clock::Duration time, ParseDuration(text));
    return std::chrono::duration_cast<std::chrono::seconds>(time);
  };
  AddParsed(command, "--advise", options->advise, parse_time,
            "estimate, and list what to measure next within this time (20m) so that the interval narrows most")
      ->type_name("TIME");
  command->add_flag("--observed", options->stored.observed,
                    "also count the layers of the framework's profiled run in best-known-or-observed");
  AddFormat(command, options->format);
  AddValue(command, "-o,--output", options->output, "FILE", "file to write; - for standard output");
  invocation.Bind(command, [options] { return RunBound(*options); });
}

}  // namespace infimum::cli
