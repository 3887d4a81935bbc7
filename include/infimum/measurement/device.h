// What a measurement ran on: a device that two different processors never share and one processor never changes, the
// environment around it, and evidence of where it was.
//
//   Device::Key() of a CPU:
//   "cpu/AuthenticAMD/family=25/model=1/stepping=1/instructions=avx2,fma/l1=32K/l2=512K/l3=32M/cores=2"
//   Environment::Key():
//   "threads=1/library:onednn=3.2.0%20gomp"
//   Environment::Told():
//   "affinity=pinned/clocks=performance/cores=2/host=3f9c0a51d2e8/infimum=0.1.0/system=Linux%206.1.0%20x86_64"
//
// A bound takes rows of one device and, of each library, of one environment, whatever their evidence.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/units.h"
#include "infimum/layer/data_type.h"

namespace infimum {

struct DeviceKey {
  std::string text;
  friend auto operator<=>(const DeviceKey&, const DeviceKey&) = default;
};

enum class DeviceKind { kCpu, kGpu };
std::string_view Name(DeviceKind kind);  // "cpu", "gpu"

struct Device {
  DeviceKind kind = DeviceKind::kCpu;
  std::string name;        // marketing name, for people: "AMD EPYC"; never an identity
  std::string vendor;      // "AuthenticAMD", "NVIDIA"
  std::string generation;  // "Zen 3", "Hopper"; empty where unknown
  // The identity, in words that are compared: family, model, stepping, instruction sets, caches, cores present
  // (CPU); compute capability, multiprocessors, memory, caches (GPU). Nothing that the same processor answers
  // otherwise under another affinity, cpuset, driver or clock.
  std::map<std::string, std::string> identity;
  std::int64_t cores = 1;  // cores present (CPU), multiprocessors (GPU)
  Bytes last_level_cache;
  Bytes memory;

  // One line made of kind, vendor and all of `identity`, in a fixed order (known fields as above, then the
  // others by name). Spaces, separators and control characters are written as %XX, so that different
  // identities never share a key.
  DeviceKey Key() const;
  // The reverse: what a key does not hold (name, generation, sizes) stays unknown. nullopt for what is no key.
  static std::optional<Device> OfKey(std::string_view key);
  friend bool operator==(const Device&, const Device&) = default;
};

struct EnvironmentKey {
  std::string text;
  friend auto operator<=>(const EnvironmentKey&, const EnvironmentKey&) = default;
};

// Facts about where and how something was measured, by name; what is not known has none. They inform people and
// warnings what to make of a row, and never which row it is compared with.
using Evidence = std::map<std::string, std::string>;

namespace evidence {
inline constexpr char kHost[] = "host";          // which machine: a hash that distinguishes machines and names none
inline constexpr char kSystem[] = "system";      // operating system and kernel
inline constexpr char kCores[] = "cores";        // how many cores this process might use
inline constexpr char kAffinity[] = "affinity";  // "pinned", "pinned:0,1", "free"
inline constexpr char kClocks[] = "clocks";      // governor, or locked clocks
inline constexpr char kInfimum[] = "infimum";    // its version
inline constexpr char kUuid[] = "uuid";          // of a GPU: which of several alike
inline constexpr char kPowerLimit[] = "power_limit";
inline constexpr char kEcc[] = "ecc";
}  // namespace evidence

// "" where `facts` do not have it.
const std::string& FactOf(const Evidence& facts, std::string_view name);

// Evidence as one text, which rows carry: "name=value" pieces by name, escaped like a device's key. Empty: none.
struct EvidenceText {
  std::string text;
  friend auto operator<=>(const EvidenceText&, const EvidenceText&) = default;
};
EvidenceText TextOf(const Evidence& facts);
// The reverse; pieces that TextOf() does not write are passed over.
Evidence EvidenceOf(const EvidenceText& text);

// What around a device changes its times.
struct Environment {
  std::map<std::string, std::string> libraries;  // "onednn": "3.2.0 gomp"; a driver is one
  std::int64_t threads = 1;
  Evidence evidence = {};  // no part of the key

  // "threads=1/library:onednn=3.2.0%20gomp", escaped like a device's.
  EnvironmentKey Key() const;
  EvidenceText Told() const { return TextOf(evidence); }
  friend bool operator==(const Environment&, const Environment&) = default;
};

// One point of the device's measured peaks: a rate of the memory system at a working set, of arithmetic in a type, or
// of launches; or how long caches that other programs share keep what lies in them.
struct PeakRate {
  // kTf32: products of f32 operands under the contract tf32. kLaunch: empty kernels one after the other. kRetention:
  // others push what lies in the shared caches out meanwhile: after t seconds exp(-t / per_second) of it is still
  // there.
  enum class Kind { kRead, kWrite, kCopy, kArithmetic, kTf32, kLaunch, kRetention };
  Kind kind = Kind::kRead;
  Bytes working_set;               // memory kinds; of a retention what the threads' own caches hold, which nobody takes
  DataType type = DataType::kF32;  // arithmetic; the input type (of tf32, f32)
  std::int64_t threads = 1;
  double per_second = 0;  // bytes (a copy counts read + write), FLOPs or launches; of a retention its seconds
  std::string source;     // "measured", "data sheet: <where>"

  bool is_memory() const { return kind == Kind::kRead || kind == Kind::kWrite || kind == Kind::kCopy; }
  friend bool operator==(const PeakRate&, const PeakRate&) = default;
};

// "read", "write", "copy", "arithmetic", "tf32", "launch", "retention".
std::string_view Name(PeakRate::Kind kind);

struct DevicePeaks {
  std::vector<PeakRate> rates;
  // Capacity of all levels nearer than memory, where only a data sheet has it; 0 where the device's key does.
  Bytes nearer_than_memory;
};

}  // namespace infimum
