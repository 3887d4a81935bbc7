#include "microbench/kernels/cuda/strided_copy.h"

namespace infimum::cuda {
namespace {

// With neighbouring dimensions joined where nothing hinders it.
StridedCopy Merged(StridedCopy copy) {
  std::vector<bool> kept(copy.dims.size(), false);
  for (std::size_t d = 0; d < copy.dims.size(); ++d) {
    if (copy.limit == CopyCall::Limit::kBox) kept[d] = copy.begin[d] > 0 || copy.end[d] < copy.dims[d];
    if (copy.limit == CopyCall::Limit::kLowerTriangle) kept[d] = d + 2 >= copy.dims.size();
  }
  if (copy.limit == CopyCall::Limit::kBox) {
    // Limits travel as two more tensors' steps would: by the dimensions that keep theirs.
    std::vector<std::int64_t> begin, end;
    for (std::size_t d = 0; d < copy.dims.size(); ++d) {
      if (!kept[d]) continue;
      begin.push_back(copy.begin[d]);
      end.push_back(copy.end[d]);
    }
    copy.begin = std::move(begin);
    copy.end = std::move(end);
  }
  Iteration iteration{copy.dims, {copy.from_steps, copy.to_steps}};
  iteration.Merge(&kept);
  copy.dims = iteration.dims;
  copy.from_steps = iteration.steps[0];
  copy.to_steps = iteration.steps[1];
  if (copy.limit == CopyCall::Limit::kBox) {
    std::vector<std::int64_t> begin(copy.dims.size(), 0), end = copy.dims;
    for (std::size_t d = 0, next = 0; d < copy.dims.size(); ++d) {
      if (!kept[d]) continue;
      begin[d] = copy.begin[next];
      end[d] = copy.end[next++];
    }
    copy.begin = std::move(begin);
    copy.end = std::move(end);
  }
  return copy;
}

// In elements of `times` as many bytes; false where they do not lie together everywhere.
bool Widen(StridedCopy& copy, int times, const void* from, const void* to) {
  if (times == 1) return true;
  if (copy.dims.empty() || copy.limit == CopyCall::Limit::kLowerTriangle) return false;
  const std::int64_t bytes = std::int64_t{copy.element_bytes} * times;
  if (!IsAligned(from, bytes) || !IsAligned(to, bytes)) return false;
  const auto divides = [times](std::int64_t number) { return number % times == 0; };
  const std::size_t last = copy.dims.size() - 1;
  if (copy.from_steps[last] != 1 || copy.to_steps[last] != 1 || !divides(copy.dims[last])) return false;
  if (!divides(copy.from_at) || !divides(copy.to_at)) return false;
  for (std::size_t d = 0; d < last; ++d) {
    if (!divides(copy.from_steps[d]) || !divides(copy.to_steps[d])) return false;
  }
  const bool limited = copy.limit == CopyCall::Limit::kBox;
  if (limited && (!divides(copy.begin[last]) || !divides(copy.end[last]))) return false;
  copy.element_bytes *= times;
  copy.dims[last] /= times;
  copy.from_at /= times;
  copy.to_at /= times;
  for (std::size_t d = 0; d < last; ++d) {
    copy.from_steps[d] /= times;
    copy.to_steps[d] /= times;
  }
  if (limited) {
    copy.begin[last] /= times;
    copy.end[last] /= times;
  }
  return true;
}

// As numbers: null stands for any aligned address, and a padding's first position may lie before its tensor.
const void* Moved(const void* address, std::int64_t elements, int bytes) {
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(address) +
                                       static_cast<std::uintptr_t>(elements * bytes));
}
void* Moved(void* address, std::int64_t elements, int bytes) {
  return const_cast<void*>(Moved(static_cast<const void*>(address), elements, bytes));
}

bool IsFlat(const StridedCopy& copy) {
  return copy.limit == CopyCall::Limit::kNone &&
         (copy.dims.empty() || (copy.dims.size() == 1 && copy.from_steps[0] == 1 && copy.to_steps[0] == 1));
}

// Rows (neighbours in `to`) and columns (neighbours in `from`) of a merged copy; {-1, -1} where they are one dimension.
struct Plane {
  int row = -1, column = -1;
};
Plane PlaneOf(const StridedCopy& copy) {
  Plane plane;
  for (std::size_t d = 0; d < copy.dims.size(); ++d) {
    if (copy.to_steps[d] == 1) plane.row = static_cast<int>(d);
    if (copy.from_steps[d] == 1) plane.column = static_cast<int>(d);
  }
  if (plane.row < 0 || plane.column < 0 || plane.row == plane.column) return {};
  return plane;
}

// Innermost elements that stay together become one, where that is an element there are kernels for.
StridedCopy WithWholeUnits(StridedCopy copy, const void* from, const void* to) {
  if (copy.dims.empty() || copy.from_steps.back() != 1 || copy.to_steps.back() != 1) return copy;
  const std::int64_t bytes = copy.dims.back() * copy.element_bytes;
  if (bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16) return copy;
  if (!Widen(copy, static_cast<int>(copy.dims.back()), from, to)) return copy;
  copy.dims.pop_back();
  copy.from_steps.pop_back();
  copy.to_steps.pop_back();
  return copy;
}

bool HasTile(int element_bytes, int merged) {
  if (merged == 1) return true;
  const int bytes = element_bytes * merged;
  return (element_bytes == 1 && merged == 4) || (element_bytes == 2 && (merged == 2 || merged == 4)) ||
         (merged == 2 && (bytes == 8 || bytes == 16));
}

// Whether `merged` elements lie together in all rows, columns and steps.
bool CanMerge(const StridedCopy& copy, const Plane& plane, int merged, const void* from, const void* to) {
  if (!HasTile(copy.element_bytes, merged)) return false;
  const std::int64_t bytes = std::int64_t{copy.element_bytes} * merged;
  if (!IsAligned(Moved(from, copy.from_at, copy.element_bytes), bytes)) return false;
  if (!IsAligned(Moved(to, copy.to_at, copy.element_bytes), bytes)) return false;
  for (int d = 0; d < static_cast<int>(copy.dims.size()); ++d) {
    const auto at = static_cast<std::size_t>(d);
    if ((d == plane.row || d == plane.column) && copy.dims[at] % merged != 0) return false;
    if (d != plane.row && copy.to_steps[at] % merged != 0) return false;
    if (d != plane.column && copy.from_steps[at] % merged != 0) return false;
  }
  return true;
}

}  // namespace

