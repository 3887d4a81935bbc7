// Descriptors of tensors for oneDNN, by how they lie in memory. A convolution's tensors have batch, channels and image.
//
//   memory::desc image = ChannelsLast({1, 64, 56, 56}, memory::data_type::f32);
#pragma once

#include <cstddef>
#include <oneapi/dnnl/dnnl.hpp>

namespace onednn {

using dnnl::memory;

inline const dnnl::engine& Cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

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

}  // namespace onednn
