// A workload as a graph of cuDNN's operations, and the engines that cuDNN has for it: the way to every algorithm that it
// does not keep to itself.
//
//   INFIMUM_ASSIGN_OR_RETURN(CudnnGraph graph, CudnnGraph::Build(workload, form, gpu));
//   for (const CudnnPlan& plan : *graph.Heuristic()) ...   // {"eng62_k2=5_k13=1", 62, tensor_core}, ...
//
// No GPU is needed: cuDNN answers for the device whose properties it is given. Nothing is compiled or run here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "infimum/measurement/contract.h"
#include "microbench/cuda/cudnn_form.h"
#include "microbench/cuda/gpu_properties.h"

namespace infimum::cuda {

// What cuDNN says of an engine's arithmetic.
struct CudnnNotes {
  bool tensor_core = false;
  bool down_converts_inputs = false;
  bool reduced_precision_sums = false;
  bool winograd = false;
  bool fft = false;
  bool nondeterministic = false;
  bool compiles_at_run_time = false;

  friend bool operator==(const CudnnNotes&, const CudnnNotes&) = default;
};

// "tensor-core winograd"
std::string Format(const CudnnNotes& notes);

struct CudnnPlan {
  std::string name;  // "eng62_k2=5_k13=1": the engine and its settings, of this version of cuDNN
  std::int64_t engine = 0;
  CudnnNotes notes;
};

class CudnnGraph {
 public:
  // An error that starts with "unsupported: " where cuDNN's graph has no operation for the workload or refuses it; its
  // own words stand in it. The library was loaded before (cudnn_library.h).
  static Result<CudnnGraph> Build(const Workload& workload, const CudnnForm& form, const GpuProperties& gpu);
  CudnnGraph(CudnnGraph&&) noexcept;
  CudnnGraph& operator=(CudnnGraph&&) noexcept;
  ~CudnnGraph();

  // What cuDNN would choose, and its next best: the first is its choice. Those of mode A, then of the fallback list that
  // are not among them.
  Result<std::vector<CudnnPlan>> Heuristic();

  // Engines that take this graph on this device, with their own settings where nothing is said.
  Result<std::vector<CudnnPlan>> Engines();

  // Every setting of every engine that cuDNN takes, at most `most`; in the order of engines, their own settings first.
  Result<std::vector<CudnnPlan>> Exhaustive(std::size_t most);

 private:
  class Impl;
  explicit CudnnGraph(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace infimum::cuda
