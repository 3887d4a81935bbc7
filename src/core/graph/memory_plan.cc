#include "src/core/graph/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace infimum {

MemoryPlan PlanMemory(const std::vector<BufferLife>& buffers, std::size_t alignment) {
  const auto aligned = [&](std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  MemoryPlan plan;
  plan.offsets.resize(buffers.size());
  std::vector<std::size_t> placed;  // by offset
  for (const std::size_t buffer : order) {
    const BufferLife& own = buffers[buffer];
    std::size_t offset = 0;
    for (const std::size_t other : placed) {
      const BufferLife& life = buffers[other];
      if (life.first > own.last || own.first > life.last) continue;
      if (offset + own.bytes <= plan.offsets[other]) break;
      offset = std::max(offset, aligned(plan.offsets[other] + life.bytes));
    }
    plan.offsets[buffer] = offset;
    plan.bytes = std::max(plan.bytes, offset + own.bytes);
    placed.insert(std::ranges::upper_bound(
                      placed, buffer, [&](std::size_t a, std::size_t b) { return plan.offsets[a] < plan.offsets[b]; }),
                  buffer);
  }
  return plan;
}

}  // namespace infimum
