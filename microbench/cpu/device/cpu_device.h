// The processor as a Device: an identity that two different processors never share.
//
//   cpu/AuthenticAMD/family=25/model=1/stepping=1/instructions=avx2,fma,f16c/l1=32K/l2=512K/l3=32M/cores=2
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "infimum/base/result.h"
#include "infimum/measurement/device.h"

namespace infimum::cpu {

// Cores are those present, whatever this process may run on.
Result<Device> DescribeCpu();

// Processors that the kernel lists as present: of affinity, cpusets and containers none changes that list, and taking a
// core offline (no SMT) does not either. "possible" would count sockets that a hypervisor might add, "online" depends
// on the day and is made up in some containers. `root` stands for /sys/devices/system/cpu, in tests; without it, what
// the C library counts.
std::int64_t PresentCores(const std::string& root);

// All caches of the last level that these cores use, each counted once however many of them share it: of two complexes
// with a cache each, both. Where the system does not list them, what the processor says of one. `root` stands for
// /sys/devices/system/cpu, in tests.
std::int64_t LastLevelCaches(std::span<const int> cores, const std::string& root = "/sys/devices/system/cpu");

// What the core that this thread runs on is clocked at now, as the system's frequency driver says; nullopt where there
// is none (most virtual machines). `root` stands for /sys/devices/system/cpu, in tests.
std::optional<double> FrequencyMhz(const std::string& root = "/sys/devices/system/cpu");

}  // namespace infimum::cpu
