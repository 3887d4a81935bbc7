// Time as one abstract thing, so that samplers, budgets and progress can be tested exactly.
//
//   FakeClock clock;  clock.Advance(std::chrono::milliseconds(5));
#pragma once

#include <chrono>

namespace infimum {

class Clock {
 public:
  using Duration = std::chrono::nanoseconds;

  virtual ~Clock() = default;
  // Monotonic time since an unspecified start.
  virtual Duration Now() const = 0;
};

// std::chrono::steady_clock; lives for the whole program.
const Clock& SteadyClock();

class FakeClock : public Clock {
 public:
  Duration Now() const override { return now_; }
  void Advance(Duration duration) { now_ += duration; }

 private:
  Duration now_{0};
};

}  // namespace infimum
