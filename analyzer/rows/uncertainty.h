// How far a time can be trusted: from the repetitions of rows to an interval of a whole bound.
//
// Model: a repetition's median is the candidate's true time, times exp(e), e normal with a deviation that belongs to
// the machine. Now and then a busy neighbour makes one 30 % slower, which says nothing about that deviation: its
// typical size is read off the differences between neighbouring repetitions, by their median, and what lies further
// than kClip times that from its row's median is drawn back to there. With three repetitions a row says little about
// that deviation, all rows together say much: each row's variance is drawn towards the pooled one, as if it had
// kPriorRepetitions more (the moderated variance of Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004).
//
// The true time of the best of many candidates: its least mean is too low, since the winner was chosen for being low.
// So the repetitions are split into folds; the winner is named by all folds but one and its time taken from that one
// (cross-fitting). That is unbiased for the candidates named, none of which is faster than the truly best one: the
// estimate may only be too high, by what naming the wrong one costs. With one rival slower by d that is d times the
// chance to name it, at most 0.17 of the deviation of their difference (d = 0.75 of it); with more rivals MostLoss
// says. The interval's low end allows for it.
//
//   ten repetitions around 100 us, deviation 2 %, no rival near:  100 us, interval 98.7 .. 101.3
//   twenty equal candidates, three repetitions each around 100 us, 2.3 %:  least mean 97.5; cross-fitted 100 in the
//   mean
//
// Sums: errors of different workloads are independent, that of a workload that a model uses u times counts u times.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/rows/timed_rows.h"

namespace infimum {

// Of a true time, in microseconds.
struct TimeEstimate {
  double center = 0;
  double variance = 0;  // of the center
  double freedom = 0;   // degrees of freedom of the variance; 0: no variance is known
  double below = 0;     // how much lower than the center the truth may be, apart from noise
  double above = 0;     // likewise higher, where only the spread of samples is known
};

inline constexpr double kPriorRepetitions = 8;
inline constexpr double kClip = 3;

class NoiseModel {
 public:
  NoiseModel() = default;
  // From the logarithms of the medians of each row of a bracket; rows of one repetition say nothing.
  explicit NoiseModel(std::span<const std::span<const double>> rows);

  // Of one candidate's row. With a single repetition and nothing pooled the spread of its samples is all there is.
  TimeEstimate Of(std::span<const Repetition> repetitions) const;
  // Of the best among the candidates of one workload; `rows` is not empty and has repetitions. `rivals`, where given,
  // becomes the rows that the best cannot be distinguished from, itself included.
  TimeEstimate OfBest(std::span<const TimedRow> rows, std::vector<const Measurement*>* rivals = nullptr) const;

  // Relative deviation between repetitions, pooled; nullopt where no row was repeated.
  std::optional<double> deviation() const;

 private:
  // Draws logarithms of one row's medians back where they lie too far out.
  void DrawBack(std::span<double> logs) const;
  // Of the logarithms; calls `samples` for the interval that stands in where no deviation is known.
  template <class Samples>
  TimeEstimate Estimate(std::span<const double> logs, const Samples& samples) const;
  double VarianceOf(std::span<const double> logs) const;

  double typical_ = 0;  // deviation, from the differences; 0: not known
  double squares_ = 0;
  double freedom_ = 0;
};

// The most that naming the wrong one of `rivals` costs in the mean, in deviations of a difference: the maximum over d
// of d min(1, rivals Phi(-d)).
double MostLoss(std::size_t rivals);

// One time of a sum. Terms of one workload err together.
struct Term {
  TimeEstimate estimate;
  double weight = 1;
  std::size_t workload = 0;
};

// 95 % interval of the weighted sum of true times; Student's t with the degrees of freedom of Welch and Satterthwaite.
Interval IntervalOfSum(std::span<const Term> terms);
inline Interval IntervalOf(const Term& term) { return IntervalOfSum(std::span(&term, 1)); }

}  // namespace infimum
