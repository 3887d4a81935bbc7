#include "analyzer/sides/side_sums.h"

#include <algorithm>
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
    inner_ += latency;
    return;
  }
  // A time that was the least of several may lie below its interval, which is of the true one.
  const double low = time.interval->low.count(), high = time.interval->high.count();
  const double inner = std::clamp(time.latency->count(), low, high);
  inner_ += uses * inner;
  below_ += uses * (inner - low) * uses * (inner - low);
  above_ += uses * (high - inner) * uses * (high - inner);
}

SideTime SideSum::Total() const {
  SideTime total;
  if (is_empty_) return total;
  total.latency = Latency(latency_);
  if (floor_ > 0) total.floor = Latency(floor_);
  total.is_estimated = estimated_ > kNegligible * latency_;
  if (without_spread_ <= kNegligible * latency_) {
    total.interval = Interval{Latency(inner_ - std::sqrt(below_)), Latency(inner_ + std::sqrt(above_))};
  }
  return total;
}

}  // namespace infimum
