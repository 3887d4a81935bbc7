// From a layer to its benchmarks: every plan that cuDNN's graph has for it, and every algorithm of the older calls,
// under the name that infimum gives it.
//
//   cudnn-graph/eng62_k2=5_k13=1           engine 62 of this version of cuDNN with two of its knobs
//   cudnn-graph/eng62_k2=5_k13=1/acc=f16   the same with products added up in f16
//   cudnn-legacy/winograd/tensor_op        cudnnConvolutionForward with one of its eight algorithms, on Tensor Cores
//
// A source has its layer's operations and forms as constants. The calls of cuDNN (cudnn_operations.cc, legacy_*.cc) and
// the walk over its engines (cudnn_plans.cc) are those of infimum's runner.
#pragma once

#include <string>
#include <vector>

#include "cudnn_layer.h"

namespace cudnn {

struct Layer {
  std::string text{};                    // the layer as infimum writes it
  std::vector<std::string> contracts{};  // that candidates are to meet: "strict-f32", "tf32", "f16" ...
  OperationGraph graph{};                // empty where cuDNN's graph has no operation for it
  OperationGraph legacy{};               // of the older calls, where it is another one (softmax, LRN ...)
  std::vector<Form> forms{};             // the usual one first
  bool is_product = false;               // of floating point: engines' notes tell the arithmetic
  std::vector<std::string> only{};       // candidates; empty: all that cuDNN offers
};

// At namespace scope of a source: `const Registration kRegistered({...});`
struct Registration {
  explicit Registration(Layer layer);
};

}  // namespace cudnn
