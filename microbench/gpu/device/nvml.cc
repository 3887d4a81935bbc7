#include "microbench/gpu/device/nvml.h"

#include <unistd.h>

#include <array>

#include "microbench/gpu/device/shared_library.h"

namespace infimum::cuda {
namespace {

// Of nvml.h, which not every toolkit brings; NVML keeps these as they are for ever.
using Device = void*;
constexpr unsigned kSmClock = 1;
constexpr unsigned long long kNotAvailable = ~0ULL;
// Reasons of a lower frequency: the power limit that software keeps; hardware's slowdown, thermal ones, the power
// brake.
constexpr unsigned long long kPowerCap = 0x4, kSlowdowns = 0x8 | 0x20 | 0x40 | 0x80;

}  // namespace

struct Nvml::Functions {
  struct ProcessInfo {  // nvmlProcessInfo_v2_t
    unsigned process;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
  };

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_uuid)(const char*, Device*) = nullptr;
  int (*board_of_slice)(Device, Device*) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*clock)(Device, unsigned, unsigned*) = nullptr;
  int (*event_reasons)(Device, unsigned long long*) = nullptr;
  int (*default_clock)(Device, unsigned, unsigned*) = nullptr;
  int (*application_clock)(Device, unsigned, unsigned*) = nullptr;
  int (*power_limit)(Device, unsigned*) = nullptr;
  int (*default_power_limit)(Device, unsigned*) = nullptr;
  int (*ecc)(Device, int*, int*) = nullptr;
  int (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;

  std::optional<double> Clock(int (*function)(Device, unsigned, unsigned*), Device device) const {
    unsigned value = 0;
    if (function == nullptr || function(device, kSmClock, &value) != 0 || value == 0) return std::nullopt;
    return value;
  }
};

Result<std::unique_ptr<Nvml>> Nvml::Open(const std::string& uuid) {
  INFIMUM_ASSIGN_OR_RETURN(const SharedLibrary library,
                           SharedLibrary::Open({"libnvidia-ml.so.1"}, "nvml", "NVIDIA's management library"));
  auto functions = std::make_unique<Functions>();
  library.Find("nvmlInit_v2", functions->init);
  library.Find("nvmlShutdown", functions->shutdown);
  library.Find("nvmlDeviceGetHandleByUUID", functions->by_uuid);
  library.Find("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", functions->board_of_slice);
  library.Find("nvmlSystemGetDriverVersion", functions->driver_version);
  library.Find("nvmlDeviceGetClockInfo", functions->clock);
  library.Find("nvmlDeviceGetCurrentClocksEventReasons", functions->event_reasons);
  // Its name before release 535 of the driver.
  if (functions->event_reasons == nullptr)
    library.Find("nvmlDeviceGetCurrentClocksThrottleReasons", functions->event_reasons);
  library.Find("nvmlDeviceGetDefaultApplicationsClock", functions->default_clock);
  library.Find("nvmlDeviceGetApplicationsClock", functions->application_clock);
  library.Find("nvmlDeviceGetEnforcedPowerLimit", functions->power_limit);
  library.Find("nvmlDeviceGetPowerManagementDefaultLimit", functions->default_power_limit);
  library.Find("nvmlDeviceGetEccMode", functions->ecc);
  library.Find("nvmlDeviceGetComputeRunningProcesses_v3", functions->processes);
  if (functions->init == nullptr || functions->by_uuid == nullptr || functions->init() != 0)
    return Error{"NVIDIA's management library does not work here"};
  Device device = nullptr;
  std::string name = "GPU-" + uuid;
  if (functions->by_uuid(name.c_str(), &device) == 0)
    return std::unique_ptr<Nvml>(new Nvml(std::move(functions), name, device, device));
  // A slice of a board: clocks, power and ECC are the board's.
  Device slice = nullptr;
  name = "MIG-" + uuid;
  if (functions->board_of_slice == nullptr || functions->by_uuid(name.c_str(), &slice) != 0 ||
      functions->board_of_slice(slice, &device) != 0)
    return Error{"NVIDIA's management library does not know GPU-" + uuid};
  return std::unique_ptr<Nvml>(new Nvml(std::move(functions), name, device, slice));
}

Nvml::Nvml(std::unique_ptr<Functions> functions, std::string uuid, void* device, void* slice)
    : functions_(std::move(functions)), uuid_(std::move(uuid)), device_(device), slice_(slice) {}

Nvml::~Nvml() {
  if (functions_->shutdown != nullptr) functions_->shutdown();
}

std::string Nvml::DriverVersion() const {
  std::array<char, 96> text{};
  if (functions_->driver_version == nullptr || functions_->driver_version(text.data(), text.size() - 1) != 0) return "";
  return text.data();
}

std::optional<double> Nvml::FrequencyMhz() const { return functions_->Clock(functions_->clock, device_); }

std::optional<double> Nvml::ApplicationMhz() const {
  const auto usual = functions_->Clock(functions_->default_clock, device_);
  const auto set = functions_->Clock(functions_->application_clock, device_);
  return usual && set && *usual != *set ? set : std::nullopt;
}

bool Nvml::IsPowerLimited() const {
  unsigned long long reasons = 0;
  if (functions_->event_reasons == nullptr || functions_->event_reasons(device_, &reasons) != 0) return false;
  return (reasons & kPowerCap) != 0 && (reasons & kSlowdowns) == 0;
}

std::string Nvml::PowerLimit() const {
  unsigned now = 0, usual = 0;
  if (functions_->power_limit == nullptr || functions_->power_limit(device_, &now) != 0) return "";
  const auto watts = [](unsigned milliwatts) { return std::to_string((milliwatts + 500) / 1000); };
  const bool differs = functions_->default_power_limit != nullptr &&
                       functions_->default_power_limit(device_, &usual) == 0 && usual != now;
  return watts(now) + (differs ? " of " + watts(usual) : "") + " W";
}

std::string Nvml::Ecc() const {
  int now = 0, after_the_next_start = 0;
  if (functions_->ecc == nullptr || functions_->ecc(device_, &now, &after_the_next_start) != 0) return "";
  return now != 0 ? "on" : "off";
}

std::vector<GpuProcess> Nvml::OtherProcesses() const {
  std::array<Functions::ProcessInfo, 64> found{};
  unsigned count = found.size();
  if (functions_->processes == nullptr || functions_->processes(slice_, &count, found.data()) != 0) return {};
  std::vector<GpuProcess> others;
  for (unsigned i = 0; i < count && i < found.size(); ++i) {
    if (found[i].process == static_cast<unsigned>(getpid())) continue;
    const bool is_known = found[i].memory != kNotAvailable;
    others.push_back({found[i].process, Bytes{is_known ? static_cast<std::int64_t>(found[i].memory) : 0}});
  }
  return others;
}

}  // namespace infimum::cuda
