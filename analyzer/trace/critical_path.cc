#include "analyzer/trace/critical_path.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analyzer/trace/device_activity.h"
#include "infimum/base/enum_names.h"

namespace infimum {
namespace {

// The starts and ends of a timeline's calls and device work, as numbered nodes in the order of time.
//
//   call i begins: node 2i, ends: 2i + 1; device work j begins: 2 (calls + j), ends: 2 (calls + j) + 1
//
// At one moment work ends first, then calls, the innermost first, then calls begin, then work: what could have waited
// for something comes after it. An entry that takes no time begins and ends in one go. Annotations are passed over.
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

using Node = std::uint32_t;  // the start or end of a call or of device work, see PathEvents
constexpr Node kNoNode = 0xffffffff;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

struct Reached {
  std::int64_t accounted_ns = 0;  // on the path that leads here
  Node from = kNoNode;
  std::uint32_t owner = kNoCall;  // of a call's node: the innermost call that was open just before it
};

struct ThreadState {
  Node last = kNoNode;
  std::vector<std::uint32_t> open;            // calls, innermost last
  std::vector<std::int64_t> let_stream_wait;  // starts of calls that made a stream wait for another
};

struct StreamState {
  std::uint32_t tail = kNoCall;  // of the work that has begun, what ends last
  std::int64_t last_asked_ns = kNever;
};

// Visits starts and ends in time and keeps for each the best path that leads to it. Since every link leads from
// something that has been visited, this is the longest path over a graph that is never built.
class Sweep {
 public:
  Sweep(const Timeline& timeline, const std::vector<WorkOrigin>& origins)
      : timeline_(timeline),
        origins_(origins),
        events_(timeline),
        reached_(events_.nodes()),
        threads_(timeline.threads.size()),
        streams_(timeline.streams.size()),
        is_blocking_(timeline.names.size()),
        lets_stream_wait_(timeline.names.size()) {
    for (std::size_t name = 0; name < timeline.names.size(); ++name) {
      const std::string_view text = timeline.names.text(static_cast<NameId>(name));
      is_blocking_[name] = text.find("Synchronize") != std::string_view::npos;
      lets_stream_wait_[name] = text.find("StreamWaitEvent") != std::string_view::npos;
    }
    events_.ForEachInTime([this](Node node) { Visit(node); });
  }

  CriticalPath Path() const;

 private:
  void Visit(Node node) {
    if (events_.IsWork(node)) {
      events_.IsStart(node) ? BeginWork(node) : EndWork(node);
    } else {
      events_.IsStart(node) ? BeginCall(node) : EndCall(node);
    }
    if (best_ == kNoNode || reached_[node].accounted_ns >= reached_[best_].accounted_ns) best_ = node;
  }
  void BeginCall(Node node);
  void EndCall(Node node);
  void BeginWork(Node node);
  void EndWork(Node node);
  Node WaitedFor(const HostCall& call, std::uint32_t index, std::int64_t since);
  Node BoundBy(std::uint32_t index);
  void DropEnded(ThreadState& thread, std::int64_t now) const;
  PathPart PartOf(const DeviceWork& work) const;
  std::vector<PathSegment> SegmentsBefore(Node node) const;

