// A backend whose runs take exactly the time of fake_machine.h, on a clock that they advance: a
// campaign of hours passes at once, and every number in its results can be computed by hand.
//
// Settings (BackendOptions::settings, or --backend-option NAME=VALUE of infimum-microbench-fake):
//
//   machine=7            another pretended machine: other factors, another device
//   noise=0.023          each launch is slower by |N(0, 0.023)| on a logarithmic scale
//   process-noise=0.02   a whole process is faster or slower by N(0, 0.02), as the placement of its pages decides
//   wander=0.1           from one repetition to the next the machine is slower or faster by N(0, 0.1), on a logarithmic
//                        scale, as a clock that wanders makes it; its metronome shows it
//   frequency=1500       the clock rate that it reports, in MHz
//   pace=2ms             preparing a candidate really takes that long, so that a campaign can be interrupted
//   crash=gemm ...       faults, see fake_faults.h
#pragma once

#include <memory>

#include "infimum/microbench/runner_main.h"
#include "microbench/fake/fake_faults.h"

namespace infimum {

class FakeBackend : public Backend {
 public:
  explicit FakeBackend(const BackendOptions& options);
  // Runs advance the given clock, which outlives the backend: a campaign's own clock, in tests.
  FakeBackend(const BackendOptions& options, FakeClock& clock);

  std::string_view name() const override { return "fake"; }
  Result<Device> DescribeDevice() override;
  Result<Environment> DescribeEnvironment() override;
  Result<std::vector<Candidate>> Candidates(const Workload& workload, NumericContract contract,
                                            CandidateTier tier) override;
  Result<std::unique_ptr<PreparedRun>> Prepare(const Workload& workload, const Candidate& candidate,
                                               NumericContract contract) override;
  std::vector<std::string> PeakProbes(PeakDetail) override;
  Result<std::vector<PeakRate>> MeasurePeaks(std::string_view probe) override;
  std::optional<double> FrequencyMhz() override { return frequency_; }
  std::optional<Beat> TakeBeat(bool with_cache) override;
  const Clock& clock() const override { return clock_; }

 private:
  void ReadSettings();

  BackendOptions options_;
  std::unique_ptr<FakeClock> own_clock_;
  FakeClock& clock_;
  std::uint64_t machine_ = 0;
  double noise_ = 0;
  double process_noise_ = 0;
  double wander_ = 0;
  double slower_ = 1;  // what is prepared now takes so many times as long
  std::optional<double> frequency_;
  Clock::Duration pace_{0};
  FakeFaults faults_;
  Status settings_status_;  // reported by DescribeDevice
};

}  // namespace infimum
