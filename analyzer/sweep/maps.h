// A sweep over two of its axes: what share of the least time is reached, what decides the least time, and how much
// faster one side is than another.
//
//   const std::vector<SweepAxis> axes = AxesOf(cells);           // of these two
//   UtilizationMap(cells, axes[0], axes[1]).at(row, column)      // {.cells = 1, .value = 0.43}
//   SpeedUps by_threads = SpeedUpsOf(cells, "threads", "1", "2", SweepQuantity::kTime, 0.05);
//   SpeedUpMap(cells, by_threads, axes[0], axes[1])              // 0.52 of the time, faster
//
// Cells that differ in other axes too share a place: its value is their median, of ratios the geometric mean.
#pragma once

#include "analyzer/sides/side_comparison.h"
#include "analyzer/sweep/sweep.h"

namespace infimum {

struct MapPlace {
  std::size_t cells = 0;           // or pairs of them, that say something here
  std::optional<double> value;     // a share, microseconds, or a ratio of times
  std::string word = {};           // what decides most of them
  std::optional<Verdict> verdict;  // of ratios, where all agree; else undecided
};

struct SweepMap {
  SweepAxis x, y;  // columns and rows
  std::vector<MapPlace> places;

  const MapPlace& at(std::size_t row, std::size_t column) const { return places[row * x.values.size() + column]; }
};

SweepMap UtilizationMap(std::span<const SweepCell> cells, const SweepAxis& x, const SweepAxis& y);
// Of floors, in microseconds, with what decides them.
SweepMap FloorMap(std::span<const SweepCell> cells, const SweepAxis& x, const SweepAxis& y);

// Two cells that differ in one field alone; `difference` is of `to` against `from`, by their intervals.
struct SweepPair {
  std::size_t from = 0, to = 0;
  Difference difference;
};
struct SpeedUps {
  std::string field, from, to;
  SweepQuantity quantity = SweepQuantity::kTime;
  std::vector<SweepPair> pairs;
  double mean = 1;  // geometric, of the ratios
};
SpeedUps SpeedUpsOf(std::span<const SweepCell> cells, const std::string& field, const std::string& from,
                    const std::string& to, SweepQuantity quantity, double threshold);
SweepMap SpeedUpMap(std::span<const SweepCell> cells, const SpeedUps& speed_ups, const SweepAxis& x,
                    const SweepAxis& y);

// Of each value of an axis the cell of most memory that ran, and that of least which did not fit.
struct MemoryFrontier {
  struct Row {
    std::string value;
    std::optional<std::size_t> fits, does_not;
  };
  std::string field;
  std::vector<Row> rows;
};
// Nothing where no cell was out of memory.
std::optional<MemoryFrontier> MemoryFrontierOf(std::span<const SweepCell> cells, const SweepAxis& axis);

}  // namespace infimum
