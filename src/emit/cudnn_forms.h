// The forms of cuDNN's graph (src/core/measurement/cudnn_form.h) as an emitted source writes them down.
//
//   convolution f16, 64 channels   channels last, first, and both with sums in f16
//   convolution f16, 3 channels    also channels last, filled up to 8: Tensor Cores want multiples of 16 bytes
//   matmul f16, constant b         as it is, b transposed, and both with sums in f16
//
//   FormText(forms[0])   {.layouts = "acdb->acdb", .layout = ChannelsLast}
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "infimum/layer/workload.h"

namespace infimum::emit {

struct CudnnForms {
  struct Form {
    std::string suffix;   // "/acc=f16/pad=8"
    std::string layouts;  // "acdb->acdb"
    std::string layout;   // the function that makes strides: "ChannelsLast"
    bool half_sums = false;
    std::int64_t channel_multiple = 1;
  };
  std::vector<Form> forms;
  // Which of their parts differ, so that a source must ask its form for them.
  bool layouts_vary = false, sums_vary = false, channels_vary = false;
};

// Those of the tier `engine`, in its order.
CudnnForms FormsOf(const Workload& workload);

std::string FormText(const CudnnForms::Form& form);

}  // namespace infimum::emit
