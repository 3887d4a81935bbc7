// The names of the frameworks and profilers that have readers or rules of their own. A run file may name others.
#pragma once

namespace infimum {

// RunProfile::framework.
namespace framework {
inline constexpr char kChakra[] = "chakra";  // a trace that does not say whose
inline constexpr char kOnnxRuntime[] = "onnxruntime";
inline constexpr char kPyTorch[] = "pytorch";
inline constexpr char kTensorRt[] = "tensorrt";
}  // namespace framework

// Timeline::profiler.
namespace profiler {
inline constexpr char kChakra[] = "chakra";
inline constexpr char kKineto[] = "kineto";
inline constexpr char kNsys[] = "nsys";
}  // namespace profiler

}  // namespace infimum
