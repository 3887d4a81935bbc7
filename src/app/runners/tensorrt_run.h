// A TensorRT engine of a model, built and measured by trtexec, NVIDIA's own tool.
//
//   trtexec --onnx=m.onnx --saveEngine=m.engine --skipInference --profilingVerbosity=detailed --noTF32
//   trtexec --loadEngine=m.engine --exportTimes=times-0.json ...          once for each repetition, without a profiler
//   trtexec --loadEngine=m.engine --exportProfile=... --exportLayerInfo=...     the layers
//
// Profiler and times are in processes of their own, as with --separateProfileRun. trtexec tells no end-to-end time
// under its profiler, so what that costs is not known.
#pragma once

#include <filesystem>

#include "src/app/runners/framework_run.h"

namespace infimum {

Result<RunProfile> MeasureTensorRt(const std::filesystem::path& model, const FrameworkOptions& options,
                                   ProgressLog& log);

}  // namespace infimum
