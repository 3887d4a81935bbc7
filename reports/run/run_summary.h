// What `infimum compare MODEL` says: for each run the gap to the bound in steps, the findings, and one table over the
// model's layers. As text for a terminal, JSON (schema infimum.compare/1) and CSV, with the same numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/findings/finding.h"
#include "analyzer/gap/waterfall.h"
#include "reports/run/gate.h"
#include "reports/run/node_table.h"
#include "reports/run/path_view.h"

namespace infimum {

struct RunAccount {
  std::string source;        // as its column is called
  std::string framework;     // "onnxruntime 1.31.1"
  std::string device;        // "AMD EPYC"
  std::string conditions;    // "1 thread, strict-f32, warm"
  std::string noisy = {};    // why its end-to-end time is none
  double skipped_share = 0;  // of its layers' time: of events that could not be read, about
  Waterfall waterfall;
  std::vector<Finding> findings;  // ranked
  std::vector<Inversion> inversions;
  std::optional<PathView> path;  // of a trace with a host and a device
  std::vector<std::string> remarks;

  // How many times the bound it takes; absent without one.
  std::optional<double> gap() const {
    if (!waterfall.bound || waterfall.bound->count() <= 0) return std::nullopt;
    return waterfall.measured / *waterfall.bound;
  }
};

struct ModelAccount {
  std::string model;
  std::vector<RunAccount> runs;
  NodeTable nodes;
  std::vector<Gate> gates;
};

struct AccountStyle {
  std::size_t width = 0;     // 0: as wide as needed
  std::size_t rows = 25;     // of the table over layers; 0: all
  std::size_t findings = 5;  // of a run
};

std::string AccountText(const ModelAccount& account, const AccountStyle& style);

// {"schema","model","measured_us","bound_us","floor_us","gap","waterfall","findings","layers","runs","gates"}: what
// stands at the top is of the first run, what stands in "runs" of each.
std::string AccountJson(const ModelAccount& account);

}  // namespace infimum
