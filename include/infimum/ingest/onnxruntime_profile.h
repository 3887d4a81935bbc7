// ONNX Runtime's profile (enable_profiling): one event a node and inference, as Chrome trace events.
//
//   {"cat":"Node","name":"r2_nchwc_kernel_time","dur":1035,"ts":500569,"args":{"op_name":"Conv",
//    "provider":"CPUExecutionProvider","node_index":"448",...}}
//
// becomes one ProfiledLayer "r2_nchwc" with a sample for each inference. The first inferences, which pay
// for memory and caches, are left out: a fifth of them, one at least and ten at most, as long as one stays.
// A profile that was cut off (the process was killed) is read as far as it goes.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"

namespace infimum {

struct OnnxRuntimeProfile {
  std::int64_t inferences = 0;  // all that the profile holds
  std::int64_t skipped = 0;     // as warm-up
  std::vector<ProfiledLayer> layers;  // in the order of execution
  std::vector<std::string> warnings;
};

Result<OnnxRuntimeProfile> ReadOnnxRuntimeProfile(std::istream& input, std::string_view origin);
Result<OnnxRuntimeProfile> ReadOnnxRuntimeProfileFile(const std::filesystem::path& path);

}  // namespace infimum
