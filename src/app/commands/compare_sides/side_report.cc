#include "src/app/commands/compare_sides/side_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/gap/run_latency.h"
#include "infimum/base/text.h"
#include "infimum/db/store.h"
#include "reports/text/fact_text.h"
#include "src/app/commands/compare/run_comparison.h"
#include "src/app/commands/compare_sides/bound_sides.h"
#include "src/app/commands/replay/upper_limits.h"
#include "src/app/models/model_variant.h"
#include "src/app/models/run_conditions.h"
#include "src/app/runners/device_choice.h"
#include "src/app/runners/installation.h"
#include "src/readers/read_profile.h"

namespace infimum {
namespace {

// The sides of a comparison of runs: engines, precisions, before and after.

constexpr std::string_view kEndToEnd = "end to end", kEngineOnly = "only in the engine", kNotMatched = "not matched";

// What engine layers took in each inference under the profiler; of another number of samples than each other nothing.
std::vector<Latency> Together(const RunProfile& run, const std::vector<std::size_t>& layers) {
  std::vector<Latency> sums;
  for (const std::size_t index : layers) {
    const std::vector<Latency>& samples = run.layers[index].samples;
    if (sums.empty()) sums.resize(samples.size(), Latency(0));
    if (samples.empty() || samples.size() != sums.size()) return {};
    for (std::size_t i = 0; i < samples.size(); ++i) sums[i] += samples[i];
  }
  return sums;
}

// The engine's layer that takes most: its kernel, or its name.
std::string EngineText(const RunProfile& run, const std::vector<std::size_t>& layers) {
  const ProfiledLayer* longest = nullptr;
  Latency most{0};
  for (const std::size_t index : layers) {
    const std::vector<Latency>& samples = run.layers[index].samples;
    const Latency median = samples.empty() ? Latency(0) : Quantile(samples, 0.5);
    if (longest != nullptr && median <= most) continue;
    longest = &run.layers[index];
    most = median;
  }
  if (longest == nullptr) return "";
  std::string text = longest->algorithm.empty() ? longest->name : longest->algorithm;
  if (layers.size() > 1) text += fmt::format(" (+{})", layers.size() - 1);
  return text;
}

// `rows`: which of the run's rows belong together.
SideTime TimeOf(const ComparedRun& compared, const std::vector<std::size_t>& rows) {
  SideTime time;
  std::vector<std::size_t> layers;
  for (const std::size_t index : rows) {
    const ComparedRow& row = compared.waterfall.rows[index];
    if (row.measured) time.latency = time.latency.value_or(Latency(0)) + *row.measured;
    layers.insert(layers.end(), row.engine_layers.begin(), row.engine_layers.end());
  }
  if (!time.latency) {
    time.reason = "the run does not show it";
    return time;
  }
  time.candidate = EngineText(compared.run, layers);
  const std::vector<Latency> samples = Together(compared.run, layers);
  // Around the sum of medians, which is the time: the sum's own median may lie elsewhere.
  const std::vector<Repetition> repetitions =
      samples.empty() ? std::vector<Repetition>{} : std::vector<Repetition>{Summarize(samples)};
  if (RatioOf(repetitions, repetitions)) {
    const Interval interval = MedianInterval(samples);
    time.interval = Interval{std::min(interval.low, *time.latency), std::max(interval.high, *time.latency)};
  }
  return time;
}

// What of a run belongs to no layer of the model, of either kind.
SideLayer Beside(const ComparedRun& compared, bool is_unmatched) {
  std::vector<std::size_t> rows;
  for (std::size_t index = 0; index < compared.waterfall.rows.size(); ++index) {
    const ComparedRow& row = compared.waterfall.rows[index];
    if (row.layers.empty() && row.is_unmatched() == is_unmatched) rows.push_back(index);
  }
  SideLayer layer{std::string(is_unmatched ? kNotMatched : kEngineOnly),
                  std::string(is_unmatched ? kNotMatched : kEngineOnly), "", TimeOf(compared, rows), false};
  if (rows.empty()) layer.time = {Latency(0), std::nullopt, "", "the run has none"};
  return layer;
}

ModelSides LayersOf(const RunComparison& comparison, const std::string& name) {
  ModelSides model;
  model.name = name;
  model.sides.resize(comparison.runs.size());
  const ModelGraph& graph = comparison.models.front().graph;
  std::vector<const std::vector<ComparedRow>*> rows;
  for (const ComparedRun& compared : comparison.runs) rows.push_back(&compared.waterfall.rows);
  for (const JointRow& joint : JoinRows(graph, rows)) {
    const Layer& main = graph.layer(MainLayer(graph, joint.layers));
    SideLayer layer;
    layer.name = main.name;
    const auto others = std::ranges::count_if(joint.layers, [&](const LayerId id) {
      return graph.layer(id).status != LayerStatus::kFree && graph.layer(id).name != main.name;
    });
    if (others > 0) layer.name += fmt::format(" (+{})", others);
    layer.family = main.workload ? std::string(FamilyOf(*main.workload)) : main.op;
    bool is_shown = false;
    std::vector<SideTime> times;
    for (std::size_t run = 0; run < comparison.runs.size(); ++run) {
      times.push_back(TimeOf(comparison.runs[run], joint.rows[run]));
      is_shown |= times.back().latency.has_value();
    }
    if (!is_shown) continue;
    for (std::size_t run = 0; run < comparison.runs.size(); ++run) {
      layer.time = std::move(times[run]);
      model.sides[run].layers.push_back(layer);
    }
  }
  for (const bool is_unmatched : {false, true}) {
    std::vector<SideLayer> beside;
    for (const ComparedRun& compared : comparison.runs) beside.push_back(Beside(compared, is_unmatched));
    const bool is_there = std::ranges::any_of(
        beside, [](const SideLayer& layer) { return layer.time.latency && layer.time.latency->count() > 0; });
    for (std::size_t run = 0; run < comparison.runs.size() && is_there; ++run)
      model.sides[run].layers.push_back(std::move(beside[run]));
  }
  return model;
}

// Each run's total by what all of them tell: end to end, else under the profiler, else the sum of their layers.
std::string AddTotals(const RunComparison& comparison, ModelSides& model) {
  const auto all = [&comparison](const auto& tells) { return std::ranges::all_of(comparison.runs, tells); };
  if (all([](const ComparedRun& run) { return !RepetitionsOf(run.run).empty(); })) {
    for (std::size_t run = 0; run < comparison.runs.size(); ++run)
      model.sides[run].end_to_end = RepetitionsOf(comparison.runs[run].run);
    return std::string(kEndToEnd);
  }
  if (all([](const ComparedRun& run) { return !run.run.profiled.empty(); })) {
    for (std::size_t run = 0; run < comparison.runs.size(); ++run)
      model.sides[run].end_to_end = {Summarize(comparison.runs[run].run.profiled)};
    return "an inference under the profiler";
  }
  for (std::size_t run = 0; run < comparison.runs.size(); ++run) {
    SideTime whole;
    for (const ComparedRow& row : comparison.runs[run].waterfall.rows)
      if (row.measured) whole.latency = whole.latency.value_or(Latency(0)) + *row.measured;
    model.sides[run].whole = std::move(whole);
  }
  return "sum of the layers";
}

// "2 threads, batch=8"; the contract stands apart.
std::string ConditionsOf(const RunComparison& comparison, const ComparedRun& compared) {
  std::vector<std::string> conditions;
  if (compared.run.threads && compared.device.kind == DeviceKind::kCpu)
    conditions.push_back(CountText(static_cast<std::size_t>(*compared.run.threads), "thread"));
  const std::map<std::string, std::int64_t>& dims = comparison.models[compared.model].dims;
  if (!dims.empty()) conditions.push_back(DimsText(dims));
  return Join(conditions, ", ");
}

// By what the axis is about, where that tells them all apart; else by their files.
std::vector<std::string> LabelsOf(ComparisonAxis axis, const RunComparison& comparison,
                                  const std::vector<RunAccount>& accounts) {
  std::vector<std::string> labels;
  for (std::size_t run = 0; run < comparison.runs.size(); ++run) {
    if (axis == ComparisonAxis::kFramework) labels.push_back(accounts[run].framework);
    if (axis == ComparisonAxis::kPrecision) labels.push_back(comparison.runs[run].run.contract);
    if (axis == ComparisonAxis::kChange) labels.push_back(comparison.runs[run].name);
  }
  std::map<std::string, std::size_t> count;
  for (const std::string& label : labels) ++count[label];
  for (std::size_t run = 0; run < labels.size(); ++run) {
    const std::string& name = comparison.runs[run].name;
    if (labels[run].empty()) {
      labels[run] = name;
    } else if (count[labels[run]] > 1 && labels[run] != name) {
      labels[run] += " (" + name + ")";
    }
    // One file twice, or two of one name.
    const std::string alone = labels[run];
    const auto is_there = [&](const std::string& label) {
      return std::find(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(run), label) !=
             labels.begin() + static_cast<std::ptrdiff_t>(run);
    };
    for (std::size_t number = 2; is_there(labels[run]); ++number) labels[run] = fmt::format("{} #{}", alone, number);
  }
  return labels;
}

// What tells all runs apart: their contracts, else their engines; else `otherwise`.
ComparisonAxis AxisOf(const RunComparison& comparison, const std::vector<RunAccount>& accounts,
                      ComparisonAxis otherwise) {
  std::set<std::string> contracts, frameworks;
  for (std::size_t run = 0; run < comparison.runs.size(); ++run) {
    if (const std::string& contract = comparison.runs[run].run.contract; !contract.empty()) contracts.insert(contract);
    if (const std::string& framework = accounts[run].framework; !framework.empty()) frameworks.insert(framework);
  }
  if (contracts.size() == comparison.runs.size()) return ComparisonAxis::kPrecision;
  if (frameworks.size() == comparison.runs.size()) return ComparisonAxis::kFramework;
  return otherwise;
}

// Sides that few repetitions leave undecided.
void TellFewRepetitions(const RunComparison& comparison, ComparisonReport& report) {
  constexpr std::size_t kFew = 3;
  if (report.quantity != kEndToEnd) return;
  const std::size_t before = RepetitionsOf(comparison.runs.front().run).size();
  for (std::size_t run = 1; run < comparison.runs.size(); ++run) {
    const std::optional<Difference>& mean = report.comparison.means[run];
    const std::size_t now = RepetitionsOf(comparison.runs[run].run).size();
    if (!mean || mean->verdict != Verdict::kUndecided || std::min(before, now) > kFew) continue;
    report.cautions.push_back(
        fmt::format("{} against {} is undecided with {} and {} repetitions: `infimum measure --repetitions 10` of both "
                    "narrows the interval",
                    report.sides[run].label, report.sides.front().label, now, before));
  }
}

bool IsOfPrecision(const std::string& difference) {
  return difference.starts_with("is of another model file") || difference.starts_with("kept the contract");
}

// What of two runs differs beside what the axis is about: then the difference is not of that alone.
void AddConditions(const RunComparison& comparison, ComparisonReport& report) {
  const ComparedRun& baseline = comparison.runs.front();
  for (std::size_t run = 1; run < comparison.runs.size(); ++run) {
    const ComparedRun& compared = comparison.runs[run];
    std::vector<std::string> differences = DifferencesOf(compared.run, baseline.run);
    // Without names it has no sums of files either.
    const bool has_sums = !compared.run.model_sha256.empty() && !baseline.run.model_sha256.empty();
    if (!has_sums && compared.file != 0 && baseline.file != 0 && compared.file != baseline.file)
      differences.insert(differences.begin(), "is of another model file");
    if (compared.model != baseline.model)
      differences.push_back(fmt::format("has {} instead of {}", DimsText(comparison.models[compared.model].dims),
                                        DimsText(comparison.models[baseline.model].dims)));
    if (differences.empty()) continue;
    // Precisions are of other files, and that is what they are compared for.
    const bool is_meant = report.axis == ComparisonAxis::kPrecision && std::ranges::all_of(differences, IsOfPrecision);
    (is_meant ? report.remarks : report.cautions)
        .push_back(fmt::format("{} against {}: it {}", report.sides[run].label, report.sides.front().label,
                               fmt::join(differences, ", ")));
  }
}

// Of each framework that is named the fastest run of the model on the device.
Status AddStoredRuns(const SideReportOptions& options, std::vector<NamedProfile>& profiles) {
  if (options.frameworks.empty()) return {};
  INFIMUM_ASSIGN_OR_RETURN(const ModelUnder under, ReadModelUnder(options.models.front(), options.dims, {}));
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadOnly));
  INFIMUM_ASSIGN_OR_RETURN(const Device device, ChooseDevice(options.devices.empty() ? "" : options.devices.front(),
                                                             installation, options.campaign, *store));
  Selection selection;
  selection.device = device.Key();
  selection.threads = device.kind == DeviceKind::kGpu ? 1 : options.campaign.threads;
  for (const std::string& framework : options.frameworks) {
    INFIMUM_ASSIGN_OR_RETURN(std::optional<RunProfile> run,
                             FastestRun(*store, under.graph.sha256, selection, options.dims, framework));
    if (!run)
      return Error{
          fmt::format("{} holds no run of this model by {} on {}; `infimum measure {} --framework {}` makes one",
                      ShownAddress(options.database), framework, PlaceText(device, selection.threads),
                      ShellQuoted(options.models.front().string()), ShellQuoted(framework))};
    profiles.push_back({framework, *std::move(run)});
  }
  return {};
}