std::optional<KernelCall> StridedCopy::Make(const Variant& variant, const void* from, void* to) const {
  StridedCopy copy = Merged(*this);
  if (IsFlat(copy)) {
    FlatCopyCall call;
    call.bytes = copy.count_bytes();
    call.from = Moved(from, copy.from_at, copy.element_bytes);
    call.to = Moved(to, copy.to_at, copy.element_bytes);
    call.unit_bytes = copy.element_bytes;
    while (variant.widens && call.unit_bytes < 16 && IsAligned(call.from, 2 * call.unit_bytes) &&
           IsAligned(call.to, 2 * call.unit_bytes)) {
      call.unit_bytes *= 2;
    }
    call.units_per_thread = variant.units_per_thread;
    call.streams = variant.streams;
    return call;
  }
  for (int times = variant.widens ? 16 / copy.element_bytes : 1; times > 1; times /= 2) {
    if (Widen(copy, times, from, to)) break;
  }
  CopyCall call;
  const std::optional<Box> box = BoxOf(copy.dims);
  const std::optional<Steps> from_side = StepsOf(copy.from_steps), to_side = StepsOf(copy.to_steps);
  if (!box || !from_side || !to_side) return std::nullopt;
  call.from = Moved(from, copy.from_at, copy.element_bytes);
  call.to = Moved(to, copy.to_at, copy.element_bytes);
  call.count = 1;
  for (const std::int64_t dim : copy.dims) call.count *= static_cast<std::uint32_t>(dim);
  call.unit_bytes = copy.element_bytes;
  call.units_per_thread = variant.units_per_thread;
  call.limit = copy.limit;
  call.box = *box;
  call.from_steps = *from_side;
  call.to_steps = *to_side;
  for (std::size_t d = 0; copy.limit == CopyCall::Limit::kBox && d < copy.dims.size(); ++d) {
    call.begin[d] = static_cast<std::int32_t>(copy.begin[copy.dims.size() - 1 - d]);
    call.end[d] = static_cast<std::int32_t>(copy.end[copy.dims.size() - 1 - d]);
  }
  return call;
}