  const Timeline& timeline_;
  const std::vector<WorkOrigin>& origins_;
  const PathEvents events_;
  std::vector<Reached> reached_;
  std::vector<ThreadState> threads_;
  std::vector<StreamState> streams_;
  std::vector<bool> is_blocking_, lets_stream_wait_;     // by name
  std::unordered_map<std::uint32_t, Node> copied_;       // of open calls: the end of a copy that they asked for
  std::unordered_map<Node, std::int64_t> waited_until_;  // of ends of calls that are reached through the call itself
  Node last_outermost_ = kNoNode;                        // the end of a call with none around it, of any thread
  Node last_ended_ = kNoNode;                            // of device work
  Node ended_elsewhere_ = kNoNode;                       // likewise, on another stream than that
  Node best_ = kNoNode;
};

void Sweep::DropEnded(ThreadState& thread, std::int64_t now) const {
  while (!thread.open.empty() && events_.End(timeline_.host_calls[thread.open.back()]) <= now) thread.open.pop_back();
}

void Sweep::BeginCall(Node node) {
  const std::uint32_t index = events_.Index(node);
  const HostCall& call = timeline_.host_calls[index];
  ThreadState& thread = threads_[call.thread];
  DropEnded(thread, call.start_ns);
  Reached& here = reached_[node];
  if (!thread.open.empty()) {
    here.from = thread.last;
    here.owner = thread.open.back();
    here.accounted_ns = reached_[thread.last].accounted_ns + call.start_ns - events_.Time(thread.last);
  } else {
    // Between calls it may have waited for what another thread ended last.
    here.from = thread.last;
    if (last_outermost_ != kNoNode &&
        (here.from == kNoNode || reached_[last_outermost_].accounted_ns > reached_[here.from].accounted_ns))
      here.from = last_outermost_;
    if (here.from != kNoNode) here.accounted_ns = reached_[here.from].accounted_ns;
  }
  thread.open.push_back(index);
  thread.last = node;
  if (call.kind == HostCallKind::kRuntime && call.name != kNoName &&
      lets_stream_wait_[static_cast<std::size_t>(call.name)])
    thread.let_stream_wait.push_back(call.start_ns);
}

// The end of the work that held up the last stretch of a call; kNoNode where none did. Which stream or event a call
// waits for is in no timeline, so it is the last work that ended before the call did.
Node Sweep::WaitedFor(const HostCall& call, std::uint32_t index, std::int64_t since) {
  Node waited = kNoNode;
  if (call.kind != HostCallKind::kRuntime) return waited;
  if (const auto copied = copied_.find(index); copied != copied_.end()) {
    waited = copied->second;
    copied_.erase(copied);
  }
  if (call.name != kNoName && is_blocking_[static_cast<std::size_t>(call.name)] && last_ended_ != kNoNode)
    waited = last_ended_;
  return waited != kNoNode && events_.Time(waited) > since ? waited : kNoNode;
}

void Sweep::EndCall(Node node) {
  const std::uint32_t index = events_.Index(node);
  const HostCall& call = timeline_.host_calls[index];
  ThreadState& thread = threads_[call.thread];
  const std::int64_t now = events_.Time(node), since = events_.Time(thread.last);
  Reached& here = reached_[node];
  here.from = thread.last;
  here.accounted_ns = reached_[thread.last].accounted_ns;
  // What ended earlier has been taken away then, so that this is open or, where calls only overlap, outlives it.
  here.owner = thread.open.empty() ? kNoCall : thread.open.back();
  const Node waited = WaitedFor(call, index, since);
  if (waited == kNoNode || here.owner != index) {
    here.accounted_ns += here.owner == kNoCall ? 0 : now - since;
  } else {
    const std::int64_t returning = now - events_.Time(waited);
    if (reached_[waited].accounted_ns >= here.accounted_ns) {
      here.from = waited;
    } else {
      waited_until_[node] = events_.Time(waited);
    }
    here.accounted_ns = reached_[here.from].accounted_ns + returning;
  }
  DropEnded(thread, now);
  thread.last = node;
  if (thread.open.empty()) last_outermost_ = node;
}

Node Sweep::BoundBy(std::uint32_t index) {
  const DeviceWork& work = timeline_.device_work[index];
  const std::uint32_t asked_by = origins_[index].call;
  StreamState& stream = streams_[work.stream];
  Node bound = kNoNode;
  std::int64_t at = kNever;
  const HostCall* call = asked_by == kNoCall ? nullptr : &timeline_.host_calls[asked_by];
  if (call != nullptr) {
    // By a clock that is a little off it may begin before it was asked for: then it follows what that thread did then.
    bound = call->start_ns <= work.start_ns ? events_.StartOfCall(asked_by) : threads_[call->thread].last;
    if (bound != kNoNode) at = events_.Time(bound);
  }
  if (stream.tail != kNoCall) {
    const std::int64_t end = events_.End(timeline_.device_work[stream.tail]);
    // Work that overlaps with the one before it follows the part of that up to here.
    if (std::min(end, work.start_ns) >= at) {
      at = std::min(end, work.start_ns);
      bound = end <= work.start_ns ? events_.EndOfWork(stream.tail) : events_.StartOfWork(stream.tail);
    }
  }
  if (call != nullptr) {
    const std::vector<std::int64_t>& waits = threads_[call->thread].let_stream_wait;
    const auto after = std::upper_bound(waits.begin(), waits.end(), call->start_ns);
    if (after != waits.begin() && *std::prev(after) > stream.last_asked_ns && last_ended_ != kNoNode) {
      const bool same = timeline_.device_work[events_.Index(last_ended_)].stream == work.stream;
      const Node other = same ? ended_elsewhere_ : last_ended_;
      const auto asked_before = [&](Node ended) {
        const std::uint32_t by = origins_[events_.Index(ended)].call;
        return by == kNoCall || timeline_.host_calls[by].start_ns < *std::prev(after);
      };
      if (other != kNoNode && events_.Time(other) > at && asked_before(other)) bound = other;
    }
    stream.last_asked_ns = std::max(stream.last_asked_ns, call->start_ns);
  }
  return bound;
}

void Sweep::BeginWork(Node node) {
  const std::uint32_t index = events_.Index(node);
  const DeviceWork& work = timeline_.device_work[index];
  Reached& here = reached_[node];
  here.from = BoundBy(index);
  if (here.from != kNoNode)
    here.accounted_ns = reached_[here.from].accounted_ns + work.start_ns - events_.Time(here.from);
  StreamState& stream = streams_[work.stream];
  if (stream.tail == kNoCall || events_.End(work) >= events_.End(timeline_.device_work[stream.tail]))
    stream.tail = index;
}

void Sweep::EndWork(Node node) {
  const std::uint32_t index = events_.Index(node);
  const DeviceWork& work = timeline_.device_work[index];
  const Node start = events_.StartOfWork(index);
  reached_[node].from = start;
  reached_[node].accounted_ns = reached_[start].accounted_ns + events_.Time(node) - work.start_ns;
  if (last_ended_ != kNoNode && timeline_.device_work[events_.Index(last_ended_)].stream != work.stream)
    ended_elsewhere_ = last_ended_;
  last_ended_ = node;
  const std::uint32_t call = origins_[index].call;
  if (work.kind == DeviceWorkKind::kCopy && call != kNoCall &&
      events_.End(timeline_.host_calls[call]) >= events_.Time(node))
    copied_[call] = node;
}

PathPart Sweep::PartOf(const DeviceWork& work) const {
  if (work.kind == DeviceWorkKind::kCopy) return PathPart::kCopy;
  const bool communicates = work.kind == DeviceWorkKind::kKernel && IsCommunication(timeline_.names.text(work.name));
  return communicates ? PathPart::kCommunication : PathPart::kKernel;
}

// From the node before to this one, the latest first.
std::vector<PathSegment> Sweep::SegmentsBefore(Node node) const {
  const auto& [accounted, from, owner] = reached_[node];
  const std::int64_t end = events_.Time(node), start = events_.Time(from);
  const std::uint32_t index = events_.Index(node);
  if (events_.IsWork(node)) {
    if (!events_.IsWork(from)) return {{start, end, index, PathPart::kLaunch}};
    const std::uint32_t before = events_.Index(from);
    if (!events_.IsStart(from)) return {{start, end, index, PathPart::kQueue}};
    return {{start, end, before, PartOf(timeline_.device_work[before])}};
  }
  if (owner == kNoCall) return {{start, end, kNoCall, PathPart::kBetweenCalls}};
  const bool runtime = timeline_.host_calls[owner].kind == HostCallKind::kRuntime;
  const PathSegment own{start, end, owner, runtime ? PathPart::kRuntime : PathPart::kOperator};
  const auto until = waited_until_.find(node);
  if (until == waited_until_.end()) return {own};
  return {{until->second, end, owner, own.part}, {start, until->second, owner, PathPart::kWaiting}};
}

CriticalPath Sweep::Path() const {
  CriticalPath path;
  if (best_ == kNoNode) return path;
  path.first_ns = events_.first_ns();
  path.last_ns = events_.last_ns();
  const auto add = [&path](const PathSegment& segment) {
    if (segment.end_ns <= segment.start_ns) return;
    path.by_part[static_cast<std::size_t>(segment.part)] += segment.duration_ns();
    if (!path.segments.empty()) {
      PathSegment& later = path.segments.back();
      if (later.part == segment.part && later.index == segment.index) {
        later.start_ns = segment.start_ns;
        return;
      }
    }
    path.segments.push_back(segment);
  };
  Node node = best_;
  add({events_.Time(node), path.last_ns, kNoCall, PathPart::kUnlinked});
  for (; reached_[node].from != kNoNode; node = reached_[node].from)
    for (const PathSegment& segment : SegmentsBefore(node)) add(segment);
  add({path.first_ns, events_.Time(node), kNoCall, PathPart::kUnlinked});
  std::reverse(path.segments.begin(), path.segments.end());
  return path;
}

}  // namespace

std::string_view NameOf(PathPart part) {
  constexpr EnumNames<PathPart::kUnlinked> kNames = {"operator", "runtime", "between-calls", "waiting", "launch",
                                                     "queue",    "kernel",  "communication", "copy",    "unlinked"};
  return kNames[part];
}

CriticalPath CriticalPathOf(const Timeline& timeline, const std::vector<WorkOrigin>& origins) {
  if (timeline.host_calls.size() + timeline.device_work.size() >= kNoNode / 2) return {};
  return Sweep(timeline, origins).Path();
}

std::vector<PathTotal> PathTotals(const Timeline& timeline, const CriticalPath& path) {
  struct Sum {
    std::int64_t total_ns = 0;
    std::unordered_set<std::uint32_t> entries;
  };
  std::map<std::pair<NameId, PathPart>, Sum> sums;
  for (const PathSegment& segment : path.segments) {
    switch (segment.part) {
      case PathPart::kOperator:
      case PathPart::kRuntime:
      case PathPart::kKernel:
      case PathPart::kCommunication:
      case PathPart::kCopy: {
        const bool host = segment.part == PathPart::kOperator || segment.part == PathPart::kRuntime;
        const NameId name = host ? timeline.host_calls[segment.index].name : timeline.device_work[segment.index].name;
        Sum& sum = sums[{name, segment.part}];
        sum.total_ns += segment.duration_ns();
        sum.entries.insert(segment.index);
        break;
      }
      case PathPart::kBetweenCalls:
      case PathPart::kWaiting:
      case PathPart::kLaunch:
      case PathPart::kQueue:
      case PathPart::kUnlinked:
        break;
    }
  }
  std::vector<PathTotal> totals;
  for (const auto& [key, sum] : sums)
    totals.push_back({key.first, key.second, static_cast<std::int64_t>(sum.entries.size()), sum.total_ns});
  std::stable_sort(totals.begin(), totals.end(),
                   [](const PathTotal& a, const PathTotal& b) { return a.total_ns > b.total_ns; });
  return totals;
}

}  // namespace infimum
