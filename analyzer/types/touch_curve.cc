#include "analyzer/types/touch_curve.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace infimum {
namespace {

// Of the largest set that was measured no more than this share stays near the core, since it is several times as
// large as the caches: so a further byte costs at most what that set took, by the others of its bytes.
constexpr double kMostNear = 0.25;

// On or above the line from `low` to `high`, which it is between.
bool IsAbove(const TouchTime& low, const TouchTime& here, const TouchTime& high) {
  return (here.seconds - low.seconds) * (high.bytes - low.bytes) >=
         (high.seconds - low.seconds) * (here.bytes - low.bytes);
}

// From (0, 0) on.
std::vector<TouchTime> LowerHull(std::vector<TouchTime> points) {
  std::ranges::sort(points, [](const TouchTime& a, const TouchTime& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.seconds < b.seconds;
  });
  std::vector<TouchTime> hull = {{0, 0}};
  for (const TouchTime& point : points) {
    if (point.bytes <= hull.back().bytes) continue;  // of equal ones the least came first
    while (hull.size() > 1 && IsAbove(hull[hull.size() - 2], hull.back(), point)) hull.pop_back();
    hull.push_back(point);
  }
  return hull;
}

// The first point that has at least so many bytes; the number of points where none has.
std::size_t PlaceOf(double bytes, const std::vector<TouchTime>& hull) {
  return static_cast<std::size_t>(std::ranges::lower_bound(hull, bytes, {}, &TouchTime::bytes) - hull.begin());
}

double SlopeBefore(std::size_t point, const std::vector<TouchTime>& hull) {
  return (hull[point].seconds - hull[point - 1].seconds) / (hull[point].bytes - hull[point - 1].bytes);
}

// The hull itself; behind its last point the line from (0, 0) through it.
double ChordAt(double bytes, const std::vector<TouchTime>& hull) {
  const std::size_t high = PlaceOf(bytes, hull);
  if (high == hull.size()) return bytes * (hull.back().seconds / hull.back().bytes);
  if (hull[high].bytes == bytes) return hull[high].seconds;
  return hull[high - 1].seconds + SlopeBefore(high, hull) * (bytes - hull[high - 1].bytes);
}

// The least that a convex curve through these points can be.
double LeastAt(double bytes, const std::vector<TouchTime>& points) {
  const std::size_t high = PlaceOf(bytes, points), low = high - 1;
  // Nothing is nearer than where the smallest set was touched.
  if (high == points.size() || low == 0 || points[high].bytes == bytes) return ChordAt(bytes, points);
  const double from_left = points[low].seconds + SlopeBefore(low, points) * (bytes - points[low].bytes);
  const double slope_behind = high + 1 < points.size() ? SlopeBefore(high + 1, points)
                                                       : points[high].seconds / ((1 - kMostNear) * points[high].bytes);
  return std::max(from_left, points[high].seconds - slope_behind * (points[high].bytes - bytes));
}

}  // namespace

TouchCurve::TouchCurve(std::vector<TouchTime> measured) : seen_(LowerHull(measured)) {
  for (TouchTime& point : measured) point.seconds = ChordAt(point.bytes, seen_);
  measured_.insert(measured_.end(), measured.begin(), measured.end());
  std::ranges::sort(measured_, {}, &TouchTime::bytes);
  const auto repeated = std::ranges::unique(measured_, {}, &TouchTime::bytes);
  measured_.erase(repeated.begin(), repeated.end());
}

void TouchCurve::Observe(TouchTime seen) {
  if (seen_.size() < 2 || !(seen.bytes > 0) || seen.seconds >= ChordAt(seen.bytes, seen_)) return;
  std::vector<TouchTime> points(seen_.begin() + 1, seen_.end());
  points.push_back(seen);
  seen_ = LowerHull(std::move(points));
}

double TouchCurve::SecondsForFarByte() const { return seen_.size() < 2 ? 0 : SlopeBefore(seen_.size() - 1, seen_); }

double TouchCurve::SecondsFor(double bytes) const {
  if (measured_.size() < 2 || !(bytes > 0)) return 0;
  return std::min(LeastAt(bytes, measured_), ChordAt(bytes, seen_));
}

}  // namespace infimum
