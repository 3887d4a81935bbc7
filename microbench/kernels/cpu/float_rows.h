// Rows of any floating (or narrow integer) type as f32: read in place, or converted through a buffer.
//
//   FloatRows rows(input, DataType::kF16);
//   const float* x = rows.Read(offset, count, buffer);     // buffer is used only where needed
#pragma once

#include <algorithm>
#include <iterator>

#include "microbench/kernels/cpu/vector/vector_kernels.h"
#include "microbench/reference/host_tensor.h"

namespace infimum::cpu {

class FloatRows {
 public:
  explicit FloatRows(const HostTensor& tensor)
      : data_(static_cast<char*>(tensor.data())),
        type_(tensor.type()),
        bytes_(BytesPerElement(tensor.type())),
        load_(type_ == DataType::kF32 ? nullptr : Kernels().find_convert(type_, DataType::kF32)),
        store_(type_ == DataType::kF32 ? nullptr : Kernels().find_convert(DataType::kF32, type_)) {}

  // Reads and writes another tensor of the same kind from now on.
  void MoveTo(void* data) { data_ = static_cast<char*>(data); }

  // Whether elements are f32 as they are, so that buffers are not used.
  bool direct() const { return load_ == nullptr; }

  const float* Read(std::int64_t at, std::int64_t count, float* buffer) const {
    if (load_ == nullptr) return reinterpret_cast<const float*>(data_) + at;
    load_(data_ + at * bytes_, buffer, count);
    return buffer;
  }
  // Where to compute `count` results from `at` on: in place, or in the buffer; Store() then moves them.
  float* Target(std::int64_t at, float* buffer) const {
    return store_ == nullptr ? reinterpret_cast<float*>(data_) + at : buffer;
  }
  void Store(const float* computed, std::int64_t at, std::int64_t count) const {
    if (store_ != nullptr) store_(computed, data_ + at * bytes_, count);
  }

 private:
  char* data_;
  DataType type_;
  int bytes_;
  ConvertRow load_;
  ConvertRow store_;
};

// Whether f32 holds the type's values as exactly as a layer needs.
inline bool FitsFloat(DataType type) {
  constexpr DataType kFitting[] = {DataType::kF32, DataType::kF16, DataType::kBF16, DataType::kS8,
                                   DataType::kU8,  DataType::kS16, DataType::kU16};
  return std::ranges::find(kFitting, type) != std::end(kFitting);
}

}  // namespace infimum::cpu
