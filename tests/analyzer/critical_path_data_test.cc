// The critical path of a real trace beside the one that Holistic Trace Analysis (HTA) marked in it: its events have
// "critical": 1, and its launches are arrows with the time from the call to the kernel as their weight.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/trace/critical_path.h"
#include "src/readers/files/input_file.h"
#include "src/readers/profiles/kineto/kineto_trace.h"
#include "tests/analyzer/unpacked_trace.h"
#include "tests/support/shared_data.h"

namespace infimum::critical_path_data_test {
namespace {

const std::filesystem::path kTraces = SharedData("traces/hta");

Timeline TimelineOf(const std::string& trace) {
  std::istringstream text(trace);
  Result<Timeline> timeline = ReadKinetoTrace(text, "trace");
  EXPECT_TRUE(timeline.ok()) << timeline.error().message;
  return timeline.ok() ? *std::move(timeline) : Timeline{};
}

// Start, duration and name; microseconds, as this trace has them.
using Event = std::tuple<std::int64_t, std::int64_t, std::string>;
// From the call to the kernel.
using Launch = std::pair<std::int64_t, std::int64_t>;

struct MarkedPath {
  std::set<Event> host, device;
  std::set<Launch> launches;
};

// An event is marked where the path goes through its start or its end.
MarkedPath MarkedBy(const Timeline& timeline, const CriticalPath& path) {
  MarkedPath marked;
  const auto add = [&](std::set<Event>& into, const auto& entry) {
    into.emplace(entry.start_ns / 1000, entry.duration_ns / 1000, std::string(timeline.names.text(entry.name)));
  };
  for (const PathSegment& segment : path.segments) {
    switch (segment.part) {
      case PathPart::kLaunch:
        marked.launches.emplace(segment.start_ns / 1000, segment.end_ns / 1000);
        break;
      case PathPart::kKernel:
      case PathPart::kCommunication:
      case PathPart::kCopy:
        add(marked.device, timeline.device_work[segment.index]);
        break;
      case PathPart::kQueue:
      case PathPart::kUnlinked:
        break;
      default:
        for (const HostCall& call : timeline.host_calls) {
          const auto is_passed = [&](std::int64_t time) { return segment.start_ns <= time && time <= segment.end_ns; };
          if (call.kind != HostCallKind::kAnnotation && call.duration_ns > 0 &&
              (is_passed(call.start_ns) || is_passed(call.start_ns + call.duration_ns)))
            add(marked.host, call);
        }
        break;
    }
  }
  return marked;
}

MarkedPath MarkedByHta(const nlohmann::json& document) {
  MarkedPath marked;
  std::map<std::int64_t, Launch> launches;
  for (const nlohmann::json& event : document["traceEvents"]) {
    const std::string category = event.value("cat", ""), phase = event.value("ph", "");
    if (category == "critical_path" && event["args"]["type"] == "critical_path_kernel_launch_delay") {
      Launch& launch = launches[event["id"].get<std::int64_t>()];
      (phase == "s" ? launch.first : launch.second) = event["ts"];
    }
    if (phase != "X" || !event.contains("args") || event["args"].value("critical", 0) != 1 || event["dur"] == 0)
      continue;
    const bool is_host = category == "cpu_op" || category == "cuda_runtime";
    (is_host ? marked.host : marked.device)
        .emplace(event["ts"].get<std::int64_t>(), event["dur"].get<std::int64_t>(), event["name"].get<std::string>());
  }
  for (const auto& [id, launch] : launches) marked.launches.insert(launch);
  return marked;
}

template <typename Set>
Set Without(const Set& from, const Set& those) {
  Set left;
  std::ranges::set_difference(from, those, std::inserter(left, left.end()));
  return left;
}

std::int64_t TimeOf(const std::set<Event>& events) {
  return std::accumulate(events.begin(), events.end(), std::int64_t{0},
                         [](std::int64_t sum, const Event& event) { return sum + std::get<1>(event); });
}

std::int64_t TimeOf(const std::set<Launch>& launches) {
  return std::accumulate(launches.begin(), launches.end(), std::int64_t{0},
                         [](std::int64_t sum, const Launch& one) { return sum + one.second - one.first; });
}

// 41.6 s of AlexNet on an A100. The paths are one but for 0.8 ms: there HTA lets a cudaDeviceSynchronize wait for a
// kernel that had ended 235 us before the call began, and so goes over the device; here what had ended holds nothing
// up, and the host's own work leads there. HTA's path ends with the last call that was no synchronisation, ours with
// the trace.
TEST(CriticalPathData, IsHolisticTraceAnalysissPathButForAWaitForWhatHadEnded) {
  INFIMUM_NEEDS_DATA(kTraces);
  const std::string trace = Unpacked(kTraces / "simple_add_a100_overlaid_critical_path.json.gz");
  const Timeline timeline = TimelineOf(trace);
  const CriticalPath path = CriticalPathOf(timeline, OriginsOfWork(timeline));
  const MarkedPath ours = MarkedBy(timeline, path), theirs = MarkedByHta(nlohmann::json::parse(trace));

  // What HTA marked, to the digit.
  EXPECT_EQ(theirs.host.size(), 602u);
  EXPECT_EQ(theirs.device.size(), 22u);
  EXPECT_EQ(theirs.launches.size(), 17u);
  EXPECT_EQ(TimeOf(theirs.device), 39'588);
  EXPECT_EQ(TimeOf(theirs.launches), 1'572);

  // All of the host's that it marked is here, and all of the device's and all launches that are here it marked.
  EXPECT_THAT(Without(theirs.host, ours.host), ::testing::IsEmpty());
  EXPECT_THAT(Without(ours.device, theirs.device), ::testing::IsEmpty());
  EXPECT_THAT(Without(ours.launches, theirs.launches), ::testing::IsEmpty());

  // What is left is the one wait: a launch, and the six that were queued behind it.
  const std::set<Launch> skipped = Without(theirs.launches, ours.launches);
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_EQ(TimeOf(skipped), 17);
  EXPECT_EQ(TimeOf(ours.launches), 1'572 - 17);
  const std::set<Event> unwaited = Without(theirs.device, ours.device);
  EXPECT_EQ(unwaited.size(), 6u);
  EXPECT_EQ(TimeOf(unwaited), 508);
  EXPECT_EQ(TimeOf(ours.device), 39'588 - 508);
  EXPECT_EQ(path.of(PathPart::kCopy), (39'588 - 508) * 1000);
  const std::int64_t began = skipped.begin()->first;
  EXPECT_EQ(std::get<0>(*unwaited.begin()), skipped.begin()->second);
  const auto& [last_start, last_duration, last_name] = *unwaited.rbegin();
  std::int64_t synchronized = 0;
  for (const auto& [start, duration, name] : ours.host)
    if (synchronized == 0 && name == "cudaDeviceSynchronize" && start > began) synchronized = start;
  EXPECT_EQ(synchronized - (last_start + last_duration), 235);

  // On the host all of that stretch, and the synchronisation at the trace's end.
  std::set<Event> added = Without(ours.host, theirs.host);
  ASSERT_EQ(added.size(), 14u);
  EXPECT_EQ(std::get<2>(*added.rbegin()), "cudaDeviceSynchronize");
  EXPECT_EQ(std::get<0>(*added.rbegin()) + std::get<1>(*added.rbegin()), path.last_ns / 1000);
  added.erase(std::prev(added.end()));
  for (const auto& [start, duration, name] : added) {
    EXPECT_GT(start, began) << name;
    EXPECT_LT(start + duration, synchronized) << name;
  }
}

// Whatever a real trace has, the path is one line from its first event to its last.
TEST(CriticalPathData, EveryMomentOfARealTraceIsOnItsPathOnce) {
  INFIMUM_NEEDS_DATA(kTraces);
  int traces = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kTraces)) {
    const Timeline timeline = TimelineOf(Unpacked(entry.path()));
    const CriticalPath path = CriticalPathOf(timeline, OriginsOfWork(timeline));
    std::int64_t at = path.first_ns;
    for (const PathSegment& segment : path.segments) {
      ASSERT_EQ(segment.start_ns, at) << entry.path();
      ASSERT_GT(segment.end_ns, segment.start_ns) << entry.path();
      at = segment.end_ns;
    }
    EXPECT_EQ(at, path.last_ns) << entry.path();
    EXPECT_EQ(std::accumulate(path.by_part.begin(), path.by_part.end(), std::int64_t{0}), path.length_ns());
    EXPECT_GT(path.length_ns(), 0) << entry.path();
    ++traces;
  }
  EXPECT_EQ(traces, 5);
}

}  // namespace
}  // namespace infimum::critical_path_data_test
