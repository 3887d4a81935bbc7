#include "tests/reports/sample_sweep.h"

#include <algorithm>
#include <string>

#include "infimum/base/check.h"
#include "tests/support/sweep_cells.h"

namespace infimum {
namespace {

constexpr const char* kHostileDevice = "Old <b>\x1b[31m";

SweepCell CellAt(std::int64_t nodes, std::int64_t batch, std::int64_t threads, const std::string& device) {
  const double flops = 8.0 * static_cast<double>(nodes * nodes * batch),
               weights = 16.0 * static_cast<double>(nodes * nodes);
  const bool is_floor = device != kHostileDevice;
  const double by_arithmetic = flops / (is_floor ? 1e6 : 1e5 * static_cast<double>(threads));  // us
  const double by_memory = weights / (is_floor ? 1e6 : 2e4);
  SweepCell cell = testing::MakeSweepCell({{"model.choices.nodes", std::to_string(nodes)},
                                           {"model.choices.batch", std::to_string(batch)},
                                           {"device", device}},
                                          0);
  cell.hash = "cell " + std::to_string(nodes) + "/" + std::to_string(batch) + "/" + std::to_string(threads);
  cell.name = "fc nodes=" + std::to_string(nodes) + " batch=" + std::to_string(batch);
  cell.device = device;
  cell.facts.parameters = 4 * nodes * nodes;
  cell.facts.flops = Flops{8 * nodes * nodes * batch};
  cell.facts.bytes = Bytes{16 * nodes * nodes + 64 * nodes * batch};
  cell.facts.weights = Bytes{16 * nodes * nodes};
  cell.facts.memory = Bytes{17 * nodes * nodes + 64 * nodes * batch};
  cell.facts.floor = Latency(std::max(by_arithmetic, by_memory));
  cell.facts.decided_by = by_arithmetic > by_memory ? "arithmetic f32" : "bandwidth memory";
  if (is_floor) {
    cell.conditions = device;
    cell.state.reset();
    cell.time.reset();
    return cell;
  }
  cell.conditions = "onnxruntime, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  cell.fields["threads"] = std::to_string(threads);
  cell.fields["framework.name"] = "onnxruntime";
  cell.framework_version = "1.31.1";
  cell.measured_at = "2026-11-25T12:00:00Z";
  // The smallest batch takes a start of its own: the floor orders some cells otherwise.
  cell.time = *cell.facts.floor * 1.5 + Latency(batch == 1 ? 400 : 20);
  cell.between = {*cell.time * 0.98, *cell.time * 1.02};
  return cell;
}

}  // namespace

SweepReport SampleSweep(std::size_t nodes) {
  SweepReport report;
  report.name = "fully connected </script><img src=x onerror=alert(1)>";
  report.description = "Nets of four layers.";
  report.infimum_version = "1.2.3";
  report.remarks = {"New: no cell was measured there"};
  for (const char* device : {kHostileDevice, "New"})
    for (std::size_t i = 0; i < nodes; ++i)
      for (const std::int64_t batch : {1, 4, 16, 64})
        for (const std::int64_t threads : {1, 2}) {
          if (device != std::string(kHostileDevice) && threads > 1) continue;
          report.cells.push_back(CellAt(static_cast<std::int64_t>(256 * (i + 1)), batch, threads, device));
        }
  SweepCell& oom = report.cells[5];
  oom.state = CellState::kOutOfMemory;
  oom.reason = "needs 1 TB by estimate, <img src=x>";
  oom.time.reset();
  SweepCell& pending = report.cells[7];
  pending.state.reset();
  pending.time.reset();
  pending.measured_at.clear();
  report.data_as_of = "2026-11-25T12:00:00Z";
  const Status analyzed = Analyze(report);
  INFIMUM_CHECK(analyzed.ok(), "a sample that cannot be analyzed");
  return report;
}

}  // namespace infimum
