// Convolutions, forward and transposed, grouped, dilated, in one to three dimensions.
#pragma once

#include <string>
#include <vector>

#include "product.h"

namespace onednn {

struct Convolution {
  Types dtype;
  memory::dims in;  // batch, channels, image
  memory::dim out_channels = 1;
  memory::dims kernel, stride;
  memory::dims dilation;  // 1 is dense
  memory::dims pad;       // before each dimension, then behind each
  memory::dim groups = 1;
  bool bias = false;
  std::string weights = "const";  // or "variable"
  bool transposed = false;
  memory::dims output_pad{};  // of a transposed one
  Scaling scaling{};
  std::vector<Step> steps{};  // behind it
};

// With layouts free, with the channels last and row-major; direct and by Winograd's algorithm. A 1x1 convolution of one
// image is a product of pixels and channels too, "convolution-as-matmul/".
std::vector<Form> FormsOf(const Convolution& layer);

}  // namespace onednn
