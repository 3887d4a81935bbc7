// Rows of a store with the numbers that bounds ask of them, found once and side by side: with many rows, following each
// one's repetitions through memory costs more than all that is done with them.
//
//   medians 10.2, 10.0 and 11.9 us  ->  time 10.7 us, logs {2.322, 2.303, 2.477}
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/floor/residency.h"
#include "analyzer/rows/pace.h"
#include "infimum/measurement/candidate.h"
#include "infimum/measurement/measurement.h"

namespace infimum {

// The texts in which candidates declare their layouts, taken apart, each pair of texts once: a store's rows have few
// dozens of pairs, so that a bound compares pointers where it would compare texts a hundred thousand times.
//
//   reads "acdb,plain", writes "acdb"  ->  inputs {acdb; plain, row-major in every rank}, outputs {acdb}
//   reads "abcd", writes "opaque"      ->  is_opaque: the layout has no name
struct LayoutName {
  static constexpr std::size_t kEveryRank = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kNoRank = kEveryRank - 1;

  bool IsRowMajor(std::size_t rank) const { return row_major_rank == rank || row_major_rank == kEveryRank; }

  std::string text;
  std::size_t row_major_rank = kNoRank;  // 4 of "abcd"
};

struct DeclaredLayouts {
  std::string input, output;                // as the candidate has them
  std::vector<LayoutName> inputs, outputs;  // at least one each
  bool is_opaque = false;
};

class LayoutTexts {
 public:
  // Lives as long as this, also where this is moved.
  const DeclaredLayouts* Of(const Candidate& candidate);

 private:
  std::deque<DeclaredLayouts> all_;
  std::map<std::pair<std::string_view, std::string_view>, const DeclaredLayouts*> known_;  // texts of `all_`
  // Of the last answers: a workload's candidates have few pairs, and so have its neighbours'.
  std::array<const DeclaredLayouts*, 4> recent_ = {};
  std::size_t oldest_ = 0;
};

// Where a row's time has its constants from.
enum class WeightsFrom : std::uint8_t {
  kAsMeasured,  // the row's own cache state; or it has none; or all of them stay near
  kBoth,        // in context, by a row with weights from memory
  kBorrowed,    // in context, by another candidate's or a workload's with as many constants
  kCaches,      // in context, but no such row is known: warm
};

struct TimedRow {
  const Measurement* row = nullptr;          // measured, so it has repetitions
  Latency time{0};                           // PointValue; of rows in MeasuredRows less what NoiseModel draws back
  Latency best_seen{0};                      // BestSeen: what rates are read off
  std::span<const double> logs;              // of its repetitions' medians
  bool is_choice = false;                    // the library's own heuristic picks it first
  const DeclaredLayouts* layouts = nullptr;  // of its candidate; of rows in MeasuredRows
  WeightsFrom weights = WeightsFrom::kAsMeasured;
};

inline double LogOf(const Repetition& repetition) { return std::log(std::max(repetition.median.count(), 1e-12)); }

class TimedRows {
 public:
  // Of all the rows, which it keeps, those that were measured, each held to the pace; the best seen is as it was.
  explicit TimedRows(std::vector<Measurement> rows, const Pace& pace = {});
  // In context: each warm row's repetitions become s x warm + (1 - s) x what the same candidate takes with weights from
  // memory, as `rows` say, which then are gone. The best seen stays the warm row's. A candidate without such a row is
  // taken to lose as little as the one of its workload that loses least, and for each byte of its constants, as it
  // packs them, as little as the one that loses least for each; of a workload without such rows, as the workloads with
  // as many bytes of constants (within 2 %).
  TimedRows(std::vector<Measurement> rows, const std::function<NearConstants(const WorkloadKey&)>& near,
            const Pace& pace = {});
  TimedRows(TimedRows&&) = default;
  TimedRows& operator=(TimedRows&&) = default;

  std::span<const TimedRow> all() const { return timed_; }
  // All of them, whatever their outcome.
  std::span<const Measurement> rows() const { return rows_; }

 private:
  void PutInContext(std::span<const Measurement> cold, const std::function<NearConstants(const WorkloadKey&)>& near);

  std::vector<Measurement> rows_;
  std::vector<double> logs_;
  std::vector<TimedRow> timed_;
};

}  // namespace infimum
