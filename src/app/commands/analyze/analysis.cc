#include "src/app/commands/analyze/analysis.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "analyzer/alignment/align_run.h"
#include "analyzer/bracket/what_if.h"
#include "analyzer/gap/run_latency.h"
#include "analyzer/rows/workload_candidates.h"
#include "analyzer/types/device_model.h"
#include "db/store/data_sheets.h"
#include "infimum/base/quantity_text.h"
#include "reports/text/fact_text.h"
#include "src/app/commands/replay/replay.h"
#include "src/app/commands/replay/upper_limits.h"
#include "src/app/model_report/report_filling.h"
#include "src/app/model_report/run_gap.h"
#include "src/app/models/anonymizer.h"
#include "src/app/models/model_variant.h"
#include "src/app/models/run_conditions.h"
#include "src/app/processes/interrupt.h"
#include "src/app/runners/cold_weights.h"
#include "src/app/runners/device_choice.h"
#include "src/app/runners/framework_run.h"
#include "src/app/runners/library_versions.h"
#include "src/app/runners/transform_times.h"
#include "src/planner/planner.h"
#include "src/readers/onnx/read_model.h"

namespace infimum {
namespace {

// Something that went wrong on the way; of what libraries and files say nobody knows what it names.
struct AnalysisWarning {
  std::string text;
  bool may_hold_names = true;
};

struct AnalysisReport {
  const std::filesystem::path& model;
  const std::map<std::string, std::int64_t>& dims;
  std::optional<NumericContract> contract;
  std::string database;
  std::string backend;
  bool here = true;  // the device is this one
  bool anonymize = false;
  const Device& device;
  std::vector<AnalysisWarning> warnings;
};

// Of a library whose versions are worth comparing.
Result<bool> HasSeveralVersions(const Device& device, std::int64_t threads, Store& store) {
  for (const char* library : kComparedLibraries) {
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<LibraryVersion> versions, VersionsOf(library, device, threads, store));
    if (versions.size() > 1) return true;
  }
  return false;
}

// The end of an analysis: the run's gap, the candidates and the report, by the model's own names or without them.
//
// Fills Analysis::report, which takes graph, bracket and run of the analysis: they are empty there afterwards.
Status FillReportOf(AnalysisReport asked, const Selection& selection, Store& store, Analysis& analysis) {
  INFIMUM_ASSIGN_OR_RETURN(const DevicePeaks peaks, store.Peaks(selection.device));
  INFIMUM_ASSIGN_OR_RETURN(CandidatesOfModel candidates, CandidatesOf(analysis.graph, store, selection));
  INFIMUM_ASSIGN_OR_RETURN(const auto environments, store.Environments());
  AlignedForGap aligned;
  bool is_alike = false;
  if (analysis.run) {
    HoldTo(analysis.bracket.pace, *analysis.run);
    // Of this model, device and threads: so it was measured, or looked for in the store.
    is_alike = analysis.run->contract.empty() || Keeps(analysis.run->contract, analysis.bracket.contract);
    const ModelAsItIs model{asked.model, asked.dims, asked.contract, analysis.graph, analysis.bracket};
    INFIMUM_ASSIGN_OR_RETURN(aligned, AlignForGap(model, *analysis.run, store));
  }
  ReportSources sources{.model = asked.model.string(),
                        .name = ModelName(asked.model),
                        .dims = asked.dims,
                        .database = ShownAddress(asked.database),
                        .backend = asked.backend,
                        .here = asked.here,
                        .device = asked.device,
                        .environment = CommonEnvironment(environments, analysis.bracket),
                        .peaks = peaks,
                        .warnings = {}};
  if (asked.anonymize) {
    Anonymizer anonymizer;
    anonymizer.Rename(analysis.graph);
    anonymizer.Rename(analysis.bracket);
    anonymizer.Rename(candidates);
    if (analysis.run) anonymizer.Rename(*analysis.run);
    sources.model = "MODEL";
    sources.name = "model";
    sources.database = "DB";
    sources.dims = anonymizer.Renamed(asked.dims);
    sources.environment.evidence.erase(evidence::kSystem);
  }
  for (AnalysisWarning& warning : asked.warnings) {
    const bool is_left_out = asked.anonymize && warning.may_hold_names;
    sources.warnings.push_back(is_left_out
                                   ? "A step of the analysis failed; its message may contain names and is left out"
                                   : std::move(warning.text));
  }
  if (analysis.run)
    sources.gap = MakeGap(analysis.graph, analysis.bracket, *analysis.run, std::move(aligned), is_alike);
  sources.graph = std::move(analysis.graph);
  sources.bracket = std::move(analysis.bracket);
  sources.candidates = std::move(candidates);
  sources.run = std::move(analysis.run);
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Device> devices, store.Devices());
  INFIMUM_ASSIGN_OR_RETURN(const bool has_versions, HasSeveralVersions(asked.device, selection.threads, store));
  analysis.report = FillReport(std::move(sources));
  analysis.report.neighbours = {
      .devices = devices.size() > 1,
      .versions = has_versions,
      .contracts = std::ranges::any_of(analysis.report.bracket.what_ifs,
                                       [](const WhatIfOutcome& one) { return one.name.starts_with("contract:"); })};
  return {};
}

