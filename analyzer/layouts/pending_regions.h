// Sets of regions that are under way, by numbers that thousands of states can hold.
//
//   PendingRegions pending;                    0 is the empty set
//   pending.With(0, 7) == 1;   pending.With(1, 9) == 2;   pending[2] is {7, 9};   pending.Without(2, 9) == 1
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

namespace infimum {

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

}  // namespace infimum
