// One program of a GPU on random operands of its own, which is what the harness times: memory on the device, launches
// timed by the device's own clock (launch_timer.h), and the result held against the f64 reference.
#pragma once

#include <memory>

#include "infimum/microbench/backend.h"
#include "microbench/gpu/device/gpu_program.h"
#include "microbench/reference/region_tensors.h"

namespace infimum::cuda {

struct GpuRunOptions {
  std::uint64_t seed = 1;
  // What an empty launch takes by the same timing; below three times that a row is bound by launching.
  std::optional<Latency> launch_floor;
  Latency event_cost{};               // what two events add to a launch between them
  cpu::KnownValues* known = nullptr;  // lives longer
};

// `gpu` lives longer.
Result<std::unique_ptr<PreparedRun>> PrepareGpuRun(Gpu& gpu, const cpu::ValuedRegion& problem, const GpuOffer& offer,
                                                   const GpuRunOptions& options);

// What an empty kernel takes, timed as every launch is, once the device is awake: this quantile of several times.
Result<Latency> MeasureLaunchFloor(Gpu& gpu, double quantile = 0.5);
// What two events add to a launch between them: an empty one's time there above its floor.
Result<Latency> MeasureEventCost(Gpu& gpu, Latency launch_floor);

}  // namespace infimum::cuda