using SteadyTime = std::chrono::steady_clock::time_point;

// What is left of the budget, never less than a second: a campaign that was asked for shall do something.
std::chrono::seconds Left(SteadyTime start, std::chrono::seconds budget) {
  const auto spent = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
  return std::max(budget - spent, std::chrono::seconds(1));
}

// For the whole of the memory's curve, and no more than an eighth of a short budget.
constexpr std::chrono::seconds kPeaksTime{10};
// For changes of layout, where the budget is spent.
constexpr std::chrono::seconds kTransformsTime{30};

// Where weights do not stay near, a share of the budget for what they cost from memory; and one for R.
constexpr int kColdShare = 6, kShowShare = 5;
constexpr std::chrono::seconds kLeastForReplay{8};

// The frameworks' part of the budget: a tenth, for four processes of each, so that a small budget still leaves most of
// its time to the layers.
std::chrono::milliseconds FrameworkSampling(const AnalysisOptions& options) {
  const auto processes = static_cast<std::int64_t>(4 * std::max<std::size_t>(options.frameworks.size(), 1));
  return std::clamp(std::chrono::milliseconds(options.campaign.budget) / 10 / processes, std::chrono::milliseconds(200),
                    std::chrono::milliseconds(4000));
}

bool HasPeaks(const DevicePeaks& peaks, std::int64_t threads) {
  return std::any_of(peaks.rates.begin(), peaks.rates.end(),
                     [&](const PeakRate& rate) { return rate.threads == threads; });
}

// What the candidates of one configuration take in all their repetitions, seen over ResNet-50, BERT and
// MobileNetV2: a guess for the first answer, soon replaced by the campaign's own.
constexpr std::chrono::duration<double> kGuessedForEach{3.5};

std::string FirstAnswer(const Bracket& bracket, const Plan& plan, std::chrono::seconds budget,
                        std::chrono::duration<double> after) {
  std::string text = fmt::format(
      "first answer after {:.1f} s: reading every weight once takes {} here (floor, dense-read), textbook arithmetic "
      "{}",
      after.count(), FormatLatency(bracket.dense_read().latency), FormatLatency(bracket.textbook().latency));
  const std::size_t count = plan.entries.size();
  if (count == 0) return text + "; nothing is left to be measured";
  const auto guess = std::chrono::duration_cast<std::chrono::seconds>(kGuessedForEach * static_cast<double>(count));
  return text + fmt::format("; {} configuration{} of layers and regions {} to be measured, about {} (the budget: {})",
                            count, count == 1 ? "" : "s", count == 1 ? "is" : "are",
                            FormatDuration(std::min(guess, budget)), FormatDuration(budget));
}

// More processes of the same run. Of two halves a noisy one counts only where both are.
void AddRepetitions(const RunProfile& more, RunProfile& run) {
  if (more.noisy.empty() != run.noisy.empty()) {
    if (!more.noisy.empty()) return;
    run.end_to_end.clear();
    run.noisy.clear();
  }
  run.end_to_end.insert(run.end_to_end.end(), more.end_to_end.begin(), more.end_to_end.end());
}

