#include "microbench/gpu/gpu_backend.h"

#include <charconv>
#include <limits>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "microbench/gpu/device/symmetric_values.h"
#include "microbench/gpu/gpu_peaks.h"
#include "microbench/gpu/gpu_replay.h"
#include "microbench/gpu/gpu_run.h"

namespace infimum::cuda {
namespace {

constexpr int kMostStreams = 16;

std::string Generation(std::int64_t compute_capability) {
  switch (compute_capability / 10) {
    case 70:
      return "Volta";
    case 75:
      return "Turing";
    case 80:
    case 86:
    case 87:
      return "Ampere";
    case 89:
      return "Ada Lovelace";
    case 90:
      return "Hopper";
    default:
      return compute_capability >= 1000 ? "Blackwell" : "";
  }
}

// "2 other processes use this GPU (12 GiB)"; empty where it is ours alone.
std::string Company(const std::vector<GpuProcess>& others) {
  if (others.empty()) return "";
  Bytes memory;
  for (const GpuProcess& process : others) memory += process.memory;
  return std::to_string(others.size()) +
         (others.size() == 1 ? " other process uses this GPU" : " other processes use this GPU") +
         (memory.value > 0 ? " (" + FormatByteCount(memory) + ")" : "");
}

}  // namespace

Status GpuBackend::ReadSettings(GpuOptions& gpu, bool& busy_is_allowed) {
  for (const auto& [name, value] : options_.settings) {
    const auto number = [&value = value](int least, int most) -> std::optional<int> {
      int read = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), read);
      const bool is_whole = error == std::errc() && end == value.data() + value.size();
      return is_whole && read >= least && read <= most ? std::optional(read) : std::nullopt;
    };
    if (name == "device") {
      const std::optional<int> device = number(0, std::numeric_limits<int>::max());
      if (!device) return Error{"--backend-option device: " + Quoted(value) + " is no number of a GPU"};
      gpu.device = *device;
    } else if (name == "streams") {
      const std::optional<int> streams = number(1, kMostStreams);
      if (!streams)
        return Error{"--backend-option streams: " + Quoted(value) + " is no number from 1 to " +
                     std::to_string(kMostStreams)};
      replay_streams_ = *streams;
    } else if (name == "busy") {
      if (value != "allow") return Error{"--backend-option busy: " + Quoted(value) + " is not 'allow'"};
      busy_is_allowed = true;
    } else {
      return Error{"--backend-option: backend cuda has no option " + name +
                   "; it has device=N, busy=allow and streams=N"};
    }
  }
  return {};
}

Status GpuBackend::Open() {
  if (gpu_) return {};
  GpuOptions options;
  options.most_memory = options_.most_device_memory;
  bool busy_is_allowed = false;
  INFIMUM_RETURN_IF_ERROR(ReadSettings(options, busy_is_allowed));
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Gpu> gpu, parts_.open(options));
  if (const std::string company = Company(gpu->OtherProcesses()); !company.empty() && !busy_is_allowed) {
    return Error{company +
                 ", so that times would say little; wait for it to be free, or give --backend-option busy=allow"};
  }
  gpu_ = std::move(gpu);
  libraries_ = parts_.libraries(*gpu_);
  return {};
}

Result<Device> GpuBackend::DescribeDevice() {
  INFIMUM_RETURN_IF_ERROR(Open());
  const GpuFacts& facts = gpu_->facts();
  Device device;
  device.kind = DeviceKind::kGpu;
  device.name = facts.name;
  device.vendor = "NVIDIA";
  device.generation = Generation(facts.compute_capability);
  device.cores = facts.multiprocessors;
  device.memory = facts.memory;
  device.last_level_cache = facts.second_level_cache;
  device.identity["compute_capability"] =
      std::to_string(facts.compute_capability / 100) + "." + std::to_string(facts.compute_capability / 10 % 10);
  device.identity["multiprocessors"] = std::to_string(facts.multiprocessors);
  // In whole GiB: drivers keep different parts for themselves.
  device.identity["memory"] = std::to_string((facts.memory.value + (std::int64_t{1} << 29)) >> 30) + "G";
  // What lies nearer than the second level: registers and shared memory of all multiprocessors, where a kernel may keep
  // what it read.
  device.identity["l1"] = std::to_string(facts.on_chip_memory.value >> 10) + "K";
  device.identity["l2"] = std::to_string(facts.second_level_cache.value >> 20) + "M";
  return device;
}

Result<Environment> GpuBackend::DescribeEnvironment() {
  INFIMUM_RETURN_IF_ERROR(Open());
  Environment environment;
  environment.libraries = libraries_->versions();
  environment.libraries["cuda-driver"] = gpu_->facts().driver;
  environment.libraries["cuda"] = gpu_->facts().runtime;
  const GpuFacts& facts = gpu_->facts();
  environment.evidence = {{evidence::kClocks, gpu_->ClockPolicy()},
                          {evidence::kUuid, facts.uuid},
                          {evidence::kPowerLimit, facts.power_limit},
                          {evidence::kEcc, facts.ecc}};
  for (const std::string& missing : libraries_->missing())
    std::fprintf(stderr, "infimum: warning: %s\n", missing.c_str());
  return environment;
}

Result<std::vector<Candidate>> GpuBackend::Candidates(const Workload& workload, NumericContract contract,
                                                      CandidateTier tier) {
  INFIMUM_RETURN_IF_ERROR(Validate(workload));
  INFIMUM_RETURN_IF_ERROR(Open());
  INFIMUM_ASSIGN_OR_RETURN(std::vector<GpuOffer> offers, libraries_->Offers(workload, contract, tier));
  std::vector<Candidate> candidates;
  for (GpuOffer& offer : offers) candidates.push_back(std::move(offer.candidate));
  return candidates;
}

Result<std::unique_ptr<PreparedRun>> GpuBackend::Prepare(const Workload& workload, const Candidate& candidate,
                                                         NumericContract contract) {
  INFIMUM_RETURN_IF_ERROR(Validate(workload));
  INFIMUM_RETURN_IF_ERROR(Open());
  if (!launch_floor_) {
    INFIMUM_ASSIGN_OR_RETURN(launch_floor_, MeasureLaunchFloor(*gpu_));
    INFIMUM_ASSIGN_OR_RETURN(event_cost_, MeasureEventCost(*gpu_, *launch_floor_));
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<GpuOffer> offer, libraries_->Find(workload, contract, candidate));
  if (!offer) return Error{"unsupported: " + candidate.name() + " is not offered for this workload on this device"};
  return PrepareGpuRun(*gpu_, BenchmarkedRegion(workload), *offer,
                       {options_.seed, launch_floor_, event_cost_, &known_});
}

Result<std::unique_ptr<PreparedReplay>> GpuBackend::PrepareReplay(const ReplaySchedule& schedule,
                                                                  const TensorFolder* folder) {
  INFIMUM_RETURN_IF_ERROR(Open());
  return PrepareGpuReplay(*gpu_, *libraries_, schedule, folder,
                          {options_.seed, static_cast<std::size_t>(replay_streams_)});
}

std::vector<std::string> GpuBackend::PeakProbes(PeakDetail) { return GpuPeakProbes(); }

Result<std::vector<PeakRate>> GpuBackend::MeasurePeaks(std::string_view probe) {
  INFIMUM_RETURN_IF_ERROR(Open());
  return MeasureGpuPeaks(*gpu_, *libraries_, probe);
}

std::optional<double> GpuBackend::FrequencyMhz() { return gpu_ ? gpu_->FrequencyMhz() : std::nullopt; }

}  // namespace infimum::cuda
