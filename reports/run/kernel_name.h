// Names of kernels as people tell them apart: without what every one of a library's has.
//
//   "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, ...)"
//   -> "vectorized_layer_norm_kernel<BFloat16, float>"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace infimum {

// At most `most` characters; longer ones lose their middle, since a tile's shape stands at the end.
std::string ShortKernelName(std::string_view name, std::size_t most);

}  // namespace infimum
