// A source that remembers of what it hands out when the newest row was measured, and of which rows a spread is known:
// those of two repetitions, or of six samples in their only one. Measurements of other programs are often one number,
// and an interval made of it says nothing about noise.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "infimum/measurement/measurement_source.h"

namespace infimum {

class SpreadSource : public MeasurementSource {
 public:
  // `source` lives longer.
  explicit SpreadSource(MeasurementSource& source) : source_(source) {}

  Result<std::vector<Measurement>> Find(std::span<const WorkloadKey> workloads, const Selection& selection) override;
  Result<DevicePeaks> Peaks(const DeviceKey& device) override { return source_.Peaks(device); }

  // Of a row that was handed out.
  bool HasSpread(const WorkloadKey& workload, const std::string& candidate) const {
    return known_.contains({workload, candidate});
  }

  // UTC, of all rows that were handed out; empty where there were none.
  const std::string& newest() const { return newest_; }

 private:
  MeasurementSource& source_;
  std::set<std::pair<WorkloadKey, std::string>> known_;
  std::string newest_;
};

}  // namespace infimum
