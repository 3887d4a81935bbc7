// A framework's run of a model, measured now by the script of that framework in the user's Python.
//
//   FrameworkOptions options{.framework = "onnxruntime", .dims = {{"batch", 8}}};
//   Result<RunProfile> run = MeasureFramework(installation, "resnet50.onnx", options, talk);
//
// End-to-end samples come from processes without a profiler; the layers' times from one more with it.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "infimum/graph/run_profile.h"
#include "infimum/measurement/contract.h"
#include "infimum/workflow/installation.h"
#include "infimum/workflow/talk.h"

namespace infimum {

struct FrameworkOptions {
  std::string framework = "onnxruntime";
  std::string python;  // the user's own build; empty: Installation::Python
  std::map<std::string, std::int64_t> dims;
  std::int64_t threads = 1;
  std::int64_t repetitions = 3;
  std::chrono::milliseconds sampling{4000};  // of each process
  // That the run keeps, where the framework does not say: its CPU kernels compute in the model's own types.
  NumericContract contract = NumericContract::kStrictF32;
};

// The error says what the framework said, in one line.
Result<RunProfile> MeasureFramework(const Installation& installation, const std::filesystem::path& model,
                                    const FrameworkOptions& options, Talk& talk);

}  // namespace infimum
