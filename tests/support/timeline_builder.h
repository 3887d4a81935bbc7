// Timelines for tests, in nanoseconds: threads 0 and 1; streams 0 and 1 of device 0, stream 2 of device 1.
//
//   TimelineBuilder().Call(HostCallKind::kRuntime, "launch", 30, 5, 77).Work("gemm", 40, 10, 77).Build()
//   TimelineOf("call launch 30..35 #77; kernel gemm 40..50 #77")       the same
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <regex>
#include <string>
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

// Entries with "; " between them: range, operator, call (of the runtime), kernel or copy; name; from when to when;
// "#" and a correlation number; "on" and a thread or stream other than 0.
inline Timeline TimelineOf(const std::string& text) {
  static const std::regex kEntry(R"((\w+) ([^;]+) (-?\d+)\.\.(-?\d+)(?: #(\d+))?(?: on (\d+))?(?:; |$))");
  TimelineBuilder builder;
  std::ptrdiff_t read = 0;
  for (std::sregex_iterator entry(text.begin(), text.end(), kEntry), end; entry != end; ++entry) {
    const auto number = [&](std::size_t group, std::int64_t otherwise) {
      return (*entry)[group].matched ? std::stoll((*entry)[group]) : otherwise;
    };
    const std::string kind = (*entry)[1], name = (*entry)[2];
    const std::int64_t start = number(3, 0), duration = number(4, 0) - start, correlation = number(5, -1);
    const auto lane = static_cast<std::uint32_t>(number(6, 0));
    if (kind == "kernel" || kind == "copy") {
      builder.Work(name.c_str(), start, duration, correlation, lane,
                   kind == "copy" ? DeviceWorkKind::kCopy : DeviceWorkKind::kKernel);
    } else {
      EXPECT_TRUE(kind == "range" || kind == "operator" || kind == "call") << kind;
      builder.Call(kind == "range"      ? HostCallKind::kAnnotation
                   : kind == "operator" ? HostCallKind::kOperator
                                        : HostCallKind::kRuntime,
                   name.c_str(), start, duration, correlation, lane);
    }
    read += entry->length();
  }
  EXPECT_EQ(read, static_cast<std::ptrdiff_t>(text.size())) << text << " has what is no entry";
  return builder.Build();
}

}  // namespace infimum
