// What a launch timer needs of a device (launch_device.h), on a GPU: launches of one thing that can be enqueued, as
// graphs, in a stream, or one after everything else was driven out of the caches.
#pragma once

#include <functional>

#include "microbench/gpu/device/gpu.h"
#include "microbench/gpu/device/launch_device.h"

namespace infimum::cuda {

class ProgramLaunches : public LaunchDevice {
 public:
  // `gpu` lives longer; `enqueue` puts one launch into the stream.
  ProgramLaunches(Gpu& gpu, std::function<Status(Gpu::Stream)> enqueue) : gpu_(gpu), enqueue_(std::move(enqueue)) {}

  Result<Graph> Capture(std::int64_t launches) override;
  Result<Latency> Replay(Graph graph) override;
  void Drop(Graph graph) override { gpu_.DropGraph(graph); }
  Result<Latency> LaunchInStream(std::int64_t launches) override;
  Result<Latency> LaunchCold() override;
  std::optional<double> FrequencyMhz() override { return gpu_.FrequencyMhz(); }
  bool Overlaps(Graph graph) override { return gpu_.Overlaps(graph); }
  bool IsPowerLimited() override { return gpu_.IsPowerLimited(); }

 private:
  Status EnqueueAll(std::int64_t launches);
  // Between the two marks, once the device is done.
  Result<Latency> Between();

  Gpu& gpu_;
  std::function<Status(Gpu::Stream)> enqueue_;
};

}  // namespace infimum::cuda
