// Where the states of a choice of layouts keep what they know of each tensor: one that has several layouts has a slot
// from its first producer to its last reader, then another one may have it.
//
//   conv_1 -> a -> pool -> b -> conv_2 -> c      a: slot 0, b: slot 1, c: slot 0 again
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "analyzer/layouts/problem_index.h"

namespace infimum {

// Sets of regions that are under way, by numbers that thousands of states can hold.
//
//   PendingRegions pending;                    0 is the empty set
//   pending.With(0, 7) == 1;   pending.With(1, 9) == 2;   pending[2] is {7, 9};   pending.Without(2, 9) == 1
class PendingRegions {
 public:
  PendingRegions() { Clear(); }

  void Clear();
  // Ascending.
  std::span<const std::size_t> operator[](std::uint32_t number) const { return *sets_[number]; }
  std::uint32_t With(std::uint32_t number, std::size_t region);
  std::uint32_t Without(std::uint32_t number, std::size_t region);

  // There may be new sets at every layer: those that no state has any more give their numbers away. `Keep` says of each
  // one that stays which number it has after `ForgetOthers`; the empty set always stays.
  std::uint32_t Keep(std::uint32_t number);
  void ForgetOthers();

 private:
  static constexpr std::uint32_t kForgotten = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t NumberOfScratch();

  std::map<std::vector<std::size_t>, std::uint32_t> numbers_;
  std::vector<const std::vector<std::size_t>*> sets_;  // by number, keys of `numbers_`
  std::vector<std::uint32_t> kept_;                    // the number of each set after ForgetOthers
  std::uint32_t kept_count_ = 0;
  std::vector<std::size_t> scratch_;
};

class LayoutSlots {
 public:
  // `index` lives longer.
  explicit LayoutSlots(const ProblemIndex& index);

  // Begins with a component, whose layers are entered and left in their order.
  void Assign(const LayoutComponent& component);
  std::size_t count() const { return tensor_in_.size(); }
  std::size_t Of(std::size_t tensor) const { return slot_of_[tensor]; }
  // At the layer that was entered last.
  std::size_t TensorIn(std::size_t slot) const { return tensor_in_[slot]; }
  void Enter(std::size_t layer);
  struct Turn {
    std::size_t layer = 0;
    std::size_t slot = 0;
  };
  // The slots whose tensors nothing reads after this layer.
  std::span<const Turn> Leave(std::size_t layer);

 private:
  const ProblemIndex& index_;
  std::vector<std::size_t> made_;     // of each tensor of the component by which layer; kNone: by none
  std::vector<std::size_t> slot_of_;  // of each tensor of the component
  std::vector<std::size_t> tensor_in_;
  std::vector<std::size_t> by_making_;  // the tensors, in the order in which they are made
  std::size_t next_made_ = 0;
  std::vector<Turn> ends_;  // in the order of layers
  std::size_t next_end_ = 0;
};

}  // namespace infimum