// R: the best known kernels as one program, until `end`. What keeps it from being run costs R alone.
std::optional<std::string> RunAsOneProgram(const AnalysisOptions& options, const Installation& installation,
                                           SteadyTime end, Store& store, ProgressLog& log) {
  ReplayOptions replay;
  replay.model = options.model;
  replay.dims = options.dims;
  replay.campaign = options.campaign;
  replay.contract = options.contract;
  replay.python = options.python;
  replay.regions = options.regions;
  replay.end = end;
  bool has_plan = true;
  const auto run = [&]() -> Result<Replay> {
    if (end - std::chrono::steady_clock::now() < kLeastForReplay) return Error{"the budget leaves no time for it"};
    const Result<ReplayPlan> plan = PlanReplay(replay, installation, store, log);
    has_plan = plan.ok();
    if (!has_plan) return plan.error();
    return RunPlan(replay, installation, *plan, store, log);
  };
  const Result<Replay> done = run();
  if (Interrupted()) return std::nullopt;
  const std::optional<std::string> fault = done ? done->result.FirstFault() : std::nullopt;
  if (done && !fault && done->result.noisy.empty()) return std::nullopt;
  // An operator that no program is made of is none the next time either.
  return fmt::format("The kernels that are the best known now did not run as one program: {}{}",
                     !done   ? done.error().message
                     : fault ? "wrong numbers: " + *fault
                             : done->result.noisy,
                     has_plan ? fmt::format(". `infimum replay {}` tries again", options.model.string()) : "");
}

// The frameworks' runs, of each version the fastest, and our own where there is one.
Status HoldAgainstRuns(Store& store, const Selection& selection, const std::map<std::string, std::int64_t>& dims,
                       Analysis& analysis) {
  INFIMUM_RETURN_IF_ERROR(HoldAgainstFrameworks(store, analysis.graph.sha256, selection, dims, analysis.bracket));
  return HoldAgainstReplays(store, analysis.graph, selection, dims, analysis.bracket);
}

// What was asked for, and contracts and cache states that have rows.
Status AddVariants(const StoredAnalysisOptions& options, const std::vector<ModelVariant>& variants, Store& store,
                   Analysis& analysis) {
  const ModelAsItIs as_it_is{options.model, options.dims, options.contract, analysis.graph, analysis.bracket};
  std::vector<WhatIfOutcome> outcomes;
  for (const ModelVariant& variant : variants) {
    Result<WhatIfOutcome> outcome = SolveVariant(variant, as_it_is, store);
    if (!outcome.ok()) return Within("--what-if " + variant.name, outcome.error());
    outcomes.push_back(*std::move(outcome));
  }
  INFIMUM_ASSIGN_OR_RETURN(std::vector<WhatIfOutcome> contracts, SolveMeasuredVariants(as_it_is, store));
  for (WhatIfOutcome& contract : contracts)
    if (std::ranges::find(outcomes, contract.name, &WhatIfOutcome::name) == outcomes.end())
      outcomes.push_back(std::move(contract));
  for (WhatIfOutcome& outcome : outcomes) analysis.bracket.what_ifs.push_back(std::move(outcome));
  return {};
}

}  // namespace

std::string UtcNow() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

