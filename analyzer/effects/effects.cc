#include "analyzer/effects/effects.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "infimum/base/check.h"
#include "infimum/measurement/statistics.h"

namespace infimum {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kNormal975 = 1.959964;
constexpr double kNormal99 = 2.326348;
constexpr double kDeviationOfMedian = 1.4826;  // of a normal distribution, over its median absolute deviation
constexpr std::size_t kMostPasses = 5;         // of leaving out what is disturbed

double MedianOf(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

// A symmetric positive definite matrix, row by row.
class Matrix {
 public:
  explicit Matrix(std::size_t size) : size_(size), numbers_(size * size, 0) {}
  double& At(std::size_t row, std::size_t column) { return numbers_[row * size_ + column]; }
  double At(std::size_t row, std::size_t column) const { return numbers_[row * size_ + column]; }
  std::size_t size() const { return size_; }

  // Becomes L with L L^T = what it was; false where that has no inverse.
  bool Factor() {
    for (std::size_t i = 0; i < size_; ++i) {
      const double diagonal = At(i, i);
      for (std::size_t j = 0; j <= i; ++j) {
        double rest = At(i, j);
        for (std::size_t k = 0; k < j; ++k) rest -= At(i, k) * At(j, k);
        if (i != j) {
          At(i, j) = rest / At(j, j);
        } else if (rest <= 1e-9 * diagonal || diagonal <= 0) {
          return false;
        } else {
          At(i, i) = std::sqrt(rest);
        }
      }
    }
    return true;
  }
  // Of the factored one: L y = right, and then L^T x = y.
  std::vector<double> Forward(std::vector<double> right) const {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < i; ++k) right[i] -= At(i, k) * right[k];
      right[i] /= At(i, i);
    }
    return right;
  }
  std::vector<double> Solve(const std::vector<double>& right) const {
    std::vector<double> x = Forward(right);
    for (std::size_t i = size_; i-- > 0;) {
      for (std::size_t k = i + 1; k < size_; ++k) x[i] -= At(k, i) * x[k];
      x[i] /= At(i, i);
    }
    return x;
  }
  // Of the factored one: w^T (what it was)^-1 w.
  double InverseForm(const std::vector<double>& weights) const {
    double sum = 0;
    for (const double y : Forward(weights)) sum += y * y;
    return sum;
  }

 private:
  std::size_t size_;
  std::vector<double> numbers_;
};

struct Row {
  std::size_t block;
  std::vector<double> z;  // factors, then products of neighbours, then what the metronome said
  double time;
};

std::vector<double> ZOf(const std::string& levels, bool with_interactions) {
  std::vector<double> z;
  for (const char level : levels) z.push_back(level == '1' ? 1 : -1);
  const std::size_t factors = z.size();
  for (std::size_t i = 0; with_interactions && i + 1 < factors; ++i) z.push_back(z[i] * z[i + 1]);
  return z;
}

struct Fit {
  std::vector<double> coefficients;
  std::vector<double> residuals;  // one for each row
  Matrix factor{0};               // of the normal equations
  double freedom = 0;

  double Variance() const {
    double squares = 0;
    for (const double residual : residuals) squares += residual * residual;
    return squares / freedom;
  }
};

// nullopt where the rows do not determine the coefficients with anything left for the variance.
std::optional<Fit> FitRows(std::vector<Row> rows) {
  if (rows.empty()) return std::nullopt;
  const std::size_t terms = rows.front().z.size();
  struct Mean {
    std::size_t count = 0;
    double time = 0;
    std::vector<double> z;
  };
  std::map<std::size_t, Mean> means;
  for (const Row& row : rows) {
    Mean& mean = means[row.block];
    mean.z.resize(terms);
    ++mean.count;
    mean.time += row.time;
    for (std::size_t i = 0; i < terms; ++i) mean.z[i] += row.z[i];
  }
  if (rows.size() <= terms + means.size()) return std::nullopt;
  Fit fit;
  fit.freedom = static_cast<double>(rows.size() - terms - means.size());
  fit.factor = Matrix(terms);
  std::vector<double> right(terms);
  for (Row& row : rows) {
    const Mean& mean = means[row.block];
    const auto count = static_cast<double>(mean.count);
    row.time -= mean.time / count;
    for (std::size_t i = 0; i < terms; ++i) row.z[i] -= mean.z[i] / count;
    for (std::size_t i = 0; i < terms; ++i) {
      right[i] += row.z[i] * row.time;
      for (std::size_t j = 0; j <= i; ++j) fit.factor.At(i, j) += row.z[i] * row.z[j];
    }
  }
  if (!fit.factor.Factor()) return std::nullopt;
  fit.coefficients = fit.factor.Solve(right);
  for (const Row& row : rows) {
    double residual = row.time;
    for (std::size_t i = 0; i < terms; ++i) residual -= fit.coefficients[i] * row.z[i];
    fit.residuals.push_back(residual);
  }
  return fit;
}

