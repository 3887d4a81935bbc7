// A profile of any kind that people have: told by its content, unpacked where it is compressed with gzip.
//
//   Result<Profile> profile = ReadProfileFile("trace.json.gz");
//   if (const auto* timeline = std::get_if<Timeline>(&*profile)) ...;   // Kineto: what ran when
//   if (const auto* run = std::get_if<RunProfile>(&*profile)) ...;      // layers of an engine: ONNX Runtime,
//   infimum.run
#pragma once

#include <filesystem>
#include <variant>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"
#include "infimum/graph/timeline.h"

namespace infimum {

using Profile = std::variant<RunProfile, Timeline>;

// A file of another kind is an error that says which kinds are read.
Result<Profile> ReadProfileFile(const std::filesystem::path& path);

}  // namespace infimum
