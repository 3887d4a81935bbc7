// Devices as earlier versions described them, and which device of today each one is.
//
// A GPU's identity held its clocks, which a driver update changes; they are left out.
//
// A processor's `cores` were counted after the supervisor had left those that it measured on: of n cores on t threads
// n - t, and n where t is all of them. One machine of 2 cores was two devices:
//
//   --threads 1   cores=1, which means 2 cores, or 1 where it is the only one
//   --threads 2   cores=2, which means 2 cores, or 4 of which 2 were left
//
// Such a count is kept as `cores_seen` until it is clear what it means: because the threads leave one answer (56 on 8
// threads: 64), or because only one agrees with the other devices that are equal but for their cores.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "infimum/measurement/device.h"

namespace infimum {

inline constexpr char kCores[] = "cores";           // in a processor's identity: how many are present
inline constexpr char kCoresSeen[] = "cores_seen";  // how many an earlier version counted

// A GPU without the fields that left its identity; other devices unchanged.
Device WithoutClocks(Device device);

// A processor whose cores an earlier version counted; other devices unchanged. `environment` shows whether it was our
// runner of processors that counted.
Device WithCoresSeen(Device device, const Environment& environment);
bool HasCoresSeen(const Device& device);

// The same with so many cores present.
Device WithCores(Device device, std::int64_t cores);

// Whether two processors are equal in all but their cores.
bool DifferInCoresAlone(const Device& a, const Device& b);

// A device with `cores_seen`, and on how many threads it was measured.
struct SeenDevice {
  Device device;
  std::set<std::int64_t> threads;
};

// The number of cores of each of `seen`, in their order; nullopt where that is not clear. `known` are devices whose
// cores are. Does not depend on the order of either.
std::vector<std::optional<std::int64_t>> CoresOf(std::span<const SeenDevice> seen, std::span<const Device> known);

// A device and environment as an earlier version wrote them together, in results: the above, as far as the
// environment's threads make it clear.
Device DeviceOfToday(Device device, const Environment& environment);

}  // namespace infimum
