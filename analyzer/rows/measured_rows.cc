#include "analyzer/rows/measured_rows.h"

#include <algorithm>
#include <set>
#include <utility>

#include "infimum/base/check.h"
#include "infimum/graph/replay_schedule.h"

namespace infimum {

std::span<const KnownRegion> RegionSet::Of(const ModelGraph& graph) const {
  const auto found = regions_.find(&graph);
  return found == regions_.end() ? std::span<const KnownRegion>() : std::span<const KnownRegion>(found->second);
}

void RegionSet::Add(const ModelGraph& graph) {
  std::vector<KnownRegion>& known = regions_[&graph];
  for (FusableRegion& region : FindFusableRegions(graph)) {
    WorkloadKey key = KeyOf(region.workload);
    const Work work = WorkOf(region.workload);
    known.push_back({std::move(region), std::move(key), work});
  }
  for (const Layer& layer : graph.layers)
    for (const SubGraph& body : layer.bodies)
      if (body.graph != nullptr) Add(*body.graph);
}

namespace {

// How many of a workload's first operands are no weights.
std::size_t CountInputs(const Workload& workload, std::size_t operands) {
  const auto* region = std::get_if<Region>(&workload);
  if (region == nullptr) return operands;
  std::size_t weights = 0;  // they count up from 0
  for (const RegionMember& member : region->members)
    for (const RegionOperand& operand : member.operands)
      if (operand.source == RegionOperand::Source::kWeight)
        weights = std::max(weights, static_cast<std::size_t>(operand.index) + 1);
  return operands - std::min(weights, operands);
}

// By operand where layers and regions list it.
std::vector<std::size_t> ListedPlaces(const Workload& workload, std::size_t operands) {
  std::vector<std::size_t> places(operands);
  for (std::size_t i = 0; i < operands; ++i) places[i] = i;
  if (const auto* region = std::get_if<Region>(&workload)) {
    const std::vector<std::size_t> by_use = PlacesByFirstUse(*region);
    for (std::size_t i = 0; i < by_use.size(); ++i)
      if (by_use[i] < operands) places[by_use[i]] = i;
  }
  return places;
}

}  // namespace

VaryingOperands VaryingOperandsOf(const Workload& workload) {
  VaryingOperands varying;
  varying.keeps_layout = IsElementwise(workload);
  std::vector<Operand> operands = OperandsOf(workload);
  const std::vector<std::size_t> places = ListedPlaces(workload, operands.size());
  const std::size_t inputs = CountInputs(workload, operands.size());
  varying.reads.reserve(inputs);
  for (std::size_t k = 0; k < inputs; ++k)
    if (!operands[k].constant) varying.reads.push_back({places[k], std::move(operands[k].shape)});
  std::vector<Operand> outputs = OutputsOf(workload);
  varying.writes.reserve(outputs.size());
  for (Operand& output : outputs) varying.writes.push_back(std::move(output.shape));
  return varying;
}

namespace {

void Widen(std::optional<ClockRange>& range, const std::optional<ClockRange>& seen) {
  if (!seen) return;
  if (!range) range = seen;
  range->low_mhz = std::min(range->low_mhz, seen->low_mhz);
  range->high_mhz = std::max(range->high_mhz, seen->high_mhz);
}

}  // namespace

KeyedWorkload Keyed(Workload workload) {
  WorkloadKey key = KeyOf(workload);
  Work work = WorkOf(workload);
  return {std::move(workload), std::move(key), std::move(work)};
}

std::span<const TimedRow> WorkloadRows::On(std::int64_t threads) const {
  const auto own = by_threads.find(threads);
  return own == by_threads.end() ? std::span<const TimedRow>() : std::span<const TimedRow>(own->second);
}

bool Meets(const Measurement& row, NumericContract wanted) {
  return row.contract == wanted || row.contract == NumericContract::kStrictF32;
}

WorkloadRows* MeasuredRows::Add(const WorkloadKey& key, const Workload& workload, const Work& work) {
  const auto [entry, is_new] = rows_.try_emplace(key);
  if (is_new) entry->second = {&workload, work, NativeContract(workload), 0, {}, {}, {}};
  return &entry->second;
}

const WorkloadRows* MeasuredRows::AddOfGraph(const WorkloadKey& key, const Workload& workload, const Work& work) {
  WorkloadRows* entry = Add(key, workload, work);
  if (entry->workload == &workload) entry->operands = VaryingOperandsOf(workload);
  return entry;
}

void MeasuredRows::Collect(const ModelGraph& graph, const RegionSet& regions) {
  GraphRows own;
  own.layers.assign(graph.layers.size(), nullptr);
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    for (const SubGraph& body : layer.bodies)
      if (body.graph != nullptr) Collect(*body.graph, regions);
    if (layer.status == LayerStatus::kMeasurable && layer.workload)
      own.layers[i] = AddOfGraph(KeyOf(*layer.workload), *layer.workload, layer.work);
  }
  for (const KnownRegion& known : regions.Of(graph))
    own.regions.push_back(AddOfGraph(known.key, known.region.workload, known.work));
  by_graph_.emplace(&graph, std::move(own));
}

Result<MeasuredRows> MeasuredRows::Fetch(const ModelGraph& graph, const RegionSet& regions, MeasurementSource& source,
                                         const Selection& selection, const Residency* residency) {
  MeasuredRows result;
  result.Collect(graph, regions);
  INFIMUM_RETURN_IF_ERROR(result.FetchRows(source, selection, residency));
  return result;
}

