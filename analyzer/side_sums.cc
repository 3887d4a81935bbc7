#include "analyzer/side_sums.h"

#include <cmath>

namespace infimum {
namespace {

// A sum of which less is estimated, or has no spread, is as good as measured.
constexpr double kNegligible = 0.02;

}  // namespace

void SideSum::Add(const SideTime& time, double uses) {
  if (!time.latency) return;
  is_empty_ = false;
  const double latency = uses * time.latency->count();
  latency_ += latency;
  if (time.floor) floor_ += uses * time.floor->count();
  if (time.is_estimated) estimated_ += latency;
  if (!time.interval) {
    without_spread_ += latency;
    center_ += latency;
    return;
  }
  const double low = time.interval->low.count(), high = time.interval->high.count();
  const double half = uses * (high - low) / 2;
  center_ += uses * (low + high) / 2;
  squares_ += half * half;
}

SideTime SideSum::Total() const {
  SideTime total;
  if (is_empty_) return total;
  total.latency = Latency(latency_);
  if (floor_ > 0) total.floor = Latency(floor_);
  total.is_estimated = estimated_ > kNegligible * latency_;
  if (without_spread_ <= kNegligible * latency_) {
    const double half = std::sqrt(squares_);
    total.interval = Interval{Latency(center_ - half), Latency(center_ + half)};
  }
  return total;
}

}  // namespace infimum
