// Which layers and regions oneDNN has a primitive for, as far as that is known without the library.
//
//   CheckOneDnnLayer(scan)     Error{"oneDNN has no primitive for it; infimum measures kernels of its own"}
//   FusionOf(region)           a convolution, and the steps behind it: add in1 (as 1x256x56x56), relu
//
// An error is the reason that users read why there is no source.
#pragma once

#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/layer/workload.h"

namespace infimum::emit {

Status CheckOneDnnLayer(const LayerConfig& config);

// Any type of an element's size, as which oneDNN moves elements; kNone where it has none.
DataType CarrierOf(DataType type);

// oneDNN's word for a type: "f32"; empty where it has none (64-bit integers; bool is u8).
std::string_view OneDnnType(DataType type);

// An element-wise member of a region as a step behind its first one.
struct FusedStep {
  PointwiseKind kind = PointwiseKind::kRelu;
  // With a second operand: its shape in the rank of the first member's result, 1 where it broadcasts.
  bool binary = false;
  Shape shape = {};
  DataType type = DataType::kF32;
  bool constant = false;
};

struct Fusion {
  LayerConfig first;  // a convolution, a matmul or a batch normalization
  std::vector<FusedStep> steps;
};

// A region as one primitive with post-operations.
Result<Fusion> FusionOf(const Region& region);

}  // namespace infimum::emit
