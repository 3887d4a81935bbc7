// A GPU as the harness drives it: candidates of its libraries, prepared and timed by the device's own clock.
//
//   GpuBackend backend(options, {OpenCudaGpu, MakeCudaLibraries});
//
// Settings (--backend-option): `device=1` is CUDA's number of the GPU; `busy=allow` measures although others use it;
// `streams=4` runs independent branches of a replay beside each other.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "infimum/microbench/runner_main.h"
#include "microbench/gpu/device/gpu.h"
#include "microbench/gpu/device/gpu_libraries.h"

namespace infimum::cuda {

// What the backend is made of; a test puts a pretended GPU here.
struct GpuParts {
  std::function<Result<std::unique_ptr<Gpu>>(const GpuOptions&)> open;
  std::function<std::unique_ptr<GpuLibraries>(Gpu&)> libraries;
  const Clock* clock = &SteadyClock();  // the host's
};

class GpuBackend : public Backend {
 public:
  GpuBackend(BackendOptions options, GpuParts parts) : options_(std::move(options)), parts_(std::move(parts)) {}

  std::string_view name() const override { return "cuda"; }
  Result<Device> DescribeDevice() override;
  Result<Environment> DescribeEnvironment() override;
  Result<std::vector<Candidate>> Candidates(const Workload& workload, NumericContract contract,
                                            CandidateTier tier) override;
  Result<std::unique_ptr<PreparedRun>> Prepare(const Workload& workload, const Candidate& candidate,
                                               NumericContract contract) override;
  Result<std::unique_ptr<PreparedReplay>> PrepareReplay(const ReplaySchedule& schedule,
                                                        const TensorFolder* folder) override;
  std::vector<std::string> PeakProbes(PeakDetail) override;
  Result<std::vector<PeakRate>> MeasurePeaks(std::string_view probe) override;
  std::optional<double> FrequencyMhz() override;
  const Clock& clock() const override { return *parts_.clock; }

 private:
  // The GPU, opened at the first call; the error is the same at every later one.
  Status Open();
  Status ReadSettings(GpuOptions& gpu, bool& busy_is_allowed);

  BackendOptions options_;
  GpuParts parts_;
  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<GpuLibraries> libraries_;
  std::optional<Latency> launch_floor_;
  Latency event_cost_{};
  cpu::KnownValues known_;
  int replay_streams_ = 1;
};

}  // namespace infimum::cuda
