// The versions of a library that a device's rows were measured with.
//
//   VersionsOf("cudnn", v100, 1, store)   // 7.5.0, 7.6.3, 7.6.4, each with its environments
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "infimum/db/store.h"

namespace infimum {

struct LibraryVersion {
  std::string version;
  std::vector<EnvironmentKey> environments;  // the newest first
};

// Ascending: 7.9 before 7.10.
Result<std::vector<LibraryVersion>> VersionsOf(const std::string& library, const Device& device, std::int64_t threads,
                                               Store& store);

}  // namespace infimum
