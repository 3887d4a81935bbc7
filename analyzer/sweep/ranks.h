// The order of a sweep's cells on one device: which are worth their time, whether what is known of a model beforehand
// orders them as their times do, and where it does not.
//
//   a: floor  10 us, 100 us      b: floor 40 us, 60 us      c: floor 50 us, 90 us
//   RankCorrelationsOf: of the floor with time -0.5
//   InversionsOf: a should be the fastest, and b and c are faster than it: 2 pairs; the worst of a is with b
#pragma once

#include "analyzer/sweep/sweep.h"

namespace infimum {

enum class SweepSize { kParameters, kFlops, kBytes, kFloor };
std::string_view Name(SweepSize size);  // "parameters", "FLOPs", "bytes", "floor"
std::optional<double> SizeOf(const SweepCell& cell, SweepSize size);

// Cells with more of `size` than any faster one; the fastest first.
std::vector<std::size_t> ParetoOf(std::span<const SweepCell> cells, SweepSize size);

// Spearman's, with the mean rank of ties; nothing where fewer than three cells have both, or one of both is constant.
struct RankCorrelation {
  SweepSize size = SweepSize::kFlops;
  std::size_t cells = 0;
  double rho = 0;
};
std::optional<RankCorrelation> RankCorrelationOf(std::span<const SweepCell> cells, SweepSize size);

// A cell of a lower floor that takes longer than another, beyond the intervals of both.
struct RankInversion {
  std::size_t slow = 0;  // of the lower floor
  std::size_t fast = 0;  // the fastest, by the upper end of its interval, of a higher one
  double times = 1;      // that the slow one takes longer, at least: its interval's low end over the other's high end
};
struct RankInversions {
  std::size_t pairs = 0;
  std::vector<RankInversion> worst;  // of each slow cell the largest; the largest first, at most `most`
};
// O(n log n) of n cells.
RankInversions InversionsOf(std::span<const SweepCell> cells, std::size_t most);

}  // namespace infimum
