// Quantiles of Student's t distribution, for intervals of a mean over few repetitions.
//
//   StudentTQuantile(0.975, 4) == 2.776...
#pragma once

namespace infimum {

// P(T <= t) for `degrees` > 0 degrees of freedom, which need not be whole (Welch's are not).
double StudentTProbability(double t, double degrees);

// The t with P(T <= t) = `probability`, which lies strictly between 0 and 1.
double StudentTQuantile(double probability, double degrees);

}  // namespace infimum
