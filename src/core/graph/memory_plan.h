// Where buffers lie in one block of memory when each is needed for a while only.
//
//   buffers  a: 100 bytes, steps 0-1   b: 100 bytes, steps 1-2   c: 60 bytes, steps 2-3
//   plan     a at 0, b at 128, c at 0; 228 bytes in all
//
// Greedy: the largest buffer first, each at the lowest place that is free for as long as it lives. Two buffers that
// live at a common step never share a byte.
#pragma once

#include <cstddef>
#include <vector>

namespace infimum {

struct BufferLife {
  std::size_t bytes = 0;
  std::size_t first = 0;  // the step that writes it
  std::size_t last = 0;   // the last step that reads it, included
};

struct MemoryPlan {
  std::vector<std::size_t> offsets;  // as the buffers, multiples of the alignment
  std::size_t bytes = 0;             // of the block
};

MemoryPlan PlanMemory(const std::vector<BufferLife>& buffers, std::size_t alignment);

}  // namespace infimum
