// Cells of a sweep for tests.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "analyzer/sweep/sweep.h"

namespace infimum::testing {

// One that was measured, without a spread.
inline SweepCell MakeSweepCell(std::map<std::string, std::string> fields, double microseconds) {
  SweepCell cell;
  cell.device = "a processor";
  cell.fields = std::move(fields);
  cell.state = CellState::kOk;
  cell.time = Latency(microseconds);
  cell.between = {*cell.time, *cell.time};
  return cell;
}

}  // namespace infimum::testing