// Leaves out what is disturbed, until nothing more is.
template <class Items, class Deviations>
std::size_t LeaveOut(Items& items, const Deviations& deviations_of) {
  const std::size_t before = items.size();
  for (std::size_t pass = 0; pass < kMostPasses; ++pass) {
    const std::vector<double> deviations = deviations_of(items);
    if (deviations.empty()) break;
    std::vector<double> sizes;
    for (const double deviation : deviations) sizes.push_back(std::fabs(deviation));
    const double most = kClipOfEffects * kDeviationOfMedian * MedianOf(sizes);
    if (most <= 0) break;
    Items kept;
    for (std::size_t i = 0; i < items.size(); ++i)
      if (sizes[i] <= most) kept.push_back(items[i]);
    if (kept.size() == items.size()) break;
    items = std::move(kept);
  }
  return before - items.size();
}

EstimatedDifference Difference(double value, double error, double freedom, double of = 1) {
  const auto half = [&](double share) {
    return Latency(error * StudentTQuantile(1 - (1 - kConfidence) / 2 / share, freedom));
  };
  return {Latency(value), half(1), half(of)};
}

// What the metronome said before each run, over what it typically says less 1; empty where it was not asked.
std::vector<std::vector<double>> PacesOf(std::span<const Beat> beats) {
  std::vector<double> arithmetic, memory;
  for (const Beat& beat : beats) {
    arithmetic.push_back(beat.arithmetic.count());
    memory.push_back(beat.memory.count());
  }
  std::vector<std::vector<double>> paces;
  if (beats.empty()) return paces;
  const double usual_arithmetic = MedianOf(arithmetic), usual_memory = MedianOf(memory);
  const auto varies = [](const std::vector<double>& numbers, double usual) {
    return usual > 0 && std::ranges::any_of(numbers, [&](double number) { return number != usual; });
  };
  const bool has_arithmetic = varies(arithmetic, usual_arithmetic), has_memory = varies(memory, usual_memory);
  for (std::size_t i = 0; i < beats.size(); ++i) {
    std::vector<double>& pace = paces.emplace_back();
    if (has_arithmetic) pace.push_back(arithmetic[i] / usual_arithmetic - 1);
    if (has_memory) pace.push_back(memory[i] / usual_memory - 1);
  }
  return paces;
}

// The ends of each block that has both.
struct Ends {
  std::vector<double> none, all, differences;
};

Ends EndsOf(std::span<const DesignRun> design, std::span<const std::optional<Latency>> times) {
  std::map<std::size_t, std::pair<std::optional<double>, std::optional<double>>> pairs;
  for (std::size_t i = 0; i < design.size(); ++i) {
    if (!design[i].is_end || !times[i]) continue;
    auto& [none, all] = pairs[design[i].block];
    (design[i].levels.front() == '1' ? all : none) = times[i]->count();
  }
  Ends ends;
  for (const auto& [block, pair] : pairs) {
    if (!pair.first || !pair.second) continue;
    ends.none.push_back(*pair.first);
    ends.all.push_back(*pair.second);
    ends.differences.push_back(*pair.second - *pair.first);
  }
  return ends;
}

double MeanOf(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum / static_cast<double>(numbers.size());
}

}  // namespace

Latency Effects::ideal_half_width() const {
  return deviation * (kNormal975 * 2 / std::sqrt(static_cast<double>(inferences)));
}

