#include "analyzer/rows/pace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace infimum {
namespace {

// Fewer differences say too little of two exponents.
constexpr std::size_t kLeastDifferences = 16;
// So many standard errors from none.
constexpr double kSignificance = 3;
// Differences further from the fit than so many typical ones count as if they lay there: a neighbour that came and
// went.
constexpr double kClipOfPace = 5;
constexpr int kPasses = 4;
// No machine's pace changes more: a beat from a damaged file must not make a time vanish.
constexpr double kMostLog = 1.4;

// From the row's mean, in logarithms.
struct FromMean {
  double time = 0, arithmetic = 0, memory = 0;
};

struct Exponents {
  double arithmetic = 0, memory = 0;
};

double LogOfTime(Latency time) { return std::log(std::max(time.count(), 1e-12)); }

double MiddleOf(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

// Beats of a loop that was interrupted say nothing of the pace; by `of` those further out than so many typical ones are
// drawn back.
void DrawBack(std::vector<FromMean>& all, double FromMean::*of) {
  std::vector<double> sizes;
  for (const FromMean& one : all) sizes.push_back(std::abs(one.*of));
  const double most = kClipOfPace * MiddleOf(std::move(sizes));
  for (FromMean& one : all)
    if (most > 0) one.*of = std::clamp(one.*of, -most, most);
}

std::vector<FromMean> FromMeansOf(std::span<const Measurement> rows) {
  std::vector<FromMean> all;
  for (const Measurement& row : rows) {
    if (row.outcome != Outcome::kMeasured) continue;
    const std::size_t first = all.size();
    FromMean mean;
    for (const Repetition& repetition : row.repetitions) {
      if (!repetition.beat) continue;
      const FromMean& one = all.emplace_back(LogOfTime(repetition.median), LogOfTime(repetition.beat->arithmetic),
                                             LogOfTime(repetition.beat->memory));
      mean.time += one.time;
      mean.arithmetic += one.arithmetic;
      mean.memory += one.memory;
    }
    const double count = static_cast<double>(all.size() - first);
    if (count < 2) {
      all.resize(first);
      continue;
    }
    for (std::size_t i = first; i < all.size(); ++i) {
      all[i].time -= mean.time / count;
      all[i].arithmetic -= mean.arithmetic / count;
      all[i].memory -= mean.memory / count;
    }
  }
  return all;
}

// Sums of squares and products of the differences, from which every sum of squared residuals follows.
class Moments {
 public:
  explicit Moments(std::span<const FromMean> differences) {
    for (const FromMean& one : differences) {
      tt_ += one.time * one.time;
      aa_ += one.arithmetic * one.arithmetic;
      mm_ += one.memory * one.memory;
      am_ += one.arithmetic * one.memory;
      ta_ += one.time * one.arithmetic;
      tm_ += one.time * one.memory;
    }
  }

  double SquaresOf(Exponents by) const {
    return tt_ - 2 * by.arithmetic * ta_ - 2 * by.memory * tm_ + by.arithmetic * by.arithmetic * aa_ +
           by.memory * by.memory * mm_ + 2 * by.arithmetic * by.memory * am_;
  }

  // Of those that are allowed the least: the free minimum where it is, else on one of the three edges.
  Exponents Best() const {
    const auto on = [](double product, double square) {
      return square > 0 ? std::clamp(product / square, 0.0, 1.0) : 0;
    };
    std::array<Exponents, 4> tried = {Exponents{on(ta_, aa_), 0}, Exponents{0, on(tm_, mm_)}, {}, {}};
    // a = 1 - m
    const double edge = on(tm_ - ta_ - am_ + aa_, aa_ + mm_ - 2 * am_);
    if (aa_ > 0 && mm_ > 0) tried[2] = {1 - edge, edge};
    const double determinant = aa_ * mm_ - am_ * am_;
    if (determinant > 1e-9 * aa_ * mm_) {
      const Exponents free = {(ta_ * mm_ - tm_ * am_) / determinant, (tm_ * aa_ - ta_ * am_) / determinant};
      if (free.arithmetic >= 0 && free.memory >= 0 && free.arithmetic + free.memory <= 1) tried[3] = free;
    }
    return *std::ranges::min_element(tried, {}, [this](const Exponents& one) { return SquaresOf(one); });
  }

 private:
  double tt_ = 0, aa_ = 0, mm_ = 0, am_ = 0, ta_ = 0, tm_ = 0;
};

}  // namespace

Pace::Pace(std::span<const Measurement> rows) {
  std::vector<FromMean> differences = FromMeansOf(rows);
  if (differences.size() < kLeastDifferences) return;
  DrawBack(differences, &FromMean::arithmetic);
  DrawBack(differences, &FromMean::memory);
  const std::vector<FromMean> measured = differences;
  Exponents found;
  for (int pass = 0; pass < kPasses; ++pass) {
    found = Moments(differences).Best();
    std::vector<double> sizes;
    const auto expected = [&](const FromMean& one) {
      return found.arithmetic * one.arithmetic + found.memory * one.memory;
    };
    for (const FromMean& one : measured) sizes.push_back(std::abs(one.time - expected(one)));
    const double most = kClipOfPace * MiddleOf(std::move(sizes));
    for (std::size_t i = 0; i < measured.size() && most > 0; ++i)
      differences[i].time = std::clamp(measured[i].time, expected(measured[i]) - most, expected(measured[i]) + most);
  }
  const Moments moments(differences);
  const double kept = std::max(moments.SquaresOf(found), 0.0);
  // Each row's mean was taken off: of three repetitions two are free.
  const double freedom = static_cast<double>(differences.size()) / 2;
  if (!(moments.SquaresOf({}) - kept > kSignificance * kSignificance * kept / freedom)) return;

  std::vector<double> arithmetic, memory;
  for (const Measurement& row : rows) {
    for (const Repetition& repetition : row.repetitions) {
      if (!repetition.beat) continue;
      arithmetic.push_back(LogOfTime(repetition.beat->arithmetic));
      memory.push_back(LogOfTime(repetition.beat->memory));
    }
  }
  arithmetic_ = found.arithmetic;
  memory_ = found.memory;
  usual_arithmetic_ = MiddleOf(std::move(arithmetic));
  usual_memory_ = MiddleOf(std::move(memory));
  for (const Measurement& row : rows)
    for (const Repetition& repetition : row.repetitions)
      most_ = std::max(most_, std::abs(FactorOf(repetition.beat) - 1));
}

double Pace::FactorOf(const std::optional<Beat>& beat) const {
  if (!beat || !holds()) return 1;
  const auto beyond = [](Latency time, double usual) {
    return std::clamp(LogOfTime(time) - usual, -kMostLog, kMostLog);
  };
  return std::exp(-arithmetic_ * beyond(beat->arithmetic, usual_arithmetic_) -
                  memory_ * beyond(beat->memory, usual_memory_));
}

void Pace::Hold(Repetition& repetition) const {
  const double factor = FactorOf(repetition.beat);
  if (factor == 1) return;
  repetition.minimum *= factor;
  repetition.median *= factor;
  repetition.p95 *= factor;
  for (Latency& sample : repetition.samples) sample *= factor;
}

}  // namespace infimum
