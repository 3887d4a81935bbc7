// The model's nodes in the name of an engine's layer and in its metadata, where there are some.
//
//   Conv_5 + Add_6 + Relu_7                              ->  nodes Conv_5, Add_6, Relu_7
//   conv1 + relu1 || conv2 + relu2                       ->  all four: convolutions of one input, merged into one
//   conv1.weight + QuantizeLinear_7_quantize_scale_node + Conv_9 + PWN(PWN(Sigmoid_1), Mul_2)
//                                                        ->  QuantizeLinear_7, Conv_9, Sigmoid_1, Mul_2
//   {ForeignNode[/a/Add.../b/Softmax]}                   ->  /a/Add, /b/Softmax; the nodes between are not known
//   (Unnamed Layer* 3) [Shuffle]                         ->  none: TensorRT made it
//   Reformatting CopyNode for Input Tensor 0 to Conv_0 + Relu_1
//                                                        ->  none; it serves the layer "Conv_0 + Relu_1"
//   __myl_Conv_myl0_3, metadata "[ONNX Layer: Conv_0]<separator>[ONNX Layer: Relu_1]"
//                                                        ->  Conv_0, Relu_1
//
// A node without a name is `node_of_` and its first output: TensorRT's parser calls it so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace infimum::ingest {

struct TensorRtCover {
  std::vector<std::string> nodes;  // in the name's order, each once
  std::string serves;              // of a layer that TensorRT added: the layer, or node, that it is for
  bool is_region = false;          // `nodes` are the ends of a region
};

// Both with kNameSeparator for what separates (tensorrt_text.h).
TensorRtCover CoverOf(std::string_view name, std::string_view metadata);

// The number of an optimization profile, which TensorRT appends to the names of all but the first: 2 of
// "Conv_0 [profile 2]", and cuts it off; 0 where there is none.
int CutOptimizationProfile(std::string_view& name);

// TensorRT's words for a tensor's type and layout.
//
//   "Channel major FP16 format where channel % 8 == 0"         ->  f16, "NHWC8"
//   "Thirty-two wide channel vectorized row major Int8 format" ->  s8, "NC/32HW32"
//   "Row major linear FP32"                                    ->  f32, "linear"
//   "Half"  (a kernel of Myelin's)                             ->  f16, no layout
//   "N/A due to dynamic shapes"                                ->  no type, the layout in TensorRT's words

struct TensorRtFormat {
  std::string dtype;   // empty: not known, or not one of ours
  std::string layout;  // empty: not known
};

TensorRtFormat FormatOf(std::string_view text);

}  // namespace infimum::ingest
