// A framework's run as a file, schema infimum.run/1: what scripts/frameworks/*.py write and `import` reads.
//
//   {"schema":"infimum.run/1","framework":"onnxruntime","framework_version":"1.31.1","model":"resnet50",
//    "model_sha256":"ab..","dims":{"batch":1},"threads":1,"contract":"strict-f32","device":"cpu/...",
//    "end_to_end":[{"samples_us":[53700.1,53812.4]}],
//    "layers":[{"name":"r2_nchwc","op":"Conv","provider":"CPUExecutionProvider","nodes":[],"inputs":["x"],
//               "outputs":["r2"],"samples_us":[1035,1029]}],
//    "settings":{"graph_optimization_level":"all"},"warnings":[]}
//
// Instead of `layers`, `"profile": PATH` names ONNX Runtime's own profile (onnxruntime_profile.h), and
// `"engine_nodes": [{"name","op","domain","inputs","outputs"}]` the nodes of the graph that it ran, which
// tell the values' names that a profile lacks.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"

namespace infimum {

// One JSON document; ReadRun(FormatRun(run)) == run.
std::string FormatRun(const RunProfile& run);

// `origin` is named in errors ("run.json: end_to_end[2].samples_us[0]: ..."). A profile's path is taken
// relative to `folder`.
Result<RunProfile> ReadRun(std::istream& input, std::string_view origin, const std::filesystem::path& folder = ".");
Result<RunProfile> ReadRunFile(const std::filesystem::path& path);

}  // namespace infimum
