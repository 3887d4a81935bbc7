#include "analyzer/rows/timed_rows.h"

#include <utility>

namespace infimum {

TimedRows::TimedRows(std::vector<Measurement> rows, SampleStatistic statistic) : rows_(std::move(rows)) {
  std::size_t count = 0;
  for (const Measurement& row : rows_) count += row.repetitions.size();
  logs_.reserve(count);  // spans lead into it
  timed_.reserve(rows_.size());
  for (const Measurement& row : rows_) {
    if (row.outcome != Outcome::kMeasured || row.repetitions.empty()) continue;
    TimedRow timed;
    timed.row = &row;
    timed.is_choice = row.candidate.library_choice;
    timed.point = PointValue(row.repetitions);
    const bool is_point = statistic == SampleStatistic::kMinimumOfMedians;
    timed.time = is_point ? timed.point : Fold(row.repetitions, statistic);
    const std::size_t first = logs_.size();
    for (const Repetition& repetition : row.repetitions) logs_.push_back(LogOf(repetition));
    timed.logs = std::span(logs_).subspan(first);
    timed_.push_back(timed);
  }
}

}  // namespace infimum
