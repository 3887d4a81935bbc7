#include "src/app/model_report/report_filling.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/gap/run_latency.h"
#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "infimum/measurement/verdict.h"
#include "reports/bound/bound_table.h"
#include "reports/inspect/inspect_totals.h"
#include "reports/text/quantity_text.h"
#include "src/app/model_report/finding_commands.h"
#include "src/app/model_report/report_evidence.h"
#include "src/app/model_report/run_gap.h"
#include "src/app/runners/installation.h"

namespace infimum {
namespace {

// Of an interval, relative to its bound: from here on it is worth measuring again.
constexpr double kWideInterval = 0.1;

std::string DimArguments(const ReportSources& sources) {
  std::string text;
  for (const auto& [name, extent] : sources.dims) text += fmt::format(" --dim {}={}", ShellQuoted(name), extent);
  return text;
}

std::string MeasureCommand(const ReportSources& sources) {
  return fmt::format("infimum measure {}{} --db {} --threads {}", ShellQuoted(sources.model), DimArguments(sources),
                     ShellQuoted(sources.database), sources.bracket.selection.threads);
}

ReportArguments ArgumentsOf(const ReportSources& sources) {
  const Selection& selection = sources.bracket.selection;
  ReportArguments arguments;
  arguments.model = ShellQuoted(sources.model) + DimArguments(sources) + " --db " + ShellQuoted(sources.database);
  if (selection.threads != 1) arguments.model += fmt::format(" --threads {}", selection.threads);
  if (!sources.here) arguments.device = "--device " + ShellQuoted(sources.device.name);
  if (selection.contract) arguments.contract = fmt::format("--contract {}", Name(*selection.contract));
  return arguments;
}

RowStatus StatusOf(const Layer& layer, const LayerLatency& latency) {
  if (layer.status == LayerStatus::kUnknown) return RowStatus::kUnknown;
  switch (latency.status) {
    case LatencyStatus::kMeasured:
      return RowStatus::kMeasured;
    case LatencyStatus::kEstimated:
      return RowStatus::kEstimated;
    case LatencyStatus::kFree:
      return RowStatus::kFree;
    case LatencyStatus::kMissing:
      return RowStatus::kMissing;
  }
  return RowStatus::kMissing;
}

std::vector<ReportLayer> FillLayers(const ModelGraph& graph, const Bracket& bracket) {
  std::vector<ReportLayer> layers;
  for (std::size_t index = 0; index < graph.layers.size(); ++index) {
    const Layer& layer = graph.layers[index];
    const LayerLatency& latency = bracket.layers[index];
    ReportLayer row;
    row.name = layer.name;
    row.op = layer.op;
    row.family = layer.workload ? std::string(FamilyOf(*layer.workload)) : layer.op;
    row.config = layer.workload ? Format(*layer.workload) : "";
    row.status = StatusOf(layer, latency);
    row.reason = ReasonOf(layer, latency);
    row.candidate = latency.candidate ? latency.candidate->name() : "";
    row.latency = latency.latency;
    row.interval = latency.interval;
    row.floor = latency.floor;
    row.on_critical_path = latency.on_critical_path;
    if (latency.choice) {
      row.library_choice = latency.choice->candidate.name();
      row.regret = latency.choice->regret;
    }
    row.flops = layer.work.direct;
    row.conventional = layer.work.conventional;
    row.bytes = layer.work.read() + layer.work.written;
    if (row.status == RowStatus::kMissing && row.reason.empty()) row.reason = "not measured yet";
    layers.push_back(std::move(row));
  }
  return layers;
}

std::vector<ReportEdge> FillEdges(const ModelGraph& graph) {
  std::vector<ReportEdge> edges;
  const std::vector<std::vector<LayerId>> producers = Predecessors(graph);
  for (std::size_t consumer = 0; consumer < producers.size(); ++consumer)
    for (const LayerId producer : producers[consumer]) edges.push_back({producer.index(), consumer});
  std::sort(edges.begin(), edges.end());
  return edges;
}

ReportRun FillRun(const RunProfile& run, const RunGap& gap) {
  ReportRun filled;
  filled.framework = run.framework;
  filled.version = run.framework_version;
  filled.settings = run.settings;
  const std::vector<Repetition> repetitions = RepetitionsOf(run);
  std::vector<Latency> medians, all;
  for (const Repetition& repetition : repetitions) medians.push_back(repetition.median);
  for (const RunRepetition& repetition : run.end_to_end)
    all.insert(all.end(), repetition.samples.begin(), repetition.samples.end());
  filled.repetitions = static_cast<std::int64_t>(repetitions.size());
  filled.samples = static_cast<std::int64_t>(all.size());
  if (!repetitions.empty()) {
    filled.latency = PointValue(repetitions);
    filled.minimum = Quantile(all, 0);
    filled.median = Quantile(medians, 0.5);
    filled.p95 = Quantile(all, 0.95);
    filled.interval = TypicalInterval(repetitions);
  }
  for (const AlignedRow& row : gap.alignment.rows) {
    // A body's layers are inside the time of their loop's row.
    if (row.inside_body || !row.measured) continue;
    EngineRow engine;
    for (const LayerId layer : row.layers) engine.layers.push_back(layer.index());
    for (const std::size_t index : row.engine_layers) engine.engine_layers.push_back(run.layers[index].name);
    engine.latency = *row.measured;
    filled.rows.push_back(std::move(engine));
  }
  return filled;
}

std::vector<ReportRegion> FillRegions(const Bracket& bracket) {
  std::vector<ReportRegion> regions;
  for (const RegionLatency& region : bracket.regions) {
    ReportRegion row;
    for (LayerId layer : region.layers) row.layers.push_back(layer.index());
    row.rule = region.rule;
    row.config = region.region ? Format(region.region->workload) : "";
    row.candidate = region.candidate.name();
    row.latency = region.latency;
    row.unfused = region.unfused;
    row.has_missing = region.has_missing;
    row.is_chosen = region.is_chosen;
    regions.push_back(std::move(row));
  }
  return regions;
}

// What the best rate of each kind is: the ceilings of the roofline.
void FillRoofs(const DevicePeaks& peaks, std::int64_t threads, ReportModel& report) {
  std::map<std::string, double> arithmetic;
  double memory = 0;
  Bytes largest;
  for (const PeakRate& rate : peaks.rates) {
    if (rate.threads == threads && rate.kind == PeakRate::Kind::kRead) largest = std::max(largest, rate.working_set);
  }
  for (const PeakRate& rate : peaks.rates) {
    if (rate.threads != threads) continue;
    if (rate.kind == PeakRate::Kind::kLaunch) continue;
    if (rate.kind == PeakRate::Kind::kTf32) {
      double& best = arithmetic["tf32 arithmetic"];
      best = std::max(best, rate.per_second);
    } else if (rate.kind == PeakRate::Kind::kArithmetic) {
      double& best = arithmetic[std::string(Name(rate.type)) + " arithmetic"];
      best = std::max(best, rate.per_second);
    } else if (rate.working_set == largest) {
      memory = std::max(memory, rate.per_second);
    }
  }
  for (const auto& [name, rate] : arithmetic) report.arithmetic_roofs.push_back({name, rate});
  if (memory > 0) report.bandwidth_roofs.push_back({"memory", memory});
}

void FillMissing(const ReportSources& sources, ReportModel& report) {
  Latency whole{0};
  double flops = 0;
  for (const ReportLayer& layer : report.layers) {
    whole += layer.latency.value_or(layer.floor);
    flops += static_cast<double>(layer.conventional.value);
  }
  std::map<std::string, std::pair<MissingItem, std::size_t>> by_config;
  for (const ReportLayer& layer : report.layers) {
    if (layer.status != RowStatus::kMissing) continue;
    auto& [item, count] = by_config[layer.config];
    item.what = layer.config.empty() ? layer.name : layer.config;
    item.reason = layer.reason;
    item.share += whole.count() > 0 ? layer.floor / whole : 0;
    item.flops += flops > 0 ? static_cast<double>(layer.conventional.value) / flops : 0;
    const bool here = report.bench_options.has_value() && !layer.config.empty();
    item.command = here ? ReproductionCommand(layer.config, *report.bench_options) : "";
    ++count;
  }
  for (auto& [config, entry] : by_config) {
    if (entry.second > 1) entry.first.reason += fmt::format(" (used {} times)", entry.second);
    report.missing.push_back(std::move(entry.first));
  }
  std::stable_sort(report.missing.begin(), report.missing.end(), [](const MissingItem& a, const MissingItem& b) {
    return std::max(a.share, a.flops) > std::max(b.share, b.flops);
  });
  if (!report.missing.empty() && !report.bench_options) {
    report.advice.push_back(
        {"Some layers were never measured on this device: run this plan there and import the results",
         fmt::format("infimum plan {}{} --db {} --device {} -o plan.txt", ShellQuoted(sources.model),
                     DimArguments(sources), ShellQuoted(sources.database), ShellQuoted(sources.device.name))});
  } else if (!report.missing.empty()) {
    report.advice.push_back(
        {"Some layers are not measured yet; this command measures all of them",
         fmt::format("infimum analyze {}{} --db {} --threads {} --budget 10m", ShellQuoted(sources.model),
                     DimArguments(sources), ShellQuoted(sources.database), sources.bracket.selection.threads)});
  }
}

// Layers that were timed with warm caches, of a model whose weights do not fit them: a part of the gap is no kernel's.
void AdviseOnWeights(const ReportSources& sources, ReportModel& report) {
  const Bytes weights = TotalsOf(sources.graph).parameter_bytes, cache = sources.device.last_level_cache;
  const Bound* bound = MainBound(report);
  if (!report.run || bound == nullptr || sources.bracket.selection.cache != CacheState::kWarm || cache.value <= 0 ||
      weights <= cache)
    return;
  std::string text = fmt::format(
      "The model’s weights ({}) do not fit the caches ({}), and each layer was timed with its own in them: a "
      "part of what the run takes above the bound is fetching weights, and no kernel’s fault",
      BytesText(weights), BytesText(cache));
  if (!report.bandwidth_roofs.empty() && report.bandwidth_roofs.front().per_second > 0)
    text += fmt::format(
        ", {} at the memory’s best rate",
        FormatLatency(Latency(static_cast<double>(weights.value) / report.bandwidth_roofs.front().per_second * 1e6)));
  const auto cold = std::ranges::find(report.what_ifs, "cache:cold-weights", &WhatIfOutcome::name);
  if (cold != report.what_ifs.end())
    for (const WhatIfBound& of : cold->bounds)
      if (of.variant == bound->variant)
        text += fmt::format("; with weights from memory the bound is {}", FormatLatency(of.latency));
  report.advice.push_back({text, cold == report.what_ifs.end() && sources.here
                                     ? fmt::format("infimum analyze {} --cache cold-weights", report.arguments.model)
                                     : std::string()});
}

void FillAdvice(const ReportSources& sources, ReportModel& report) {
  for (const std::string& warning : sources.warnings) report.advice.push_back({warning, ""});
  if (sources.bracket.hosts) report.advice.push_back({HostsText(*sources.bracket.hosts), ""});
  const Bound* bound = MainBound(report);
  if (bound != nullptr && report.coverage.missing == 0 && report.coverage.measured > 0 &&
      bound->latency < report.floor.latency) {
    report.advice.push_back(
        {"The bound lies below the floor: its layers were timed with warm caches, but all of the "
         "model's weights together do not fit them. The floor holds; the bound is loose",
         ""});
  }
  if (sources.here && bound != nullptr && bound->latency > Latency(0) &&
      (bound->interval.high - bound->interval.low) / bound->latency > kWideInterval) {
    report.advice.push_back(
        {"The bound's interval is wide, as where other work disturbed the measuring; this measures again what decides "
         "it",
         fmt::format("infimum confirm {}{} --db {} --threads {}", ShellQuoted(sources.model), DimArguments(sources),
                     ShellQuoted(sources.database), sources.bracket.selection.threads)});
  }
  if (bound != nullptr && std::find(bound->assumptions.begin(), bound->assumptions.end(), "least-loop-iterations") !=
                              bound->assumptions.end()) {
    report.advice.push_back(
        {"A loop whose iterations are not known counts as few as possible, perhaps none: what its "
         "body takes is left out of floor and bound",
         ""});
  }
  for (const Inversion& inversion : report.inversions) {
    if (inversion.bound != kFloorName) continue;
    report.advice.push_back({fmt::format("The floor is {} above {}, which happened: it is wrong here. It was decided "
                                         "by {}; `infimum analyze` measures rates again and keeps the best",
                                         FormatLatency(inversion.excess), inversion.name, report.floor.decided_by),
                             ""});
  }
  if (!report.run) return;
  if (bound != nullptr && bound->latency > report.run->latency) {
    report.advice.push_back(
        {fmt::format(
             "Inversion: the {} bound is above {}'s own time. It fuses layers that this bound counts one by one, or "
             "has kernels that are not among the candidates; the bound is an estimate, the floor is not.",
             Name(bound->variant), report.run->framework),
         ""});
  }
  if (report.waterfall) {
    if (std::string text = ScatterText(*report.waterfall); !text.empty())
      report.advice.push_back(
          {"Times that do not fit together: " + text, sources.here ? MeasureCommand(sources) : std::string()});
  }
  if (report.run->interval && sources.here && report.run->latency.count() > 0 &&
      (report.run->interval->high - report.run->interval->low) / report.run->latency > kWideInterval)
    report.advice.push_back(
        {fmt::format("The run’s interval, {}, is wide for {} of it: more of them narrow what could be won",
                     IntervalText(*report.run->interval),
                     CountText(static_cast<std::size_t>(report.run->repetitions), "repetition")),
         MeasureCommand(sources) + " --repetitions 10"});
  if (report.run->minimum.count() > 0 && report.run->median / report.run->minimum > 1.1) {
    report.advice.push_back(
        {"The framework's run was noisy (median over 10 % above the minimum): close other programs and measure again",
         MeasureCommand(sources)});
  }
}

}  // namespace

std::string BenchOptions(const Selection& selection, const std::string& database, const std::string& backend) {
  std::string options = fmt::format("--db {}", ShellQuoted(database));
  if (selection.threads != 1) options += fmt::format(" --threads {}", selection.threads);
  if (selection.cache != CacheState::kWarm) options += fmt::format(" --cache {}", Name(selection.cache));
  if (selection.contract) options += fmt::format(" --contract {}", Name(*selection.contract));
  if (!backend.empty() && backend != "onednn") options += " --backend " + ShellQuoted(backend);
  return options;
}

Environment CommonEnvironment(const std::map<EnvironmentKey, Environment>& known, const Bracket& bracket) {
  Environment common;
  std::map<std::string, std::set<std::string>> versions;
  for (const EnvironmentKey& key : bracket.environments) {
    const auto found = known.find(key);
    if (found == known.end()) continue;
    for (const auto& [library, version] : found->second.libraries) versions[library].insert(version);
  }
  for (const auto& [library, all] : versions)
    common.libraries[library] = Join(std::vector<std::string>(all.begin(), all.end()), ", ");
  for (const EvidenceText& told : bracket.evidence) {
    const Evidence facts = EvidenceOf(told);
    if (&told == &bracket.evidence.front()) common.evidence = facts;
    std::erase_if(common.evidence, [&](const auto& fact) { return FactOf(facts, fact.first) != fact.second; });
  }
  common.evidence.erase(evidence::kHost);
  common.evidence.erase(evidence::kUuid);
  return common;
}

ReportModel FillReport(const ReportSources& sources) {
  ReportModel report;
  report.data_as_of = sources.candidates.newest;
  report.infimum_version = std::string(InfimumVersion());
  report.model_name = sources.name;
  report.arguments = ArgumentsOf(sources);
  report.title = report.model_name + " on " + sources.device.name;
  report.model_sha256 = sources.graph.sha256;
  report.opset = sources.graph.opset;
  for (const ValueId id : sources.graph.inputs) {
    const Value& value = sources.graph.value(id);
    report.inputs.push_back({value.name, std::string(Name(value.type)), value.shape ? Format(*value.shape) : "?"});
  }
  report.device_name = sources.device.name;
  report.device_key = sources.device.Key().text;
  report.generation = sources.device.generation;
  report.environment = sources.environment;
  report.environment.threads = sources.bracket.selection.threads;
  report.selection = SelectionText(sources.bracket.selection);
  report.bench_options.reset();
  if (sources.here) report.bench_options = BenchOptions(sources.bracket.selection, sources.database, sources.backend);
  report.contract = std::string(Name(sources.bracket.contract));
  report.floor = sources.bracket.floor;
  report.conventional_floor = sources.bracket.conventional_floor;
  report.bounds = sources.bracket.bounds;
  report.regret = sources.bracket.regret;
  report.inversions = sources.bracket.inversions;
  report.what_ifs = sources.bracket.what_ifs;
  report.demonstrated = sources.bracket.demonstrated;
  report.composition = sources.bracket.composition;
  report.coverage = sources.bracket.coverage;
  report.layers = FillLayers(sources.graph, sources.bracket);
  report.edges = FillEdges(sources.graph);
  report.regions = FillRegions(sources.bracket);
  FillCandidates(sources.candidates, sources.bracket, report);
  report.passes = sources.graph.passes;
  if (sources.run != nullptr && sources.gap != nullptr) {
    report.run = FillRun(*sources.run, *sources.gap);
    report.waterfall = sources.gap->waterfall;
    report.findings = sources.gap->findings;
    AddCommands(report.bench_options, sources.bracket.selection.contract, report.findings);
    FillFindingEvidence(sources.bracket.selection.contract, report);
  }
  FillRoofs(sources.peaks, sources.bracket.selection.threads, report);
  FillMissing(sources, report);
  AdviseOnWeights(sources, report);
  FillAdvice(sources, report);
  return report;
}

}  // namespace infimum
