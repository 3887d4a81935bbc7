// The CPU's backend: oneDNN's implementations and kernels of ours, behind the interface that every runner
// drives.
//
//   OneDnnBackend backend(options);
//   backend.Candidates(*ParseWorkload("matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x768 bias=no weights=const"),
//                      NumericContract::kStrictF32, CandidateTier::kEngine);
//   // onednn/gemm:jit, onednn/matmul-as-inner-product/gemm:jit, ..., infimum/gemm:avx2
#pragma once

#include "infimum/microbench/runner_main.h"
#include "microbench/cpu/device/metronome.h"
#include "microbench/reference/reference.h"

namespace infimum {

class OneDnnBackend : public Backend {
 public:
  explicit OneDnnBackend(BackendOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "onednn"; }
  Result<Device> DescribeDevice() override;
  Result<Environment> DescribeEnvironment() override;
  Result<std::vector<Candidate>> Candidates(const Workload& workload, NumericContract contract,
                                            CandidateTier tier) override;
  Result<std::unique_ptr<PreparedRun>> Prepare(const Workload& workload, const Candidate& candidate,
                                               NumericContract contract) override;
  Result<std::unique_ptr<PreparedReplay>> PrepareReplay(const ReplaySchedule& schedule,
                                                        const TensorFolder* folder) override;
  std::vector<std::string> PeakProbes(PeakDetail detail) override;
  Result<std::vector<PeakRate>> MeasurePeaks(std::string_view probe) override;
  Result<std::optional<double>> ResidentShare(Bytes working_set, Clock::Duration between) override;
  std::optional<double> FrequencyMhz() override;
  std::optional<Beat> TakeBeat(bool with_cache) override;

 private:
  BackendOptions options_;
  cpu::KnownValues known_;
  std::optional<cpu::Metronome> metronome_;  // made when it is first asked
};

}  // namespace infimum
