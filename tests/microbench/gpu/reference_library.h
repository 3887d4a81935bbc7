// Libraries for the pretended GPU. The larger one: kernels of ours, and layers that they lack computed by the f64
// reference on the host, with tensors in the layouts that cuDNN's candidates have.
//
//   pretended/reference, acdb -> acdb       a convolution on channels last
//   pretended/reference, abcd -> abcd       the same by the same name, as cuDNN's plans are called alike in both
//   pretended/reference/pad=8               channels last, filled up to multiples of 8
//   pretended/reference, abc -> abc         a product
//
// Given cuDNN's answers about a GPU that it was told of, the candidates are those instead, by cuDNN's names.
#pragma once

#include <functional>
#include <memory>

#include "microbench/gpu/device/gpu_libraries.h"
#include "src/core/measurement/cudnn_form.h"
#include "tests/microbench/gpu/pretended_gpu.h"

namespace infimum::cuda {

// Kernels of ours alone.
std::unique_ptr<GpuLibraries> MakeOwnLibrary();

// A candidate and how it lies.
struct EnumeratedCandidate {
  Candidate candidate;
  CudnnForm form;
};
using Enumerate = std::function<std::vector<EnumeratedCandidate>(const Workload&, NumericContract, CandidateTier)>;

std::unique_ptr<GpuLibraries> MakeReferenceLibrary(PretendedGpu& gpu, Enumerate enumerate = nullptr);

}  // namespace infimum::cuda
