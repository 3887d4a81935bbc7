// What layers that run at once share: all cores of a processor together; of a GPU its memory and, for each type of
// data, its arithmetic.
//
//   four cores, a layer of 3 us on all and 4 us on one core:  core-time 4 x 1 / 4 = 1 us of the whole processor
//   V100, a layer of 120 us, 12.8 MB and 1.1 GFLOP in f32:    memory 14 us, arithmetic-f32 70 us
//
// An occupancy is never more than the layer's own time, and never less than nothing: of what a layer does beyond
// doubt. So Winograd and FFT, which need fewer operations than the textbook says, occupy no arithmetic here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/types/device_model.h"
#include "infimum/measurement/measurement_source.h"

namespace infimum {

class Resources {
 public:
  Resources(const DeviceModel& device, const Selection& selection);

  const std::vector<std::string>& names() const { return names_; }
  // Of one measured or estimated workload: in the order of the names. `core_time`: cores x time, the least of all
  // counts of cores that it was measured on.
  std::vector<Latency> OccupancyOf(const Workload& workload, const Work& work, std::string_view algorithm, Latency best,
                                   Latency core_time) const;
  bool of_cores() const { return cores_ > 0; }
  std::vector<Latency> Nothing() const { return std::vector<Latency>(names_.size(), Latency(0)); }

 private:
  const DeviceModel& device_;
  std::vector<std::string> names_;
  std::vector<DataType> types_;  // of the arithmetic, behind the memory
  double cores_ = 0;             // 0: a GPU
};

}  // namespace infimum
