#include "tests/db/store_rows.h"

#include <gtest/gtest.h>

namespace infimum::testing {

std::string ErrorOfOpening(const std::string& address, OpenMode mode) {
  const Result<std::unique_ptr<Store>> store = OpenStore(address, mode);
  return store.ok() ? "opened" : store.error().message;
}

Device MakeDevice(const std::string& model) {
  Device device;
  device.name = "A processor of a test";
  device.vendor = "Test";
  device.generation = "First";
  device.identity = {{"family", "25"}, {"model", model}, {"l1", "32K"}};
  device.cores = 2;
  device.last_level_cache = {32 << 20};
  device.memory = {std::int64_t{8} << 30};
  return device;
}

Environment MakeEnvironment(const std::string& library_version, std::int64_t threads) {
  Environment environment;
  environment.libraries = {{"onednn", library_version}};
  environment.threads = threads;
  environment.evidence = {
      {evidence::kAffinity, "pinned:0"}, {evidence::kSystem, "Linux 6.1"}, {evidence::kInfimum, "0.1.0"}};
  return environment;
}

WorkloadKey MakeWorkload(std::int64_t elements) {
  return {"pointwise kind=relu dtype=f32:-:f32 in=" + std::to_string(elements)};
}

Measurement MakeRow(std::int64_t elements, std::vector<double> medians_us) {
  Measurement row;
  row.workload = MakeWorkload(elements);
  row.candidate = {"onednn", "eltwise:avx2", "any", "nchw", true};
  row.device = MakeDevice().Key();
  row.environment = MakeEnvironment().Key();
  row.evidence = MakeEnvironment().Told();
  row.measured_at = "2026-11-21T10:47:44Z";
  for (double median : medians_us)
    row.repetitions.push_back(
        {9, Latency(median * 0.9), Latency(median), Latency(median * 1.2), {Latency(median), Latency(median / 3)}});
  row.numeric_error = 1.0 / 3;
  row.flags = {"noisy", "launch_bound"};
  row.constants = Bytes{(std::int64_t{1} << 40) + 1};
  return row;
}

Measurement MakeFailure(std::int64_t elements, Outcome outcome, const std::string& reason) {
  Measurement row = MakeRow(elements, {});
  row.outcome = outcome;
  row.reason = reason;
  row.numeric_error.reset();
  row.flags.clear();
  row.constants.reset();
  return row;
}

PeakRate MakePeak(double per_second, std::int64_t working_set) {
  PeakRate peak;
  peak.kind = PeakRate::Kind::kCopy;
  peak.working_set = {working_set};
  peak.per_second = per_second;
  peak.source = "measured";
  return peak;
}

RunProfile MakeRun() {
  RunProfile run;
  run.framework = "onnxruntime";
  run.framework_version = "1.31.1";
  run.model_name = "resnet50";
  run.model_sha256 = "ab12";
  run.dims = {{"batch", 8}, {"seq", 128}};
  run.threads = 1;
  run.contract = "strict-f32";
  run.device = MakeDevice().Key().text;
  run.settings = {{"graph_optimization_level", "all"}};
  run.end_to_end = {{{Latency(100.5), Latency(99.25)}}, {{Latency(101)}}};
  run.layers = {{"conv", "Conv", "CPUExecutionProvider", {"n0"}, {"x", "w"}, {"y"}, {Latency(10), Latency(11)}}};
  run.warnings = {"one warning"};
  return run;
}

Selection MakeSelection(const Device& device, std::int64_t threads) {
  Selection selection;
  selection.device = device.Key();
  selection.threads = threads;
  return selection;
}

std::vector<Measurement> FindRows(Store& store, std::int64_t elements, const Selection& selection) {
  const std::vector<WorkloadKey> keys{MakeWorkload(elements)};
  Result<std::vector<Measurement>> rows = store.Find(keys, selection);
  EXPECT_TRUE(rows.ok()) << (rows.ok() ? "" : rows.error().message);
  return rows.ok() ? std::move(*rows) : std::vector<Measurement>();
}

}  // namespace infimum::testing
