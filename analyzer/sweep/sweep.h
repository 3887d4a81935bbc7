// A sweep: the cells of an evaluation with what became of them, and what they say together.
//
//   16 cells of fc: 4 numbers of nodes by 4 batches, on one device
//   UtilizationOf(cells, "model.choices.nodes", "model.choices.batch")   4 x 4 shares of the least time
//   SensitivityOf(cells)      nodes explain 0.71 of the variance of log time, batch 0.27
//   ParetoOf(cells)           which have more parameters than any faster one
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infimum/measurement/statistics.h"
#include "infimum/results/evaluation_cell.h"

namespace infimum {

struct SweepCell {
  std::string hash;
  std::string name;                           // of its model
  std::string conditions;                     // "onnxruntime, 2 threads"
  std::string device;                         // where it was measured, or of whose data sheet its floor is
  std::map<std::string, std::string> fields;  // FieldsOf() its cell, usual ones of a family too
  std::optional<CellState> state;             // absent: not run yet
  std::string reason;
  CellFacts facts;
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

}  // namespace infimum
