#include "layouts.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace onednn {
namespace {

memory::desc Strided(const memory::dims& dims, memory::data_type type, const std::vector<std::size_t>& outer_to_inner) {
  memory::dims strides(dims.size(), 1);
  memory::dim stride = 1;
  for (auto at = outer_to_inner.rbegin(); at != outer_to_inner.rend(); ++at) {
    strides[*at] = stride;
    stride *= std::max<memory::dim>(1, dims[*at]);
  }
  return memory::desc(dims, type, strides);
}

std::vector<std::size_t> RowMajor(std::size_t rank) {
  std::vector<std::size_t> order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = i;
  return order;
}

}  // namespace

const dnnl::engine& Cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory::desc Plain(const memory::dims& dims, memory::data_type type) {
  return Strided(dims, type, RowMajor(dims.size()));
}

memory::desc ChannelsLast(const memory::dims& dims, memory::data_type type) {
  std::vector<std::size_t> order = RowMajor(dims.size());
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return Strided(dims, type, order);
}

memory::desc Transposed(const memory::dims& dims, memory::data_type type) {
  std::vector<std::size_t> order = RowMajor(dims.size());
  std::swap(order[dims.size() - 1], order[dims.size() - 2]);
  return Strided(dims, type, order);
}

memory::desc Any(const memory::dims& dims, memory::data_type type) {
  return memory::desc(dims, type, memory::format_tag::any);
}

memory::desc Blocked8(const memory::dims& dims, memory::data_type type) {
  using tag = memory::format_tag;
  constexpr tag kTags[] = {tag::nCw8c, tag::nChw8c, tag::nCdhw8c};
  return memory::desc(dims, type, kTags[dims.size() - 3]);
}

memory::desc Blocked16(const memory::dims& dims, memory::data_type type) {
  using tag = memory::format_tag;
  constexpr tag kTags[] = {tag::nCw16c, tag::nChw16c, tag::nCdhw16c};
  return memory::desc(dims, type, kTags[dims.size() - 3]);
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
  std::vector<std::size_t> order = RowMajor(outer.size()), moving;
  for (std::size_t i = 0; i < outer.size(); ++i)
    if (outer[i] != 1) moving.push_back(i);
  std::vector<std::size_t> sorted = moving;
  std::stable_sort(sorted.begin(), sorted.end(), [&](auto i, auto j) { return strides[i] > strides[j]; });
  for (std::size_t i = 0; i < moving.size(); ++i) order[moving[i]] = sorted[i];
  std::string name;
  for (const std::size_t dimension : order)
    name += static_cast<char>((blocked[dimension] ? 'A' : 'a') + static_cast<int>(dimension));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    name += std::to_string(blocks[i]);
    name += static_cast<char>('a' + indices[i]);
  }
  return name;
}

}  // namespace onednn
