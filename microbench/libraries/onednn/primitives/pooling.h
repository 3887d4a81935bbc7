// Windows that slide over an image, and images that are stretched.
#pragma once

#include <string>
#include <vector>

#include "form.h"

namespace onednn {

struct Pooling {
  std::string kind;  // "max"; "average", "average_with_pad": padding counts in the divisor
  Types dtype;
  memory::dims in, out;  // batch, channels, image
  memory::dims kernel, stride;
  memory::dims dilation;  // 1 is dense
  memory::dims pad;       // before each dimension, then behind each
};

struct Resampling {
  std::string kind;  // "nearest", "linear"
  Types dtype;
  memory::dims in, out;  // batch, channels, image
};

// In blocks of 8 or 16 channels, with the channels last, and row-major: the input's layout is never left to the
// library, which computes in the layout that it is given.
std::vector<Form> FormsOf(const Pooling& layer);
std::vector<Form> FormsOf(const Resampling& layer);

}  // namespace onednn
