#include <algorithm>

#include "infimum/measurement/measurement_source.h"
#include "infimum/measurement/selection_filter.h"

namespace infimum {

void MemorySource::Add(Measurement measurement, const Environment& environment) {
  measurement.environment = environment.Key();
  environments_.emplace(measurement.environment, environment);
  std::vector<Measurement>& rows = rows_[measurement.workload];
  // Adding the same row again adds nothing, as in a store.
  if (std::find(rows.begin(), rows.end(), measurement) == rows.end()) rows.push_back(std::move(measurement));
}

void MemorySource::SetPeaks(const DeviceKey& device, DevicePeaks peaks) { peaks_[device] = std::move(peaks); }

Result<std::vector<Measurement>> MemorySource::Find(std::span<const WorkloadKey> workloads,
                                                    const Selection& selection) {
  const std::set<WorkloadKey> asked(workloads.begin(), workloads.end());
  std::vector<Measurement> found;
  for (const WorkloadKey& workload : asked) {
    const auto rows = rows_.find(workload);
    if (rows != rows_.end()) found.insert(found.end(), rows->second.begin(), rows->second.end());
  }
  return Admitted(std::move(found), environments_, selection);
}

Result<DevicePeaks> MemorySource::Peaks(const DeviceKey& device) {
  const auto peaks = peaks_.find(device);
  return peaks == peaks_.end() ? DevicePeaks{} : peaks->second;
}

}  // namespace infimum
