// What NVIDIA's management library tells of a GPU: clocks, and who else uses it. Opened when it is asked for; a machine
// without it is none the worse.
//
//   Result<std::unique_ptr<Nvml>> nvml = Nvml::Open("1d3c...");
//   nvml->FrequencyMhz();       // 1980
//   nvml->OtherProcesses();     // {{4711, 12 GiB}}
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "infimum/base/result.h"
#include "microbench/gpu/device/gpu.h"

namespace infimum::cuda {

class Nvml {
 public:
  // Of the board, or the slice of one (MIG), that has these digits of a UUID by the CUDA runtime.
  static Result<std::unique_ptr<Nvml>> Open(const std::string& uuid);
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  const std::string& uuid() const { return uuid_; }  // "GPU-1d3c...", of a slice "MIG-..."
  std::string DriverVersion() const;                 // "580.65.06"; empty where it is not told

  // nullopt and false where the driver does not tell.
  std::optional<double> FrequencyMhz() const;    // of the multiprocessors, now
  std::optional<double> ApplicationMhz() const;  // the application clock, where it is set to another than the default
  bool IsPowerLimited() const;                   // the frequency is lowered for the power limit, and nothing else

  // That holds now: "700 W", "350 of 700 W" where it was lowered; empty where it is not told.
  std::string PowerLimit() const;
  std::string Ecc() const;  // "on" or "off"; empty where it is not told

  // Processes that compute on it, this one left out; empty where they are not told (in containers).
  std::vector<GpuProcess> OtherProcesses() const;

 private:
  struct Functions;
  Nvml(std::unique_ptr<Functions> functions, std::string uuid, void* device, void* slice);

  std::unique_ptr<Functions> functions_;
  std::string uuid_;
  void* device_;
  void* slice_;  // the board itself where it is not divided
};

}  // namespace infimum::cuda
