// Timelines for tests, in nanoseconds: threads 0 and 1; streams 0 and 1 of device 0, stream 2 of device 1.
//
//   TimelineBuilder().Call(HostCallKind::kRuntime, "launch", 30, 5, 77).Work("gemm", 40, 10, 77).Build()
#pragma once

#include <cstdint>
#include <utility>

#include "infimum/graph/timeline.h"

namespace infimum {

class TimelineBuilder {
 public:
  TimelineBuilder() {
    timeline_.threads = {{1, 1}, {1, 2}};
    timeline_.streams = {{0, 7}, {0, 8}, {1, 7}};
  }
  TimelineBuilder& Call(HostCallKind kind, const char* name, std::int64_t start, std::int64_t duration,
                        std::int64_t correlation = -1, std::uint32_t thread = 0, std::int64_t external_id = -1) {
    HostCall call;
    call.kind = kind;
    call.name = timeline_.names.Intern(name);
    call.start_ns = start;
    call.duration_ns = duration;
    call.correlation = correlation;
    call.external_id = external_id;
    call.thread = thread;
    timeline_.host_calls.push_back(call);
    return *this;
  }
  TimelineBuilder& Work(const char* name, std::int64_t start, std::int64_t duration, std::int64_t correlation = -1,
                        std::uint32_t stream = 0, DeviceWorkKind kind = DeviceWorkKind::kKernel) {
    DeviceWork work;
    work.kind = kind;
    work.name = timeline_.names.Intern(name);
    work.start_ns = start;
    work.duration_ns = duration;
    work.correlation = correlation;
    work.stream = stream;
    timeline_.device_work.push_back(work);
    return *this;
  }
  Timeline Build() {
    SortByStart(timeline_);
    return std::move(timeline_);
  }

 private:
  Timeline timeline_;
};

}  // namespace infimum
