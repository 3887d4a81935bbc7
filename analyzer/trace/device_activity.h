// What a timeline's devices did with their time: computing, communicating, copying, or waiting, and for whom.
//
//   from the first to the last piece of work   3,907.8 us
//     busy                                       309.4 us   computation 307.2, copies that nothing hid 2.2
//     idle                                     3,598.4 us   the host had not asked yet 3,4.., launching .., queued ..
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/alignment/work_origin.h"
#include "infimum/graph/timeline.h"

namespace infimum {

// An idle stretch of a device, before `next`. By when the work that ended it had been asked for:
//
//   device  ===work===|......................|==next==
//   host                       |launch call
//                     |- host -|-- launch ---|            asked for while the device was idle
//                     |------- queued -------|            asked for before: it waited for something else
struct IdleGap {
  std::int64_t device = 0;
  std::int64_t start_ns = 0;
  std::uint32_t next = 0;  // index of the work that ended it
  std::int64_t host_ns = 0;
  std::int64_t launch_ns = 0;
  std::int64_t queued_ns = 0;
  std::int64_t unknown_ns = 0;  // no call is known to have started it

  std::int64_t duration_ns() const { return host_ns + launch_ns + queued_ns + unknown_ns; }
};

struct DeviceActivity {
  std::int64_t device = 0;
  std::int64_t first_ns = 0, last_ns = 0;  // of its work
  std::int64_t kernels = 0, copies = 0, sets = 0;
  // Each moment counts once, for the first of these that was going on in it; sets count as computation.
  std::int64_t computation_ns = 0;
  std::int64_t exposed_communication_ns = 0;  // kernels of NCCL and RCCL
  std::int64_t exposed_copy_ns = 0;
  // Each moment once, whatever else went on.
  std::int64_t communication_ns = 0;
  std::int64_t copy_ns = 0;
  // The gaps' sums; together with the busy time they make the span.
  std::int64_t host_ns = 0, launch_ns = 0, queued_ns = 0, unknown_ns = 0;

  std::int64_t busy_ns() const { return computation_ns + exposed_communication_ns + exposed_copy_ns; }
  std::int64_t idle_ns() const { return host_ns + launch_ns + queued_ns + unknown_ns; }
  std::int64_t span_ns() const { return last_ns - first_ns; }
};

struct ActivityReport {
  std::vector<DeviceActivity> devices;  // by number
  std::vector<IdleGap> gaps;            // in time
};

// `origins` are OriginsOfWork(timeline).
ActivityReport ActivityOf(const Timeline& timeline, const std::vector<WorkOrigin>& origins);

bool IsCommunication(std::string_view kernel);

// Kernels, copies and sets of one name that one operator started on one stream.
struct WorkTotal {
  NameId name = kNoName;
  NameId operation = kNoName;  // the innermost operator's; kNoName: none is known
  std::uint32_t stream = 0;
  DeviceWorkKind kind = DeviceWorkKind::kKernel;
  std::int64_t count = 0;
  std::int64_t total_ns = 0, least_ns = 0, most_ns = 0;
};

// The largest total first.
std::vector<WorkTotal> WorkTotals(const Timeline& timeline, const std::vector<WorkOrigin>& origins);

}  // namespace infimum
