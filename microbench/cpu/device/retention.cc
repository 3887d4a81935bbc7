#include "microbench/cpu/device/retention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "infimum/base/clock.h"
#include "microbench/kernels/cpu/vector/cpu_features.h"

namespace infimum::cpu {
namespace {

constexpr std::int64_t kSetStep = 4096;
constexpr std::int64_t kMostBytes = 32 << 20;  // of the set, all threads together
// Below twice what the threads have for themselves the shared caches hardly show.
constexpr std::int64_t kOwnTimes = 2;
constexpr int kRepeats = 3;
// Memory that is hardly slower than the caches tells nothing.
constexpr double kLeastContrast = 1.2;

double SecondsNow() { return std::chrono::duration<double>(SteadyClock().Now()).count(); }

double MedianOf(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  return numbers[numbers.size() / 2];
}

}  // namespace

double FittedRetention(std::span<const KeptShare> shares) {
  double best = kLongestRetention, least = 1e300;
  for (double retention = 1e-4; retention <= kLongestRetention * 1.001; retention *= 1.05) {
    double squares = 0;
    for (const KeptShare& kept : shares) {
      const double apart = kept.share - std::exp(-kept.seconds / retention);
      squares += apart * apart;
    }
    if (squares > least) continue;
    least = squares;
    best = std::min(retention, kLongestRetention);
  }
  return best;
}

std::optional<PeakRate> MeasureRetention(PeakDetail detail, std::int64_t threads, std::int64_t last_level,
                                         double far_seconds_of_byte,
                                         const std::function<void(std::int64_t bytes)>& read) {
  const std::int64_t own = std::max(Features().l2, Features().l1) * threads;
  const std::int64_t set = std::min(last_level / 2, kMostBytes);
  if (set < kOwnTimes * own || !(far_seconds_of_byte > 0)) return std::nullopt;
  const std::int64_t each = set / threads / kSetStep * kSetStep;
  if (each <= 0) return std::nullopt;
  // Of the readings after such a pause the typical one: a single one may see a neighbour come or go.
  const auto seconds_after = [&](double pause) {
    std::vector<double> all;
    for (int i = 0; i <= kRepeats; ++i) {
      const double paused = SecondsNow();
      while (SecondsNow() - paused < pause) {
      }
      const double begin = SecondsNow();
      read(each);
      if (i > 0) all.push_back(SecondsNow() - begin);  // the first only brings it into the caches
    }
    return MedianOf(std::move(all));
  };
  const double near = seconds_after(0), far = far_seconds_of_byte * static_cast<double>(each * threads);
  if (!(far > near * kLeastContrast)) return std::nullopt;
  std::vector<KeptShare> shares;
  const double step = detail == PeakDetail::kWhole ? 2 : 4;
  for (double pause = detail == PeakDetail::kWhole ? 5e-4 : 1e-3; pause < 0.02; pause *= step)
    shares.push_back({pause, std::clamp((far - seconds_after(pause)) / (far - near), 0.0, 1.0)});
  return PeakRate{PeakRate::Kind::kRetention, Bytes{own}, DataType::kNone, threads,
                  FittedRetention(shares),    "measured"};
}

}  // namespace infimum::cpu
