// One GPU and what is done on it: the seam between all that is measured and the CUDA runtime. CudaGpu (cuda_gpu.h) is
// the real one; tests have a pretended one that keeps its memory on the host and runs kernels by loops there.
//
//   INFIMUM_ASSIGN_OR_RETURN(DeviceMemory x, DeviceMemory::Allocate(gpu, Bytes{4096}));
//   gpu.Upload(x.data(), values.data(), 4096);
//   gpu.Launch(kernel_call, gpu.stream());
//   gpu.Wait();                                // what went wrong on the device is told here
//
// A GPU that has lost its context (an illegal address, an assertion in a kernel) answers nothing any more in this
// process: its calls do not return then but end the process with one line that says what happened, which is how the
// supervisor of a runner hears of a worker's end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/base/units.h"
#include "microbench/kernels/cuda/kernel_call.h"
#include "microbench/kernels/cuda/timing_kernels.h"

namespace infimum::cuda {

struct GpuProcess {
  std::int64_t process = 0;
  Bytes memory;  // 0 where it is not told
};

struct GpuFacts {
  std::string name;                     // "NVIDIA H200"
  std::string uuid;                     // of this very board; empty where the driver does not tell
  std::int64_t compute_capability = 0;  // 900: 9.0
  std::int64_t multiprocessors = 0;
  Bytes memory;
  Bytes second_level_cache;
  Bytes on_chip_memory;     // registers and shared memory of all multiprocessors
  double clock_mhz = 0;     // the highest that multiprocessors may run at; 0 where unknown
  std::string power_limit;  // "700 W", what the driver holds it to; empty where it does not tell
  std::string ecc;          // "on", "off"; empty where the driver does not tell
  std::string driver;       // "580.65.06", or the CUDA version that it has
  std::string runtime;      // "13.0"
  friend bool operator==(const GpuFacts&, const GpuFacts&) = default;
};

// Which GPU, and how much of it.
struct GpuOptions {
  int device = 0;     // CUDA's number of it
  Bytes most_memory;  // that this process may allocate on it; 0: what is free
};

class Gpu {
 public:
  using Stream = void*;  // a cudaStream_t
  using Graph = std::size_t;

  virtual ~Gpu() = default;

  virtual const GpuFacts& facts() const = 0;

  // Device memory, aligned to 256 bytes. An error that names both numbers where the limit on this process, or the
  // device, has no room.
  virtual Result<void*> Allocate(Bytes size) = 0;
  virtual void Free(void* memory) = 0;
  // Finished when they return, after all that was queued before.
  virtual Status Upload(void* device, const void* host, Bytes size) = 0;
  virtual Status Download(void* host, const void* device, Bytes size) = 0;
  virtual Status Fill(void* device, int byte, Bytes size) = 0;

  // Stream 0 is where all is timed; the others are for branches that run beside it.
  virtual Stream stream() = 0;
  virtual Result<Stream> Branch(std::size_t number) = 0;
  // What is queued into `later` from now on waits for all that is in `earlier` now; also while a graph is captured.
  virtual Status StreamWait(Stream later, Stream earlier) = 0;
  virtual Status Wait() = 0;

  // What `enqueue` puts into the streams, as a graph; nothing of it runs now.
  virtual Result<Graph> Capture(const std::function<Status()>& enqueue) = 0;
  // Whether kernels of it may begin before those ahead of them have ended (programmatic dependent launch).
  virtual bool Overlaps(Graph) { return false; }
  virtual Status LaunchGraph(Graph graph) = 0;
  virtual void DropGraph(Graph graph) = 0;

  // Events in stream 0, by numbers from 0 on; after Wait() the time from one to another.
  virtual Status RecordEvent(std::size_t event) = 0;
  virtual Result<Latency> ElapsedTime(std::size_t first, std::size_t last) = 0;

  // A kernel that keeps stream 0 until UnblockStream(), at most two seconds, so that what is queued behind it starts
  // together.
  virtual Status BlockStream() = 0;
  virtual void UnblockStream() = 0;
  // Writes through more memory than the second-level cache holds, in stream 0.
  virtual Status EmptyCaches() = 0;

  virtual Status Launch(const KernelCall& call, Stream stream) = 0;
  // Into stream 0: a kernel that does nothing, and those of peaks.
  virtual Status LaunchEmpty() = 0;
  virtual Status LaunchPeak(const BandwidthCall& call) = 0;
  // How many operations that is.
  virtual Result<double> LaunchPeak(const ArithmeticCall& call) = 0;

  // Of the multiprocessors now; nullopt where the driver does not tell.
  virtual std::optional<double> FrequencyMhz() = 0;
  // Rests, so that a device which became slow may recover.
  virtual void Pause() {}
  // Whether it is lowered now to keep within the power limit alone.
  virtual bool IsPowerLimited() { return false; }

  // Others that computed on it when it was opened; empty where the driver does not tell.
  virtual std::vector<GpuProcess> OtherProcesses() { return {}; }
  // "unknown", "application:1410MHz" where they were set; empty where the driver does not tell. Clocks that were locked
  // otherwise (nvidia-smi -lgc) it does not tell apart.
  virtual std::string ClockPolicy() { return ""; }
};

// Memory of a GPU's, freed with it. The GPU lives longer.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  static Result<DeviceMemory> Allocate(Gpu& gpu, Bytes size) {
    INFIMUM_ASSIGN_OR_RETURN(void* const data, gpu.Allocate(size));
    return DeviceMemory(gpu, data, size);
  }
  DeviceMemory(DeviceMemory&& other) noexcept
      : gpu_(other.gpu_), data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(gpu_, other.gpu_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceMemory() {
    if (data_ != nullptr) gpu_->Free(data_);
  }

  void* data() const { return data_; }
  Bytes size() const { return size_; }

 private:
  DeviceMemory(Gpu& gpu, void* data, Bytes size) : gpu_(&gpu), data_(data), size_(size) {}

  Gpu* gpu_ = nullptr;
  void* data_ = nullptr;
  Bytes size_;
};

}  // namespace infimum::cuda
