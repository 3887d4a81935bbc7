// A GPU that is only a clock: what emitted programs call of CUDA's runtime, with times that are known beforehand. The
// test's program is linked to it in place of cudart.
//
//   FakeGpu::Get() = {.kernel_us = 3, .graph_us = 6};
//   LaunchOnFake(stream);     3 us later, or one more kernel in the graph that is being captured
#pragma once

#include <cuda_runtime_api.h>

namespace infimum::testing {

struct FakeGpu {
  double kernel_us = 3;  // of a launch, on the GPU
  double gap_us = 2;     // that a launch into a stream waits for the host
  double graph_us = 6;   // for starting a graph, events included
  double node_us = 0;    // of the host for each launch of a graph, unless the stream is held meanwhile
  double wander_us = 0;  // added to one graph of two pairs in three: to the smaller one of one, the larger of another
  long starts = 0;       // of graphs
  bool is_held = false;
  bool can_capture = true;  // whether launches may be captured
  bool is_capturing = false;
  long captured = 0;  // launches in the graph at hand
  long graphs = 0;    // that are not destroyed yet
  double now_us = 0;

  static FakeGpu& Get();
};

// Throws where it cannot be captured.
void LaunchOnFake(cudaStream_t stream);

}  // namespace infimum::testing
