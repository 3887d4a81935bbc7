#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "infimum/measurement/measurement_source.h"
#include "src/core/measurement/selection_filter.h"

namespace infimum {

void MemorySource::Add(Measurement measurement, const Environment& environment) {
  measurement.environment = environment.Key();
  measurement.evidence = environment.Told();
  environments_.emplace(measurement.environment, environment);
  std::vector<Measurement>& rows = rows_[measurement.workload];
  // Adding the same row again adds nothing, as in a store.
  if (std::find(rows.begin(), rows.end(), measurement) == rows.end()) rows.push_back(std::move(measurement));
}

void MemorySource::SetPeaks(const DeviceKey& device, DevicePeaks peaks) { peaks_[device] = std::move(peaks); }

Result<std::vector<Measurement>> MemorySource::Find(std::span<const WorkloadKey> workloads,
                                                    const Selection& selection) {
  std::vector<const WorkloadKey*> asked;
  for (const WorkloadKey& workload : workloads) asked.push_back(&workload);
  const auto key_of = [](const WorkloadKey* key) -> const WorkloadKey& { return *key; };
  if (!std::ranges::is_sorted(asked, {}, key_of)) std::ranges::sort(asked, {}, key_of);
  // Not std::ranges::unique: Clang 14, which builds the fuzzers, does not compile libstdc++'s.
  const auto is_same = [](const WorkloadKey* a, const WorkloadKey* b) { return *a == *b; };
  asked.erase(std::unique(asked.begin(), asked.end(), is_same), asked.end());
  // What ran on another number of threads is left out before it is copied: a bound asks for each number by itself.
  std::set<std::string_view> fitting;
  for (const auto& [key, environment] : environments_)
    if (environment.threads == selection.threads) fitting.insert(key.text);
  std::vector<Measurement> found;
  for (const WorkloadKey* workload : asked) {
    const auto rows = rows_.find(*workload);
    if (rows == rows_.end()) continue;
    std::ranges::copy_if(rows->second, std::back_inserter(found),
                         [&](const Measurement& row) { return fitting.contains(row.environment.text); });
  }
  return Admitted(std::move(found), environments_, selection);
}

Result<DevicePeaks> MemorySource::Peaks(const DeviceKey& device) {
  const auto peaks = peaks_.find(device);
  return peaks == peaks_.end() ? DevicePeaks{} : peaks->second;
}

}  // namespace infimum
