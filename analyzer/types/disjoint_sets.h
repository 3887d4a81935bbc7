// What is connected: sets of numbers that grow together.
//
//   DisjointSets sets(4);   sets.Join(0, 2);   sets.Find(0) == sets.Find(2), and neither is sets.Find(1)
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace infimum {

class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0u); }

  // The number that stands for the set of `i`, until it is joined with another.
  std::size_t Find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Join(std::size_t a, std::size_t b) { parent_[Find(a)] = Find(b); }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace infimum
