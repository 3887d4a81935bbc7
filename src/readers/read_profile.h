// Profiles of any known format: recognized by their content, unpacked where they are compressed with gzip.
//
//   Result<std::vector<NamedProfile>> profiles = ReadProfiles({"trace.json.gz", "graph.json", "profile.json"});
//   if (const auto* timeline = std::get_if<Timeline>(&profile.profile)) ...;   // Kineto, Nsight Systems: what ran when
//   if (const auto* run = std::get_if<RunProfile>(&profile.profile)) ...;      // layers of an engine: ONNX Runtime,
//                                                                              // TensorRT, infimum.run
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "infimum/base/result.h"
#include "src/readers/formats.h"

namespace infimum {

struct NamedProfile {
  std::string source;  // the file; of several files of an engine their folder
  Profile profile;
};

// In the order of the files. Those that trtexec wrote of one engine (layer information, profile, times; one folder) are
// one profile, and a folder stands for such files in it. A file of another kind is an error that lists the known
// formats.
Result<std::vector<NamedProfile>> ReadProfiles(const std::vector<std::filesystem::path>& files);

}  // namespace infimum
