// What the readers of an export's tables share: the database, the trace that they fill, and its names and places.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "infimum/graph/timeline.h"
#include "src/readers/profiles/nsys/nsys_database.h"
#include "src/readers/profiles/nsys/nsys_names.h"
#include "src/readers/profiles/nsys/nsys_places.h"
#include "src/readers/profiles/nsys/nsys_table.h"

namespace infimum::ingest {

struct NsysReading {
  NsysReading(const NsysDatabase& from, Timeline& into)
      : database(from), timeline(into), names(from, into.names), places(into) {}

  // Every event of the file comes here, kept or not.
  void Saw(const NsysSpan& span) {
    ++timeline.events;
    first_ns = std::min(first_ns, span.start);
    last_ns = std::max(last_ns, span.end());
  }
  void Remark(std::string text) { timeline.remarks.push_back(std::move(text)); }

  const NsysDatabase& database;
  Timeline& timeline;
  NsysNames names;
  NsysPlaces places;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
};

inline constexpr const char* kNsysKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
inline constexpr const char* kNsysCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
inline constexpr const char* kNsysSets = "CUPTI_ACTIVITY_KIND_MEMSET";
inline constexpr const char* kNsysGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
inline constexpr const char* kNsysCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";
inline constexpr const char* kNsysRanges = "NVTX_EVENTS";

// Kernels, copies, sets and CUDA graphs. A file without a table of any of them is an error.
Status ReadNsysDeviceWork(NsysReading& reading);

// Calls of the CUDA runtime and driver: to be read before device work, since they say which processes there are.
Status ReadNsysCalls(NsysReading& reading);

// NVTX ranges: to be read after everything else, since those that are still open end with the trace.
Status ReadNsysRanges(NsysReading& reading);

}  // namespace infimum::ingest
