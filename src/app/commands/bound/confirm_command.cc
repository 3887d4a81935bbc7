// infimum confirm MODEL: measures what decides a bound again until its interval is narrow.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "analyzer/bracket/bracket.h"
#include "infimum/base/text.h"
#include "infimum/graph/model_graph.h"
#include "reports/bound/bound_json.h"
#include "reports/bound/bound_table.h"
#include "src/app/command.h"
#include "src/app/models/model_variant.h"
#include "src/app/options.h"
#include "src/app/processes/interrupt.h"
#include "src/app/processes/progress_log.h"
#include "src/app/runners/campaign.h"
#include "src/planner/planner.h"
#include "src/readers/onnx/read_model.h"

namespace infimum::cli {
namespace {

// Measures what decides a bound again, until its interval is narrow: the candidates of fused-sequential's layers and
// regions, and those that cannot be told from them, in more and more repetitions.
//
//   ConfirmOptions options{.model = "resnet50.onnx", .width = 0.02};
//   Result<Confirmation> done = Confirm(options, log);
//   done->converged    // or the budget was spent, or more repetitions no longer help
//
// Every round of it is an ordinary campaign: its rows are in the store as they come, and the next bound has them.

struct ConfirmOptions {
  std::filesystem::path model;
  std::map<std::string, std::int64_t> dims;
  std::string database = "infimum.db";
  CampaignOptions campaign;  // its budget is that of all rounds together
  std::optional<NumericContract> contract;
  double width = 0.02;            // of the interval, as a share of the bound
  std::int64_t repetitions = 64;  // maximum for one candidate
};

struct Confirmation {
  ModelGraph graph;
  Bracket bracket;
  double width = 0;  // reached
  bool converged = false;
  bool interrupted = false;
};

constexpr std::int64_t kFirstRepetitions = 8;
constexpr double kNormal95 = 1.96;

Plan PlanOf(const std::vector<Decider>& deciders) {
  std::vector<PlanEntry> entries;
  for (const Decider& decider : deciders) {
    // The store's own text; one that nothing can read would not have been a decider.
    Result<Workload> workload = ParseWorkload(decider.workload.text);
    if (workload.ok()) entries.push_back({*std::move(workload), decider.contract});
  }
  return EvenPlan(std::move(entries));
}

std::vector<std::string> CandidatesOf(const std::vector<Decider>& deciders) {
  std::set<std::string> names;
  for (const Decider& decider : deciders) names.insert(decider.candidates.begin(), decider.candidates.end());
  return {names.begin(), names.end()};
}

// Of the deciders' candidates the one that was repeated the least: campaigns do not add up, a longer one replaces it.
Result<std::int64_t> LeastRepetitions(const std::vector<Decider>& deciders, MeasurementSource& source,
                                      const Selection& selection) {
  std::vector<WorkloadKey> keys;
  std::map<WorkloadKey, const Decider*> by_key;
  for (const Decider& decider : deciders) {
    keys.push_back(decider.workload);
    by_key.emplace(decider.workload, &decider);
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Measurement> rows, source.Find(keys, selection));
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Measurement& row : rows) {
    if (row.outcome != Outcome::kMeasured || row.repetitions.empty()) continue;
    const auto found = by_key.find(row.workload);
    if (found == by_key.end()) continue;
    const std::vector<std::string>& names = found->second->candidates;
    if (std::ranges::find(names, row.candidate.name()) == names.end()) continue;
    least = std::min(least, static_cast<std::int64_t>(row.repetitions.size()));
  }
  return least == std::numeric_limits<std::int64_t>::max() ? 0 : least;
}

// 3 -> 4, 8 -> 16, 20 -> 32
std::int64_t DoubledPowerOfTwo(std::int64_t count) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(count)) * 2);
}

// The width of fused-sequential's interval as a share of it; 0 where there is no bound or nothing takes time.
double IntervalWidth(const Bracket& bracket) {
  const Bound* bound = bracket.Find(BoundVariant::kFusedSequential);
  if (bound == nullptr || !(bound->latency > Latency(0))) return 0;
  return (bound->interval.high - bound->interval.low) / bound->latency;
}

// Of the deciders those that must be measured again so that the interval can become `width` wide: the most uncertain
// ones, until what the others add is a quarter of that.
std::vector<Decider> WorthConfirming(const Bracket& bracket, double width) {
  const Bound* bound = bracket.Find(BoundVariant::kFusedSequential);
  if (bound == nullptr) return {};
  const double wanted = width * bound->latency.count() / 2;
  double squares = 0, choices = 0;
  for (const Decider& decider : bracket.deciders) {
    squares += decider.deviation.count() * decider.deviation.count();
    choices += decider.choice.count();
  }
  // What no decider has alone its rounds have in common, and more rounds of all of them tell.
  const double half = (bound->interval.high - bound->interval.low).count() / 2;
  if (half - kNormal95 * std::sqrt(squares) - choices / 2 > wanted) return bracket.deciders;
  std::vector<Decider> worth;
  for (const Decider& decider : bracket.deciders) {
    if (kNormal95 * std::sqrt(std::max(squares, 0.0)) + choices / 2 <= wanted / 4) break;
    worth.push_back(decider);
    squares -= decider.deviation.count() * decider.deviation.count();
    choices -= decider.choice.count();
  }
  return worth;
}

