// Tensors for oneDNN: their layouts and the names of these, and memory filled with random numbers.
//
//   memory::desc image = ChannelsLast({1, 64, 56, 56}, memory::data_type::f32);
//   LayoutName(image)      "acdb": dimension b, the channels, lies innermost; a capital letter has blocks ("aBcd16b")
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
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>
#include <vector>

namespace onednn {

using dnnl::memory;

inline const dnnl::engine& Cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// How a tensor with batch, channels and image lies in memory.
using Layout = memory::desc (*)(const memory::dims&, memory::data_type);

inline memory::desc Plain(const memory::dims& dims, memory::data_type type) {
  return memory::desc(dims, type, memory::dims{});  // row-major
}

inline memory::desc Any(const memory::dims& dims, memory::data_type type) {
  return memory::desc(dims, type, memory::format_tag::any);  // as the implementation likes it best
}

inline memory::desc ChannelsLast(const memory::dims& dims, memory::data_type type) {
  memory::dims strides(dims.size(), 1);
  memory::dim stride = dims[1];
  for (std::size_t i = dims.size(); i-- > 2; stride *= dims[i]) strides[i] = stride;
  strides[0] = stride;
  return memory::desc(dims, type, strides);
}

// The last two dimensions exchanged in memory: a matrix by columns.
inline memory::desc Transposed(const memory::dims& dims, memory::data_type type) {
  memory::dims strides(dims.size(), 1);
  const std::size_t row = dims.size() - 2, column = dims.size() - 1;
  strides[column] = dims[row];
  memory::dim stride = dims[row] * dims[column];
  for (std::size_t i = row; i-- > 0; stride *= dims[i]) strides[i] = stride;
  return memory::desc(dims, type, strides);
}

template <int kBlock>
memory::desc Blocked(const memory::dims& dims, memory::data_type type) {
  static_assert(kBlock == 8 || kBlock == 16, "oneDNN's blocks of channels");
  using tag = memory::format_tag;
  constexpr tag kTags[3][2] = {{tag::nCw8c, tag::nCw16c}, {tag::nChw8c, tag::nChw16c}, {tag::nCdhw8c, tag::nCdhw16c}};
  return memory::desc(dims, type, kTags[dims.size() - 3][kBlock / 16]);
}

// The order of the dimensions, outermost first, then the blocks.
inline std::string LayoutName(const memory::desc& desc) {
  const auto rank = static_cast<std::size_t>(desc.get_ndims());
  if (rank == 0) return "-";
  if (desc.get_format_kind() != memory::format_kind::blocked) return "opaque";
  const memory::dims strides = desc.get_strides(), blocks = desc.get_inner_blks(), indices = desc.get_inner_idxs();
  memory::dims outer = desc.get_padded_dims();
  std::string letters;
  for (std::size_t i = 0; i < rank; ++i) letters += static_cast<char>('a' + i);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto dimension = static_cast<std::size_t>(indices[i]);
    outer[dimension] /= blocks[i];
    letters[dimension] = static_cast<char>('A' + dimension);
  }
  // Dimensions of extent one have meaningless strides: they stay where row-major order has them.
  std::vector<std::size_t> places, moving;
  for (std::size_t i = 0; i < rank; ++i)
    if (outer[i] != 1) places.push_back(i);
  moving = places;
  std::stable_sort(moving.begin(), moving.end(), [&](auto i, auto j) { return strides[i] > strides[j]; });
  std::string name = letters;
  for (std::size_t i = 0; i < places.size(); ++i) name[places[i]] = letters[moving[i]];
  for (std::size_t i = 0; i < blocks.size(); ++i)
    name += std::to_string(blocks[i]) + static_cast<char>('a' + indices[i]);
  return name;
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

inline void Reorder(memory& from, memory& to) {
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
  Reorder(numbers.bound, typed.bound);
  Reorder(typed.bound, tensor.bound);
}

}  // namespace onednn
