// A GPU as cuDNN is asked about it without one being there: the JSON text of its device properties.
//
//   Result<GpuProperties> gpu = GpuProperties::Parse(text, "h200.json");
//   gpu->name();                 // "NVIDIA H200"
//   gpu->compute_capability();   // 900: 9.0
//
// cuDNN writes this text of a real device (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION) and reads it; it takes no text in
// which one of its keys is missing, and then says little, so that this is checked here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "infimum/base/result.h"

namespace infimum::cuda {

class GpuProperties {
 public:
  static Result<GpuProperties> Parse(std::string_view text, const std::string& source);

  const std::string& name() const { return name_; }
  std::int64_t compute_capability() const { return compute_capability_; }  // 10 x major.minor x 10: 750, 900
  std::int64_t multiprocessors() const { return multiprocessors_; }
  // As cuDNN reads it.
  const std::string& json() const { return json_; }

 private:
  std::string name_;
  std::int64_t compute_capability_ = 0;
  std::int64_t multiprocessors_ = 0;
  std::string json_;
};

}  // namespace infimum::cuda
