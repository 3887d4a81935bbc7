// A row of a store with the times that bounds ask of it, folded once: with many rows, following each one's repetitions
// through memory costs more than all that is done with them.
//
//   medians 10.2, 10.0 and 11.9 us, by `median`  ->  point 10.0 us, time 10.2 us
#pragma once

#include "infimum/measurement/measurement.h"

namespace infimum {

struct TimedRow {
  const Measurement* row = nullptr;  // measured, so it has repetitions; lives longer
  Latency point{0};                  // PointValue
  Latency time{0};                   // by the selection's statistic
};

inline TimedRow Timed(const Measurement& row, SampleStatistic statistic) {
  const Latency point = PointValue(row.repetitions);
  const bool is_point = statistic == SampleStatistic::kMinimumOfMedians;
  return {&row, point, is_point ? point : Fold(row.repetitions, statistic)};
}

}  // namespace infimum
