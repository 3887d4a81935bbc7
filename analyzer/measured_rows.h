// The rows that may enter a bound, by workload: those of every measurable layer and fusable region of a model and of
// its sub-graphs, or of workloads that a rule set names, fetched in one question, and on several threads one more for
// each smaller number of them.
//
//   rows.Of(KeyOf(workload), 1)  ->  the rows of this workload on one core, every outcome
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "analyzer/region_set.h"
#include "infimum/measurement/measurement_source.h"

namespace infimum {

struct WorkloadRows {
  Workload workload;
  Work work;
  NumericContract native = NumericContract::kStrictF32;
  // Rows by how many threads they ran on; only measured ones that meet the contract.
  std::map<std::int64_t, std::vector<Measurement>> by_threads;
};

class MeasuredRows {
 public:
  static Result<MeasuredRows> Fetch(const ModelGraph& graph, const RegionSet& regions, MeasurementSource& source,
                                    const Selection& selection);
  static Result<MeasuredRows> Fetch(std::span<const Workload> workloads, MeasurementSource& source,
                                    const Selection& selection);

  // nullptr where this workload was not asked for.
  const WorkloadRows* Find(const WorkloadKey& key) const;
  // For all of them, in the order of their keys.
  const std::map<WorkloadKey, WorkloadRows>& all() const { return rows_; }
  // 1, 2, 4 ... and last the selection's own.
  const std::vector<std::int64_t>& thread_counts() const { return thread_counts_; }

 private:
  Status FetchRows(MeasurementSource& source, const Selection& selection);

  std::map<WorkloadKey, WorkloadRows> rows_;
  std::vector<std::int64_t> thread_counts_;
};

// Whether a row counts under the contract asked for: it was measured under it, or under strict-f32, which
// keeps more of the numbers than any other contract for the same workload.
bool Meets(const Measurement& row, NumericContract wanted);

}  // namespace infimum
