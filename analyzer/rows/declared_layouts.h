// The texts in which candidates state their layouts, taken apart, each pair of texts once: a store's rows have few
// dozens of pairs, so that a bound compares pointers where it would compare texts a hundred thousand times.
//
//   reads "acdb,plain", writes "acdb"  ->  inputs {acdb; plain, row-major in every rank}, outputs {acdb}
//   reads "abcd", writes "opaque"      ->  is_opaque: the order has no name
#pragma once

#include <array>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infimum/measurement/candidate.h"

namespace infimum {

struct LayoutName {
  static constexpr std::size_t kEveryRank = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kNoRank = kEveryRank - 1;

  bool IsRowMajor(std::size_t rank) const { return row_major_rank == rank || row_major_rank == kEveryRank; }

  std::string text;
  std::size_t row_major_rank = kNoRank;  // 4 of "abcd"
};

struct StatedLayouts {
  std::string input, output;                // as the candidate has them
  std::vector<LayoutName> inputs, outputs;  // at least one each
  bool is_opaque = false;
};

class LayoutTexts {
 public:
  // Lives as long as this, also where this is moved.
  const StatedLayouts* Of(const Candidate& candidate);

 private:
  std::deque<StatedLayouts> all_;
  std::map<std::pair<std::string_view, std::string_view>, const StatedLayouts*> known_;  // texts of `all_`
  // Of the last answers: a workload's candidates have few pairs, and so have its neighbours'.
  std::array<const StatedLayouts*, 4> recent_ = {};
  std::size_t oldest_ = 0;
};

}  // namespace infimum
