// What each of a program's choices costs, from inferences in which all of them were switched on and off at once.
//
// Model, z of -1 (the level that the program has) or 1 (the other one) for each factor, in block t of the experiment:
//
//   T(z) = b0(t) + sum over i of b_i z_i + sum over i of b_i,i+1 z_i z_i+1 + e
//
//   effect of factor i                  2 b_i: the mean of T where it is switched less where it is not. A difference of
//                                       two halves of N inferences, its standard error is 2 sigma / sqrt(N)
//   interaction of neighbours i, i+1    4 b_i,i+1: what both cost together beyond what each alone does,
//                                       T(both) - T(one) - T(other) + T(none); 4 sigma / sqrt(N)
//
// The effects are also Shapley's shares of the way from one end to the other. Coded as 0 and 1, a factor alone costs
// 2 b_i - 2 sum of its b_ij, and a pair beyond that 4 b_ij; Shapley gives each factor what it costs alone and half of
// each pair that it is in, which is 2 b_i. So the effects add up to T(all switched) - T(none), whatever the order:
//
//   conv   slow kernel +400 us, unfused +100 us, both +460 us (a pair of -40)
//   effects  400 - 20 = 380 us and 100 - 20 = 80 us; sum 460 us
//
// Estimated by least squares after each block's mean is taken off, which needs no orthogonal design (runs may be
// missing) and gains by one. Where a metronome was asked before each inference, its two loops are two more terms of the
// model, in units of their typical times: e is then what an inference differs from the model and the metronome. What
// lies further than kClip typical deviations from the fit is a disturbed inference and is left out.
//
// Where the model lacks something (three factors, or two apart, interact) two tests may show it: the ends, which are
// timed but not fitted, differ by something else than the sum of the effects; and the residuals vary more than the
// ends do between blocks.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyzer/effects/design.h"
#include "infimum/base/beat.h"
#include "infimum/base/result.h"
#include "infimum/base/units.h"

namespace infimum {

// A difference of times with half of its 95 % interval.
struct EstimatedDifference {
  Latency value{0};
  Latency half_width{0};
  // Half of the interval that holds together with those of all other effects and interactions, with 95 %
  // (Bonferroni); of a difference that is one of a kind as wide as the other.
  Latency simultaneous{0};

  // Zero is outside the simultaneous interval.
  bool is_real() const { return abs(value.count()) > simultaneous.count(); }
  Latency low() const { return value - half_width; }
  Latency high() const { return value + half_width; }

 private:
  static double abs(double number) { return number < 0 ? -number : number; }
};

struct Effects {
  std::vector<EstimatedDifference> effects;       // one for each factor
  std::vector<EstimatedDifference> interactions;  // of factor i and i + 1; empty where there were too few inferences
  EstimatedDifference sum;                        // of the effects
  Latency none{0}, all{0};                        // the ends, medians
  EstimatedDifference difference;                 // all - none, from pairs of one block
  EstimatedDifference unexplained;                // difference - sum
  Latency deviation{0};                           // sigma: of one inference from the model
  std::size_t inferences = 0;                     // N: that were fitted
  std::size_t disturbed = 0;                      // that were left out
  // The variance of residuals over that of the ends, where it is larger than chance makes it (1 %).
  std::optional<double> lack_of_fit;

  // 1.96 x 2 sigma / sqrt(N): half of an effect's interval in an orthogonal design with sigma known.
  Latency ideal_half_width() const;
  // The ends differ by the sum of the effects, within the interval of what is left.
  bool adds_up() const { return !unexplained.is_real(); }
};

inline constexpr double kClipOfEffects = 5;

// `times`: one for each run, absent where it was not timed. `beats`: likewise what the metronome said before it, or
// empty: what the times follow of it is fitted with the effects, and taken off. An error where the runs are too few for
// `factors` effects.
Result<Effects> EstimateEffects(std::span<const DesignRun> design, std::span<const std::optional<Latency>> times,
                                std::span<const Beat> beats = {});

}  // namespace infimum
