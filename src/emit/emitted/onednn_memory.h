// Memory for oneDNN's tensors, filled with random numbers, and the layouts that candidates declare.
//
//   Tensor image(ChannelsLast({1, 64, 56, 56}, memory::data_type::f32));
//   FillRandomly(image, -1, 1, 42);
//   DeclaredLayout(image.bound.get_desc())      "acdb"
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "layouts.h"

namespace onednn {

// Blocks may come to row-major order after all: of channels alone, where the image is one pixel.
inline bool IsRowMajor(const memory::desc& desc) {
  if (desc.get_ndims() == 0) return true;
  if (desc.get_format_kind() != memory::format_kind::blocked || desc.get_padded_dims() != desc.get_dims()) return false;
  const memory::dims strides = desc.get_strides(), blocks = desc.get_inner_blks(), indices = desc.get_inner_idxs();
  memory::dims outer = desc.get_dims(), order;
  for (std::size_t i = 0; i < blocks.size(); ++i) outer[static_cast<std::size_t>(indices[i])] /= blocks[i];
  // Dimensions of extent one have meaningless strides.
  for (std::size_t i = 0; i < outer.size(); ++i)
    if (outer[i] != 1) order.push_back(static_cast<memory::dim>(i));
  std::stable_sort(order.begin(), order.end(), [&](memory::dim i, memory::dim j) {
    return strides[static_cast<std::size_t>(i)] > strides[static_cast<std::size_t>(j)];
  });
  order.insert(order.end(), indices.begin(), indices.end());
  return std::is_sorted(order.begin(), order.end());
}

// By which name infimum knows a layout: oneDNN's, but in row-major order.
inline std::string DeclaredLayout(const memory::desc& desc) {
  if (desc.get_ndims() == 0 || !IsRowMajor(desc)) return LayoutName(desc);
  return std::string("abcdefghijkl").substr(0, static_cast<std::size_t>(desc.get_ndims()));
}

// Zeros; large ones lie in large pages, where the system has them.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) {
    constexpr std::size_t kLargePage = std::size_t{2} << 20;
    const std::size_t alignment = bytes >= 2 * kLargePage ? kLargePage : 4096;
    const std::size_t rounded = (bytes + 256 + alignment - 1) / alignment * alignment;
    data_.reset(std::aligned_alloc(alignment, rounded));
    if (data_ == nullptr) throw std::bad_alloc();
#if defined(__linux__)
    if (alignment == kLargePage) (void)madvise(data_.get(), rounded, MADV_HUGEPAGE);
#endif
    std::memset(data_.get(), 0, rounded);
  }
  void* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> data_;
};

struct Tensor {
  explicit Tensor(const memory::desc& desc) : buffer(desc.get_size()), bound(desc, Cpu(), buffer.data()) {}
  Buffer buffer;
  memory bound;
};

inline void ReorderMemory(memory& from, memory& to) {
  dnnl::stream stream(Cpu());
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

// Uniform numbers, the same in each run: row-major in f32, then in the tensor's type, then in its layout, since
// packed weights may carry more than their elements.
inline void FillRandomly(Tensor& tensor, double low, double high, std::uint64_t seed) {
  const memory::desc wanted = tensor.bound.get_desc();
  Tensor numbers(Plain(wanted.get_dims(), memory::data_type::f32));
  const std::size_t count = numbers.bound.get_desc().get_size() / sizeof(float);
  auto* const data = static_cast<float*>(numbers.buffer.data());
  for (std::size_t i = 0; i < count; ++i) {  // splitmix64
    std::uint64_t bits = (seed += 0x9e3779b97f4a7c15U);
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    bits ^= bits >> 31;
    data[i] = static_cast<float>(low + (high - low) * static_cast<double>(bits >> 11) * 0x1p-53);
  }
  Tensor typed(Plain(wanted.get_dims(), wanted.get_data_type()));
  ReorderMemory(numbers.bound, typed.bound);
  ReorderMemory(typed.bound, tensor.bound);
}

}  // namespace onednn
