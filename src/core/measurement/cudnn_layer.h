// A layer or region as operations of cuDNN's graph, in plain values: the runner and the sources that `infimum emit`
// writes give them to the same calls of cuDNN (microbench/libraries/cudnn/calls). Emitted projects have this file too.
//
//   const OperationGraph graph{
//       .tensors = {{.name = "in0", .type = "f16", .dims = {1, 64, 56, 56}, .layout = Layout::kChannels},
//                   {.name = "w0", .type = "f16", .dims = {256, 64, 1, 1}, .layout = Layout::kFilter}},
//       .operations = {{.result = "y0", .call = "conv_fprop", .operands = {"in0", "w0"}, .dims = {1, 256, 56, 56},
//                       .layout = Layout::kChannels, ...},
//                      {.result = "y1", .call = "pointwise", .mode = "RELU_FWD", .operands = {"y0"}, ...}},
//       .outputs = {{"y1", "f16"}},
//   };
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudnn {

using Dims = std::vector<std::int64_t>;

// One way to put a graph to cuDNN.
struct Form {
  std::string suffix{};               // of the candidates' names
  std::string layouts{};              // of inputs and output, for `infimum import`
  bool channels_last = false;         // of tensors with channels; of a GEMM: the second operand is stored transposed
  bool half_sums = false;             // products of f16 are added up in f16
  std::int64_t channel_multiple = 1;  // channels are filled up to it: Tensor Cores want multiples of 16 bytes
};

enum class Layout {
  kRowMajor,
  kChannelsLast,  // in every form
  kChannels,      // batch, channels, space, as the form says
  kFilter,        // output channels, input channels, space, as the form says
  kSecondMatrix,  // transposed where the form says so
  kScales,        // of blocks of the first matrix's rows, in cuDNN's tiles of 128 rows by 4 blocks (F8_128x4)
  kSecondScales,  // of blocks of the second matrix's columns, which are the tiles' rows
};

// A tensor in memory.
struct Tensor {
  std::string name{};  // "in0", "w1", "scale0"
  std::string type{};  // "f16"
  Dims dims{};
  Layout layout = Layout::kRowMajor;
  double low = -1, high = 1;  // of the random numbers that benchmarks fill it with
};

// graph.<call>(operands) with its attributes.
struct Operation {
  std::string result{};  // a name
  // "conv_fprop", "conv_dgrad", "matmul", "block_scale_dequantize", "pointwise", "reduction", "resample", "layernorm",
  // "sdpa", "sdpa_fp8" ...; of older calls also "softmax", "lrn", "batchnorm", "rnn".
  std::string call{};
  std::string mode{};  // of element-wise operations, reductions and poolings, as cuDNN calls it: "RELU_FWD"
  std::vector<std::string> operands{};
  Dims dims{};  // of the result
  Layout layout = Layout::kRowMajor;
  // The second operand of an element-wise operation, epsilon of a normalization, the factor of attention's scores.
  std::optional<float> number{};
  std::optional<float> elu_alpha{}, relu_slope{}, relu_low{}, relu_high{};
  Dims pre_padding{}, post_padding{}, stride{}, dilation{};
  Dims window{};  // of a pooling; the block of "block_scale_dequantize"
  bool causal = false;
  std::int64_t left_bound = 0;  // of a causal attention, positions that a query sees, its own included; 0: all
  std::optional<float> lrn_alpha{}, lrn_beta{}, lrn_k{};
  std::string sums{};         // the type in which products are added up; where it is f32 a form may make it f16
  std::string result_type{};  // where it is not f32
};

struct Output {
  std::string name{};
  std::string type{};
};

// Behind the result's name: what "sdpa_fp8" also writes, one f32 each.
inline constexpr const char* kLargestWeight = "/largest_weight";
inline constexpr const char* kLargestResult = "/largest_result";

struct OperationGraph {
  std::vector<Tensor> tensors{};
  std::vector<Operation> operations{};
  std::vector<Output> outputs{};
};

// Dimensions with channels filled up as the form says, scales to whole tiles.
inline Dims RoomOf(const Dims& dims, Layout layout, const Form& form) {
  Dims room = dims;
  const auto fill = [&](std::size_t i, std::int64_t multiple) {
    room[i] = (room[i] + multiple - 1) / multiple * multiple;
  };
  const std::size_t rank = dims.size();
  if (layout == Layout::kFilter) fill(0, form.channel_multiple);
  if (layout == Layout::kFilter || layout == Layout::kChannels) fill(1, form.channel_multiple);
  if (layout == Layout::kScales || layout == Layout::kSecondScales) {
    fill(layout == Layout::kScales ? rank - 2 : rank - 1, 128);
    fill(layout == Layout::kScales ? rank - 1 : rank - 2, 4);
  }
  return room;
}

// In elements; `room` as RoomOf gives it.
inline Dims StridesOf(const Dims& room, Layout layout, const Form& form) {
  std::vector<std::size_t> order(room.size());  // the last one is dense
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const bool follows_form = layout == Layout::kChannels || layout == Layout::kFilter;
  if ((layout == Layout::kChannelsLast || (follows_form && form.channels_last)) && order.size() > 2)
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  if ((layout == Layout::kSecondMatrix && form.channels_last) || layout == Layout::kSecondScales)
    std::swap(order[order.size() - 1], order[order.size() - 2]);
  Dims strides(room.size());
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= room[order[i]];
  }
  return strides;
}

}  // namespace cudnn
