// Rows, devices and environments with every field set, for tests that change the one they are about.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "infimum/measurement/measurement.h"

namespace infimum {

inline constexpr const char* kReluText = "pointwise kind=relu dtype=f32:-:f32 in=802816";
inline constexpr const char* kMatMulText =
    "matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x3072 bias=column weights=const";

inline Device TestDevice() {
  Device device;
  device.name = "Test \"CPU\" \xc3\xa9";
  device.vendor = "AuthenticAMD";
  device.generation = "Zen 3";
  device.identity = {{"family", "25"}, {"model", "1"}, {"stepping", "1"}, {"instructions", "avx2,fma"}, {"cores", "2"}};
  device.cores = 2;
  device.last_level_cache = Bytes{32 << 20};
  device.memory = Bytes{std::int64_t{8} << 30};
  return device;
}

inline Environment TestEnvironment(std::string onednn = "3.2.0 gomp") {
  Environment environment;
  environment.libraries = {{"onednn", std::move(onednn)}};
  environment.evidence = {
      {evidence::kAffinity, "pinned:0"}, {evidence::kSystem, "Linux 6.1"}, {evidence::kInfimum, "0.1.0"}};
  return environment;
}

// One repetition for each list of samples, in microseconds.
inline std::vector<Repetition> Repetitions(std::initializer_list<std::vector<double>> lists) {
  std::vector<Repetition> repetitions;
  for (const std::vector<double>& list : lists) {
    std::vector<Latency> samples(list.begin(), list.end());
    repetitions.push_back(Summarize(samples));
  }
  return repetitions;
}

inline Measurement TestRow(std::string workload = kReluText, std::string algorithm = "jit:avx2") {
  Measurement row;
  row.workload = {std::move(workload)};
  row.candidate = {"onednn", std::move(algorithm), "any", "any", true};
  row.device = TestDevice().Key();
  row.environment = TestEnvironment().Key();
  row.evidence = TestEnvironment().Told();
  row.measured_at = "2026-05-01T10:00:00Z";
  row.repetitions = Repetitions({{10.5, 10.25, 11}, {10.1}, {12, 13}});
  row.numeric_error = 1.5e-7;
  return row;
}

}  // namespace infimum