// Fills sides, comparison, nodes and remarks. The runs may be of other files than the model, with the same layers
// (quantized, say): they are aligned with it as `infimum compare` does.
Status FillFromRuns(const SideReportOptions& options, ComparisonReport& report) {
  if (options.models.size() != 1)
    return Error{
        fmt::format("--by {} takes one MODEL, whose layers the runs are aligned with: runs of its other files "
                    "too (resnet50-f16.onnx)",
                    Name(options.axis))};
  if (options.runs.size() + options.frameworks.size() < 2)
    return Error{
        fmt::format("--by {} needs at least two runs: --run BEFORE --run AFTER, or --framework F of the store's",
                    Name(options.axis))};
  if (options.devices.size() > 1) return Error{"--device: exactly one, for runs that do not record theirs"};
  RunComparisonOptions asked;
  asked.model = options.models.front();
  asked.dims = options.dims;
  asked.database = options.database;
  if (!options.devices.empty()) asked.device = options.devices.front();
  asked.campaign = options.campaign;
  asked.contract = options.contract;
  asked.anonymize = options.anonymize;
  const std::vector<std::filesystem::path> files(options.runs.begin(), options.runs.end());
  std::vector<NamedProfile> profiles;
  if (!files.empty()) {
    INFIMUM_ASSIGN_OR_RETURN(profiles, ReadProfiles(files));
  }
  INFIMUM_RETURN_IF_ERROR(AddStoredRuns(options, profiles));
  if (profiles.size() < 2)
    return Error{fmt::format("{}: these files are one run; a comparison needs two", Join(options.runs, ", "))};
  INFIMUM_ASSIGN_OR_RETURN(const RunComparison comparison, CompareRuns(asked, std::move(profiles)));
  ModelAccount account = AccountOf(comparison, asked);
  if (options.axis_by_runs) report.axis = AxisOf(comparison, account.runs, options.axis);
  const std::vector<std::string> labels = LabelsOf(report.axis, comparison, account.runs);
  for (std::size_t run = 0; run < comparison.runs.size(); ++run) {
    RunAccount& told = account.runs[run];
    ReportSide side;
    side.label = labels[run];
    side.device = told.device;
    side.generation = comparison.runs[run].device.generation;
    side.environment = ConditionsOf(comparison, comparison.runs[run]);
    side.contract = comparison.runs[run].run.contract;
    side.framework = told.framework;
    side.findings = std::move(told.findings);
    if (!told.noisy.empty()) report.no_verdict.push_back(labels[run] + " is noisy: " + told.noisy);
    if (told.skipped_share > kMostSkipped)
      report.no_verdict.push_back(fmt::format("{} lacks about {} of its layers' time, which could not be read",
                                              labels[run], PercentText(told.skipped_share)));
    report.sides.push_back(std::move(side));
    for (const std::string& remark : told.remarks) report.remarks.push_back(labels[run] + ": " + remark);
  }
  for (std::size_t run = 0; run < labels.size(); ++run) account.nodes.columns[run].source = labels[run];
  report.nodes = std::move(account.nodes);
  ModelSides model = LayersOf(comparison, account.model);
  report.quantity = AddTotals(comparison, model);
  report.comparison = CompareSides({{std::move(model)}}, options.threshold);
  TellFewRepetitions(comparison, report);
  AddConditions(comparison, report);
  return {};
}

}  // namespace

Result<ComparisonReport> MakeSideReport(const SideReportOptions& options) {
  ComparisonReport report;
  report.axis = options.axis;
  report.infimum_version = std::string(InfimumVersion());
  if (IsOfRuns(options.axis)) {
    INFIMUM_RETURN_IF_ERROR(FillFromRuns(options, report));
  } else {
    INFIMUM_RETURN_IF_ERROR(FillFromBounds(options, report));
  }
  return report;
}

}  // namespace infimum
