// The ways to bring a tensor from the orders in which it exists into one more.
//
//   exists in {row-major}, wanted in channels last, changes: row-major -> last 3, row-major -> blocked 1, blocked ->
//   last 1.5
//   routes   row-major -> last             costs 3,    exists in {row-major, last}
//            row-major -> blocked -> last  costs 2.5,  exists in {row-major, blocked, last}
//
// Of routes that end with the same orders only the cheapest is kept, and none that costs no less than one that ends
// with all that it has.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/layouts/solver.h"

namespace infimum {

struct LayoutRoute {
  using Change = std::array<std::uint8_t, 2>;  // from, to

  std::span<const Change> changes() const { return std::span(list).first(length); }

  std::uint8_t mask = 0;  // orders in which the tensor exists afterwards, a bit each
  std::uint8_t length = 0;
  std::array<Change, kMostLayouts - 1> list = {};  // it goes over no order twice
  Latency cost{0};
};

class LayoutRoutes {
 public:
  // `problem` lives longer.
  explicit LayoutRoutes(const LayoutProblem& problem) : problem_(problem), pairs_(2 * problem.tensors.size()) {}

  // For one of the problem's tensors, the cheapest first. One that changes nothing where it exists so already; none
  // where it does not exist at all.
  std::span<const LayoutRoute> To(std::size_t tensor, std::size_t layout, std::uint8_t mask);

 private:
  void Find(const LayoutTensor& tensor, std::size_t layout, const LayoutRoute& so_far);
  std::vector<LayoutRoute> Search(const LayoutTensor& tensor, std::size_t layout, std::uint8_t mask);

  const LayoutProblem& problem_;
  std::vector<LayoutRoute>
      pairs_;  // of tensors with two layouts, to 0 and to 1; without a change where never asked for
  std::unordered_map<std::size_t, std::vector<LayoutRoute>> searched_;  // by tensor, layout and mask
  std::vector<LayoutRoute> found_;                                      // of the search at hand
};

inline Latency ChangeCost(const LayoutTensor& tensor, std::size_t from, std::size_t to) {
  return tensor.change[from * tensor.layouts + to];
}

}  // namespace infimum
