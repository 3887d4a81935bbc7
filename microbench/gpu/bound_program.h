// A program on memory of its own, ready to be put into streams, that can be made to find its constants elsewhere each
// time.
//
//   BoundProgram program(gpu, *std::move(made), addresses, workspace, {1});   // its second binding is constant
//   program.Prepare();
//   program.RotateConstants(5);        // four copies beside the first
//   program.Enqueue(gpu.stream());     // with the next of the five
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "microbench/gpu/device/gpu.h"
#include "microbench/gpu/device/gpu_program.h"
#include "microbench/gpu/device/launch_device.h"

namespace infimum::cuda {

class BoundProgram {
 public:
  // `gpu` and the memory at the addresses, which are in the order of the program's bindings, live longer.
  BoundProgram(Gpu& gpu, std::unique_ptr<GpuProgram> program, std::vector<void*> addresses, void* workspace,
               std::vector<std::size_t> constants);

  // Once, when the constants are where they will stay.
  Status Prepare();

  Status Enqueue(Gpu::Stream stream);

  const std::vector<GpuBinding>& bindings() const { return program_->bindings(); }
  Bytes constants() const { return constant_bytes_; }

  // Constants in so many places, of which each execution reads the next; 1 goes back to the first. What was captured
  // before keeps the addresses that it had.
  Status RotateConstants(std::size_t copies);

 private:
  Status BindCopy(std::size_t place);

  Gpu& gpu_;
  std::unique_ptr<GpuProgram> program_;
  std::vector<void*> addresses_;
  void* workspace_;
  std::vector<std::size_t> constants_;  // bindings that are
  Bytes constant_bytes_;
  // Those beside the first: of each constant one block, and the bytes from one copy in it to the next.
  struct Copies {
    DeviceMemory memory;
    std::size_t stride = 0;
  };
  std::vector<Copies> copies_;          // by constant; none: all executions read the first
  std::size_t places_ = 1, place_ = 0;  // 0: the first
};

// What a launch timer needs of a device (launch_device.h), on a GPU: launches of one thing that can be enqueued, as
// graphs, in a stream, or one after everything else was driven out of the caches.
class ProgramLaunches : public LaunchDevice {
 public:
  // `gpu` lives longer; `enqueue` puts one launch into the stream.
  ProgramLaunches(Gpu& gpu, std::function<Status(Gpu::Stream)> enqueue) : gpu_(gpu), enqueue_(std::move(enqueue)) {}

  Result<Graph> Capture(std::int64_t launches) override;
  Result<Latency> Replay(Graph graph) override;
  void Drop(Graph graph) override { gpu_.DropGraph(graph); }
  Result<Latency> LaunchInStream(std::int64_t launches) override;
  Result<Latency> LaunchAlone(LaunchCaches caches) override;
  std::optional<double> FrequencyMhz() override { return gpu_.FrequencyMhz(); }
  bool Overlaps(Graph graph) override { return gpu_.Overlaps(graph); }
  bool IsPowerLimited() override { return gpu_.IsPowerLimited(); }
  bool HostWasLate() override { return host_was_late_; }
  void Pause() override { gpu_.Pause(); }

 private:
  Status EnqueueAll(std::int64_t launches);
  Result<Latency> BehindBlock(const std::function<Status()>& enqueue);
  // Between the two events, once the device is done.
  Result<Latency> Elapsed(const Status& queued);

  Gpu& gpu_;
  std::function<Status(Gpu::Stream)> enqueue_;
  bool host_was_late_ = false;
};

}  // namespace infimum::cuda
