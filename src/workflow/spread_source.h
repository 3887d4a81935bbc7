// A source that remembers of which rows a spread is known: those of two repetitions, or of six samples in their only
// one. Measurements of other programs are often one number, and an interval made of it says nothing about noise.
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

 private:
  MeasurementSource& source_;
  std::set<std::pair<WorkloadKey, std::string>> known_;
};

}  // namespace infimum
