#include "microbench/cpu/onednn_backend.h"

#include "microbench/cpu/cache_residency.h"
#include "microbench/cpu/device/cpu_device.h"
#include "microbench/cpu/offers.h"
#include "microbench/cpu/peaks.h"
#include "microbench/cpu/replay_run.h"
#include "microbench/cpu/workload_run.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace infimum {
namespace {

std::string LibraryVersion() {
  const dnnl_version_t* version = dnnl_version();
  const std::string runtime = version->cpu_runtime == DNNL_RUNTIME_OMP   ? "omp"
                              : version->cpu_runtime == DNNL_RUNTIME_TBB ? "tbb"
                              : version->cpu_runtime == DNNL_RUNTIME_SEQ ? "sequential"
                                                                         : "threadpool";
  return std::to_string(version->major) + "." + std::to_string(version->minor) + "." + std::to_string(version->patch) +
         " " + runtime;
}

// Two candidates that nobody could tell apart in a result would be a bug of ours.
void CheckNames(const std::vector<Candidate>& candidates) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      INFIMUM_CHECK(candidates[i].name() != candidates[j].name(), "candidate names are unique");
    }
  }
}

}  // namespace

Result<Device> OneDnnBackend::DescribeDevice() {
  if (!options_.settings.empty()) {
    return Error{"--backend-option: backend onednn has no option " + options_.settings.begin()->first + ", remove it"};
  }
  return cpu::DescribeCpu();
}

Result<Environment> OneDnnBackend::DescribeEnvironment() {
  Environment environment;
  environment.libraries["onednn"] = LibraryVersion();
  environment.threads = options_.threads;
  return environment;
}

Result<std::vector<Candidate>> OneDnnBackend::Candidates(const Workload& workload, NumericContract,
                                                         CandidateTier tier) {
  INFIMUM_RETURN_IF_ERROR(Validate(workload));
  std::vector<Candidate> candidates;
  if (const auto* layer = std::get_if<LayerConfig>(&workload)) {
    for (const cpu::Offer& offer : cpu::OffersFor(*layer, tier)) candidates.push_back(offer.candidate);
  } else {
    for (const cpu::RegionOffer& offer : cpu::RegionOffersFor(std::get<Region>(workload), tier)) {
      candidates.push_back(offer.candidate);
    }
  }
  CheckNames(candidates);
  if (tier == CandidateTier::kHeuristic && candidates.size() > 2) candidates.resize(2);
  return candidates;
}

Result<std::unique_ptr<PreparedRun>> OneDnnBackend::Prepare(const Workload& workload, const Candidate& candidate,
                                                            NumericContract) {
  INFIMUM_RETURN_IF_ERROR(Validate(workload));
  if (const auto* layer = std::get_if<LayerConfig>(&workload)) {
    for (const cpu::Offer& offer : cpu::OffersFor(*layer, CandidateTier::kExhaustive)) {
      if (offer.candidate.name() == candidate.name()) return cpu::PrepareLayer(*layer, offer, options_.seed, known_);
    }
  } else {
    const Region& region = std::get<Region>(workload);
    for (const cpu::RegionOffer& offer : cpu::RegionOffersFor(region, CandidateTier::kExhaustive)) {
      if (offer.candidate.name() == candidate.name()) return cpu::PrepareRegion(region, offer, options_.seed, known_);
    }
  }
  return Error{"unsupported: " + candidate.name() + " is not offered for this workload on this processor"};
}

Result<std::unique_ptr<PreparedReplay>> OneDnnBackend::PrepareReplay(const ReplaySchedule& schedule,
                                                                     const TensorFolder* folder) {
  return cpu::PrepareReplay(schedule, folder, options_.seed);
}

std::vector<std::string> OneDnnBackend::PeakProbes(PeakDetail detail) { return cpu::PeakProbes(detail); }

Result<std::vector<PeakRate>> OneDnnBackend::MeasurePeaks(std::string_view probe) {
  return cpu::MeasurePeaks(probe, options_.threads);
}

Result<std::optional<double>> OneDnnBackend::ResidentShare(Bytes working_set, Clock::Duration between) {
  return cpu::ResidentShare(working_set, between);
}

std::optional<double> OneDnnBackend::FrequencyMhz() { return cpu::FrequencyMhz(); }

std::optional<Beat> OneDnnBackend::TakeBeat(bool with_cache) {
  if (!metronome_) {
    Result<cpu::Metronome> made = cpu::Metronome::Make(options_.threads);
    if (!made.ok()) return std::nullopt;
    metronome_ = *std::move(made);
  }
  return metronome_->Take(with_cache);
}

}  // namespace infimum
