// A framework's run as JSON (schema infimum.run/1): what the measuring scripts write and `infimum measure -o` keeps.
//
//   {"schema":"infimum.run/1","framework":"onnxruntime","framework_version":"1.31.1","model":"resnet50",
//    "model_sha256":"...","dims":{"batch":8},"threads":1,"contract":"strict-f32","device":"cpu/...",
//    "settings":{"graph_optimization_level":"all"},
//    "end_to_end":[{"samples_us":[52123.4,...],"beat_us":[100.2,411.5]}],
//    "layers":[{"name":"conv1","op":"Conv","provider":"CPUExecutionProvider","nodes":[],"inputs":["x"],
//               "outputs":["y"],"samples_us":[...]}],"warnings":[]}
//
// Fields that are left out, "threads" too, are not known.
// A script may leave "layers" out and give "profile", the path of the engine's own profile, and "engine_nodes",
// the nodes of the engine's graph with name, inputs and outputs: the two are joined by name here.
#pragma once

#include <istream>
#include <string>
#include <string_view>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"

namespace infimum {

// `origin` is named in errors.
Result<RunProfile> ReadRun(std::istream& input, std::string_view origin);

std::string FormatRun(const RunProfile& run);

}  // namespace infimum