Result<Analysis> Analyze(const AnalysisOptions& options, ProgressLog& log) {
  const SteadyTime start = std::chrono::steady_clock::now();
  Analysis analysis;
  INFIMUM_ASSIGN_OR_RETURN(ModelUnder under, ReadModelUnder(options.model, options.dims, options.contract, true, true));
  INFIMUM_RETURN_IF_ERROR(under.CanBePlanned());
  analysis.graph = std::move(under.graph);
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadWrite));
  INFIMUM_ASSIGN_OR_RETURN(const RunnerDescription here, DescribeRunner(installation, options.campaign));

  // As it is in the file, whatever the contract makes of it.
  std::optional<ModelGraph> read_again;
  if (options.contract) {
    INFIMUM_ASSIGN_OR_RETURN(read_again, ReadModel(options.model, ReadOptions{options.dims}));
  }
  const ModelGraph& stored = read_again ? *read_again : analysis.graph;
  INFIMUM_RETURN_IF_ERROR(store->ImportModel(DescribeModel(ModelName(options.model), stored, options.dims)));

  Selection selection;
  selection.device = here.device.Key();
  selection.threads = options.campaign.threads;
  selection.cache = options.campaign.cache;
  selection.contract = under.selected;
  INFIMUM_ASSIGN_OR_RETURN(DevicePeaks peaks, store->Peaks(selection.device));
  const bool new_peaks = !HasPeaks(peaks, selection.threads) && !Interrupted();
  const InterruptHold hold;  // what is known by then is reported
  if (new_peaks) {
    log.Say("measuring the device's peaks (rates of memory and caches, arithmetic by type)");
    INFIMUM_RETURN_IF_ERROR(MeasurePeaks(installation, options.campaign, PeaksMeasured::kFirst, *store, log));
    INFIMUM_ASSIGN_OR_RETURN(peaks, store->Peaks(selection.device));
  }

  const bool more_peaks =
      new_peaks || (here.device.kind == DeviceKind::kCpu && !HasWholeMemoryCurve(peaks, selection.threads));

  PlanOptions plan_options;
  plan_options.contract = under.selected;
  plan_options.regions = options.regions;
  plan_options = WithRatesOf(peaks, selection.threads, plan_options);
  const ModelGraph* graphs[] = {&analysis.graph};
  Selection now = selection;
  now.environment = here.environment.Key();
  INFIMUM_ASSIGN_OR_RETURN(const Plan plan, LeaveOutKnown(BuildPlan(graphs, plan_options), *store, now, SettledRule{}));
  INFIMUM_ASSIGN_OR_RETURN(analysis.bracket, ComputeBracket(analysis.graph, *store, selection));
  log.Say(FirstAnswer(analysis.bracket, plan, options.campaign.budget, std::chrono::steady_clock::now() - start));

  const std::chrono::seconds budget = options.campaign.budget;
  // Its share is too small for R: the layers come first, and half of the framework's processes do.
  const bool is_short = budget / kShowShare < kLeastForReplay;
  std::vector<AnalysisWarning> warnings;
  // A runner that had to be ended would have to be again.
  const auto goes_on = [&] { return !analysis.failed && !Interrupted(); };
  const auto fail = [&](const Error& error) {
    analysis.failed = true;
    warnings.push_back({error.message, true});
    log.Warn(error.message);
  };
  // Half of its processes before the layers and half of them behind R, so that a clock that wanders is the same for
  // all.
  std::vector<RunProfile> fresh;
  const auto measure = [&](FrameworkOptions framework, bool layers) {
    framework.dims = options.dims;
    framework.threads = selection.threads;
    framework.repetitions = is_short ? 1 : 2;
    framework.layers = layers;
    framework.contract = MainContract(stored);
    framework.sampling = FrameworkSampling(options);
    framework.budget = budget;
    return MeasureFramework(installation, options.model, framework, log);
  };
  bool has_runs = false;
  for (const FrameworkOptions& framework : options.frameworks) {
    INFIMUM_ASSIGN_OR_RETURN(const std::optional<RunProfile> known,
                             FastestRun(*store, analysis.graph.sha256, selection, options.dims, framework.framework));
    has_runs |= known.has_value();
    // Of a run that says no contract nobody knows what it bounds.
    const bool is_known = known && !known->contract.empty();
    // It is measured on the processor: of another device such a run would be no run at all.
    const bool runs_here = here.device.kind == DeviceKind::kCpu;
    if (!is_known && !runs_here)
      log.Say(framework.framework + " is measured on CPUs only; `infimum import` takes runs on " + here.device.name);
    // Which inputs a known run had is not told.
    const bool measures = !is_known || options.measure_again || !framework.inputs.empty();
    if (!measures || !runs_here || !goes_on()) continue;
    Result<RunProfile> run = measure(framework, true);
    if (run) {
      fresh.push_back(*std::move(run));
    } else if (!Interrupted()) {
      // A missing framework costs the comparison, not the bound; one that was stuck until the budget was spent costs
      // both.
      if (std::chrono::steady_clock::now() - start >= options.campaign.budget) {
        fail(run.error());
      } else {
        warnings.push_back({run.error().message, true});
        log.Warn(fmt::format("{}; continuing without a run of {}", run.error().message, framework.framework));
      }
    }
  }

  const std::chrono::seconds none(0);
  const std::chrono::seconds peaks_time = more_peaks ? std::min(kPeaksTime, budget / 8) : none;
  const bool needs_cold = analysis.bracket.context && !analysis.bracket.context->stays_near();
  const std::chrono::seconds cold_time = needs_cold && !is_short ? budget / kColdShare : none;
  // Without a framework nothing makes the weights and says what the outputs must be; times that are made up show
  // nothing.
  const bool can_show = options.replay && !options.frameworks.empty() && options.campaign.backend != "fake";
  bool shows = can_show && (!fresh.empty() || has_runs);
  if (shows && plan.entries.empty()) {
    INFIMUM_ASSIGN_OR_RETURN(
        const std::vector<RunProfile> shown,
        StoredReplays(*store, analysis.graph.sha256, selection.device, options.dims, selection.threads));
    shows = shown.empty();
  }
  const std::chrono::seconds run_time =
      std::chrono::ceil<std::chrono::seconds>(3 * FrameworkSampling(options) * static_cast<std::int64_t>(fresh.size()));
  const std::chrono::seconds show_time = (shows && !is_short ? budget / kShowShare : none) + run_time;
  if (!plan.entries.empty() && goes_on()) {
    CampaignOptions campaign = options.campaign;
    // However long the framework took: on busy cores it has fewer samples, and the layers would have none.
    campaign.budget = std::max(Left(start, budget - peaks_time - cold_time - show_time), budget / (is_short ? 2 : 3));
    log.Say(fmt::format(
        "measuring {} configurations of layers and regions within {} s; Ctrl-C stops and reports what is known by then",
        plan.entries.size(), campaign.budget.count()));
    const Result<CampaignEnd> end = RunCampaign(installation, plan, campaign, *store, log);
    // What was measured before a runner failed is in the store and worth its report.
    const Status measured = end ? end->failure : Status(end.error());
    if (!measured) {
      fail(measured.error());
    } else if (end->budget_spent) {
      warnings.push_back({fmt::format("The budget of {} s is spent; run the same command again to continue",
                                      options.campaign.budget.count()),
                          false});
      log.Say("the budget is spent; run the same command again to continue");
    }
  }
  // A few seconds' work beside the campaign's; what is left of a spent budget is one.
  if (goes_on()) {
    CampaignOptions campaign = options.campaign;
    campaign.budget =
        std::max(Left(start, options.campaign.budget), std::min(options.campaign.budget / 8, kTransformsTime));
    const Result<Bracket> timed =
        WithTransformTimes(installation, analysis.graph, *store, selection, {}, campaign, log);
    if (!timed && !Interrupted()) fail(timed.error());
  }
  if (needs_cold && goes_on()) {
    CampaignOptions campaign = options.campaign;
    campaign.budget = std::max(Left(start, budget - peaks_time - show_time), cold_time / 2);
    const Status measured = MeasureColdWeights(installation, here, analysis.graph, selection, campaign, *store, log);
    if (!measured && !Interrupted()) fail(measured.error());
  }
  if (shows && goes_on()) {
    const SteadyTime end =
        std::max(start + budget - peaks_time - run_time, std::chrono::steady_clock::now() + budget / kShowShare / 2);
    if (std::optional<std::string> why = RunAsOneProgram(options, installation, end, *store, log)) {
      warnings.push_back({*why, true});
      log.Warn(*why);
    }
  }
  for (RunProfile& run : fresh) {
    const auto asked = std::ranges::find(options.frameworks, run.framework, &FrameworkOptions::framework);
    if (goes_on() && asked != options.frameworks.end()) {
      if (const Result<RunProfile> again = measure(*asked, false)) {
        AddRepetitions(*again, run);
      } else if (!Interrupted()) {
        warnings.push_back(
            {fmt::format("Only the first half of the processes of {} counts: {}", run.framework, again.error().message),
             true});
        log.Warn(warnings.back().text);
      }
    }
    run.device = selection.device.text;
    INFIMUM_RETURN_IF_ERROR(store->ImportRun(run));
    if (!run.noisy.empty()) {
      warnings.push_back({fmt::format("The run of {} is noisy and not compared with the bound: {}. Measure again while "
                                      "the machine is quiet",
                                      run.framework, run.noisy),
                          true});
      log.Warn(warnings.back().text);
    }
  }
  // All of the memory's curve, and a second look at the rest: a clock that was low at first would make the floor too
  // high. Where other work made all else late it is the next call's.
  if (more_peaks && goes_on() && Left(start, budget) >= peaks_time / 2) {
    const Status again = MeasurePeaks(installation, options.campaign, PeaksMeasured::kWhole, *store, log);
    if (!again && !Interrupted()) return again.error();
  }
  analysis.interrupted = Interrupted();

  INFIMUM_ASSIGN_OR_RETURN(analysis.bracket, ComputeBracket(analysis.graph, *store, selection));
  if (!options.frameworks.empty()) {
    std::vector<std::string> names;
    for (const FrameworkOptions& framework : options.frameworks) names.push_back(framework.framework);
    INFIMUM_ASSIGN_OR_RETURN(analysis.run, FastestRun(*store, analysis.graph.sha256, selection, options.dims, names,
                                                      analysis.bracket.contract));
  }
  INFIMUM_ASSIGN_OR_RETURN(
      analysis.bracket.what_ifs,
      SolveMeasuredVariants({options.model, options.dims, options.contract, analysis.graph, analysis.bracket}, *store));
  INFIMUM_RETURN_IF_ERROR(HoldAgainstRuns(*store, selection, options.dims, analysis));
  INFIMUM_RETURN_IF_ERROR(FillReportOf({.model = options.model,
                                        .dims = options.dims,
                                        .contract = options.contract,
                                        .database = options.database,
                                        .backend = options.campaign.backend,
                                        .anonymize = options.anonymize,
                                        .device = here.device,
                                        .warnings = std::move(warnings)},
                                       selection, *store, analysis));
  return analysis;
}

