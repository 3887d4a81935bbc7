// Over real traces of PyTorch's profiler, which stand beside the checkout (shared/data/traces), held against what other
// tools said of them and against sums made here from the document itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/trace/device_activity.h"
#include "src/readers/files/input_file.h"
#include "src/readers/profiles/kineto/kineto_trace.h"
#include "tests/analyzer/unpacked_trace.h"
#include "tests/support/shared_data.h"

namespace infimum::trace_data_test {
namespace {

const std::filesystem::path kTraces = SharedData("traces");

Timeline TimelineOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  ingest::GzipStream text(file);
  Result<Timeline> timeline = ReadKinetoTrace(text, path.string());
  EXPECT_TRUE(timeline.ok()) << timeline.error().message;
  return timeline.ok() ? *std::move(timeline) : Timeline{};
}

// Fields with commas and doubled quotes inside of quotes.
std::vector<std::vector<std::string>> CsvOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (char c; file.get(c);) {
    if (c == '"') {
      if (quoted && file.peek() == '"') {
        rows.back().back() += '"';
        file.get(c);
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      rows.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      rows.emplace_back(1);
    } else if (c != '\r') {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

// Their times are differences of doubles near 1.4e12 us, which are 0.00024 us apart: each sum is off by up to so much
// for each interval in it. Ours are exact.
constexpr double kTheirRounding = 0.00025;

class TraceLensOracle : public ::testing::TestWithParam<const char*> {};

TEST_P(TraceLensOracle, BusyIdleAndCopyTimesAgree) {
  INFIMUM_NEEDS_DATA(kTraces);
  const std::filesystem::path trace = kTraces / "tracelens" / (std::string(GetParam()) + ".json.gz");
  const Timeline timeline = TimelineOf(trace);
  const ActivityReport report = ActivityOf(timeline, OriginsOfWork(timeline));
  ASSERT_EQ(report.devices.size(), 1u);
  const DeviceActivity& device = report.devices[0];
  EXPECT_EQ(device.busy_ns() + device.idle_ns(), device.span_ns());
  const std::map<std::string, std::int64_t> ours = {{"computation_time", device.computation_ns},
                                                    {"exposed_comm_time", device.exposed_communication_ns},
                                                    {"exposed_memcpy_time", device.exposed_copy_ns},
                                                    {"busy_time", device.busy_ns()},
                                                    {"idle_time", device.idle_ns()},
                                                    {"total_time", device.span_ns()},
                                                    {"total_comm_time", device.communication_ns},
                                                    {"total_memcpy_time", device.copy_ns}};
  const auto rows = CsvOf(kTraces / "tracelens" / (std::string(GetParam()) + ".expected") / "gpu_timeline.csv");
  ASSERT_EQ(rows.size(), 9u);
  const double intervals = static_cast<double>(timeline.device_work.size());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    ASSERT_TRUE(ours.contains(rows[i][0])) << rows[i][0];
    EXPECT_NEAR(static_cast<double>(ours.at(rows[i][0])) / 1000, std::stod(rows[i][1]) * 1000,
                kTheirRounding * intervals)
        << rows[i][0];
  }
}

TEST_P(TraceLensOracle, KernelsByOperatorAgree) {
  INFIMUM_NEEDS_DATA(kTraces);
  const Timeline timeline = TimelineOf(kTraces / "tracelens" / (std::string(GetParam()) + ".json.gz"));
  std::map<std::tuple<std::string, std::string, std::string>, WorkTotal> ours;
  for (const WorkTotal& total : WorkTotals(timeline, OriginsOfWork(timeline)))
    ours[{std::string(timeline.names.text(total.operation)), std::string(timeline.names.text(total.name)),
          std::to_string(timeline.streams[total.stream].stream)}] = total;
  const auto rows = CsvOf(kTraces / "tracelens" / (std::string(GetParam()) + ".expected") / "kernel_summary.csv");
  ASSERT_GT(rows.size(), 5u);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const auto found = ours.find({row[1], row[2], row[3]});
    ASSERT_NE(found, ours.end()) << row[1] << " " << row[2] << " " << row[3];
    // As doubles print them: to the nanosecond.
    EXPECT_NEAR(static_cast<double>(found->second.total_ns), std::stod(row[4]) * 1000, 0.01) << row[2];
    EXPECT_EQ(found->second.count, std::stoll(row[5])) << row[2];
    EXPECT_NEAR(static_cast<double>(found->second.least_ns), std::stod(row[7]) * 1000, 0.01) << row[2];
    EXPECT_NEAR(static_cast<double>(found->second.most_ns), std::stod(row[8]) * 1000, 0.01) << row[2];
    ours.erase(found);
  }
  // What they list beside kernels, or not at all, is no kernel.
  for (const auto& [key, total] : ours) EXPECT_NE(total.kind, DeviceWorkKind::kKernel) << std::get<1>(key);
}

INSTANTIATE_TEST_SUITE_P(All, TraceLensOracle,
                         ::testing::Values("bert_small_infer_h100", "vit_base_infer_h100", "vit_base_infer_mi300x"));

// Every trace, old and new: counts, sums and the union of busy time from the document itself.
TEST(TraceData, EveryTraceAgreesWithItsDocument) {
  INFIMUM_NEEDS_DATA(kTraces);
  int traces = 0;
  for (const char* folder : {"tracelens", "hta", "kineto"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kTraces / folder)) {
      if (!entry.path().string().ends_with(".json.gz")) continue;
      ++traces;
      const Timeline timeline = TimelineOf(entry.path());
      const nlohmann::json document = nlohmann::json::parse(Unpacked(entry.path()));
      std::map<std::string, std::pair<std::int64_t, double>> kinds;  // count, microseconds
      std::map<std::int64_t, std::vector<std::pair<double, double>>> intervals;
      for (const nlohmann::json& event : document["traceEvents"]) {
        if (event.value("ph", "") != "X" || !event.contains("cat")) continue;
        std::string kind = event["cat"];
        std::transform(kind.begin(), kind.end(), kind.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        if (kind == "operator") kind = "cpu_op";
        if (kind == "runtime" || kind == "cuda_driver") kind = "cuda_runtime";
        if (kind == "memcpy") kind = "gpu_memcpy";
        if (kind == "memset") kind = "gpu_memset";
        ++kinds[kind].first;
        kinds[kind].second += event["dur"].get<double>();
        if (kind == "kernel" || kind == "gpu_memcpy" || kind == "gpu_memset")
          intervals[event["args"]["device"].get<std::int64_t>()].emplace_back(
              event["ts"], event["ts"].get<double>() + event["dur"].get<double>());
      }
      std::map<std::string, std::pair<std::int64_t, double>> ours;
      const auto add = [&ours](const char* kind, std::int64_t duration) {
        ++ours[kind].first;
        ours[kind].second += static_cast<double>(duration) / 1000;
      };
      for (const HostCall& call : timeline.host_calls)
        add(call.kind == HostCallKind::kOperator  ? "cpu_op"
            : call.kind == HostCallKind::kRuntime ? "cuda_runtime"
                                                  : "user_annotation",
            call.duration_ns);
      for (const DeviceWork& work : timeline.device_work)
        add(work.kind == DeviceWorkKind::kKernel ? "kernel"
            : work.kind == DeviceWorkKind::kCopy ? "gpu_memcpy"
                                                 : "gpu_memset",
            work.duration_ns);
      for (const char* kind : {"cpu_op", "cuda_runtime", "user_annotation", "kernel", "gpu_memcpy", "gpu_memset"}) {
        EXPECT_EQ(ours[kind].first, kinds[kind].first) << entry.path() << " " << kind;
        EXPECT_NEAR(ours[kind].second, kinds[kind].second, 1e-3 + 1e-9 * kinds[kind].second)
            << entry.path() << " " << kind;
      }
      const ActivityReport report = ActivityOf(timeline, OriginsOfWork(timeline));
      ASSERT_EQ(report.devices.size(), intervals.size()) << entry.path();
      for (const DeviceActivity& device : report.devices) {
        auto& list = intervals[device.device];
        std::sort(list.begin(), list.end());
        double busy = 0, reached = list.front().first;
        for (const auto& [start, end] : list) {
          busy += std::max(0.0, end - std::max(start, reached));
          reached = std::max(reached, end);
        }
        EXPECT_NEAR(static_cast<double>(device.busy_ns()) / 1000, busy,
                    kTheirRounding * static_cast<double>(list.size()))
            << entry.path();
        EXPECT_EQ(device.busy_ns() + device.idle_ns(), device.span_ns()) << entry.path();
      }
    }
  }
  EXPECT_EQ(traces, 14);
}

}  // namespace
}  // namespace infimum::trace_data_test
