// A tensor in row-major order on the host, aligned for vectors: what operands are filled into, what
// references read, and what every candidate's outputs are turned back into.
//
//   INFIMUM_ASSIGN_OR_RETURN(HostTensor x, HostTensor::Make(Shape{{2, 3}}, DataType::kF32));
//   x.As<float>()[5] = 1;   x.Get(5) == 1.0;
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "infimum/base/result.h"
#include "infimum/layer/data_type.h"
#include "infimum/layer/shape.h"

namespace infimum::cpu {

// Zeroed memory, aligned to 64 bytes; large ones to huge pages, which the kernel is asked for.
class AlignedBuffer {
 public:
  enum class Pages { kSmall, kHuge };
  static constexpr std::size_t kBehind =
      256;  // bytes that may be read behind the end: a whole vector past the last element

  AlignedBuffer() = default;
  static Result<AlignedBuffer> Make(std::size_t bytes) { return Make(bytes, PagesOf(bytes)); }
  static Result<AlignedBuffer> Make(std::size_t bytes, Pages pages);
  static Pages PagesOf(std::size_t bytes);
  // Whole pages that hold so many bytes and kBehind.
  static std::size_t Rounded(std::size_t bytes, Pages pages);

  void* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Free> memory_;
  std::size_t size_ = 0;
};

struct MemoryOrder;

class HostTensor {
 public:
  HostTensor() = default;
  // An error for a shape too large, a type without elements or too little memory.
  static Result<HostTensor> Make(const Shape& shape, DataType type);
  // Over memory that somebody else owns, in a library's layout if need be (element_runs.h):
  // null is row-major. Get() and Set() are for row-major ones.
  static Result<HostTensor> Over(void* data, const Shape& shape, DataType type,
                                 std::shared_ptr<const MemoryOrder> order = nullptr);

  const Shape& shape() const { return shape_; }
  DataType type() const { return type_; }
  std::int64_t count() const { return count_; }
  void* data() const { return data_; }
  const MemoryOrder* order() const { return order_.get(); }
  std::size_t bytes() const { return bytes_; }

  template <class T>
  T* As() const {
    return static_cast<T*>(data_);
  }

  // One element as a double, and its storage from one (rounded to nearest even, saturated).
  double Get(std::int64_t index) const { return GetElement(data(), type_, index); }
  void Set(std::int64_t index, double value) { SetElement(data(), type_, index, value); }

  static double GetElement(const void* data, DataType type, std::int64_t index);
  static void SetElement(void* data, DataType type, std::int64_t index, double value);

 private:
  Shape shape_;
  DataType type_ = DataType::kNone;
  std::int64_t count_ = 0;
  std::size_t bytes_ = 0;
  AlignedBuffer buffer_;
  void* data_ = nullptr;
  std::shared_ptr<const MemoryOrder> order_;
};

// Whole bytes of one element; 0 for kNone and 4-bit types.
int BytesPerElement(DataType type);

// The type in which a tensor of `type` is stored here: 4-bit elements take a byte each.
DataType BufferType(DataType type);

// The range of an integer type as doubles; {0, 1} for bool.
struct IntegerRange {
  double least;
  double most;
};
IntegerRange RangeOf(DataType type);

}  // namespace infimum::cpu
