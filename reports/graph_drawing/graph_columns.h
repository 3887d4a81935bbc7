// Ranks in columns, as text is set: the picture of a network of a hundred ranks is a thin strip else, of which nothing
// can be read once it fits a page. A column ends where few edges lead on, and not between what belongs together.
//
//   100 ranks of height 10 and width 20, space of 18 x 10:   6 columns of 16 or 17 ranks, gutters between
#pragma once

#include <cstddef>
#include <vector>

namespace infimum {

// What may be cut: rank by rank from the top.
struct ColumnRank {
  double height = 0;  // with the gap below
  double left = 0;    // of the leftmost vertex
  double right = 0;
  std::size_t lanes = 0;   // vertices whose edges lead on to the next rank
  std::size_t joints = 0;  // segments to the next rank that should not be cut
};

inline constexpr double kLane = 8;     // between edges side by side in a gutter
inline constexpr double kGutter = 36;  // a gutter's width without its lanes
inline constexpr double kMargin = 12;  // between a column and the first lane below or above it

// The rank that each column starts with; the first is 0. One column where more do not let the picture be shown larger.
std::vector<std::size_t> ColumnStarts(const std::vector<ColumnRank>& ranks, double aspect);

}  // namespace infimum
