// Joins rows of the same workload, candidate and contract to one, as far as they stand near each other in a file, so
// that memory stays bounded.
//
//   Take(relu by a: 5 us), Take(add by a: 7 us), Take(relu by a: 6 us), Flush()
//     ->  relu by a with the repetitions 5 us and 6 us; add by a with 7 us
//
// What was measured hides a failure of the same, and a failure what was skipped.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "infimum/measurement/measurement.h"

namespace infimum::ingest {

inline constexpr std::size_t kRowsOfAWindow = 20'000;
inline constexpr std::size_t kBytesOfAWindow = std::size_t{16} << 20;  // of texts

class RowWindow {
 public:
  using Taker = std::function<Status(std::span<const Measurement> rows)>;
  explicit RowWindow(Taker taker) : taker_(std::move(taker)) {}

  // Hands all rows on when the window is full, in the order of their first entries.
  Status Take(Measurement row);
  Status Flush();

 private:
  Taker taker_;
  std::vector<Measurement> rows_;
  std::unordered_map<std::string, std::size_t> index_;
  std::size_t taken_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace infimum::ingest
