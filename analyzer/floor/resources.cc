#include "analyzer/floor/resources.h"

#include <algorithm>
#include <map>

#include "analyzer/floor/floor.h"

namespace infimum {

Resources::Resources(const DeviceModel& device, const Selection& selection) : device_(device) {
  if (!selection.device.text.starts_with("gpu")) {
    cores_ = static_cast<double>(std::max<std::int64_t>(selection.threads, 1));
    names_ = {"core-time"};
    return;
  }
  names_ = {"memory"};
  for (DataType type : {DataType::kF64, DataType::kF32, DataType::kF16, DataType::kBF16, DataType::kF8E4M3,
                        DataType::kF8E5M2, DataType::kS8, DataType::kU8}) {
    if (!device.HasArithmetic(type)) continue;
    types_.push_back(type);
    names_.push_back("arithmetic-" + std::string(Name(type)));
  }
}

std::vector<Latency> Resources::OccupancyOf(const Workload& workload, const Work& work, std::string_view algorithm,
                                            Latency best, Latency core_time) const {
  if (cores_ > 0) return {std::min(best, core_time / cores_)};
  std::vector<Latency> occupancy = {std::min(
      best, device_.Memory(static_cast<double>(work.read().value), static_cast<double>(work.written.value)).latency)};
  std::map<DataType, double> flops;
  if (IsDirect(algorithm)) flops = ConventionalFlopsOf(workload, work);
  for (DataType type : types_) {
    const Latency busy = std::chrono::duration<double>(flops[type] / device_.Arithmetic(type)->value);
    occupancy.push_back(std::min(best, busy));
  }
  return occupancy;
}

}  // namespace infimum