std::int64_t StridedCopy::count_bytes() const {
  std::int64_t count = element_bytes;
  for (const std::int64_t dim : dims) count *= dim;
  return count;
}

int StridedCopy::MostMerged() const {
  if (limit != CopyCall::Limit::kNone) return 0;
  const StridedCopy copy = WithWholeUnits(Merged(*this), nullptr, nullptr);
  const Plane plane = PlaneOf(copy);
  if (plane.row < 0) return 0;
  for (int merged : {4, 2}) {
    if (CanMerge(copy, plane, merged, nullptr, nullptr)) return merged;
  }
  return 1;
}

std::optional<KernelCall> StridedCopy::MakeTransposed(int merged, const void* from, void* to) const {
  const StridedCopy copy = WithWholeUnits(Merged(*this), from, to);
  const Plane plane = PlaneOf(copy);
  if (plane.row < 0) return std::nullopt;
  while (merged > 1 && !CanMerge(copy, plane, merged, from, to)) merged /= 2;
  Iteration batch{{}, {{}, {}}};
  for (std::size_t d = 0; d < copy.dims.size(); ++d) {
    if (static_cast<int>(d) == plane.row || static_cast<int>(d) == plane.column) continue;
    batch.dims.push_back(copy.dims[d]);
    batch.steps[0].push_back(copy.from_steps[d]);
    batch.steps[1].push_back(copy.to_steps[d]);
  }
  const auto row = static_cast<std::size_t>(plane.row), column = static_cast<std::size_t>(plane.column);
  const std::optional<Box> box = BoxOf(batch.dims);
  const std::optional<Steps> from_side = StepsOf(batch.steps[0]), to_side = StepsOf(batch.steps[1]);
  const bool fits = FitsCount(copy.from_steps[row]) && FitsCount(copy.to_steps[column]);
  if (!box || !from_side || !to_side || !fits || !FitsCount(copy.count_bytes() / copy.element_bytes)) {
    return std::nullopt;
  }
  TransposeCall call;
  call.from = Moved(from, copy.from_at, copy.element_bytes);
  call.to = Moved(to, copy.to_at, copy.element_bytes);
  call.element_bytes = copy.element_bytes;
  call.merged = merged;
  call.rows = static_cast<std::uint32_t>(copy.dims[row]);
  call.columns = static_cast<std::uint32_t>(copy.dims[column]);
  call.from_row_step = static_cast<std::int32_t>(copy.from_steps[row]);
  call.to_column_step = static_cast<std::int32_t>(copy.to_steps[column]);
  call.batches = static_cast<std::uint32_t>(batch.count());
  call.batch = *box;
  call.from_batch_steps = *from_side;
  call.to_batch_steps = *to_side;
  const std::int64_t tile = call.tile_elements();
  call.row_tiles = FastDivisor((copy.dims[row] + tile - 1) / tile);
  call.column_tiles = FastDivisor((copy.dims[column] + tile - 1) / tile);
  return call;
}

}  // namespace infimum::cuda
