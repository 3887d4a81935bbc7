// Times held against the metronome (infimum/base/beat.h): what a repetition would have taken at the pace that was usual
// while the rows of its bracket were measured.
//
//   log t = log t0 + a (x - x0) + m (y - y0) + e
//
//   x, y    logarithms of the repetition's beat, arithmetic and memory; x0, y0 their medians over all repetitions
//   a, m    by least squares within the rows, all together; none less than 0, both together at most 1: a layer is not
//           slowed down by more than the loops are
//
//   beats 100 and 131 us, a row's medians 10 and 13 us   ->   a = 0.97; the row says 11.4 and 11.4 us
//
// A framework's run and the demonstrated one are held to the same pace, so that times of different minutes, or days,
// compare. Where the beats explain nothing that chance would not, a and m are 0 and no time is changed.
#pragma once

#include <optional>
#include <span>

#include "infimum/base/beat.h"
#include "infimum/measurement/measurement.h"

namespace infimum {

class Pace {
 public:
  // Times that it changes by less are as they were measured, as far as anybody is told.
  static constexpr double kWorthSaying = 0.01;

  Pace() = default;
  explicit Pace(std::span<const Measurement> rows);

  // What a time with this beat is multiplied by; 1 without one.
  double FactorOf(const std::optional<Beat>& beat) const;
  // All of a repetition's times.
  void Hold(Repetition& repetition) const;

  double arithmetic() const { return arithmetic_; }  // a
  double memory() const { return memory_; }          // m
  bool holds() const { return arithmetic_ > 0 || memory_ > 0; }
  // The largest change that it made to a repetition of these rows, as a share: 0.31.
  double most() const { return most_; }

 private:
  double arithmetic_ = 0, memory_ = 0;
  double usual_arithmetic_ = 0, usual_memory_ = 0;  // logarithms
  double most_ = 0;
};

}  // namespace infimum
