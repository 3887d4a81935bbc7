// The frameworks and profilers that are known by name. A run file may name others.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace infimum {

// RunProfile::framework.
namespace framework {
inline constexpr char kChakra[] = "chakra";  // a trace that does not say whose
inline constexpr char kOnnxRuntime[] = "onnxruntime";
inline constexpr char kOpenVino[] = "openvino";
inline constexpr char kPyTorch[] = "pytorch";
inline constexpr char kTensorRt[] = "tensorrt";
}  // namespace framework

// Timeline::profiler.
namespace profiler {
inline constexpr char kChakra[] = "chakra";
inline constexpr char kKineto[] = "kineto";
inline constexpr char kNsys[] = "nsys";
}  // namespace profiler

// A line for each framework that everybody knows: its name identifies nobody, so that shared reports keep it.
struct KnownFramework {
  std::string_view name;
  bool needs_gpu = false;          // it runs on no processor
  std::string_view profiler = {};  // of whose timelines it is taken to be the framework
};
inline constexpr KnownFramework kFrameworks[] = {
    {"infimum"},  // replays of its own
    {"jax"},
    {"mxnet"},
    {"ncnn"},
    {framework::kOnnxRuntime},
    {framework::kOpenVino},
    {framework::kPyTorch, false, profiler::kKineto},
    {"tensorflow"},
    {framework::kTensorRt, true},
    {"tflite"},
    {"tvm"},
};

// Null for a name that is none of them.
inline const KnownFramework* FindFramework(std::string_view name) {
  const auto* const found = std::ranges::find(kFrameworks, name, &KnownFramework::name);
  return found != std::end(kFrameworks) ? found : nullptr;
}

inline bool NeedsGpu(std::string_view name) {
  const KnownFramework* const known = FindFramework(name);
  return known != nullptr && known->needs_gpu;
}

// The framework that a profiler's timeline is of; the profiler's own name where it profiles any.
inline std::string_view FrameworkOfProfiler(std::string_view profiler) {
  const auto* const found = std::ranges::find(kFrameworks, profiler, &KnownFramework::profiler);
  return !profiler.empty() && found != std::end(kFrameworks) ? found->name : profiler;
}

}  // namespace infimum
