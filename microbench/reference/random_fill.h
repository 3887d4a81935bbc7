// Seeded random operands: never zeros (they run faster on some hardware), in ranges where the layer is
// well-behaved, indices valid, the same for the same seed on every machine.
#pragma once

#include <cstdint>

#include "infimum/layer/layer_config.h"
#include "microbench/reference/host_tensor.h"

namespace infimum::cpu {

// A well-mixed 64-bit number.
constexpr std::uint64_t HashOf(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15ULL + index + 0x632be59bd9b4e019ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Fills operand `number` of a layer.
void FillOperand(const LayerConfig& config, std::size_t number, std::uint64_t seed, HostTensor& tensor);

}  // namespace infimum::cpu
