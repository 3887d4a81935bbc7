// Descriptors of tensors for oneDNN, by how they are laid out in memory, and the names of layouts. A convolution's
// tensors have batch, channels and image.
//
//   memory::desc image = ChannelsLast({1, 64, 56, 56}, memory::data_type::f32);
//   LayoutName(image)     "acdb": dimension b, the channels, is innermost; a capital letter has blocks ("aBcd16b")
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>

namespace onednn {

using dnnl::memory;

// The process's one CPU engine.
const dnnl::engine& Cpu();

// Any of the functions below that describe a tensor.
using Layout = memory::desc (*)(const memory::dims&, memory::data_type);

memory::desc Plain(const memory::dims& dims, memory::data_type type);         // row-major
memory::desc ChannelsLast(const memory::dims& dims, memory::data_type type);  // dimension 1 last
memory::desc Transposed(const memory::dims& dims, memory::data_type type);    // the last two exchanged in memory
memory::desc Any(const memory::dims& dims, memory::data_type type);           // as the implementation likes it best
memory::desc Blocked8(const memory::dims& dims, memory::data_type type);      // blocks of 8 channels; 3 to 5 dimensions
memory::desc Blocked16(const memory::dims& dims, memory::data_type type);

// oneDNN's letters: the order of the dimensions, outermost first, then the blocks.
std::string LayoutName(const memory::desc& desc);

}  // namespace onednn
