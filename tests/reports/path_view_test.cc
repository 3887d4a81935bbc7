#include "reports/run/path_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "reports/profile/profile_view.h"
#include "reports/run/run_summary.h"
#include "tests/support/timeline_builder.h"

namespace infimum {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The host asks for a kernel and waits for it, then goes on by itself.
Timeline HostAndDevice() {
  return TimelineBuilder()
      .Call(HostCallKind::kOperator, "linear", 0, 30'000)
      .Call(HostCallKind::kRuntime, "cudaLaunchKernel", 10'000, 10'000, 1)
      .Work("void gemm<float>(float*)", 16'000, 60'000, 1)
      .Call(HostCallKind::kRuntime, "cudaDeviceSynchronize", 40'000, 40'000)
      .Call(HostCallKind::kOperator, "argmax", 95'000, 5'000)
      .Build();
}

std::optional<PathView> PathOf(const Timeline& timeline) { return PathViewOf(timeline, OriginsOfWork(timeline)); }

TEST(PathView, ItsPartsAreItsLength) {
  const std::optional<PathView> view = PathOf(HostAndDevice());
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->length_ns, 100'000);
  std::int64_t sum = 0;
  for (const std::int64_t part : view->by_part) sum += part;
  EXPECT_EQ(sum, view->length_ns);
  ASSERT_EQ(view->items.size(), 4u);
  EXPECT_EQ(view->items[0].name, "void gemm<float>(float*)");
  EXPECT_EQ(view->items[0].total_ns, 60'000);
  EXPECT_EQ(view->items[1].name, "linear");
  EXPECT_EQ(view->items[1].total_ns, 10'000);
}

TEST(PathView, AHostOrADeviceAloneHasNone) {
  EXPECT_FALSE(PathOf(TimelineBuilder().Call(HostCallKind::kOperator, "linear", 0, 30).Build()));
  EXPECT_FALSE(PathOf(TimelineBuilder().Work("gemm", 0, 30).Build()));
  EXPECT_FALSE(PathOf(TimelineBuilder().Call(HostCallKind::kAnnotation, "step", 0, 90).Work("gemm", 0, 30).Build()));
  EXPECT_FALSE(PathOf(Timeline()));
}

TEST(PathView, TheTextHasWhatTakesTimeAndTheLongest) {
  EXPECT_EQ(PathText(*PathOf(HostAndDevice()), 0),
            "critical path over the whole trace   100 µs  share\n"
            "host: operators                     15.0 µs   15 %  of the framework, without what they call\n"
            "host: calls of the runtime          4.00 µs    4 %\n"
            "host: between calls                 15.0 µs   15 %  the program itself\n"
            "launches                            6.00 µs    6 %  asked for, the stream idle, and not begun\n"
            "kernels                             60.0 µs   60 %\n"
            "\n"
            "the longest on it      part                        times     time  share\n"
            "gemm<float>            kernels                         1  60.0 µs   60 %\n"
            "linear                 host: operators                 1  10.0 µs   10 %\n"
            "argmax                 host: operators                 1  5.00 µs    5 %\n"
            "cudaDeviceSynchronize  host: calls of the runtime      1  4.00 µs    4 %\n");
}

TEST(PathView, TheJsonHasEveryPartAndTheSameNumbers) {
  const OrderedJson json = *PathOf(HostAndDevice());
  EXPECT_EQ(json["length_us"], 100.0);
  ASSERT_EQ(json["parts"].size(), kPathParts);
  double sum = 0;
  for (const OrderedJson& part : json["parts"]) sum += part["latency_us"].get<double>();
  EXPECT_EQ(sum, 100.0);
  EXPECT_EQ(json["parts"][0], OrderedJson({{"part", "operator"}, {"latency_us", 15.0}}));
  EXPECT_EQ(json["parts"][6], OrderedJson({{"part", "kernel"}, {"latency_us", 60.0}}));
  EXPECT_EQ(
      json["items"][0],
      OrderedJson({{"name", "void gemm<float>(float*)"}, {"part", "kernel"}, {"count", 1}, {"latency_us", 60.0}}));
}

TEST(PathView, NoMoreThanFiveEntriesAreShownAndTwentyWritten) {
  TimelineBuilder builder;
  for (int i = 0; i < 30; ++i) {
    const std::string name = "kernel" + std::to_string(i);
    builder.Call(HostCallKind::kRuntime, "cudaLaunchKernel", 10 * i, 5, i).Work(name.c_str(), 1000 + 10 * i, 10, i);
  }
  const std::optional<PathView> view = PathOf(builder.Build());
  ASSERT_TRUE(view.has_value());
  const std::string text = PathText(*view, 0);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);  // of 30 kernels five
  EXPECT_EQ(OrderedJson(*view)["items"].size(), 20u);
}

TEST(PathView, ATraceAndAnAccountShowIt) {
  const Timeline timeline = HostAndDevice();
  const TimelineView view = ViewOf(timeline, "t.json");
  EXPECT_THAT(ProfileText(view, 0), HasSubstr("\ncritical path over the whole trace   100 µs"));
  EXPECT_EQ(OrderedJson::parse(ProfilesJson({view}))["runs"][0]["critical_path"]["length_us"], 100.0);

  ModelAccount account;
  account.model = "model";
  account.runs.resize(1);
  account.nodes.columns.resize(1);
  EXPECT_THAT(AccountText(account, {}), Not(HasSubstr("critical path")));
  EXPECT_TRUE(OrderedJson::parse(AccountJson(account))["runs"][0]["critical_path"].is_null());
  account.runs[0].path = PathOf(timeline);
  EXPECT_THAT(AccountText(account, {}), HasSubstr("\ncritical path over the whole trace   100 µs"));
  EXPECT_EQ(OrderedJson::parse(AccountJson(account))["runs"][0]["critical_path"]["parts"][6]["latency_us"], 60.0);
}

}  // namespace
}  // namespace infimum
