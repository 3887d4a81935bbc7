// Google Benchmark JSON one entry at a time, in memory bounded by one entry, whatever the size of the file.
//
//   StreamBenchmarks(file, "128.json", {counters, facts}, [](const BenchmarkEntry& entry) { ...; return Status(); });
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "infimum/base/result.h"
#include "infimum/measurement/device.h"

namespace infimum::ingest {

struct BenchmarkEntry {
  std::size_t index = 0;  // in `benchmarks`, from 0
  std::size_t line = 0;   // where it begins, from 1
  std::string name;
  std::string label;
  std::string run_type;   // "iteration", "aggregate"; empty in files of 2019
  std::string time_unit;  // "ns", "us", "ms", "s"
  std::string message;    // error_message, or skip_message
  bool failed = false;    // error_occurred
  bool skipped = false;
  std::optional<double> real_time;
  std::optional<double> iterations;
  std::optional<double> threads;
  std::map<std::string, double, std::less<>> counters;    // the wanted ones
  std::map<std::string, std::string, std::less<>> facts;  // of a wanted key "gpu_name:TITAN V": "gpu_name" -> "TITAN V"
};

// Raw ones inside texts, which count as spaces.
struct ControlCharacters {
  std::size_t count = 0;
  std::size_t line = 0;  // of the first, and column, from 1
  std::size_t column = 0;
};

struct BenchmarkContext {
  std::string date;
  std::string executable;
  std::string infimum_device;  // as the program added it to its context
  // From programs that `infimum emit` wrote: "infimum.emit/1", "onednn=3.2.0 omp", "1", "pinned:3".
  std::string infimum_schema;
  std::string infimum_libraries;
  std::string infimum_threads;
  std::string infimum_affinity;
  std::optional<double> cpus;
  std::optional<double> megahertz;
  std::map<std::string, std::string> caches;  // "l1" -> "32768", data and unified ones
  ControlCharacters controls;                 // of the whole file
};

struct WantedFields {
  std::span<const std::string_view> counters;
  std::span<const std::string_view> facts;
};

// A text or number longer than this is an error, so that no file can fill the memory.
inline constexpr std::size_t kMaxBenchmarkToken = std::size_t{1} << 20;

// Errors of the text name file, line and column; an error of `take` ends the reading and is returned.
Result<BenchmarkContext> StreamBenchmarks(std::istream& input, std::string_view origin, const WantedFields& wanted,
                                          const std::function<Status(const BenchmarkEntry&)>& take);

// Where and when a Google Benchmark file was measured: device, environment and time, from what its entries and its
// context say.
//
//   facts {gpu_name: "Tesla T4", compute_capability: "7.5", cudnn_version: "7.6.3", cuda_driver_version: "10.10"}
//     ->  device gpu/NVIDIA/compute_capability=7.5/name=Tesla%20T4, generation Turing;
//         libraries {cudnn: 7.6.3, cuda_runtime: 10.1}

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
