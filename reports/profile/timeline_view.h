// What a profiler's timeline says by itself, before there is any bound: where the devices' time went, whom they waited
// for, the operators and kernels that took it, and what to change.
//
//   TimelineView view = ViewOf(timeline, "trace.json.gz");
//   view.findings.front().action   // what to change first
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/findings/finding.h"
#include "analyzer/trace/device_activity.h"
#include "infimum/graph/timeline.h"
#include "reports/run/path_view.h"

namespace infimum {

struct OperatorRow {
  std::string name;  // empty: work that no operator is known to have started
  std::int64_t started = 0;
  std::int64_t device_ns = 0;  // sum of what it started itself, not through another operator
};

struct HostRow {
  std::string name;
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t own_ns = 0;  // without what it called
};

struct KernelRow {
  std::string name;
  std::string operation;
  std::int64_t count = 0;
  std::int64_t total_ns = 0, least_ns = 0, most_ns = 0;
};

struct TimelineView {
  std::string source;    // the file
  std::string profiler;  // "kineto"
  std::vector<TimelineDevice> devices;
  std::int64_t events = 0;
  std::int64_t calls = 0;  // of the runtime
  std::int64_t span_ns = 0;
  double skipped_share = 0;  // of the devices' time: of work that could not be read, about
  std::int64_t work_ns = 0;  // sum over all device work; shares are of this
  std::vector<DeviceActivity> activity;
  std::vector<OperatorRow> operators;  // the most device time first
  std::vector<HostRow> host;           // operators and calls of the runtime; the most own time first
  std::int64_t host_ns = 0;            // sum of their own times
  std::vector<KernelRow> kernels;      // copies and sets too; the largest total first
  std::optional<PathView> path;        // of traces with a host and a device
  std::vector<Finding> findings;
  std::vector<std::string> remarks;
};

TimelineView ViewOf(const Timeline& timeline, std::string source);

}  // namespace infimum
