// A tensor in the order that a program works in: where it lies so itself, else a copy, which Pack() and Unpack() bring
// up to date.
//
//   PlacedTensor input;
//   INFIMUM_RETURN_IF_ERROR(input.Prepare(*problem.operands[0], order));
//   INFIMUM_RETURN_IF_ERROR(input.Pack());
//   input.As<float>()
#pragma once

#include "microbench/libraries/onednn/program/element_runs.h"
#include "microbench/libraries/onednn/program/memory_copy.h"
#include "microbench/libraries/onednn/program/onednn_types.h"

namespace infimum::cpu {

inline OrderOf ChannelsLastOrder(const Shape& shape) {
  return std::make_shared<MemoryOrder>(PlainDesc(shape, DataType::kF32), ChannelsLastDesc(shape, DataType::kF32));
}

class PlacedTensor {
 public:
  // An exact order (MemoryOrder). A tensor in another one must be row-major, and outlives this.
  Status Prepare(const HostTensor& tensor, const OrderOf& order) {
    tensor_ = &tensor;
    data_ = tensor.data();
    const MemoryOrder* const own = tensor.order();
    if (own == nullptr ? order == nullptr : order != nullptr && *own == *order) return {};
    if (own != nullptr) return Error{"unsupported: a tensor lies in another order than the program's"};
    const auto there = DimensionsOf(nullptr, order.get(), tensor.count());
    const int bytes = BytesPerElement(tensor.type());
    if (!there || bytes == 0) return Error{"unsupported: no direct change to the program's order"};
    INFIMUM_ASSIGN_OR_RETURN(copy_, AlignedBuffer::Make(tensor.bytes()));
    data_ = copy_.data();
    pack_ = MakeMemoryCopy(*there, bytes);
    unpack_ = MakeMemoryCopy({there->dims, there->to, there->from}, bytes);
    return {};
  }
  Status Pack() {
    if (is_copy()) pack_(tensor_->data(), data_);
    return {};
  }
  Status Unpack() {
    if (is_copy()) unpack_(data_, tensor_->data());
    return {};
  }
  bool is_copy() const { return pack_ != nullptr; }
  void* data() const { return data_; }
  template <class T>
  T* As() const {
    return static_cast<T*>(data_);
  }

 private:
  const HostTensor* tensor_ = nullptr;
  AlignedBuffer copy_;
  void* data_ = nullptr;
  MemoryCopy pack_, unpack_;
};

}  // namespace infimum::cpu
