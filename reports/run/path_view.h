// The critical path of a trace as it is shown: its length, what it consists of, and what stands on it the longest.
//
//   critical path over the whole trace      time   share
//   host: operators                      30.0 µs  30.0 %
//   launches                              6.0 µs   6.0 %  asked for, the stream idle, and not begun
//   kernels                              64.0 µs  64.0 %
//
//   the longest on it     part             times     time   share
//   gemm                  kernels              1  58.0 µs  58.0 %
//   aten::linear          host: operators      1  30.0 µs  30.0 %
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/critical_path.h"
#include "reports/text/json_values.h"

namespace infimum {

struct PathItem {
  std::string name;
  PathPart part = PathPart::kOperator;
  std::int64_t count = 0;
  std::int64_t total_ns = 0;  // on the path
};

struct PathView {
  std::int64_t length_ns = 0;
  std::array<std::int64_t, kPathParts> by_part{};  // together the length
  std::vector<PathItem> items;                     // the most time first
};

// Nothing where the trace has only a host, or only devices: then its path is whatever it shows, and says nothing.
// `origins` are OriginsOfWork(timeline).
std::optional<PathView> PathViewOf(const Timeline& timeline, const std::vector<WorkOrigin>& origins);

// Its parts that take any time, and the five longest entries on it. `width` 0: as wide as needed.
std::string PathText(const PathView& view, std::size_t width);

// {"length_us","parts":[{"part","latency_us"}],"items":[{"name","part","count","latency_us"}]}: every part, also of 0,
// and at most 20 entries.
void to_json(OrderedJson& json, const PathView& view);

}  // namespace infimum
