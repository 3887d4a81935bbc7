// What a measurement ran on: a device that two different processors never share, and the environment
// around it.
//
//   Device::Key() of a CPU:
//   "cpu/AuthenticAMD/family=25/model=1/stepping=1/instructions=avx2,fma/l1=32K/l2=512K/l3=32M/cores=2"
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "infimum/base/units.h"
#include "infimum/layer/data_type.h"

namespace infimum {

struct DeviceKey {
  std::string text;
  friend auto operator<=>(const DeviceKey&, const DeviceKey&) = default;
};

enum class DeviceKind { kCpu, kGpu };

struct Device {
  DeviceKind kind = DeviceKind::kCpu;
  std::string name;        // marketing name, for people: "AMD EPYC"; never an identity
  std::string vendor;      // "AuthenticAMD", "NVIDIA"
  std::string generation;  // "Zen 3", "Hopper"; empty where unknown
  // The identity, in words that are compared: family, model, stepping, instruction sets, caches, cores
  // (CPU); compute capability, multiprocessors, memory, clocks (GPU).
  std::map<std::string, std::string> identity;
  std::int64_t cores = 1;  // cores visible (CPU), multiprocessors (GPU)
  Bytes last_level_cache;
  Bytes memory;

  // One line made of kind, vendor and all of `identity`, in a fixed order (known fields as above, then the
  // others by name). Spaces, separators and control characters are written as %XX, so that different
  // identities never share a key.
  DeviceKey Key() const;
  friend bool operator==(const Device&, const Device&) = default;
};

struct EnvironmentKey {
  std::string text;
  friend auto operator<=>(const EnvironmentKey&, const EnvironmentKey&) = default;
};

// Everything around a device that may change a time.
struct Environment {
  std::map<std::string, std::string> libraries;  // "onednn": "3.2.0 gomp"
  std::int64_t threads = 1;
  std::string affinity;      // "pinned:0", "free"
  std::string clock_policy;  // governor, or locked clocks; empty where unreadable
  std::string host;          // operating system and kernel; no host name
  std::string infimum_version;

  // "threads=1/affinity=pinned:0/clocks=performance/host=.../infimum=0.1.0/library:onednn=3.2.0%20gomp",
  // escaped like a device's.
  EnvironmentKey Key() const;
  friend bool operator==(const Environment&, const Environment&) = default;
};

// One point of the device's measured peaks: a rate of the memory system at a working set, of arithmetic in a type, or
// of launches.
struct PeakRate {
  // kTf32: products of f32 operands under the contract tf32. kLaunch: empty kernels one after the other.
  enum class Kind { kRead, kWrite, kCopy, kArithmetic, kTf32, kLaunch };
  Kind kind = Kind::kRead;
  Bytes working_set;               // memory kinds
  DataType type = DataType::kF32;  // arithmetic; the input type (of tf32, f32)
  std::int64_t threads = 1;
  double per_second = 0;  // bytes (a copy counts read + write), FLOPs or launches
  std::string source;     // "measured", "data sheet: <where>"

  bool is_memory() const { return kind == Kind::kRead || kind == Kind::kWrite || kind == Kind::kCopy; }
  friend bool operator==(const PeakRate&, const PeakRate&) = default;
};

struct DevicePeaks {
  std::vector<PeakRate> rates;
  // What all levels nearer than memory hold together, where only a data sheet says it; 0 where the device's key does.
  Bytes nearer_than_memory;
};

}  // namespace infimum
