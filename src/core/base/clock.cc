#include "infimum/base/clock.h"

namespace infimum {
namespace {

class MonotonicClock : public Clock {
 public:
  Duration Now() const override { return std::chrono::steady_clock::now().time_since_epoch(); }
};

}  // namespace

const Clock& SteadyClock() {
  static const MonotonicClock clock;
  return clock;
}

}  // namespace infimum
