// Which level each factor has in each inference of an experiment: random two-level designs in blocks.
//
//   MakeDesign(3, 1, seed)          factors a, b, c; '0': the level that a program has now, '1': the other
//     block 0   "011"   one of 16 random settings: each factor is at '1' in half of them
//               "000"   an end: all at '0'
//               "111"   the other end
//               "101"   ...
//
// Settings are those of a regular fraction of 2^m runs (Box, Hunter and Hunter, Statistics for Experimenters): run r,
// a number of m bits, has factor i at the parity of r & c_i, exclusive or a random bit s_i. All c_i have the highest
// bit set, so that the product of any two columns is none of a factor's: effects of factors are free of every
// interaction of two (a foldover). Columns are drawn so that also the products of neighbours, c_i ^ c_i+1, differ from
// one another, and from the columns that distinguish blocks of 16 runs: effects, interactions of neighbours and drift
// of the machine are then orthogonal. What a column shares with interactions of factors further apart differs from one
// replicate to the next, since each draws its columns anew.
//
// The ends are added to each block and belong to no fraction: they are timed to test what the settings predict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace infimum {

struct DesignRun {
  std::string levels;  // '0' or '1' of each factor
  std::size_t block = 0;
  bool is_end = false;  // all factors at one level

  friend bool operator==(const DesignRun&, const DesignRun&) = default;
};

inline constexpr std::size_t kSettingsOfBlock = 16;
inline constexpr std::size_t kRunsOfBlock = kSettingsOfBlock + 2;

// Settings after which a design of so many factors is orthogonal: 2^m.
std::size_t SettingsOfReplicate(std::size_t factors);

// As many whole replicates; `factors` is 1 or more. The same for the same seed on every machine.
std::vector<DesignRun> MakeDesign(std::size_t factors, std::size_t replicates, std::uint64_t seed);

}  // namespace infimum