Result<MeasuredRows> MeasuredRows::Fetch(std::span<const KeyedWorkload> workloads, MeasurementSource& source,
                                         const Selection& selection) {
  MeasuredRows result;
  for (const KeyedWorkload& asked : workloads) result.Add(asked.key, asked.workload, asked.work);
  INFIMUM_RETURN_IF_ERROR(result.FetchRows(source, selection, nullptr));
  return result;
}

Status MeasuredRows::FetchRows(MeasurementSource& source, const Selection& selection, const Residency* residency) {
  std::vector<WorkloadKey> keys;
  keys.reserve(rows_.size());
  for (auto& [key, entry] : rows_) {
    entry.number = keys.size();
    keys.push_back(key);
  }

  std::vector<std::int64_t> thread_counts;  // 1, 2, 4 ... and last the selection's own
  // A layer on fewer cores than the bound may use leaves the others to its neighbours.
  for (std::int64_t threads = 1; threads < selection.threads && threads <= (std::int64_t{1} << 20); threads *= 2)
    thread_counts.push_back(threads);
  thread_counts.push_back(selection.threads);

  const bool in_context = !selection.cache && residency != nullptr;
  std::vector<std::optional<NearConstants>> known(rows_.size());
  const auto near = [&](const WorkloadKey& key) {
    const auto found = rows_.find(key);
    if (found == rows_.end()) return NearConstants();
    std::optional<NearConstants>& own = known[found->second.number];
    if (!own) own = residency->Of(*found->second.workload);
    return *own;
  };
  for (std::int64_t threads : thread_counts) {
    Selection asked = selection;
    asked.threads = threads;
    if (!in_context) asked.cache = selection.cache.value_or(CacheState::kWarm);
    // An environment names its threads; a bound that is tied to one has no rows of another.
    if (threads != selection.threads && selection.environment) continue;
    INFIMUM_ASSIGN_OR_RETURN(std::vector<Measurement> found, source.Find(keys, asked));
    pace_ = Pace(found);  // and at last that of the selection's threads
    if (threads == selection.threads) FindRefusals(found, selection);
    found_.push_back(in_context ? TimedRows(std::move(found), near, pace_) : TimedRows(std::move(found), pace_));
    Sort(found_.back(), threads, selection);
  }
  FindNoise();
  return {};
}

// Of a workload that no library's list of candidates has anything for: of all others candidates may still be tried.
void MeasuredRows::FindRefusals(std::span<const Measurement> found, const Selection& selection) {
  std::set<WorkloadKey> tried;
  for (const Measurement& row : found) {
    if (!Counts(row, selection)) continue;
    if (row.outcome == Outcome::kUnsupported && row.candidate.algorithm == "any") {
      rows_.at(row.workload).refusal = row.reason;
    } else {
      tried.insert(row.workload);
    }
  }
  for (const WorkloadKey& key : tried) rows_.at(key).refusal.clear();
}

void MeasuredRows::FindNoise() {
  std::vector<std::span<const double>> all;
  for (const auto& [key, entry] : rows_)
    for (const auto& [threads, timed] : entry.by_threads)
      for (const TimedRow& row : timed) all.push_back(row.logs);
  noise_ = NoiseModel(all);
  for (auto& [key, entry] : rows_)
    for (auto& [threads, timed] : entry.by_threads) noise_.SetTimes(timed);
}

void MeasuredRows::Sort(const TimedRows& found, std::int64_t threads, const Selection& selection) {
  // Rows of one workload mostly come together, and most are of one environment.
  auto entry = rows_.end();
  const EnvironmentKey* environment = nullptr;
  auto evidence = evidence_.end();
  for (const TimedRow& timed : found.all()) {
    const Measurement& row = *timed.row;
    if (row.device != selection.device) continue;  // one device's times never enter another's bound
    if (entry == rows_.end() || entry->first != row.workload) entry = rows_.find(row.workload);
    if (entry == rows_.end()) continue;
    if (!Meets(row, selection.contract.value_or(entry->second.native))) continue;
    if (row.candidate.is_observed()) {
      if (threads == selection.threads) entry->second.observed.push_back(timed);
      continue;
    }
    entry->second.by_threads[threads].push_back(timed);
    entry->second.by_threads[threads].back().layouts = layouts_.Of(row.candidate);
    if (environment == nullptr || *environment != row.environment)
      environment = &*environments_.insert(row.environment).first;
    if (evidence == evidence_.end() || evidence->first != row.evidence)
      evidence = evidence_.try_emplace(row.evidence).first;
    for (const Repetition& repetition : row.repetitions) Widen(evidence->second, repetition.clocks);
  }
}

const WorkloadRows* MeasuredRows::Find(const WorkloadKey& key) const {
  const auto entry = rows_.find(key);
  return entry == rows_.end() ? nullptr : &entry->second;
}

bool MeasuredRows::Counts(const Measurement& row, const Selection& selection) const {
  if (row.device != selection.device) return false;
  const WorkloadRows* workload = Find(row.workload);
  return workload != nullptr && Meets(row, selection.contract.value_or(workload->native));
}

const GraphRows& MeasuredRows::Of(const ModelGraph& graph) const {
  const auto found = by_graph_.find(&graph);
  INFIMUM_CHECK(found != by_graph_.end(), "rows are asked of the model that they were fetched for");
  return found->second;
}

}  // namespace infimum
