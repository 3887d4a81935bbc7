// What a harness knows about the environment of a measurement that a library does not.
#pragma once

#include <string>

#include "infimum/measurement/device.h"

namespace infimum {

// Sets threads and, of the evidence, affinity and how many cores this process might use; fills in clock policy, system,
// host and version where the backend did not tell them.
void CompleteEnvironment(Environment& environment, std::int64_t threads, const std::string& affinity,
                         std::size_t usable_cores);

// Which machine this is, as 12 hexadecimal digits: of the SHA-256 of the machine's id (/etc/machine-id, which is not to
// be shown) and its name, so that installations copied with their id are told apart and nobody learns either. Where
// there is no id, as in most containers, of the kernel's boot id, which lasts until the machine is started again.
// Empty where there is neither.
std::string HostHash(const std::string& machine_id, const std::string& name, const std::string& boot_id);

// "2026-11-21T10:47:44Z"
std::string UtcNow();

}  // namespace infimum
