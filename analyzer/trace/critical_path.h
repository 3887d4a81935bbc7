// The critical path of a timeline: the one sequence of calls, launches and device work that leads from its first event
// to its last, each part of which waited for the part before it. Only what is on it makes the whole longer.
//
//   host    |aten::linear|cudaLaunchKernel|.......|cudaDeviceSynchronize    |
//   device                    launch -> |== gemm ==|                  |relu|     (relu was queued behind gemm)
//
//   critical path 100 us: host 30, launching 6, kernels 58, queued 4, waiting 2
//
// It is the path through the timeline on which the most time is accounted for: each moment in a call, launching, queued
// or in device work counts, a moment that is spent between calls or blocked in one does not. What a piece of device
// work waited for is what came last: the call that asked for it, the work before it on its stream, or, after a call
// that lets a stream wait, the work that ended on another one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/alignment/work_origin.h"
#include "infimum/graph/timeline.h"

namespace infimum {

enum class PathPart : std::uint8_t {
  kOperator,       // an operator's own time, without what it called
  kRuntime,        // a call of the runtime; of one that blocked only the time after what it waited for
  kBetweenCalls,   // the host outside of all calls: the program between operators, one thread after another
  kWaiting,        // a blocking call on the path while it waited, where not the device held the path up
  kLaunch,         // asked for, not begun, with an idle stream
  kQueue,          // behind other work of its stream, after that had ended
  kKernel,         // sets too
  kCommunication,  // kernels of NCCL and RCCL
  kCopy,
  kUnlinked,  // before the path's first entry and after its last: nothing shows what led there
};
inline constexpr std::size_t kPathParts = 10;

// "operator", "between-calls"
std::string_view NameOf(PathPart part);

struct PathSegment {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t index = kNoCall;  // of a call (operator, runtime, waiting); of device work (the work's own parts, and
                                  // launch and queue, which lead to it); else kNoCall
  PathPart part = PathPart::kUnlinked;

  std::int64_t duration_ns() const { return end_ns - start_ns; }
  friend bool operator==(const PathSegment&, const PathSegment&) = default;
};

struct CriticalPath {
  std::int64_t first_ns = 0, last_ns = 0;          // of calls that are no annotations, and device work
  std::vector<PathSegment> segments;               // in time; each begins where the one before ends, none is empty
  std::array<std::int64_t, kPathParts> by_part{};  // sums of the segments; together last - first

  std::int64_t length_ns() const { return last_ns - first_ns; }
  std::int64_t of(PathPart part) const { return by_part[static_cast<std::size_t>(part)]; }
};

// `timeline` is sorted, `origins` are OriginsOfWork(timeline). A sort of the ends and one pass, with 48 bytes
// for each entry; of more than 2^31 entries the path is empty.
CriticalPath CriticalPathOf(const Timeline& timeline, const std::vector<WorkOrigin>& origins);

// What entries of one name took on the path, the most time first.
struct PathTotal {
  NameId name = kNoName;
  PathPart part = PathPart::kOperator;
  std::int64_t count = 0;  // of entries, however many segments each has
  std::int64_t total_ns = 0;
};

// Of calls and device work, not of the ways between them.
std::vector<PathTotal> PathTotals(const Timeline& timeline, const CriticalPath& path);

}  // namespace infimum
