#include "analyzer/measured_rows.h"

#include <algorithm>

namespace infimum {
namespace {

using Rows = std::map<WorkloadKey, WorkloadRows>;

void Add(const WorkloadKey& key, const Workload& workload, const Work& work, Rows& rows) {
  const auto [entry, is_new] = rows.try_emplace(key);
  if (is_new) entry->second = {workload, work, NativeContract(workload), {}};
}

void Collect(const ModelGraph& graph, const RegionSet& regions, Rows& rows) {
  for (const Layer& layer : graph.layers) {
    for (const SubGraph& body : layer.bodies)
      if (body.graph != nullptr) Collect(*body.graph, regions, rows);
    if (layer.status == LayerStatus::kMeasurable && layer.workload)
      Add(KeyOf(*layer.workload), *layer.workload, layer.work, rows);
  }
  for (const KnownRegion& known : regions.Of(graph)) Add(known.key, known.region.workload, known.work, rows);
}

}  // namespace

bool Meets(const Measurement& row, NumericContract wanted) {
  return row.contract == wanted || row.contract == NumericContract::kStrictF32;
}

Result<MeasuredRows> MeasuredRows::Fetch(const ModelGraph& graph, const RegionSet& regions, MeasurementSource& source,
                                         const Selection& selection) {
  MeasuredRows result;
  Collect(graph, regions, result.rows_);
  INFIMUM_RETURN_IF_ERROR(result.FetchRows(source, selection));
  return result;
}

Result<MeasuredRows> MeasuredRows::Fetch(std::span<const Workload> workloads, MeasurementSource& source,
                                         const Selection& selection) {
  MeasuredRows result;
  for (const Workload& workload : workloads) Add(KeyOf(workload), workload, WorkOf(workload), result.rows_);
  INFIMUM_RETURN_IF_ERROR(result.FetchRows(source, selection));
  return result;
}

Status MeasuredRows::FetchRows(MeasurementSource& source, const Selection& selection) {
  std::vector<WorkloadKey> keys;
  keys.reserve(rows_.size());
  for (const auto& [key, entry] : rows_) keys.push_back(key);

  // A layer on fewer cores than the bound may use leaves the others to its neighbours.
  for (std::int64_t threads = 1; threads < selection.threads && threads <= (std::int64_t{1} << 20); threads *= 2)
    thread_counts_.push_back(threads);
  thread_counts_.push_back(selection.threads);

  for (std::int64_t threads : thread_counts_) {
    Selection asked = selection;
    asked.threads = threads;
    // An environment names its threads; a bound that is tied to one has no rows of another.
    if (threads != selection.threads && selection.environment) continue;
    INFIMUM_ASSIGN_OR_RETURN(std::vector<Measurement> found, source.Find(keys, asked));
    for (Measurement& row : found) {
      if (row.outcome != Outcome::kMeasured || row.repetitions.empty()) continue;
      if (row.device != selection.device) continue;  // one device's times never enter another's bound
      const auto entry = rows_.find(row.workload);
      if (entry == rows_.end()) continue;
      if (!Meets(row, selection.contract.value_or(entry->second.native))) continue;
      entry->second.by_threads[threads].push_back(std::move(row));
    }
  }
  return {};
}

const WorkloadRows* MeasuredRows::Find(const WorkloadKey& key) const {
  const auto entry = rows_.find(key);
  return entry == rows_.end() ? nullptr : &entry->second;
}

}  // namespace infimum
