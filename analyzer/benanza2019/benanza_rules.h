// The rule set "benanza-2019": how the tool behind the Benanza paper (arXiv 1911.06922) made two totals of the times of
// a model's layers, so that results of today can be set beside the published ones. It is reproduced as it was, with
// what it gets wrong (README.md); our own bounds are bracket.h's.
//
//   layer   op      forward  bias row  reads  makes
//   conv_1  Conv    2.0      +0.5      x      a          serial   = 2.5 + 1 + 4 + 0.7 + 0.2 + 0.8 = 9.2
//   relu_1  Relu    1.0                a      b          parallel = longest path from conv_1 to fc, without fc
//   conv_2  Conv    4.0                b      c                   = 2.5 + 1 + 4 + 0.2 = 7.7 (with fc 8.5)
//   conv_3  Conv    0.7      absent    b      d          conv_3 is unlisted: 0.7 in the serial total, 0 on a path
//   concat  Concat  (any)              c, d   e          zero cost
//   pool    MaxPool 0.2                e      f
//   fc      Gemm    0.8                f      g
//
// - A layer of a zero-cost operator weighs 0, whatever was measured of it.
// - A layer is *listed* when its forward time is known and, of a convolution with a bias, also the time of its bias
// row.
//   It weighs the sum of both.
// - Every other layer is *unlisted*. Where a convolution lacks only its bias row, its forward time is in the serial
//   total none the less; else it adds nothing.
// - serial: the sum over listed layers, and those forward times.
// - parallel: the greatest sum of weights along a path of tensors that begins at the first listed layer and ends at the
//   last one, where unlisted layers weigh 0, less the time of the last layer itself. (One published table counts the
//   last layer too.) Absent where no layer is listed or where no path leads from the first to the last.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/units.h"

namespace infimum {

struct BenanzaLayer {
  std::string op;                    // ONNX's operator type, or the tool's own name of it ("GlobalPooling")
  std::vector<std::string> inputs;   // names of tensors
  std::vector<std::string> outputs;  // a name is its last maker's among the layers before the reader; "" is none's
  std::optional<Latency> forward;    // absent: not benchmarked. Neither is a time that is negative or not finite
  bool has_bias_row = false;         // a convolution with a bias, which was benchmarked apart
  std::optional<Latency> bias;       // its time; of no meaning where there is no such row
};

struct BenanzaTotals {
  Latency serial{0};
  Latency serial_unlisted{0};  // the part of `serial` that unlisted convolutions are
  std::optional<Latency> parallel;
  std::vector<std::size_t> path;      // first to last listed layer; empty where `parallel` is absent
  std::vector<std::size_t> unlisted;  // ascending
};

enum class LastLayer { kExcluded, kIncluded };

// LRN, Reshape, Concat, Unsqueeze, Flatten, Identity, Transpose, global pooling and scaling of the image, by ONNX's
// names and by the tool's.
bool IsZeroCostInBenanza(std::string_view op);

// `layers` in order of execution: what a layer reads that none before it makes comes from outside. Takes any input;
// time grows with the number of tensor names.
BenanzaTotals ComputeBenanzaTotals(std::span<const BenanzaLayer> layers, LastLayer last = LastLayer::kExcluded);

}  // namespace infimum
