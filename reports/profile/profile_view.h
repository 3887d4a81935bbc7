// What a profile says by itself, before there is any bound, as `infimum compare` prints it without a model: one text a
// profile for a terminal, JSON (schema infimum.compare/1) and CSV of all of them with the same numbers.
//
//   TimelineView view = ViewOf(timeline, "trace.json.gz");   // of a profiler's timeline
//   view.findings.front().action                             // what to change first
//   LayersView view = ViewOf(run, "profile.json");           // of an engine's layers
//   view.operators.front()                                   // "Conv", 53 layers, 41.2 ms of 52.1
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "analyzer/findings/finding.h"
#include "analyzer/trace/device_activity.h"
#include "infimum/base/units.h"
#include "infimum/graph/run_profile.h"
#include "infimum/graph/timeline.h"
#include "reports/run/gate.h"
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

// Where the devices' time went, whom they waited for, the operators and kernels that took it, and what to change.
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

struct LayerRow {
  std::string name;
  std::string op;
  std::string algorithm;           // the engine's, where it tells
  std::vector<std::string> nodes;  // the model's that it covers, where the engine tells
  std::int64_t samples = 0;
  std::optional<Latency> median;  // absent without samples
  Latency least{0}, most{0}, total{0};
};

struct EngineOperatorRow {
  std::string op;
  std::int64_t layers = 0;
  Latency time{0};  // sum of the layers' medians
};

// Which operators and which layers took the time.
struct LayersView {
  std::string source;                        // the file
  std::string framework;                     // "onnxruntime 1.31.1"
  std::optional<Latency> end_to_end;         // the point value, where the run has unprofiled samples
  Latency layers_time{0};                    // sum of the layers' medians
  std::string noisy;                         // why its end-to-end time is none
  double skipped_share = 0;                  // of the layers' time: of events that could not be read, about
  std::vector<EngineOperatorRow> operators;  // the most time first
  std::vector<LayerRow> layers;              // in the engine's order
  std::vector<Finding> findings;
  std::vector<std::string> remarks;
};

TimelineView ViewOf(const Timeline& timeline, std::string source);
LayersView ViewOf(const RunProfile& run, std::string source);

using ProfileView = std::variant<TimelineView, LayersView>;

// The largest operators, layers and kernels only. `width` 0: as wide as needed.
std::string ProfileText(const ProfileView& view, std::size_t width);
// All of them: {"schema":"infimum.compare/1","runs":[{"kind":"timeline"|"layers","source",...,"findings":[...]}],
// "gates":[...]}, the gates as AccountJson has them.
std::string ProfilesJson(const std::vector<ProfileView>& views, std::span<const Gate> gates = {});
// One line a kernel or layer.
std::string ProfilesCsv(const std::vector<ProfileView>& views);

}  // namespace infimum
