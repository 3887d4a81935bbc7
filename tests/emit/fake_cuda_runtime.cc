#include "tests/emit/fake_cuda_runtime.h"

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace infimum::testing {

FakeGpu& FakeGpu::Get() {
  static FakeGpu gpu;
  return gpu;
}

void LaunchOnFake(cudaStream_t) {
  FakeGpu& gpu = FakeGpu::Get();
  if (!gpu.is_capturing) {
    gpu.now_us += gpu.kernel_us + gpu.gap_us;
  } else if (gpu.can_capture) {
    ++gpu.captured;
  } else {
    throw std::runtime_error("memory was allocated while a stream is captured");
  }
}

}  // namespace infimum::testing

using infimum::testing::FakeGpu;

// An event is the time at which it was recorded; a graph is the number of its launches.
extern "C" {

const char* cudaGetErrorString(cudaError_t) { return "an error of the fake runtime"; }
cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  *memory = std::malloc(bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int) {
  *stream = nullptr;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  FakeGpu::Get().is_capturing = true;
  FakeGpu::Get().captured = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  FakeGpu& gpu = FakeGpu::Get();
  gpu.is_capturing = false;
  ++gpu.graphs;
  *graph = reinterpret_cast<cudaGraph_t>(new long(gpu.captured));
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long) {
  ++FakeGpu::Get().graphs;
  *ready = reinterpret_cast<cudaGraphExec_t>(new long(*reinterpret_cast<long*>(graph)));
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
  FakeGpu& gpu = FakeGpu::Get();
  const double of_host = gpu.is_held ? 0 : gpu.node_us;
  ++gpu.starts;
  if (gpu.starts % 6 == 5 || gpu.starts % 6 == 2) gpu.now_us += gpu.wander_us;
  gpu.now_us += gpu.graph_us + static_cast<double>(*reinterpret_cast<long*>(graph)) * (gpu.kernel_us + of_host);
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  FakeGpu::Get().is_held = true;
  std::thread(function, data).detach();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  --FakeGpu::Get().graphs;
  delete reinterpret_cast<long*>(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  --FakeGpu::Get().graphs;
  delete reinterpret_cast<long*>(graph);
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = reinterpret_cast<cudaEvent_t>(new double(0));
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<double*>(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  *reinterpret_cast<double*>(event) = FakeGpu::Get().now_us;
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  FakeGpu::Get().is_held = false;
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  *milliseconds = static_cast<float>((*reinterpret_cast<double*>(end) - *reinterpret_cast<double*>(start)) / 1000);
  return cudaSuccess;
}

}  // extern "C"
