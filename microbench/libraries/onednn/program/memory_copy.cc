#include "microbench/libraries/onednn/program/memory_copy.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "microbench/kernels/cpu/vector/vector_kernels.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "microbench/reference/index_map.h"

namespace infimum::cpu {
namespace {

constexpr std::int64_t kTile = 64;
constexpr std::int64_t kLeastBytes = 65536;

struct Dimension {
  std::int64_t extent = 1, from = 0, to = 0;  // and its steps
};

// Outermost first as the copy lies; extents of one drop out, and dimensions that stay neighbours become one.
std::vector<Dimension> Merged(const CommonDimensions& dimensions) {
  std::vector<Dimension> all;
  for (std::size_t i = 0; i < dimensions.dims.size(); ++i)
    if (dimensions.dims[i] != 1) all.push_back({dimensions.dims[i], dimensions.from[i], dimensions.to[i]});
  std::ranges::stable_sort(all, std::ranges::greater(), &Dimension::to);
  std::vector<Dimension> merged;
  for (const Dimension& inner : all) {
    const bool joins = !merged.empty() && merged.back().from == inner.from * inner.extent &&
                       merged.back().to == inner.to * inner.extent;
    if (!joins) merged.emplace_back();
    merged.back() = {merged.back().extent * inner.extent, inner.from, inner.to};
  }
  if (merged.empty()) merged.push_back({1, 1, 1});
  return merged;
}

Dimension TakeLast(std::vector<Dimension>& dimensions) {
  if (dimensions.empty()) return {};
  const Dimension last = dimensions.back();
  dimensions.pop_back();
  return last;
}

// Rectangles of rows and columns, at most kTile each, in all combinations of the dimensions above.
struct Tiles {
  Tiles(std::vector<Dimension> above, const Dimension& rows, const Dimension& columns)
      : above_(std::move(above)), rows_(rows), columns_(columns) {
    for (const Dimension& dimension : above_) count_ *= dimension.extent;
  }

  // Calls function(from, to, rows, columns) with where each begins and how large it is.
  template <class Function>
  void ForEach(std::int64_t bytes, const Function& function) const {
    const std::int64_t down = (rows_.extent + kTile - 1) / kTile, across = (columns_.extent + kTile - 1) / kTile;
    const std::int64_t elements = std::min(kTile, rows_.extent) * std::min(kTile, columns_.extent);
    ParallelEach(count_ * down * across, kLeastBytes, elements * bytes, [&](std::int64_t i) {
      const std::int64_t row = i / across % down * kTile, column = i % across * kTile;
      std::int64_t from = row * rows_.from + column * columns_.from, to = row * rows_.to + column * columns_.to;
      for (std::int64_t rest = i / across / down, k = std::ssize(above_); k-- > 0;) {
        const Dimension& dimension = above_[static_cast<std::size_t>(k)];
        from += rest % dimension.extent * dimension.from;
        to += rest % dimension.extent * dimension.to;
        rest /= dimension.extent;
      }
      function(from, to, std::min(kTile, rows_.extent - row), std::min(kTile, columns_.extent - column));
    });
  }

 private:
  std::vector<Dimension> above_;
  Dimension rows_, columns_;
  std::int64_t count_ = 1;
};

MemoryCopy CopyRuns(std::vector<Dimension> above, std::int64_t run) {
  const Dimension columns = TakeLast(above), rows = TakeLast(above);
  return [=, tiles = Tiles(std::move(above), rows, columns)](const void* source, void* target) {
    const auto copy = [&](auto size) {
      tiles.ForEach(run, [&](std::int64_t from, std::int64_t to, std::int64_t down, std::int64_t across) {
        for (std::int64_t row = 0; row < down; ++row) {
          const char* x = static_cast<const char*>(source) + from + row * rows.from;
          char* y = static_cast<char*>(target) + to + row * rows.to;
          for (std::int64_t column = 0; column < across; ++column, x += columns.from, y += columns.to)
            std::memcpy(y, x, static_cast<std::size_t>(size));
        }
      });
    };
    // Runs of a size known to the compiler are moves of registers, not calls.
    const auto copy_known = [&]<std::int64_t... kSizes>(std::integer_sequence<std::int64_t, kSizes...>) {
      return (... || (run == kSizes && (copy(std::integral_constant<std::int64_t, kSizes>()), true)));
    };
    if (!copy_known(std::integer_sequence<std::int64_t, 4, 8, 16, 32, 64, 128, 256>())) copy(run);
  };
}

}  // namespace

MemoryCopy MakeMemoryCopy(const CommonDimensions& common, int bytes) {
  std::vector<Dimension> dimensions = Merged(common);
  const Dimension inner = TakeLast(dimensions);
  if (inner.from == 1) {
    for (Dimension& dimension : dimensions) dimension.from *= bytes, dimension.to *= bytes;
    return CopyRuns(std::move(dimensions), inner.extent * bytes);
  }
  // The source's innermost dimension is somewhere above.
  const auto at = std::ranges::find(dimensions, 1, &Dimension::from);
  const Dimension outer = at != dimensions.end() ? *at : Dimension{1, 1, 1};
  if (at != dimensions.end()) dimensions.erase(at);
  return [=, tiles = Tiles(std::move(dimensions), outer, inner)](const void* source, void* target) {
    const VectorKernels& kernels = Kernels();
    tiles.ForEach(bytes, [&](std::int64_t from, std::int64_t to, std::int64_t columns, std::int64_t rows) {
      kernels.transpose_tile(static_cast<const char*>(source) + from * bytes, inner.from,
                             static_cast<char*>(target) + to * bytes, outer.to, rows, columns, bytes);
    });
  };
}

MemoryCopy MakeTranspose(const Shape& input, const std::vector<std::int64_t>& permutation, int bytes) {
  const std::vector<std::int64_t> from = PackedSteps(input.dims);
  CommonDimensions dimensions;
  for (const std::int64_t source : permutation) {
    dimensions.dims.push_back(input.dims[static_cast<std::size_t>(source)]);
    dimensions.from.push_back(from[static_cast<std::size_t>(source)]);
  }
  dimensions.to = PackedSteps(dimensions.dims);
  return MakeMemoryCopy(dimensions, bytes);
}

}  // namespace infimum::cpu
