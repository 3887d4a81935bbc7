// Which candidate every layer or region runs with, when a tensor is laid out as its producer writes it and whoever
// reads it in another layout pays for the reorder: the cheapest assignment of layouts over a graph, regions included.
//
//   conv_1   blocked 10, row-major 12      row-major input -> conv_1 -> pool -> conv_2 -> row-major output
//   pool     row-major 3                   a reorder costs 1.5
//   conv_2   blocked 10, row-major 11
//
//   free layouts  10 + 3 + 10 = 23
//   ChooseLayouts conv_1 blocked 10, reorder 1.5, pool 3, conv_2 row-major 11 = 25.5
//                 (12 + 3 + 11 = 26 without reorders; 10 + 1.5 + 3 + 1.5 + 10 + 1.5 = 27.5 with the fastest candidates)
//
// A copy in another layout is made once and serves every later reader, also as the source of further copies: a reorder
// may go over other layouts, each of which then exists. A chain is a shortest path over layouts; a graph is solved by
// dynamic programming over its layers in order, whose state is in which layouts each tensor that is still to be read
// exists, and which later layers a region has taken. States that another one can be turned into by making the copies
// that it lacks, at no higher cost, are dropped, which loses nothing. So the choice is exact (`exact`), as long as no
// more than MostLayoutStates states are left after a layer and no region must wait for what reads its own outputs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "infimum/base/units.h"

namespace infimum {

inline constexpr std::size_t kMostLayouts = 6;  // of one tensor

struct LayoutTensor {
  std::size_t layouts = 1;       // at most kMostLayouts; 0 is row-major
  std::vector<Latency> reorder;  // costs, from x to, layouts x layouts; none where there is one layout
  bool is_given = false;         // there from the start, row-major
  bool is_output = false;        // row-major at the end
};

// The layouts of a node's tensors, a number for each. Nearly all nodes have few, which are stored in place: of a
// graph's options there are many times as many as layers.
class LayoutList {
 public:
  LayoutList() = default;
  LayoutList(std::initializer_list<std::uint8_t> layouts) : LayoutList(std::span(layouts.begin(), layouts.size())) {}
  explicit LayoutList(std::span<const std::uint8_t> layouts) {
    for (std::uint8_t layout : layouts) push_back(layout);
  }

  std::size_t size() const { return count_ + more_.size(); }
  std::uint8_t operator[](std::size_t i) const { return i < kFew ? few_[i] : more_[i - kFew]; }
  void push_back(std::uint8_t layout) {
    if (count_ < kFew) {
      few_[count_++] = layout;
    } else {
      more_.push_back(layout);
    }
  }

 private:
  static constexpr std::size_t kFew = 7;
  std::array<std::uint8_t, kFew> few_ = {};
  std::uint8_t count_ = 0;  // of the few
  std::vector<std::uint8_t> more_;
};

// One candidate, or several that differ in nothing but their time: in which layouts it reads and writes.
struct LayoutOption {
  Latency cost{0};
  LayoutList reads, writes;  // one for each tensor of its node
};

// What runs as one: a layer, or a region in place of its layers.
struct LayoutNode {
  std::vector<std::size_t> layers;         // that take part, ascending
  std::vector<std::size_t> reads, writes;  // tensors, none twice among the reads
  std::vector<LayoutOption> options;       // at least one
};

struct LayoutProblem {
  std::size_t layers = 0;
  std::vector<LayoutTensor> tensors;
  // First one for each layer that takes part (others are free), in their order, each reading what nodes of earlier
  // layers write; then regions.
  std::vector<LayoutNode> nodes;
};

struct ChosenReorder {
  std::size_t tensor = 0;
  std::uint8_t from = 0, to = 0;
  std::size_t node = 0;  // that it is made for; the number of nodes where it is for the model's output
};

struct ChosenNode {
  std::size_t node = 0;
  std::size_t option = 0;
};

struct LayoutChoice {
  std::vector<ChosenNode> chosen;       // in an order in which they can run
  std::vector<ChosenReorder> reorders;  // in the order in which they are made
  Latency cost{0};                      // of both
  Latency reordering{0};                // of the reorders alone
  bool exact = true;                    // otherwise the best that was found
};

// After each of so many layers: 16,384 of 256, which the skip connections of a U-Net need, and never less than 1,024.
constexpr std::size_t MostLayoutStates(std::size_t layers) {
  return std::clamp<std::size_t>((std::size_t{1} << 22) / std::max<std::size_t>(layers, 1), 1024, 16384);
}
LayoutChoice ChooseLayouts(const LayoutProblem& problem, std::size_t most_states);
inline LayoutChoice ChooseLayouts(const LayoutProblem& problem) {
  return ChooseLayouts(problem, MostLayoutStates(problem.layers));
}

}  // namespace infimum
