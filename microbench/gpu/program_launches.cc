#include "microbench/gpu/program_launches.h"

namespace infimum::cuda {

Status ProgramLaunches::EnqueueAll(std::int64_t launches) {
  for (std::int64_t i = 0; i < launches; ++i) INFIMUM_RETURN_IF_ERROR(enqueue_(gpu_.stream()));
  return {};
}

Result<Latency> ProgramLaunches::Between() {
  INFIMUM_RETURN_IF_ERROR(gpu_.Wait());
  return gpu_.Between(0, 1);
}

Result<LaunchDevice::Graph> ProgramLaunches::Capture(std::int64_t launches) {
  return gpu_.Capture([&] { return EnqueueAll(launches); });
}

Result<Latency> ProgramLaunches::Replay(Graph graph) {
  INFIMUM_RETURN_IF_ERROR(gpu_.Mark(0));
  INFIMUM_RETURN_IF_ERROR(gpu_.LaunchGraph(graph));
  INFIMUM_RETURN_IF_ERROR(gpu_.Mark(1));
  return Between();
}

Result<Latency> ProgramLaunches::LaunchInStream(std::int64_t launches) {
  INFIMUM_RETURN_IF_ERROR(gpu_.Mark(0));
  INFIMUM_RETURN_IF_ERROR(EnqueueAll(launches));
  INFIMUM_RETURN_IF_ERROR(gpu_.Mark(1));
  return Between();
}

Result<Latency> ProgramLaunches::LaunchCold() {
  INFIMUM_RETURN_IF_ERROR(gpu_.EmptyCaches());
  // All is queued before any of it begins, so that the host's time for it is not in between. What waits for the device
  // while it is enqueued ends the hold by its own bound, and is timed as it is.
  INFIMUM_RETURN_IF_ERROR(gpu_.Hold());
  Status queued = gpu_.Mark(0);
  if (queued.ok()) queued = enqueue_(gpu_.stream());
  if (queued.ok()) queued = gpu_.Mark(1);
  gpu_.Release();
  INFIMUM_RETURN_IF_ERROR(queued);
  return Between();
}

}  // namespace infimum::cuda
