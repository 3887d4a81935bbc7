// Where and when a Google Benchmark file was measured: device, environment and time, from what its entries and its
// context say.
//
//   facts {gpu_name: "Tesla T4", compute_capability: "7.5", cudnn_version: "7.6.3", cuda_driver_version: "10.10"}
//     ->  device gpu/NVIDIA/compute_capability=7.5/name=Tesla%20T4, generation Turing;
//         libraries {cudnn: 7.6.3, cuda_runtime: 10.1}
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "infimum/base/result.h"
#include "infimum/measurement/device.h"
#include "src/readers/benchmarks/benchmark_stream.h"

namespace infimum::ingest {

using Facts = std::map<std::string, std::string, std::less<>>;

// The keys whose second half is a fact.
std::span<const std::string_view> FactNames();

// Adds an entry's facts; an error where they contradict those of earlier entries: one file is one system.
Status AddFacts(const Facts& entry, Facts& file);

// In this order: the GPU that entries name; the key in the context's `infimum_device`; a processor of which no more is
// known than what Google Benchmark writes, its cores, clock and caches.
Result<Device> DeviceOf(const Facts& facts, const BenchmarkContext& context);
bool IsDeviceKnown(const Facts& facts, const BenchmarkContext& context);

// "Volta" for "7.0"; empty where unknown.
std::string_view GenerationOf(std::string_view compute_capability);

Environment EnvironmentOf(const Facts& facts);

// `context.date` as UTC. A time without an offset, as Google Benchmark wrote it until 2020, is taken as UTC.
Result<std::string> MeasuredAt(const BenchmarkContext& context);

}  // namespace infimum::ingest
