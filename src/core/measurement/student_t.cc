#include "src/core/measurement/student_t.h"

#include <cmath>

#include "infimum/base/check.h"

namespace infimum {
namespace {

// The continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8), evaluated by
// the modified Lentz method (Press et al., Numerical Recipes, 6.4). Converges fast for
// x < (a + 1) / (a + b + 2).
double BetaContinuedFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto nonzero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / nonzero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonzero(1 + even * d);
    c = nonzero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonzero(1 + odd * d);
    c = nonzero(1 + odd / c);
    const double step = d * c;
    fraction *= step;
    if (std::abs(step - 1) < 1e-15) break;
  }
  return fraction;
}

// The regularised incomplete beta function I_x(a, b).
double IncompleteBeta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * BetaContinuedFraction(a, b, x) / a;
  return 1 - front * BetaContinuedFraction(b, a, 1 - x) / b;
}

}  // namespace

double StudentTProbability(double t, double degrees) {
  INFIMUM_CHECK(degrees > 0, "Student's t needs positive degrees of freedom");
  const double tail = 0.5 * IncompleteBeta(degrees / 2, 0.5, degrees / (degrees + t * t));
  return t > 0 ? 1 - tail : tail;
}

double StudentTQuantile(double probability, double degrees) {
  INFIMUM_CHECK(probability > 0 && probability < 1, "a probability lies strictly between 0 and 1");
  // By symmetry the upper half suffices; the distribution is monotone, so doubling finds a bracket and
  // halving it ends at neighbouring doubles.
  if (probability < 0.5) return -StudentTQuantile(1 - probability, degrees);
  double low = 0;
  double high = 1;
  while (StudentTProbability(high, degrees) < probability && high < 1e300) high *= 2;
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (StudentTProbability(middle, degrees) < probability ? low : high) = middle;
  }
}

}  // namespace infimum
