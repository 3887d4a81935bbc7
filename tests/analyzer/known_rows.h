// Rows on the test's device, and the bracket that they make.
//
//   KnownRows rows;
//   rows.Add(graph.layers[0], "gemm", {10, 11});       // one repetition for each time
//   const Bracket bracket = BracketOf(graph, rows);
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analyzer/bracket/bracket.h"
#include "tests/support/random_graph.h"

namespace infimum::testing {

class KnownRows : public MemorySource {
 public:
  explicit KnownRows(const DeviceKey& device = TestDeviceKey()) : device_(device) { SetPeaks(device, TestPeaks()); }

  using MemorySource::Add;
  KnownRows& Add(const Workload& workload, const std::string& algorithm, const std::vector<double>& microseconds,
                 std::int64_t threads = 1) {
    Measurement row = MeasuredRow(KeyOf(workload), algorithm, {microseconds.begin(), microseconds.end()});
    row.device = device_;
    row.contract = NativeContract(workload);
    Add(std::move(row), TestEnvironment(threads));
    return *this;
  }
  KnownRows& Add(const Layer& layer, const std::string& algorithm, const std::vector<double>& microseconds,
                 std::int64_t threads = 1) {
    return Add(*layer.workload, algorithm, microseconds, threads);
  }

 private:
  DeviceKey device_;
};

inline Bracket BracketOf(const ModelGraph& graph, MeasurementSource& source,
                         const Selection& selection = TestSelection(1), const BracketOptions& options = {}) {
  Result<Bracket> bracket = ComputeBracket(graph, source, selection, options);
  EXPECT_TRUE(bracket.ok()) << (bracket.ok() ? "" : bracket.error().message);
  return bracket.ok() ? *std::move(bracket) : Bracket();
}

}  // namespace infimum::testing
