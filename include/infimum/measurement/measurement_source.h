// Where the analyzer gets its measurements from: the store, results files, or a test. Asked in batches,
// once for a whole model.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "infimum/measurement/measurement.h"

namespace infimum {

// Which measurements may enter a bound. Printed with every bound.
struct Selection {
  DeviceKey device;
  std::int64_t threads = 1;
  // cold-weights: of workloads without constants warm rows (StateOfRows). Absent: in context, which takes warm rows and
  // those with weights from memory (analyzer/rows).
  std::optional<CacheState> cache;
  std::optional<NumericContract> contract;    // absent: the model's own types
  std::optional<EnvironmentKey> environment;  // absent: of each library the newest set
};

class MeasurementSource {
 public:
  virtual ~MeasurementSource() = default;

  // All rows of these workloads that the selection admits, every outcome, in no order.
  virtual Result<std::vector<Measurement>> Find(std::span<const WorkloadKey> workloads, const Selection& selection) = 0;

  // Measured and data-sheet peaks of a device; empty where there are none.
  virtual Result<DevicePeaks> Peaks(const DeviceKey& device) = 0;
};

// A source over rows in memory, for tests and for results that no store holds.
class MemorySource : public MeasurementSource {
 public:
  void Add(Measurement measurement, const Environment& environment);
  void SetPeaks(const DeviceKey& device, DevicePeaks peaks);

  Result<std::vector<Measurement>> Find(std::span<const WorkloadKey> workloads, const Selection& selection) override;
  Result<DevicePeaks> Peaks(const DeviceKey& device) override;

 private:
  std::map<EnvironmentKey, Environment> environments_;
  std::map<WorkloadKey, std::vector<Measurement>> rows_;
  std::map<DeviceKey, DevicePeaks> peaks_;
};

}  // namespace infimum
