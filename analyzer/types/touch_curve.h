// tau(B): the least time in which a program can touch B distinct bytes, inference after inference, as far as
// the evidence goes: times in which so many bytes were touched. No size of a cache enters; what stays near the core
// shows in the times.
//
//   TouchCurve tau({{16 MiB, 0.5 ms}, {32 MiB, 1.6 ms}, {64 MiB, 4.8 ms}});  // 34 GB/s near the core, 10 GB/s beyond
//   tau.SecondsFor(32 MiB)  ->  1.6 ms
//   tau.SecondsFor(24 MiB)  ->  0.8 ms: at least 16 MiB and then 8 MiB at the rate before them (0.75 ms), and at
//                               least 32 MiB less 8 MiB at the rate behind them (0.8 ms); the chord says 1.05 ms
//
// A program fills the nearest places first, so each further byte costs at least what the bytes before it did: tau is
// convex, and tau(0) = 0. Of the evidence the lower convex hull counts: a time above it is beaten by a program that
// does more, and counts as if it were on the hull. Between two measured sets tau is no higher than their chord; what it
// is no lower than are the chords beside it, extended. Behind the last point no byte is dearer than those of the
// largest set that were not near.
#pragma once

#include <vector>

namespace infimum {

// So many distinct bytes were touched within so many seconds, both above 0.
struct TouchTime {
  double bytes = 0;
  double seconds = 0;
};

class TouchCurve {
 public:
  TouchCurve() = default;
  explicit TouchCurve(std::vector<TouchTime> measured);

  // Evidence from elsewhere, which may be far from the least time: it only lowers the curve, and SecondsFor(seen.bytes)
  // is at most seen.seconds whatever else is seen later.
  void Observe(TouchTime seen);

  // Never decreases in `bytes`; what is beyond the last point moves at its rate. 0 where nothing was measured.
  double SecondsFor(double bytes) const;

  // What one more byte takes behind so many that the caches are of no use: the curve's last slope. 0 where nothing was
  // measured.
  double SecondsForFarByte() const;

 private:
  std::vector<TouchTime> measured_ = {
      {0, 0}};                              // each set, on the lower convex hull of all: ascending, and so are slopes
  std::vector<TouchTime> seen_ = {{0, 0}};  // the hull, of what was observed, too
};

}  // namespace infimum
