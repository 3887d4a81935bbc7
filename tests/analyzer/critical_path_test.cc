#include "analyzer/trace/critical_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/support/text_cases.h"
#include "tests/support/timeline_builder.h"

namespace infimum::critical_path_test {
namespace {

CriticalPath PathOf(const Timeline& timeline) { return CriticalPathOf(timeline, OriginsOfWork(timeline)); }

// "launch gemm 30..40"
std::vector<std::string> TextOf(const Timeline& timeline, const CriticalPath& path) {
  std::vector<std::string> lines;
  for (const PathSegment& segment : path.segments) {
    std::string line(NameOf(segment.part));
    const bool host =
        segment.part == PathPart::kOperator || segment.part == PathPart::kRuntime || segment.part == PathPart::kWaiting;
    if (segment.index != kNoCall)
      line += " " + std::string(timeline.names.text(host ? timeline.host_calls[segment.index].name
                                                         : timeline.device_work[segment.index].name));
    lines.push_back(line + " " + std::to_string(segment.start_ns) + ".." + std::to_string(segment.end_ns));
  }
  return lines;
}

// What every path promises, whatever the timeline.
void ExpectJoined(const CriticalPath& path) {
  std::int64_t at = path.first_ns;
  auto by_part = path.by_part;
  for (const PathSegment& segment : path.segments) {
    EXPECT_EQ(segment.start_ns, at);
    EXPECT_GT(segment.end_ns, segment.start_ns);
    at = segment.end_ns;
    by_part[static_cast<std::size_t>(segment.part)] -= segment.end_ns - segment.start_ns;
  }
  EXPECT_EQ(at, path.last_ns);
  EXPECT_THAT(by_part, ::testing::Each(0));
}

std::int64_t Accounted(const CriticalPath& path) {
  return path.length_ns() - path.of(PathPart::kBetweenCalls) - path.of(PathPart::kWaiting) -
         path.of(PathPart::kUnlinked);
}

class CriticalPaths : public ::testing::TestWithParam<testing::TextSection> {};

TEST_P(CriticalPaths, LeadWhereTheirFileSays) {
  for (const auto& [where, text, expected] : GetParam().cases) {
    SCOPED_TRACE(where);
    const Timeline timeline = TimelineOf(text);
    const CriticalPath path = PathOf(timeline);
    ExpectJoined(path);
    EXPECT_EQ(TextOf(timeline, path), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, CriticalPaths,
                         ::testing::ValuesIn(testing::ReadTextCases("tests/analyzer/critical_path.txt")),
                         testing::kSectionName);

TEST(CriticalPath, OfNothingIsEmpty) {
  EXPECT_EQ(PathOf(Timeline{}).length_ns(), 0);
  EXPECT_TRUE(PathOf(Timeline{}).segments.empty());
}

TEST(CriticalPath, TotalsCountEntriesAndNotTheirPieces) {
  const Timeline timeline = TimelineOf("operator linear 0..100; call cudaMalloc 20..50; operator linear 110..120");
  const std::vector<PathTotal> totals = PathTotals(timeline, PathOf(timeline));
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(timeline.names.text(totals[0].name), "linear");
  EXPECT_EQ(totals[0].count, 2);
  EXPECT_EQ(totals[0].total_ns, 80);
  EXPECT_EQ(totals[1].count, 1);
}

std::mt19937_64 random_numbers(7);
std::int64_t Pick(std::int64_t most) {
  return static_cast<std::int64_t>(random_numbers() % static_cast<std::uint64_t>(most));
}

// Two threads and two streams; with `apart` no two things happen at once, each of them having moments of its own.
Timeline RandomTimeline(bool apart) {
  const std::int64_t grain = apart ? 4 : 1;
  TimelineBuilder builder;
  std::int64_t correlation = 0;
  std::int64_t free_at[2] = {0, 0};
  for (std::uint32_t thread = 0; thread < 2; ++thread) {
    std::int64_t clock = Pick(5);
    const auto tick = [&] { return (clock += (apart ? 1 : 0) + Pick(4)) * grain + (apart ? thread : 0); };
    const auto call = [&](const auto& self, int depth) -> void {
      const std::int64_t start = tick();
      const std::int64_t what = depth == 0 ? 0 : Pick(6);
      if (what == 0 && depth < 3) {
        for (std::int64_t inner = Pick(4); inner > 0; --inner) self(self, depth + 1);
        builder.Call(HostCallKind::kOperator, "op", start, tick() - start, -1, thread);
      } else if (what <= 1) {
        clock += Pick(30);
        builder.Call(HostCallKind::kRuntime, "cudaStreamSynchronize", start, tick() - start, -1, thread);
      } else if (what == 2) {
        builder.Call(HostCallKind::kRuntime, "cudaStreamWaitEvent", start, tick() - start, -1, thread);
      } else {
        const bool copies = what == 3;
        const auto stream = static_cast<std::uint32_t>(Pick(2));
        if (copies) clock += Pick(30);
        builder.Call(HostCallKind::kRuntime, copies ? "cudaMemcpyAsync" : "cudaLaunchKernel", start, tick() - start,
                     ++correlation, thread);
        const std::int64_t offset = apart ? 2 + stream : 0;
        const std::int64_t begin = std::max(start / grain + 1, free_at[stream]) + Pick(4);
        const std::int64_t end = begin + (apart ? 1 : 0) + Pick(20);
        free_at[stream] = end + (apart ? 1 : 0);
        builder.Work(copies ? "copy" : "kernel", begin * grain + offset, (end - begin) * grain, correlation, stream,
                     copies ? DeviceWorkKind::kCopy : DeviceWorkKind::kKernel);
      }
    };
    for (std::int64_t outermost = Pick(4); outermost > 0; --outermost) {
      call(call, 0);
      clock += Pick(20);
    }
  }
  return builder.Build();
}

// The graph that the header describes, link by link, and every path through it.
class BruteForce {
 public:
  explicit BruteForce(const Timeline& timeline) : timeline_(timeline), origins_(OriginsOfWork(timeline)) {
    for (std::uint32_t thread = 0; thread < 2; ++thread) LinkThread(thread);
    for (std::uint32_t i = 0; i < timeline.device_work.size(); ++i) LinkWork(i);
  }
  std::int64_t Longest() const {
    std::int64_t longest = 0;
    for (const auto& [to, links] : links_) longest = std::max(longest, LongestTo(to));
    return longest;
  }

 private:
  struct Link {
    std::int64_t from, accounted;
  };
  // Moments are all different, so a moment is a node.
  std::int64_t LongestTo(std::int64_t moment) const {
    std::int64_t longest = 0;
    const auto links = links_.find(moment);
    if (links == links_.end()) return 0;
    for (const Link& link : links->second) longest = std::max(longest, LongestTo(link.from) + link.accounted);
    return longest;
  }
  static std::int64_t End(const auto& entry) { return entry.start_ns + entry.duration_ns; }
  bool Within(const HostCall& call, std::int64_t moment) const { return call.start_ns < moment && moment < End(call); }
  bool Outermost(const HostCall& call) const {
    return std::none_of(timeline_.host_calls.begin(), timeline_.host_calls.end(), [&](const HostCall& other) {
      return other.thread == call.thread && Within(other, call.start_ns);
    });
  }

  void LinkThread(std::uint32_t thread) {
    std::vector<std::int64_t> moments;
    for (const HostCall& call : timeline_.host_calls)
      if (call.thread == thread) moments.insert(moments.end(), {call.start_ns, End(call)});
    std::sort(moments.begin(), moments.end());
    for (std::size_t i = 0; i < moments.size(); ++i) {
      const std::int64_t to = moments[i];
      links_[to];
      const HostCall* innermost = nullptr;
      if (i > 0) {
        const std::int64_t from = moments[i - 1];
        for (const HostCall& call : timeline_.host_calls)
          if (call.thread == thread && call.start_ns <= from && to <= End(call)) innermost = &call;
        const std::int64_t waited = innermost != nullptr && End(*innermost) == to ? WaitedFor(*innermost, from) : from;
        links_[to].push_back({from, innermost != nullptr ? to - waited : 0});
        if (waited > from) links_[to].push_back({waited, to - waited});
      }
      if (innermost == nullptr) {
        std::int64_t latest = -1;
        for (const HostCall& call : timeline_.host_calls)
          if (End(call) < to && Outermost(call)) latest = std::max(latest, End(call));
        if (latest >= 0) links_[to].push_back({latest, 0});
      }
    }
  }

  // `from` where it waited for nothing.
  std::int64_t WaitedFor(const HostCall& call, std::int64_t from) const {
    const std::string_view name = timeline_.names.text(call.name);
    std::int64_t waited = from;
    for (const DeviceWork& work : timeline_.device_work) {
      const bool own_copy = work.kind == DeviceWorkKind::kCopy && work.correlation == call.correlation;
      if (End(work) < End(call) && (own_copy || name == "cudaStreamSynchronize")) waited = std::max(waited, End(work));
    }
    return waited;
  }

  void LinkWork(std::uint32_t i) {
    const DeviceWork& work = timeline_.device_work[i];
    links_[End(work)].push_back({work.start_ns, work.duration_ns});
    const HostCall& call = timeline_.host_calls[origins_[i].call];
    std::int64_t bound = call.start_ns, asked_before = -1;
    for (std::uint32_t other = 0; other < i; ++other) {
      const DeviceWork& earlier = timeline_.device_work[other];
      if (earlier.stream != work.stream) continue;
      bound = std::max(bound, End(earlier));
      asked_before = std::max(asked_before, timeline_.host_calls[origins_[other].call].start_ns);
    }
    std::int64_t wait = -1;
    for (const HostCall& other : timeline_.host_calls)
      if (other.thread == call.thread && other.start_ns < call.start_ns &&
          timeline_.names.text(other.name) == "cudaStreamWaitEvent")
        wait = std::max(wait, other.start_ns);
    if (wait > asked_before) {
      std::int64_t latest = -1, asked = 0;
      for (std::uint32_t other = 0; other < timeline_.device_work.size(); ++other) {
        const DeviceWork& ended = timeline_.device_work[other];
        if (ended.stream == work.stream || End(ended) > work.start_ns || End(ended) < latest) continue;
        latest = End(ended);
        asked = timeline_.host_calls[origins_[other].call].start_ns;
      }
      if (latest > bound && asked < wait) bound = latest;
    }
    links_[work.start_ns].push_back({bound, work.start_ns - bound});
  }

  const Timeline& timeline_;
  const std::vector<WorkOrigin> origins_;
  std::map<std::int64_t, std::vector<Link>> links_;
};

TEST(CriticalPath, IsTheLongestOfAllPaths) {
  int waiting = 0, queued = 0, handed_over = 0, copies = 0;
  for (int round = 0; round < 20000; ++round) {
    const Timeline timeline = RandomTimeline(true);
    const CriticalPath path = PathOf(timeline);
    ExpectJoined(path);
    ASSERT_EQ(Accounted(path), BruteForce(timeline).Longest()) << "round " << round;
    waiting += path.of(PathPart::kWaiting) > 0;
    queued += path.of(PathPart::kQueue) > 0;
    copies += path.of(PathPart::kCopy) > 0;
    handed_over += path.of(PathPart::kBetweenCalls) > 0;
  }
  // Each of them did come up.
  EXPECT_GT(std::min({waiting, queued, handed_over, copies}), 100);
}

TEST(CriticalPath, JoinsUpWhateverHappensAtOnce) {
  for (int round = 0; round < 20000; ++round) ExpectJoined(PathOf(RandomTimeline(false)));
}

// Entries that know nothing of each other, in any order of ends.
TEST(CriticalPath, JoinsUpInAnyTimeline) {
  for (int round = 0; round < 20000; ++round) {
    TimelineBuilder builder;
    for (std::int64_t i = Pick(20); i > 0; --i)
      builder.Call(Pick(2) == 0 ? HostCallKind::kOperator : HostCallKind::kRuntime,
                   Pick(2) == 0 ? "cudaDeviceSynchronize" : "cudaStreamWaitEvent", Pick(30), Pick(10), Pick(20),
                   static_cast<std::uint32_t>(Pick(2)));
    for (std::int64_t i = Pick(20); i > 0; --i)
      builder.Work("work", Pick(30), Pick(10), Pick(20), static_cast<std::uint32_t>(Pick(3)),
                   Pick(2) == 0 ? DeviceWorkKind::kCopy : DeviceWorkKind::kKernel);
    ExpectJoined(PathOf(builder.Build()));
  }
}

}  // namespace
}  // namespace infimum::critical_path_test
