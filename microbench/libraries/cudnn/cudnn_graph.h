// A region as a graph of cuDNN's operations, the engines that cuDNN has for it, and one of them made ready to run: the
// way to every algorithm that it does not keep to itself.
//
//   INFIMUM_ASSIGN_OR_RETURN(CudnnGraph graph, CudnnGraph::Build(problem, form, gpu_properties));
//   for (const cudnn::Plan& plan : *graph.Plans(CandidateTier::kHeuristic, 1000)) ...   // {"eng62_k2=5_k13=1", ...
//
//   INFIMUM_ASSIGN_OR_RETURN(CudnnGraph graph, CudnnGraph::Build(problem, form, handle));
//   graph.Choose("eng62_k2=5_k13=1");      // compiles it where it is compiled at run time
//   graph.Enqueue({{1, x}, {2, w}, {3, y}}, workspace);
//
// Asking needs no GPU: cuDNN answers for the device whose properties it is given. Running needs a handle.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "infimum/measurement/contract.h"
#include "microbench/gpu/device/code_cache.h"
#include "microbench/gpu/device/gpu_program.h"
#include "microbench/gpu/device/gpu_properties.h"
#include "microbench/libraries/cudnn/calls/cudnn_plan.h"
#include "microbench/reference/region_tensors.h"
#include "src/core/measurement/cudnn_form.h"
#include "src/core/measurement/cudnn_layer.h"

namespace infimum::cuda {

// A tensor of the graph in memory: its number there, and which tensor of the workload it is.
struct CudnnTensor {
  std::int64_t uid = 0;
  GpuBinding binding;
  // Values of what the graph needs and the workload does not have: the scales of 8-bit results. `binding` names no
  // operand then.
  std::vector<double> own_values;
};

// How a tensor of the graph lies in memory, its elements in the order of the region's, which has it as `shape`.
TensorPlacement PlacementOf(const cudnn::Dims& dims, cudnn::Layout layout, const Shape& shape, const cudnn::Form& form);

// cuDNN's handle on the current device; what is enqueued with it goes into the stream that it was given last.
class CudnnHandle {
 public:
  // The library was loaded before (cudnn_library.h). `device`: the device's name; `compute_capability`: 900 for 9.0,
  // which cuDNN's frontend would ask a runtime library of that it finds by the loader's path alone.
  static Result<std::shared_ptr<CudnnHandle>> Create(std::string device, std::int64_t compute_capability);
  CudnnHandle(const CudnnHandle&) = delete;
  CudnnHandle& operator=(const CudnnHandle&) = delete;
  ~CudnnHandle();

  Status Use(Gpu::Stream stream);
  void* get() const { return handle_; }  // a cudnnHandle_t
  const std::string& device() const { return device_; }
  std::int64_t compute_capability() const { return compute_capability_; }

 private:
  CudnnHandle(void* handle, std::string device, std::int64_t compute_capability)
      : handle_(handle), device_(std::move(device)), compute_capability_(compute_capability) {}

  void* handle_;
  std::string device_;
  std::int64_t compute_capability_;
  Gpu::Stream stream_ = nullptr;
};

// The properties of the device that the handle is of, as cuDNN writes them.
Result<std::string> PropertiesOfDevice(int device);

class CudnnGraph {
 public:
  // An error that starts with "unsupported: " where cuDNN's graph has no operation for the workload or refuses it, with
  // its words. The library was loaded before (cudnn_library.h).
  static Result<CudnnGraph> Build(const cpu::ValuedRegion& problem, const CudnnForm& form, const GpuProperties& gpu);
  static Result<CudnnGraph> Build(const cpu::ValuedRegion& problem, const CudnnForm& form, const CudnnHandle& handle);
  CudnnGraph(CudnnGraph&&) noexcept;
  CudnnGraph& operator=(CudnnGraph&&) noexcept;
  ~CudnnGraph();

  // The tier's plans in cuDNN's order of preference, of `exhaustive` at most `most` (calls/cudnn_plans.h).
  Result<std::vector<cudnn::Plan>> Plans(CandidateTier tier, std::size_t most);

  // The graph's tensors in memory.
  const std::vector<CudnnTensor>& tensors() const;

  // Whether choosing the plan of this name compiles code, in up to seconds.
  bool CompilesAtRunTime(const std::string& plan);
  // Makes the plan of this name ready to run; "unsupported: ..." with cuDNN's words where it does not take it here. It
  // is read from `cache` or kept there; whether it was read.
  Result<bool> Choose(const std::string& plan, const CodeCache& cache = CodeCache(std::filesystem::path()));
  // The chosen plan's, in bytes.
  Bytes workspace() const;
  // Runs the chosen plan in the handle's stream; `tensors` by their uid.
  Status Enqueue(std::unordered_map<std::int64_t, void*>& tensors, void* workspace);

 private:
  class Impl;
  explicit CudnnGraph(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace infimum::cuda
