// A sweep: the cells of an evaluation with what became of them, and what they say together.
//
//   16 cells of fc: 4 numbers of nodes by 4 batches, on one device
//   UtilizationMap(cells, nodes, batch)    4 x 4 shares of the least time             (maps.h)
//   SensitivityOf(cells)                   nodes explain 0.71 of the variance of log time, batch 0.27
//   ParetoOf(cells, kParameters)           which have more parameters than any faster one    (ranks.h)
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infimum/measurement/device.h"
#include "infimum/measurement/statistics.h"
#include "infimum/results/evaluation_cell.h"

namespace infimum {

// What the store's rows say of a model: the best kernels that are measured, added up. A bound where all of them are of
// the device itself, else an estimate (analyzer/estimate).
struct KnownTime {
  Latency latency{0};
  std::optional<Interval> between = {};  // of an estimate at its level; absent where nothing can be left out
  double measured = 1;                   // share of it by rows of the device itself
};

struct SweepCell {
  std::string hash;
  std::string name;                           // of its model
  std::string conditions;                     // "onnxruntime, 2 threads"
  std::string device;                         // where it was measured, or of whose data sheet its floor is
  DeviceKind kind = DeviceKind::kCpu;         // of a GPU no threads are said
  std::map<std::string, std::string> fields;  // FieldsOf() its cell, usual ones of a family too
  std::optional<CellState> state;             // absent: not run yet
  std::string reason;
  CellFacts facts;
  std::optional<Latency> roofline = {};  // its layers one after the other, each at the device's rates
  std::optional<Latency> launches = {};  // of it what starts of kernels add, where the device's is known
  std::optional<KnownTime> known = {};
  std::optional<Latency> time;  // of one inference
  Interval between{};           // of `time`
  std::string measured_at;
  std::string framework_version;

  // The least time over the measured one; at most 1 but for an inversion.
  std::optional<double> utilization() const {
    if (!time || !facts.floor || time->count() <= 0) return std::nullopt;
    return *facts.floor / *time;
  }
};

// Fields with more than one value, over all cells: what the sweep is over. Numbers ascend, words by name.
struct SweepAxis {
  std::string field;
  std::vector<std::string> values;
  bool is_numeric = false;
};
std::vector<SweepAxis> AxesOf(std::span<const SweepCell> cells);

// What the cells are held against each other by: what was measured, or, where nothing can be, the floor.
enum class SweepQuantity { kTime, kFloor };
std::optional<Latency> QuantityOf(const SweepCell& cell, SweepQuantity quantity);

// By how much less of the variance of the logarithm is explained without an axis.
//
//   log q = b0 + sum over numeric axes of b_i log(value) + sum over the values of the others of b_ij + e,   least
//   squares R^2 = 1 - RSS / TSS          share of an axis = (RSS without it - RSS) / TSS
//
// Shares add up to R^2 where the axes are independent of each other, as in a full grid; of two axes that change
// together neither gets what they have in common. A numeric axis with a value of 0 or less counts as words. An axis
// that some cells lack gets one more term, for these.
struct Sensitivity {
  struct Axis {
    std::string field;
    bool is_numeric = false;
    double share = 0;
  };
  std::size_t cells = 0;
  double r_squared = 0;
  std::vector<Axis> axes;             // the largest share first
  std::vector<std::string> left_out;  // words with more values than a fit of so many cells carries
};
// Of more cells so many are fitted, evenly.
inline constexpr std::size_t kMostFittedCells = 20'000;
// Nothing where fewer than three cells have the quantity, or all of them the same.
std::optional<Sensitivity> SensitivityOf(std::span<const SweepCell> cells,
                                         SweepQuantity quantity = SweepQuantity::kTime);

}  // namespace infimum
