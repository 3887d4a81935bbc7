// Quantities carry their unit in their type; serialised names carry it in their name
// (`latency_us`, `bytes_read`). A bare `double time` appears nowhere.
//
//   Latency t = Bytes{1 << 20} / BytesPerSecond{1e10};   // 104.8576 us
//   Flops w = Flops{2 * 64} + Flops{64};
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace infimum {

using Latency = std::chrono::duration<double, std::micro>;

// An exact count with a unit; adds and compares, does not mix with other counts.
template <class Tag>
struct Count {
  std::int64_t value = 0;

  friend constexpr auto operator<=>(Count, Count) = default;
  friend constexpr Count operator+(Count a, Count b) { return {a.value + b.value}; }
  friend constexpr Count operator-(Count a, Count b) { return {a.value - b.value}; }
  constexpr Count& operator+=(Count other) {
    value += other.value;
    return *this;
  }
};

using Bytes = Count<struct BytesTag>;
// A multiply-add counts as two.
using Flops = Count<struct FlopsTag>;

// A measured or data-sheet rate: never exact, so a double.
template <class Tag>
struct Rate {
  double value = 0;  // per second

  friend constexpr auto operator<=>(Rate, Rate) = default;
};

using BytesPerSecond = Rate<struct BytesTag>;
using FlopsPerSecond = Rate<struct FlopsTag>;

// Time to move or compute `count` at `rate`; the rate must be positive.
template <class Tag>
constexpr Latency operator/(Count<Tag> count, Rate<Tag> rate) {
  return std::chrono::duration<double>(static_cast<double>(count.value) / rate.value);
}

}  // namespace infimum
