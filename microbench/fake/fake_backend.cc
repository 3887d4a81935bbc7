#include "microbench/fake/fake_backend.h"

#include <array>
#include <cmath>
#include <random>
#include <thread>

#include "infimum/base/text.h"
#include "microbench/fake/fake_machine.h"
#include "microbench/harness/sampling/shuffle.h"

namespace infimum {
namespace {

class FakeRun : public PreparedRun {
 public:
  FakeRun(FakeClock& clock, Clock::Duration latency, double noise, std::uint64_t seed, Bytes footprint, Bytes constants,
          bool wrong)
      : clock_(clock),
        latency_(latency),
        noise_(noise),
        random_(seed),
        footprint_(footprint),
        constants_(constants),
        wrong_(wrong) {}

  Status Run() override {
    Clock::Duration duration = latency_;
    if (copies_ > 1) duration += FakeColdWeightsCost(constants_);
    if (noise_ > 0) {
      // Noise only ever slows down, so that the pretended latency stays the infimum.
      const double factor = std::exp(std::abs(std::normal_distribution<double>(0, noise_)(random_)));
      duration = Clock::Duration(std::llround(static_cast<double>(duration.count()) * factor));
    }
    clock_.Advance(duration);
    return {};
  }

  Result<std::optional<double>> NumericError() override { return std::optional<double>(wrong_ ? 0.3 : 0.0); }
  Bytes footprint() const override { return footprint_; }
  Bytes constants() const override { return constants_; }
  Status RotateConstants(std::size_t copies) override {
    copies_ = copies;
    return {};
  }

 private:
  FakeClock& clock_;
  Clock::Duration latency_;
  double noise_;
  std::mt19937_64 random_;
  Bytes footprint_;
  Bytes constants_;
  std::size_t copies_ = 1;
  bool wrong_;
};

}  // namespace

FakeBackend::FakeBackend(const BackendOptions& options)
    : options_(options), own_clock_(std::make_unique<FakeClock>()), clock_(*own_clock_) {
  ReadSettings();
}

FakeBackend::FakeBackend(const BackendOptions& options, FakeClock& clock) : options_(options), clock_(clock) {
  ReadSettings();
}

void FakeBackend::ReadSettings() {
  for (const auto& [name, value] : options_.settings) {
    const std::optional<double> number = ParseNumber(value);
    bool understood = number.has_value() && *number >= 0;
    if (name == "machine") {
      machine_ = understood ? static_cast<std::uint64_t>(*number) : 0;
    } else if (name == "noise") {
      noise_ = number.value_or(0);
    } else if (name == "process-noise") {
      process_noise_ = number.value_or(0);
    } else if (name == "wander") {
      wander_ = number.value_or(0);
    } else if (name == "frequency") {
      frequency_ = number;
    } else if (name == "pace") {
      const std::optional<std::int64_t> milliseconds =
          value.ends_with("ms") ? ParseInteger(std::string_view(value).substr(0, value.size() - 2)) : std::nullopt;
      understood = milliseconds && *milliseconds >= 0;
      pace_ = std::chrono::milliseconds(milliseconds.value_or(0));
    } else if (const std::optional<FakeFault> fault = FindFakeFault(name)) {
      faults_.Add(*fault, value);
      understood = true;
    } else {
      constexpr std::array<std::string_view, 16> kNames{
          "machine", "noise", "process-noise", "wander",        "frequency", "pace",  "crash",         "abort",
          "exit",    "hang",  "leak",          "out-of-memory", "fail",      "wrong", "crash-listing", "crash-peaks"};
      settings_status_ = Error{"--backend-option: unknown option " + Quoted(name) + DidYouMean(name, kNames)};
      return;
    }
    if (!understood) {
      settings_status_ = Error{"--backend-option: " + name + "=" + Quoted(value) + " is not a number" +
                               (name == "pace" ? " of ms (2ms)" : "")};
      return;
    }
  }
}

Result<Device> FakeBackend::DescribeDevice() {
  INFIMUM_RETURN_IF_ERROR(settings_status_);
  return FakeDevice(machine_);
}

Result<Environment> FakeBackend::DescribeEnvironment() {
  Environment environment;
  environment.libraries = {{"fake", "1"}};
  environment.evidence = {{evidence::kClocks, "pretended"}, {evidence::kSystem, "pretended"}};
  return environment;
}

Result<std::vector<Candidate>> FakeBackend::Candidates(const Workload& workload, NumericContract /*contract*/,
                                                       CandidateTier tier) {
  faults_.Strike(FakeFault::kCrashListing, Format(workload));
  return FakeCandidates(workload, tier);
}

Result<std::unique_ptr<PreparedRun>> FakeBackend::Prepare(const Workload& workload, const Candidate& candidate,
                                                          NumericContract /*contract*/) {
  if (pace_.count() > 0) {
    std::this_thread::sleep_for(pace_);
    clock_.Advance(pace_);
  }
  const std::string text = Format(workload);
  INFIMUM_RETURN_IF_ERROR(faults_.Strike(text, candidate));
  INFIMUM_ASSIGN_OR_RETURN(Clock::Duration latency, FakeLatency(workload, candidate, options_.threads, machine_));
  const std::uint64_t process_seed =
      RandomOrder(options_.seed + static_cast<std::uint64_t>(options_.process) * 7919).Next();
  if (process_noise_ > 0) {
    std::mt19937_64 random(process_seed ^ HashOf(text + candidate.name()));
    const double factor = std::exp(std::normal_distribution<double>(0, process_noise_)(random));
    latency = Clock::Duration(std::llround(static_cast<double>(latency.count()) * factor));
  }
  if (wander_ > 0) {
    std::mt19937_64 random(process_seed ^ HashOf(candidate.name() + text + "wander"));
    slower_ = std::exp(std::normal_distribution<double>(0, wander_)(random));
    latency = Clock::Duration(std::llround(static_cast<double>(latency.count()) * slower_));
  }
  const Work work = WorkOf(workload);
  return std::unique_ptr<PreparedRun>(std::make_unique<FakeRun>(
      clock_, latency, noise_, process_seed ^ HashOf(candidate.name() + text), work.read() + work.written,
      FakeConstants(workload), faults_.Has(FakeFault::kWrong, text, candidate)));
}

std::optional<Beat> FakeBackend::TakeBeat(bool) {
  if (!(wander_ > 0)) return std::nullopt;
  return Beat{Latency(100 * slower_), Latency(200)};
}

std::vector<std::string> FakeBackend::PeakProbes(PeakDetail) { return {"memory", "arithmetic"}; }

Result<std::vector<PeakRate>> FakeBackend::MeasurePeaks(std::string_view probe) {
  faults_.Strike(FakeFault::kCrashPeaks, probe);
  std::vector<PeakRate> peaks = FakePeaks(options_.threads);
  std::erase_if(peaks, [&](const PeakRate& peak) {
    return (peak.kind == PeakRate::Kind::kArithmetic) != (probe == "arithmetic");
  });
  return peaks;
}

}  // namespace infimum
