#include "microbench/gpu/device/gpu_properties.h"

#include <array>
#include <nlohmann/json.hpp>

#include "infimum/base/text.h"

namespace infimum::cuda {
namespace {

// Those of cuDNN 9.8 to 9.24, apart from the name and the two lists; 9.28 also asks for memoryBusWidth (in bits).
constexpr std::array<std::string_view, 18> kNumbers{"deviceVer",
                                                    "driverVer",
                                                    "cudaDeviceId",
                                                    "multiProcessorCount",
                                                    "warpSize",
                                                    "regsPerBlock",
                                                    "maxSharedMemoryPerBlock",
                                                    "maxSharedMemoryPerBlockOptin",
                                                    "reservedSharedMemoryPerBlock",
                                                    "maxRegistersPerSM",
                                                    "maxCtasPerSM",
                                                    "maxThreadsPerBlock",
                                                    "maxThreadsPerSM",
                                                    "totalGlobalMem",
                                                    "smClockRateKHz",
                                                    "memClockRateKHz",
                                                    "l2CacheSize",
                                                    "supportCoopLaunch"};
constexpr std::array<std::string_view, 2> kLists{"maxGridSize", "maxBlockSize"};

}  // namespace

Result<GpuProperties> GpuProperties::Parse(std::string_view text, const std::string& source) {
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (document.is_discarded() || !document.is_object())
    return Error{source + ": no JSON object of device properties; `infimum candidates --help` says where to get one"};
  const auto wrong = [&](std::string_view key, const std::string& what) {
    return Error{source + ": " + Quoted(std::string(key)) + " " + what + "; cuDNN takes no device without it"};
  };
  const auto name = document.find("deviceName");
  if (name == document.end() || !name->is_string()) return wrong("deviceName", "is missing or no text");
  for (const std::string_view key : kNumbers) {
    const auto value = document.find(key);
    if (value == document.end()) return wrong(key, "is missing");
    if (!value->is_number_integer() || *value < 0) return wrong(key, "is no whole number of 0 or more");
  }
  for (const std::string_view key : kLists) {
    const auto value = document.find(key);
    if (value == document.end()) return wrong(key, "is missing");
    if (!value->is_array() || value->size() != 3) return wrong(key, "is no list of three numbers");
    for (const nlohmann::json& extent : *value)
      if (!extent.is_number_integer() || extent < 1) return wrong(key, "has an extent that is no number of 1 or more");
  }
  GpuProperties gpu;
  gpu.name_ = name->get<std::string>();
  gpu.compute_capability_ = document["deviceVer"].get<std::int64_t>();
  gpu.multiprocessors_ = document["multiProcessorCount"].get<std::int64_t>();
  if (gpu.compute_capability_ < 300 || gpu.compute_capability_ > 9990)
    return wrong("deviceVer", "is " + std::to_string(gpu.compute_capability_) + ", not 750 for 7.5 or 900 for 9.0");
  gpu.json_ = document.dump();
  return gpu;
}

}  // namespace infimum::cuda