Result<Analysis> AnalyzeStored(const StoredAnalysisOptions& options) {
  Analysis analysis;
  INFIMUM_ASSIGN_OR_RETURN(ModelUnder under, ReadModelUnder(options.model, options.dims, options.contract));
  analysis.graph = std::move(under.graph);
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  // A data sheet's floor needs no store.
  const bool stored = StoreExists(options.database);
  if (!stored && (options.device.empty() || options.device == "here")) {
    return Error{fmt::format("{}: no such store; `infimum analyze {}` measures and makes one",
                             ShownAddress(options.database), options.model.string())};
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store,
                           OpenStore(stored ? options.database : ":memory:", OpenMode::kReadOnly));
  INFIMUM_ASSIGN_OR_RETURN(const Device device, ChooseDevice(options.device, installation, options.campaign, *store));
  analysis.device = device;
  if (device.kind == DeviceKind::kGpu && options.campaign.threads != 1)
    return Error{
        fmt::format("--threads {} applies to CPUs only; remove it for {}", options.campaign.threads, device.name)};
  Selection selection;
  selection.device = device.Key();
  selection.threads = options.campaign.threads;
  selection.cache = options.campaign.cache;
  selection.contract = under.selected;
  INFIMUM_ASSIGN_OR_RETURN(analysis.run,
                           FastestRun(*store, analysis.graph.sha256, selection, options.dims, options.frameworks,
                                      under.selected.value_or(MainContract(analysis.graph))));
  BracketOptions bracket_options;
  std::vector<ModelVariant> variants;
  for (const std::string& text : options.what_ifs) {
    if (IsModelVariant(text)) {
      INFIMUM_ASSIGN_OR_RETURN(ModelVariant variant, ParseModelVariant(text));
      variants.push_back(std::move(variant));
    } else {
      INFIMUM_ASSIGN_OR_RETURN(WhatIf what_if, ParseWhatIf(text, analysis.graph));
      bracket_options.what_ifs.push_back(std::move(what_if));
    }
  }
  if (options.observed) {
    if (!analysis.run)
      return Error{
          fmt::format("--observed: {} holds no run of this model on this device; `infimum measure {}` makes one",
                      ShownAddress(options.database), options.model.string())};
    bracket_options.observed = ObservedIn(analysis.graph, *analysis.run);
  }
  INFIMUM_ASSIGN_OR_RETURN(analysis.bracket, ComputeBracket(analysis.graph, *store, selection, bracket_options));
  if (options.rules != BoundRules::kBracket) {
    if (options.observed || !options.what_ifs.empty())
      return Error{
          fmt::format("--rules {}: cannot be combined with --observed or --what-if, which apply to the bracket only",
                      Name(options.rules))};
    INFIMUM_ASSIGN_OR_RETURN(under, ReadModelUnder(options.model, options.dims, options.contract, false));
    analysis.graph = std::move(under.graph);
    INFIMUM_ASSIGN_OR_RETURN(analysis.bracket,
                             ApplyBenanzaRules(std::move(analysis.bracket), analysis.graph, *store, options.rules));
  } else {
    INFIMUM_RETURN_IF_ERROR(AddVariants(options, variants, *store, analysis));
  }
  INFIMUM_RETURN_IF_ERROR(HoldAgainstRuns(*store, selection, options.dims, analysis));
  if (!options.fills_report) return analysis;
  INFIMUM_RETURN_IF_ERROR(FillReportOf({.model = options.model,
                                        .dims = options.dims,
                                        .contract = options.contract,
                                        .database = options.database,
                                        .backend = options.campaign.backend,
                                        .here = options.device.empty(),
                                        .anonymize = options.anonymize,
                                        .device = device,
                                        .warnings = {}},
                                       selection, *store, analysis));
  return analysis;
}

}  // namespace infimum
