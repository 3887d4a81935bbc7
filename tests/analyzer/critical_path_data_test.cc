// The critical path of a real trace beside the one that Holistic Trace Analysis marked in it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include "infimum/analyzer/critical_path.h"
#include "infimum/ingest/kineto_trace.h"
#include "src/ingest/gzip_stream.h"

namespace infimum {
namespace {

const std::filesystem::path kTraces = std::filesystem::path(INFIMUM_SOURCE_DIR) / "../shared/data/traces";

#define NEEDS_TRACES()                                                   \
  if (!std::filesystem::exists(kTraces)) {                               \
    if (std::getenv("CI") != nullptr) FAIL() << kTraces << " is absent"; \
    GTEST_SKIP() << kTraces << " is absent";                             \
  }

std::string Unpacked(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  ingest::GzipStream text(file);
  std::ostringstream whole;
  whole << text.rdbuf();
  EXPECT_FALSE(text.error()) << path;
  return whole.str();
}

Timeline TimelineOf(const std::filesystem::path& path) {
  std::istringstream text(Unpacked(path));
  Result<Timeline> timeline = ReadKinetoTrace(text, path.string());
  EXPECT_TRUE(timeline.ok()) << timeline.error().message;
  return timeline.ok() ? *std::move(timeline) : Timeline{};
}

// Name, thread or stream, start and duration in microseconds since the trace's first event.
using Event = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>;

TEST(X, Dump) {
  NEEDS_TRACES();
  const auto file = kTraces / "hta/simple_add_a100_overlaid_critical_path.json.gz";
  const Timeline timeline = TimelineOf(file);
  const CriticalPath path = CriticalPathOf(timeline, OriginsOfWork(timeline));
  std::int64_t origin = 0;
  {
    std::int64_t least = INT64_MAX;
    for (const auto& c : timeline.host_calls) least = std::min(least, c.start_ns);
    origin = least;
  }
  std::set<Event> ours, theirs;
  for (const PathSegment& s : path.segments) {
    std::printf("SEG %s %s %ld %ld\n", NameOf(s.part),
                s.index == kNoCall ? "" :
                std::string(timeline.names.text((s.part == PathPart::kOperator || s.part == PathPart::kRuntime || s.part == PathPart::kWaiting) ? timeline.host_calls[s.index].name : timeline.device_work[s.index].name)).substr(0, 40).c_str(),
                (s.start_ns - origin) / 1000, s.duration_ns() / 1000);
  }
  const nlohmann::json document = nlohmann::json::parse(Unpacked(file));
  std::int64_t first = INT64_MAX;
  for (const auto& e : document["traceEvents"])
    if (e.value("ph", "") == "X" && (e["cat"] == "cpu_op" || e["cat"] == "cuda_runtime" || e["cat"]=="user_annotation")) first = std::min(first, e["ts"].get<std::int64_t>());
  for (const auto& e : document["traceEvents"])
    if (e.value("ph", "") == "X" && e["args"].contains("critical") && e["args"]["critical"] == 1)
      theirs.insert({e["name"], e["tid"], e["ts"].get<std::int64_t>() - first, e["dur"]});
  for (const PathSegment& s : path.segments) {
    const bool device = s.part == PathPart::kKernel || s.part == PathPart::kCopy || s.part == PathPart::kCommunication;
    if (device) {
      const auto& w = timeline.device_work[s.index];
      ours.insert({std::string(timeline.names.text(w.name)), timeline.streams[w.stream].stream, (w.start_ns - origin) / 1000, w.duration_ns / 1000});
    } else if (s.part != PathPart::kUnlinked) {
      for (const auto& c : timeline.host_calls) {
        if (c.kind == HostCallKind::kAnnotation) continue;
        const auto in = [&](std::int64_t t) { return s.start_ns <= t && t <= s.end_ns; };
        const bool host = s.part != PathPart::kLaunch && s.part != PathPart::kQueue;
        if (host && (in(c.start_ns) || in(c.start_ns + c.duration_ns)))
          ours.insert({std::string(timeline.names.text(c.name)), timeline.threads[c.thread].thread, (c.start_ns - origin) / 1000, c.duration_ns / 1000});
      }
    }
  }
  for (const auto& e : theirs) if (!ours.contains(e)) std::printf("THEIRS %s %ld %ld %ld\n", std::get<0>(e).substr(0,40).c_str(), std::get<1>(e), std::get<2>(e), std::get<3>(e));
  for (const auto& e : ours) if (!theirs.contains(e)) std::printf("OURS %s %ld %ld %ld\n", std::get<0>(e).substr(0,40).c_str(), std::get<1>(e), std::get<2>(e), std::get<3>(e));
  std::printf("ours %zu theirs %zu\n", ours.size(), theirs.size());
  for (std::size_t i = 0; i < kPathParts; ++i) std::printf("%s %ld\n", NameOf((PathPart)i), path.by_part[i] / 1000);
}

}  // namespace
}  // namespace infimum
