#include <algorithm>
#include <cstring>
#include <utility>

#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/vector/vector_kernels.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "microbench/reference/index_map.h"

namespace infimum::cpu {
namespace {

struct Dimension {
  std::int64_t extent;
  std::int64_t from_stride;
  std::int64_t to_stride;
};

// Offsets of all combinations of some dimensions, walked with the output's innermost fastest.
struct Walk {
  std::vector<Dimension> dimensions;

  std::int64_t count() const {
    std::int64_t product = 1;
    for (const Dimension& d : dimensions) product *= d.extent;
    return product;
  }
  // Position `index` as a pair of offsets.
  void Offsets(std::int64_t index, std::int64_t& from, std::int64_t& to) const {
    from = to = 0;
    for (std::size_t i = dimensions.size(); i-- > 0;) {
      const std::int64_t at = index % dimensions[i].extent;
      index /= dimensions[i].extent;
      from += at * dimensions[i].from_stride;
      to += at * dimensions[i].to_stride;
    }
  }
};

}  // namespace

std::function<void(const void*, void*)> MakeTranspose(const Shape& input, const std::vector<std::int64_t>& permutation,
                                                      int bytes) {
  const std::size_t rank = input.rank();
  const std::vector<std::int64_t> from_strides = PackedSteps(input.dims);
  // In the output's order; extents of one drop out, and dimensions that stay neighbours become one.
  std::vector<Dimension> dimensions;
  std::int64_t to_stride = 1;
  for (std::size_t i = rank; i-- > 0;) {
    const auto source = static_cast<std::size_t>(permutation[i]);
    const std::int64_t extent = input.dims[source];
    if (extent != 1) {
      const bool joins =
          !dimensions.empty() && from_strides[source] == dimensions.front().from_stride * dimensions.front().extent;
      if (joins) {
        dimensions.front().extent *= extent;
      } else {
        dimensions.insert(dimensions.begin(), {extent, from_strides[source], to_stride});
      }
    }
    to_stride *= extent;
  }
  if (dimensions.empty()) dimensions.push_back({1, 1, 1});
  const Dimension inner = dimensions.back();
  dimensions.pop_back();
  if (inner.from_stride == 1) {
    const Walk walk{dimensions};
    const std::int64_t run = inner.extent * bytes;
    return [=](const void* from, void* to) {
      const auto* source = static_cast<const char*>(from);
      auto* target = static_cast<char*>(to);
      ParallelRanges(walk.count(), std::max<std::int64_t>(1, 65536 / run), [&](std::int64_t first, std::int64_t last) {
        const auto copy = [&](auto size) {
          for (std::int64_t i = first; i < last; ++i) {
            std::int64_t from_offset, to_offset;
            walk.Offsets(i, from_offset, to_offset);
            std::memcpy(target + to_offset * bytes, source + from_offset * bytes, static_cast<std::size_t>(size));
          }
        };
        // Runs of a size known to the compiler are moves of registers, not calls.
        const auto copy_known = [&]<std::int64_t... kSizes>(std::integer_sequence<std::int64_t, kSizes...>) {
          return (... || (run == kSizes && (copy(std::integral_constant<std::int64_t, kSizes>()), true)));
        };
        if (!copy_known(std::integer_sequence<std::int64_t, 4, 8, 16, 32, 64, 128, 256>())) copy(run);
      });
    };
  }
  // The input's innermost dimension is somewhere above: columns of tiles whose rows are the output's.
  const auto at = std::ranges::find_if(dimensions, [](const Dimension& d) { return d.from_stride == 1; });
  const Dimension columns = at != dimensions.end() ? *at : Dimension{1, 1, 1};
  if (at != dimensions.end()) dimensions.erase(at);
  constexpr std::int64_t kTile = 64;
  const std::int64_t tile_rows = std::min(kTile, inner.extent), tile_columns = std::min(kTile, columns.extent);
  const std::int64_t row_tiles = (inner.extent + tile_rows - 1) / tile_rows;
  const std::int64_t column_tiles = (columns.extent + tile_columns - 1) / tile_columns;
  const Walk walk{dimensions};
  return [=](const void* from, void* to) {
    const VectorKernels& kernels = Kernels();
    const std::int64_t tiles = row_tiles * column_tiles;
    ParallelEach(walk.count() * tiles, 16384, tile_rows * tile_columns, [&](std::int64_t i) {
      std::int64_t from_offset, to_offset;
      walk.Offsets(i / tiles, from_offset, to_offset);
      const std::int64_t row = i % tiles % row_tiles * tile_rows, column = i % tiles / row_tiles * tile_columns;
      from_offset += row * inner.from_stride + column;
      to_offset += column * columns.to_stride + row;
      kernels.transpose_tile(static_cast<const char*>(from) + from_offset * bytes, inner.from_stride,
                             static_cast<char*>(to) + to_offset * bytes, columns.to_stride,
                             std::min(tile_rows, inner.extent - row), std::min(tile_columns, columns.extent - column),
                             bytes);
    });
  };
}

}  // namespace infimum::cpu
