// A random order that is the same on every machine and with every standard library.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace infimum {

// SplitMix64 (Steele, Lea and Flood): small, and good enough to shuffle with.
class RandomOrder {
 public:
  explicit RandomOrder(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  template <class T>
  void Shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[Next() % i]);
  }

 private:
  std::uint64_t state_;
};

// FNV-1a: a text as part of a seed.
constexpr std::uint64_t HashOf(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace infimum