Result<Effects> EstimateEffects(std::span<const DesignRun> design, std::span<const std::optional<Latency>> given,
                                std::span<const Beat> beats) {
  std::vector<std::optional<Latency>> times(given.begin(), given.end());
  const std::vector<std::vector<double>> paces = PacesOf(beats.first(std::min(beats.size(), times.size())));
  const std::size_t paced = paces.empty() ? 0 : paces.front().size();
  INFIMUM_CHECK(!design.empty() && design.size() == times.size(), "each run of the design has its time or none");
  const std::size_t factors = design.front().levels.size();
  Effects result;
  std::optional<Fit> fit;
  std::vector<Row> rows;
  for (const bool with_interactions : {true, false}) {
    rows.clear();
    for (std::size_t i = 0; i < design.size(); ++i) {
      if (!times[i] || design[i].is_end || (paced > 0 && i >= paces.size())) continue;
      rows.push_back({design[i].block, ZOf(design[i].levels, with_interactions), times[i]->count()});
      if (paced > 0) rows.back().z.insert(rows.back().z.end(), paces[i].begin(), paces[i].end());
    }
    const auto deviations_of = [](const std::vector<Row>& some) {
      const std::optional<Fit> found = FitRows(some);
      return found ? found->residuals : std::vector<double>();
    };
    result.disturbed = LeaveOut(rows, deviations_of);
    fit = FitRows(rows);
    if (fit) break;
  }
  // The ends are no part of the fit, but follow the metronome as the others do.
  for (std::size_t i = 0; fit && i < paces.size(); ++i)
    for (std::size_t loop = 0; times[i] && loop < paced; ++loop)
      times[i] = *times[i] - Latency(fit->coefficients[fit->coefficients.size() - paced + loop] * paces[i][loop]);
  Ends ends = EndsOf(design, times);
  const auto from_median = [](const std::vector<double>& some) {
    std::vector<double> deviations;
    const double median = some.empty() ? 0 : MedianOf(some);
    for (const double number : some) deviations.push_back(number - median);
    return deviations;
  };
  if (!fit || ends.differences.size() < 2) {
    return Error{std::to_string(rows.size()) + " inferences are too few for the effects of " + std::to_string(factors) +
                 " factors: " + std::to_string(SettingsOfReplicate(factors)) + " make a whole design"};
  }
  const double variance = fit->Variance();
  result.inferences = rows.size();
  result.deviation = Latency(std::sqrt(variance));
  const std::size_t terms = fit->coefficients.size() - paced;
  std::vector<double> weights(fit->coefficients.size(), 0);
  double sum = 0;
  for (std::size_t i = 0; i < terms; ++i) {
    const double scale = i < factors ? 2 : 4;
    std::vector<double> one(fit->coefficients.size(), 0);
    one[i] = scale;
    const double error = std::sqrt(variance * fit->factor.InverseForm(one));
    auto& list = i < factors ? result.effects : result.interactions;
    list.push_back(Difference(scale * fit->coefficients[i], error, fit->freedom, static_cast<double>(terms)));
    if (i >= factors) continue;
    weights[i] = scale;
    sum += scale * fit->coefficients[i];
  }
  const double sum_variance = variance * fit->factor.InverseForm(weights);
  result.sum = Difference(sum, std::sqrt(sum_variance), fit->freedom);

  result.none = Latency(MedianOf(ends.none));
  result.all = Latency(MedianOf(ends.all));
  result.disturbed += LeaveOut(ends.differences, from_median);
  const auto pairs = static_cast<double>(ends.differences.size());
  const double difference = MeanOf(ends.differences);
  double squares = 0;
  for (const double one : ends.differences) squares += (one - difference) * (one - difference);
  const double pair_variance = squares / (pairs - 1), difference_variance = pair_variance / pairs;
  result.difference = Difference(difference, std::sqrt(difference_variance), pairs - 1);
  // Welch and Satterthwaite.
  const double both = sum_variance + difference_variance;
  const double freedom =
      both <= 0
          ? fit->freedom
          : both * both /
                (sum_variance * sum_variance / fit->freedom + difference_variance * difference_variance / (pairs - 1));
  result.unexplained = Difference(difference - sum, std::sqrt(both), freedom);

  // A difference of two ends varies twice as much as one inference. The logarithm of a ratio of variances is about
  // normal, with the variance 2 / f1 + 2 / f2.
  const double ratio = pair_variance > 0 ? variance / (pair_variance / 2) : 1;
  if (std::log(ratio) > kNormal99 * std::sqrt(2 / fit->freedom + 2 / (pairs - 1))) result.lack_of_fit = ratio;
  return result;
}

}  // namespace infimum
