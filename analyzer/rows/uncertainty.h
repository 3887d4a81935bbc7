// How far a time can be trusted: from the repetitions of rows to an interval of a whole bound.
//
// Model: a repetition's median is the candidate's true time, times exp(c + e). e is normal and its own; c is normal and
// that of the whole round, in which every row was repeated once while the clock stood where it stood: the repetitions
// of all rows at one place belong to one round. c and e are told apart as in any two-way layout: what the repetitions
// at one place have in common, beside what their rows have, is c; its variance is that of the common parts, less what
// the rows' own noise leaves in their means.
//
//   round            1      2      3
//   conv_1         100    104     99
//   conv_2          51     53     50      the second round was 4 % slower: more rows do not average that out, so
//   relu_1          10   10.4    9.9      the sum of 161 us is known to 4.3 x 2.4 % / sqrt(3), not to less
//
// Now and then a busy neighbour makes one repetition 30 % slower, which says nothing about the deviation of e: its
// typical size is read off the differences between neighbouring repetitions, less what the round did to all of them, by
// their median, and what lies further than kClip times that from its row's median is drawn back to there; of
// kManyRounds and more to the middle, and so are whole rounds, from kRoundClip on. With three repetitions a row says
// little about its deviation, all rows together say much: each row's variance is drawn towards the pooled one, as if it
// had kPriorRepetitions more (the moderated variance of Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004).
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
// The cross-fitted time is the point value of bounds, and lies in its interval.
//
// Sums: own errors of different workloads are independent, that of a workload that a model uses u times counts u times,
// and the rounds' are the same for all:  var = sum (w t)^2 s_e^2 / n  +  (sum w t)^2 s_c^2 / rounds.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/rows/timed_rows.h"

namespace infimum {

// What all rows of a round share: the variance of its logarithm, and how well that is known.
struct RoundNoise {
  double variance = 0;
  double freedom = 0;
};

// Of a true time, in microseconds.
struct TimeEstimate {
  double center = 0;
  double variance = 0;  // of the center, by its own noise
  double freedom = 0;   // degrees of freedom of the variance; 0: no variance is known
  double below = 0;     // how much lower than the center the truth may be, apart from noise
  double above = 0;     // likewise higher, where only the spread of samples is known
  RoundNoise round = {};
  double rounds = 0;  // that it was repeated in, the first ones
};

inline constexpr double kPriorRepetitions = 8;
inline constexpr double kClip = 3;
inline constexpr double kRoundClip = 5;
inline constexpr std::size_t kManyRounds = 8;

class NoiseModel {
 public:
  NoiseModel() = default;
  // From the logarithms of the medians of each row of a bracket; rows of one repetition say nothing.
  explicit NoiseModel(std::span<const std::span<const double>> rows);

  // Of one candidate's row. With a single repetition and nothing pooled the spread of its samples is all there is.
  TimeEstimate Of(std::span<const Repetition> repetitions) const;
  // Gives each row the center of that alone.
  void SetTimes(std::span<TimedRow> rows) const;
  // Of the best among the candidates of one workload; `rows` is not empty and has repetitions. `rivals`, where given,
  // becomes the rows that the best cannot be distinguished from, itself included.
  TimeEstimate OfBest(std::span<const TimedRow> rows, std::vector<const Measurement*>* rivals = nullptr) const;

  // Relative deviation between repetitions of one round, pooled; nullopt where no row was repeated.
  std::optional<double> deviation() const;
  const RoundNoise& round() const { return round_; }

 private:
  // What each round did to all rows, as far as it can be told apart from what it did to each.
  void FindRounds(std::span<const std::span<const double>> rows);
  void Pool(std::span<const std::span<const double>> rows);
  void FitRounds(std::span<const double> logs, std::span<const std::size_t> sizes, std::span<const double> counts);
  // Draws logarithms of one row's medians back where they lie too far out.
  void DrawBack(std::span<double> logs) const;
  // Of the logarithms, of which `median` is one; calls `samples` for the interval that stands in where no deviation is
  // known.
  template <class Samples>
  TimeEstimate Estimate(std::span<const double> logs, Latency median, const Samples& samples) const;
  double VarianceOf(std::span<const double> logs) const;

  double typical_ = 0;  // deviation, from the differences; 0: not known
  double squares_ = 0;
  double freedom_ = 0;
  double lost_ = 1;  // a row's own squares by so much more: rounds' effects were fitted to them
  // On the logarithms of rounds that at least two rows were repeated in: what is seen, and what is left of that where
  // it lies too far out.
  std::vector<double> effects_, kept_;
  RoundNoise round_;
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

// 95 % interval of the weighted sum of true times, and the sum of their centers, which it holds. Own noise: Student's t
// with the degrees of freedom of Welch and Satterthwaite. Rounds: their own t, since three rounds say little of what a
// round does, however many rows there are. The two halves add in squares (Graybill and Wang, J. Am. Stat. Assoc. 75,
// 1980), so that a common noise that is not seen widens nothing.
struct SumEstimate {
  Latency center{0};
  Interval interval;
};
SumEstimate SumOf(std::span<const Term> terms);
inline Interval IntervalOfSum(std::span<const Term> terms) { return SumOf(terms).interval; }
inline Interval IntervalOf(const Term& term) { return IntervalOfSum(std::span(&term, 1)); }
// The same relative to `point`: of a time that is made of the sum's terms, if not always as their plain sum.
Interval IntervalAround(Latency point, const SumEstimate& sum);

}  // namespace infimum
