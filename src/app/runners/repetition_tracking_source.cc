#include "src/app/runners/repetition_tracking_source.h"

#include <algorithm>

#include "infimum/measurement/verdict.h"

namespace infimum {

Result<std::vector<Measurement>> SpreadSource::Find(std::span<const WorkloadKey> workloads,
                                                    const Selection& selection) {
  INFIMUM_ASSIGN_OR_RETURN(std::vector<Measurement> rows, source_.Find(workloads, selection));
  for (const Measurement& row : rows) {
    newest_ = std::max(newest_, row.measured_at);
    if (row.outcome == Outcome::kMeasured && RatioOf(row.repetitions, row.repetitions))
      known_.insert({row.workload, row.candidate.name()});
  }
  return rows;
}

}  // namespace infimum
