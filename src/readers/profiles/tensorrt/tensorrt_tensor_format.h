// TensorRT's words for a tensor's type and layout.
//
//   "Channel major FP16 format where channel % 8 == 0"         ->  f16, "NHWC8"
//   "Thirty-two wide channel vectorized row major Int8 format" ->  s8, "NC/32HW32"
//   "Row major linear FP32"                                    ->  f32, "linear"
//   "Half"  (a kernel of Myelin's)                             ->  f16, no layout
//   "N/A due to dynamic shapes"                                ->  no type, the layout in TensorRT's words
#pragma once

#include <string>
#include <string_view>

namespace infimum::ingest {

struct TensorRtFormat {
  std::string dtype;   // empty: not told, or not one of ours
  std::string layout;  // empty: not told
};

TensorRtFormat FormatOf(std::string_view text);

}  // namespace infimum::ingest
