// Rows of a store with the numbers that bounds ask of them, found once and side by side: with many rows, following each
// one's repetitions through memory costs more than all that is done with them.
//
//   medians 10.2, 10.0 and 11.9 us, by `median`  ->  point 10.0 us, time 10.2 us, logs {2.322, 2.303, 2.477}
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "analyzer/rows/declared_layouts.h"
#include "infimum/measurement/measurement.h"

namespace infimum {

struct TimedRow {
  const Measurement* row = nullptr;        // measured, so it has repetitions
  Latency point{0};                        // PointValue
  Latency time{0};                         // by the selection's statistic
  std::span<const double> logs;            // of its repetitions' medians
  bool is_choice = false;                  // the library's own heuristic picks it first
  const StatedLayouts* layouts = nullptr;  // of its candidate; of rows in MeasuredRows
};

inline double LogOf(const Repetition& repetition) { return std::log(std::max(repetition.median.count(), 1e-12)); }

class TimedRows {
 public:
  // Of all the rows, which it keeps, those that were measured.
  TimedRows(std::vector<Measurement> rows, SampleStatistic statistic);
  TimedRows(TimedRows&&) = default;
  TimedRows& operator=(TimedRows&&) = default;

  std::span<const TimedRow> all() const { return timed_; }
  // All of them, whatever their outcome.
  std::span<const Measurement> rows() const { return rows_; }

 private:
  std::vector<Measurement> rows_;
  std::vector<double> logs_;
  std::vector<TimedRow> timed_;
};

}  // namespace infimum
