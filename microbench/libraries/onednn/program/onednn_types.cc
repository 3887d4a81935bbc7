#include "microbench/libraries/onednn/program/onednn_types.h"

#include <algorithm>
#include <numeric>

namespace infimum::cpu {

using dnnl::memory;

const dnnl::engine& CpuEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory::data_type LibraryType(DataType type) {
  switch (type) {
    case DataType::kF64:
      return memory::data_type::f64;
    case DataType::kF32:
      return memory::data_type::f32;
    case DataType::kF16:
      return memory::data_type::f16;
    case DataType::kBF16:
      return memory::data_type::bf16;
    case DataType::kS32:
      return memory::data_type::s32;
    case DataType::kS8:
      return memory::data_type::s8;
    case DataType::kU8:
    case DataType::kBool:
      return memory::data_type::u8;
    default:
      return memory::data_type::undef;
  }
}

namespace {

memory::desc Strided(const Shape& shape, DataType type, const std::vector<std::size_t>& outer_to_inner) {
  memory::dims strides(shape.rank(), 1);
  memory::dim stride = 1;
  for (auto at = outer_to_inner.rbegin(); at != outer_to_inner.rend(); ++at) {
    strides[*at] = stride;
    stride *= std::max<memory::dim>(1, shape.dims[*at]);
  }
  return memory::desc(shape.dims, LibraryType(type), strides);
}

}  // namespace

memory::desc PlainDesc(const Shape& shape, DataType type) {
  std::vector<std::size_t> order(shape.rank());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return Strided(shape, type, order);
}

memory::desc ChannelsLastDesc(const Shape& shape, DataType type) {
  std::vector<std::size_t> order{0};
  for (std::size_t i = 2; i < shape.rank(); ++i) order.push_back(i);
  order.push_back(1);
  return Strided(shape, type, order);
}

memory::desc AnyDesc(const Shape& shape, DataType type) {
  return memory::desc(shape.dims, LibraryType(type), memory::format_tag::any);
}

std::string LayoutName(const memory::desc& desc) {
  const int rank = desc.get_ndims();
  if (rank == 0) return "-";
  if (desc.get_format_kind() != memory::format_kind::blocked) return "opaque";
  const memory::dims strides = desc.get_strides();
  const memory::dims padded = desc.get_padded_dims();
  const memory::dims blocks = desc.get_inner_blks();
  const memory::dims indices = desc.get_inner_idxs();
  std::vector<memory::dim> outer(padded.begin(), padded.end());
  std::vector<bool> blocked(static_cast<std::size_t>(rank), false);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocked[static_cast<std::size_t>(indices[i])] = true;
    outer[static_cast<std::size_t>(indices[i])] /= blocks[i];
  }
  // Dimensions of extent one have meaningless strides: they stay where row-major order has them.
  std::vector<std::size_t> order, moving;
  for (std::size_t i = 0; i < outer.size(); ++i) {
    order.push_back(i);
    if (outer[i] != 1) moving.push_back(i);
  }
  std::vector<std::size_t> sorted = moving;
  std::stable_sort(sorted.begin(), sorted.end(), [&](auto i, auto j) { return strides[i] > strides[j]; });
  for (std::size_t i = 0; i < moving.size(); ++i) order[moving[i]] = sorted[i];
  std::string name;
  for (std::size_t dimension : order) {
    name += static_cast<char>((blocked[dimension] ? 'A' : 'a') + static_cast<int>(dimension));
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    name += std::to_string(blocks[i]);
    name += static_cast<char>('a' + indices[i]);
  }
  return name;
}

}  // namespace infimum::cpu
