#include "src/app/model_report/report_filling.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "analyzer/gap/run_latency.h"
#include "infimum/base/text.h"
#include "infimum/measurement/statistics.h"
#include "infimum/measurement/verdict.h"
#include "reports/model/advice.h"
#include "reports/text/layer_words.h"
#include "src/app/model_report/finding_evidence.h"
#include "src/app/runners/installation.h"

namespace infimum {
namespace {

ReportArguments ArgumentsOf(const ReportSources& sources) {
  const Selection& selection = sources.bracket.selection;
  ReportArguments arguments;
  arguments.place = ModelArguments(sources.model, sources.dims) + " --db " + ShellQuoted(sources.database);
  arguments.model = arguments.place;
  if (selection.threads != 1) arguments.model += fmt::format(" --threads {}", selection.threads);
  if (!sources.here) arguments.device = "--device " + ShellQuoted(sources.device.name);
  if (selection.contract) arguments.contract = fmt::format("--contract {}", Name(*selection.contract));
  return arguments;
}

std::vector<ReportEdge> FillEdges(const ModelGraph& graph) {
  std::vector<ReportEdge> edges;
  const std::vector<std::vector<LayerId>> producers = Predecessors(graph);
  for (std::size_t consumer = 0; consumer < producers.size(); ++consumer)
    for (const LayerId producer : producers[consumer]) edges.push_back({producer.index(), consumer});
  std::sort(edges.begin(), edges.end());
  return edges;
}

ReportRun FillRun(RunProfile run, const Alignment& alignment) {
  ReportRun filled;
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
  // A body's layers are inside the time of their loop's row.
  std::ranges::copy_if(alignment.rows, std::back_inserter(filled.rows),
                       [](const AlignedRow& row) { return !row.inside_body && row.measured; });
  filled.profile = std::move(run);
  return filled;
}

// The candidates of the graph's own layers and regions, each workload once.
void FillWorkloads(CandidatesOfModel known, ReportModel& report) {
  std::map<std::string, WorkloadCandidates*> known_as;
  for (WorkloadCandidates& workload : known.workloads) known_as[workload.workload.text] = &workload;
  std::map<std::string, std::size_t> places;
  const auto place_of = [&](const std::string& config) -> std::optional<std::size_t> {
    const auto found = known_as.find(config);
    if (found == known_as.end()) return std::nullopt;
    const auto [place, is_new] = places.try_emplace(config, report.workloads.size());
    if (is_new) report.workloads.push_back(std::move(*found->second));
    return place->second;
  };
  for (const Layer& layer : report.graph.layers) report.layer_workloads.push_back(place_of(ConfigOf(layer)));
  // Those that only a run has shown have no candidates.
  for (const RegionLatency& region : report.bracket.regions)
    report.region_workloads.push_back(region.region ? place_of(ConfigOf(region)) : std::nullopt);
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
    if (rate.kind == PeakRate::Kind::kLaunch || rate.kind == PeakRate::Kind::kRetention) continue;
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

}  // namespace

std::string ModelArguments(const std::string& model, const std::map<std::string, std::int64_t>& dims) {
  std::string text = ShellQuoted(model);
  for (const auto& [name, extent] : dims) text += fmt::format(" --dim {}={}", ShellQuoted(name), extent);
  return text;
}

std::string BenchOptions(const Selection& selection, const std::string& database, const std::string& backend) {
  std::string options = fmt::format("--db {}", ShellQuoted(database));
  if (selection.threads != 1) options += fmt::format(" --threads {}", selection.threads);
  if (selection.cache && selection.cache != CacheState::kWarm)
    options += fmt::format(" --cache {}", Name(selection.cache));
  if (selection.contract) options += fmt::format(" --contract {}", Name(*selection.contract));
  // Also for another machine than this one, which chooses the processor where it has no GPU.
  if (!backend.empty() && (backend != "onednn" || DefaultBackend() != "onednn"))
    options += " --backend " + ShellQuoted(backend);
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

ReportModel FillReport(ReportSources sources) {
  const Selection& selection = sources.bracket.selection;
  ReportModel report;
  report.arguments = ArgumentsOf(sources);
  report.bench_options.reset();
  if (sources.here) report.bench_options = BenchOptions(selection, sources.database, sources.backend);
  report.data_as_of = sources.candidates.newest;
  report.infimum_version = std::string(InfimumVersion());
  report.model_name = sources.name;
  report.title = report.model_name + " on " + sources.device.name;
  report.device_name = sources.device.name;
  report.device_key = sources.device.Key().text;
  report.generation = sources.device.generation;
  report.environment = std::move(sources.environment);
  report.environment.threads = selection.threads;
  report.edges = FillEdges(sources.graph);
  FillRoofs(sources.peaks, selection.threads, report);
  report.graph = std::move(sources.graph);
  report.bracket = std::move(sources.bracket);
  FillWorkloads(std::move(sources.candidates), report);
  if (sources.run && sources.gap) {
    report.run = FillRun(*std::move(sources.run), sources.gap->alignment);
    report.waterfall = std::move(sources.gap->waterfall);
    report.findings = std::move(sources.gap->findings);
    AddCommands(report.bench_options, report.bracket.selection.contract, ModelArguments(sources.model, sources.dims),
                report.findings);
    FillFindingEvidence(report.bracket.selection.contract, report);
  }
  FillAdvice(sources.warnings, sources.device.last_level_cache, report);
  return report;
}

}  // namespace infimum
