// What a harness knows about the environment of a measurement that a library does not.
#pragma once

#include <string>

#include "infimum/measurement/device.h"

namespace infimum {

// Sets threads and affinity; fills clock policy, host and version where the backend left them empty.
void CompleteEnvironment(Environment& environment, std::int64_t threads, const std::string& affinity);

// "2026-11-21T10:47:44Z"
std::string UtcNow();

}  // namespace infimum