// Works on the device that it runs on, with what the store has of it; layers that nobody measured stay missing.
Result<Confirmation> Confirm(const ConfirmOptions& options, ProgressLog& log) {
  using SteadyTime = std::chrono::steady_clock;
  const auto start = SteadyTime::now();
  Confirmation done;
  INFIMUM_ASSIGN_OR_RETURN(ModelUnder under, ReadModelUnder(options.model, options.dims, options.contract));
  done.graph = std::move(under.graph);
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  if (!StoreExists(options.database))
    return Error{fmt::format("{}: no such store; `infimum analyze {}` measures and makes one",
                             ShownAddress(options.database), options.model.string())};
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadWrite));
  INFIMUM_ASSIGN_OR_RETURN(const RunnerDescription here, DescribeRunner(installation, options.campaign));
  Selection selection;
  selection.device = here.device.Key();
  selection.environment = here.environment.Key();
  selection.threads = options.campaign.threads;
  selection.cache = options.campaign.cache;
  selection.contract = under.selected;

  const InterruptHold hold;  // what it found by then is shown
  std::int64_t last = 0;
  std::set<std::pair<WorkloadKey, std::int64_t>> tried;
  for (;;) {
    INFIMUM_ASSIGN_OR_RETURN(done.bracket, ComputeBracket(done.graph, *store, selection));
    done.width = IntervalWidth(done.bracket);
    if (!(done.bracket.coverage.measured > 0))
      return Error{
          fmt::format("{} has no row of this model in this environment; `infimum analyze {}` measures it first",
                      ShownAddress(options.database), options.model.string())};
    done.converged = done.width <= options.width;
    done.interrupted = Interrupted();
    const auto spent = std::chrono::duration_cast<std::chrono::seconds>(SteadyTime::now() - start);
    if (done.converged || done.interrupted || spent >= options.campaign.budget) return done;
    // None where all that is uncertain lies in bodies of control flow.
    std::vector<Decider> deciders = WorthConfirming(done.bracket, options.width);
    if (deciders.empty()) return done;
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t known, LeastRepetitions(deciders, *store, selection));
    const std::int64_t repetitions = std::max({kFirstRepetitions, DoubledPowerOfTwo(known), last});
    // Of what this run has repeated so often nothing more is to be had by it; the next power may help.
    std::erase_if(deciders,
                  [&](const Decider& decider) { return !tried.emplace(decider.workload, repetitions).second; });
    last = deciders.empty() ? 2 * repetitions : repetitions;
    if (last > options.repetitions) return done;
    if (deciders.empty()) continue;
    CampaignOptions campaign = options.campaign;
    campaign.budget = options.campaign.budget - spent;
    campaign.rounds = repetitions;
    campaign.candidates = CandidatesOf(deciders);
    log.Say(fmt::format(
        "the interval is {:.1f} % of the bound: measuring {} of {} configurations again, {} repetitions each",
        100 * done.width, deciders.size(), done.bracket.deciders.size(), repetitions));
    INFIMUM_ASSIGN_OR_RETURN(const CampaignEnd end, RunCampaign(installation, PlanOf(deciders), campaign, *store, log));
    INFIMUM_RETURN_IF_ERROR(end.failure);
    if (end.interrupted || end.budget_spent) {
      INFIMUM_ASSIGN_OR_RETURN(done.bracket, ComputeBracket(done.graph, *store, selection));
      done.width = IntervalWidth(done.bracket);
      done.converged = done.width <= options.width;
      done.interrupted = end.interrupted;
      return done;
    }
  }
}

struct ConfirmCommandOptions {
  std::string model;
  DimOptions dims;
  ConfirmOptions confirm;
  double percent = 2;
  std::vector<std::string> backend_options;
  OutputFormat format = OutputFormat::kTable;
  std::string output = "-";
  ProgressLogOptions log;
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
  ProgressLog log = options.log.Make();
  INFIMUM_ASSIGN_OR_RETURN(const Confirmation done, Confirm(confirm, log));
  INFIMUM_RETURN_IF_ERROR(WriteAnswer(
      options.format, options.output,
      {.table =
           [&] { return BoundTable(done.graph, done.bracket, false, TerminalWidth()) + Outcome(done, confirm) + "\n"; },
       .json = [&] { return ConfirmJson(done, confirm); },
       .csv = [&] { return BoundCsv(done.graph, done.bracket, false); }}));
  if (options.format != OutputFormat::kTable) log.Say(Outcome(done, confirm));
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
  AddProgressLog(command, options->log);
  invocation.Bind(command, [options] { return RunConfirm(*options); });
}

}  // namespace infimum::cli
