// The starts and ends of a timeline's calls and device work, as numbered nodes in the order of time.
//
//   call i begins: node 2i, ends: 2i + 1; device work j begins: 2 (calls + j), ends: 2 (calls + j) + 1
//
// At one moment work ends first, then calls, the innermost first, then calls begin, then work: what could have waited
// for something comes after it. An entry that takes no time begins and ends in one go. Annotations are passed over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "infimum/graph/timeline.h"

namespace infimum {

class PathEvents {
 public:
  explicit PathEvents(const Timeline& timeline)
      : timeline_(timeline), calls_(static_cast<std::uint32_t>(timeline.host_calls.size())) {
    std::uint32_t i = 0;
    for (const HostCall& call : timeline.host_calls) {
      if (Counts(call)) Note(call);
      if (Counts(call) && call.duration_ns > 0) call_ends_.push_back({End(call), i});
      ++i;
    }
    i = 0;
    for (const DeviceWork& work : timeline.device_work) {
      Note(work);
      if (work.duration_ns > 0) work_ends_.push_back({End(work), i});
      ++i;
    }
    std::sort(call_ends_.begin(), call_ends_.end(), Earlier);
    std::sort(work_ends_.begin(), work_ends_.end(), Earlier);
  }

  std::size_t nodes() const { return 2 * (timeline_.host_calls.size() + timeline_.device_work.size()); }
  std::int64_t first_ns() const { return first_ns_; }
  std::int64_t last_ns() const { return last_ns_; }

  bool IsWork(std::uint32_t node) const { return node / 2 >= calls_; }
  static bool IsStart(std::uint32_t node) { return node % 2 == 0; }
  std::uint32_t Index(std::uint32_t node) const { return IsWork(node) ? node / 2 - calls_ : node / 2; }
  static std::uint32_t StartOfCall(std::uint32_t call) { return 2 * call; }
  std::uint32_t StartOfWork(std::uint32_t work) const { return 2 * (calls_ + work); }
  std::uint32_t EndOfWork(std::uint32_t work) const { return StartOfWork(work) + 1; }

  template <typename Entry>
  static std::int64_t End(const Entry& entry) {
    return entry.start_ns + std::max<std::int64_t>(0, entry.duration_ns);
  }
  std::int64_t Time(std::uint32_t node) const {
    const auto time = [&](const auto& entry) { return IsStart(node) ? entry.start_ns : End(entry); };
    return IsWork(node) ? time(timeline_.device_work[Index(node)]) : time(timeline_.host_calls[Index(node)]);
  }

  template <typename Visit>
  void ForEachInTime(const Visit& visit) const {
    constexpr std::int64_t kDone = std::numeric_limits<std::int64_t>::max();
    auto call = timeline_.host_calls.begin();
    auto work = timeline_.device_work.begin();
    auto call_end = call_ends_.begin(), work_end = work_ends_.begin();
    std::uint32_t calls = 0, works = 0;
    for (;;) {
      while (call != timeline_.host_calls.end() && !Counts(*call)) ++call, ++calls;
      const std::int64_t work_ends = work_end == work_ends_.end() ? kDone : work_end->time;
      const std::int64_t call_ends = call_end == call_ends_.end() ? kDone : call_end->time;
      const std::int64_t call_begins = call == timeline_.host_calls.end() ? kDone : call->start_ns;
      const std::int64_t work_begins = work == timeline_.device_work.end() ? kDone : work->start_ns;
      const std::int64_t now = std::min(std::min(work_ends, call_ends), std::min(call_begins, work_begins));
      if (now == kDone) return;
      if (work_ends == now) {
        visit(EndOfWork((work_end++)->index));
      } else if (call_ends == now) {
        visit(StartOfCall((call_end++)->index) + 1);
      } else if (call_begins == now) {
        visit(StartOfCall(calls));
        if (call->duration_ns <= 0) visit(StartOfCall(calls) + 1);
        ++call, ++calls;
      } else {
        visit(StartOfWork(works));
        if (work->duration_ns <= 0) visit(EndOfWork(works));
        ++work, ++works;
      }
    }
  }

 private:
  struct EntryEnd {
    std::int64_t time;
    std::uint32_t index;
  };
  static bool Earlier(const EntryEnd& a, const EntryEnd& b) {
    return a.time != b.time ? a.time < b.time : a.index > b.index;
  }
  static bool Counts(const HostCall& call) { return call.kind != HostCallKind::kAnnotation; }
  template <typename Entry>
  void Note(const Entry& entry) {
    first_ns_ = std::min(first_ns_, entry.start_ns);
    last_ns_ = std::max(last_ns_, End(entry));
  }

  const Timeline& timeline_;
  const std::uint32_t calls_;
  std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
  std::vector<EntryEnd> call_ends_, work_ends_;
};

}  // namespace infimum
