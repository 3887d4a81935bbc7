#include "analyzer/trace/host_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "tests/support/timeline_builder.h"

namespace infimum {
namespace {

std::map<std::string, HostTotal> ByName(const Timeline& timeline) {
  std::map<std::string, HostTotal> totals;
  for (const HostTotal& total : HostTotals(timeline)) totals[std::string(timeline.names.text(total.name))] = total;
  return totals;
}

TEST(HostTime, IsAnOperatorsOwnWithoutWhatItCalled) {
  auto totals =
      ByName(TimelineOf("range step 0..1000; operator linear 0..100; operator addmm 10..90; call launch 30..40; "
                        "operator linear 200..250; operator other 20..520 on 1"));
  EXPECT_EQ(totals.size(), 4u);
  EXPECT_EQ(totals["linear"].own_ns, 70);
  EXPECT_EQ(totals["linear"].total_ns, 150);
  EXPECT_EQ(totals["linear"].count, 2);
  EXPECT_EQ(totals["addmm"].own_ns, 70);
  EXPECT_EQ(totals["launch"].own_ns, 10);
  EXPECT_EQ(totals["other"].own_ns, 500);
}

// Own times of nested calls add up to the time in which anything ran.
TEST(HostTime, OwnTimesAddUpToTheOutermostCalls) {
  std::mt19937_64 random(11);
  const auto pick = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  for (int round = 0; round < 100; ++round) {
    TimelineBuilder builder;
    std::int64_t outermost = 0;
    const auto nest = [&](const auto& self, std::int64_t start, std::int64_t end, int depth) -> void {
      for (std::int64_t at = start; at < end;) {
        const std::int64_t begin = at + pick(5), until = begin + 1 + pick(40);
        if (until > end) break;
        builder.Call(HostCallKind::kOperator, std::string(1, static_cast<char>('a' + pick(4))).c_str(), begin,
                     until - begin);
        if (depth == 0) outermost += until - begin;
        if (depth < 3) self(self, begin, until, depth + 1);
        at = until;
      }
    };
    nest(nest, 0, 300, 0);
    std::int64_t own = 0;
    for (const HostTotal& total : HostTotals(builder.Build())) {
      EXPECT_GE(total.own_ns, 0);
      own += total.own_ns;
    }
    EXPECT_EQ(own, outermost);
  }
}

}  // namespace
}  // namespace infimum
