#include "microbench/harness/sampling/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/microbench/harness/fixed_run.h"

namespace infimum {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

class Sampling : public ::testing::Test {
 protected:
  SampleSet Take(PreparedRun& run, CacheState cache = CacheState::kWarm) {
    Result<SampleSet> set = TakeSamples(run, cache, options, clock, *interference, flusher);
    EXPECT_TRUE(set.ok());
    return *std::move(set);
  }

  FakeClock clock;
  SamplerOptions options;
  NoInterference none;
  InterferenceProbe* interference = &none;
  CacheFlusher flusher{Bytes{4096}};
};

// Says that each sample whose number is in `disturbed` saw a context switch.
class ScriptedInterference : public InterferenceProbe {
 public:
  explicit ScriptedInterference(std::function<bool(std::int64_t)> disturbed) : disturbed_(std::move(disturbed)) {}
  std::int64_t InvoluntarySwitches() override {
    const std::int64_t call = calls_++;  // two calls a sample
    if (call % 2 == 1 && disturbed_(call / 2)) ++switches_;
    return switches_;
  }
  Clock::Duration TimeOnCores() override { return clock_ == nullptr ? Clock::Duration(0) : clock_->Now() * 995 / 1000; }
  Clock::Duration StolenTime() override { return stolen_ * steal_calls_++; }
  // From then on the process has its cores for 99.5 % of the time.
  void LoseLittle(const Clock& clock) { clock_ = &clock; }
  void StealEachTime(Clock::Duration stolen) { stolen_ = stolen; }

 private:
  std::function<bool(std::int64_t)> disturbed_;
  const Clock* clock_ = nullptr;
  std::int64_t calls_ = 0;
  std::int64_t switches_ = 0;
  Clock::Duration stolen_{0};
  std::int64_t steal_calls_ = 0;
};

TEST_F(Sampling, AShortKernelRunsInBatchesOfHalfAMillisecond) {
  FixedRun run(clock, microseconds(100));
  const SampleSet set = Take(run);
  // Batches of 1 and 6 in the warm-up, the second 17 times until 10 ms have gone by; then 10 samples.
  EXPECT_EQ(set.launches_per_sample, 6);
  EXPECT_EQ(run.launches(), 1 + 17 * 6 + 10 * 6);
  EXPECT_EQ(set.spent, microseconds(100 + 17 * 600 + 10 * 600));
  EXPECT_THAT(set.samples, ::testing::SizeIs(10));
  EXPECT_THAT(set.samples, ::testing::Each(Latency(100)));
  EXPECT_FALSE(set.unconverged);
  EXPECT_FALSE(set.noisy);
}

TEST_F(Sampling, AKernelLongerThanASampleRunsAlone) {
  FixedRun run(clock, milliseconds(2));
  const SampleSet set = Take(run);
  EXPECT_EQ(set.launches_per_sample, 1);
  EXPECT_EQ(run.launches(), 5 + 10);  // 10 ms of warm-up
}

TEST_F(Sampling, AKernelLongerThanTheBudgetIsWarmedUpOnceAndMeasuredOnce) {
  FixedRun run(clock, seconds(1));
  const SampleSet set = Take(run);
  EXPECT_EQ(run.launches(), 2);
  EXPECT_THAT(set.samples, ::testing::ElementsAre(Latency(1e6)));
  EXPECT_TRUE(set.unconverged);
}

TEST_F(Sampling, ASpreadOfTenPercentUsesTheBudgetAndIsUnconverged) {
  FixedRun run(clock, [](std::int64_t launch) { return microseconds(launch % 2 == 0 ? 900 : 1100); });
  const SampleSet set = Take(run);
  EXPECT_TRUE(set.unconverged);
  EXPECT_GE(set.spent, options.budget);
  EXPECT_LE(set.spent, options.budget + microseconds(1100));
}

TEST_F(Sampling, SamplesGoOnUntilTheIntervalIsNarrow) {
  // One launch in eight is slow: the median's interval narrows with the number of samples.
  FixedRun run(clock, [](std::int64_t launch) { return microseconds(launch % 3 == 0 ? 1010 : 1000); });
  const SampleSet set = Take(run);
  EXPECT_FALSE(set.unconverged);
  const Interval interval = MedianInterval(set.samples);
  EXPECT_LE((interval.high - interval.low) / 2, Quantile(set.samples, 0.5) * options.interval);
}

TEST_F(Sampling, ASlowCandidateGetsOnlyTheQuickLook) {
  options.give_up_above = Latency(100);
  FixedRun run(clock, microseconds(150));
  const SampleSet set = Take(run);
  EXPECT_TRUE(set.gave_up);
  EXPECT_THAT(set.samples, ::testing::SizeIs(options.quick_samples));
  FixedRun good(clock, microseconds(100));
  EXPECT_FALSE(Take(good).gave_up);
}

TEST_F(Sampling, ColdSamplesAreSingleLaunches) {
  FixedRun run(clock, microseconds(100));
  const SampleSet set = Take(run, CacheState::kCold);
  EXPECT_EQ(set.launches_per_sample, 1);
  EXPECT_EQ(run.launches(), 1 + 17 * 6 + 10);
}

// 100 us, and 50 us more with constants that another launch has not just read.
class RunWithConstants : public FixedRun {
 public:
  RunWithConstants(FakeClock& clock, Bytes constants)
      : FixedRun(clock, [this](std::int64_t) { return microseconds(copies > 1 ? 150 : 100); }), constants_(constants) {}
  Bytes constants() const override { return constants_; }
  Status RotateConstants(std::size_t wanted) override {
    asked.push_back(wanted);
    copies = wanted;
    return {};
  }
  std::size_t copies = 1;
  std::vector<std::size_t> asked;

 private:
  Bytes constants_;
};

TEST_F(Sampling, ColdWeightsAreBatchesOverCopiesOfTheConstants) {
  RunWithConstants run(clock, Bytes{1000});  // 8192 bytes are twice the last-level cache here
  const SampleSet set = Take(run, CacheState::kColdWeights);
  EXPECT_EQ(set.launches_per_sample, 4);  // the warm-up goes through the copies too: 150 us each
  EXPECT_THAT(set.samples, ::testing::SizeIs(10));
  EXPECT_THAT(set.samples, ::testing::Each(Latency(150)));
  EXPECT_THAT(run.asked, ::testing::ElementsAre(9, 1));  // and back to its own at the end
}

TEST_F(Sampling, WeightsLargerThanTheCachesAreColdByThemselves) {
  RunWithConstants run(clock, Bytes{8192});
  EXPECT_THAT(Take(run, CacheState::kColdWeights).samples, ::testing::Each(Latency(100)));
  EXPECT_THAT(run.asked, ::testing::ElementsAre(1));
}

TEST_F(Sampling, FewConstantsAreFlushedAndEachLaunchOfASampleHasItsOwn) {
  flusher = CacheFlusher(Bytes{1 << 20});
  RunWithConstants run(clock, Bytes{64});  // 32,768 copies would be needed
  const SampleSet set = Take(run, CacheState::kColdWeights);
  EXPECT_EQ(set.launches_per_sample, 6);                 // found out warm
  EXPECT_THAT(run.asked, ::testing::ElementsAre(7, 1));  // six and a spare one, which warms everything else
  EXPECT_THAT(set.samples, ::testing::SizeIs(10));
  EXPECT_EQ(run.launches(), 1 + 17 * 6 + 10 * (1 + 6));
}

TEST_F(Sampling, ColdWeightsOfARunWithoutConstantsAreRefused) {
  FixedRun run(clock, microseconds(100));
  const Result<SampleSet> set = TakeSamples(run, CacheState::kColdWeights, options, clock, none, flusher);
  ASSERT_FALSE(set.ok());
  EXPECT_THAT(set.error().message, ::testing::StartsWith("unsupported: "));
}

TEST_F(Sampling, ConstantsThatCannotBeMovedAreAnError) {
  class Stuck : public FixedRun {
   public:
    using FixedRun::FixedRun;
    Bytes constants() const override { return Bytes{100}; }
  };
  Stuck run(clock, milliseconds(1));
  const Result<SampleSet> set = TakeSamples(run, CacheState::kColdWeights, options, clock, none, flusher);
  ASSERT_FALSE(set.ok());
  EXPECT_EQ(set.error().message, "unsupported: its constant operands cannot be moved");
}

TEST_F(Sampling, ADisturbedSampleIsTakenAgain) {
  ScriptedInterference scripted([](std::int64_t sample) { return sample == 2; });
  interference = &scripted;
  std::int64_t sample_of_launch = 0;
  FixedRun run(clock, [&](std::int64_t launch) {
    sample_of_launch = launch - 5;  // five warm-up launches
    return sample_of_launch == 2 ? milliseconds(7) : milliseconds(2);
  });
  const SampleSet set = Take(run);
  EXPECT_EQ(set.disturbed, 1u);
  EXPECT_THAT(set.samples, ::testing::SizeIs(10));
  EXPECT_THAT(set.samples, ::testing::Each(Latency(2000)));
  EXPECT_FALSE(set.noisy);
}

TEST_F(Sampling, WhereEverySampleIsDisturbedTheyAreKeptAndNoisy) {
  ScriptedInterference scripted([](std::int64_t) { return true; });
  interference = &scripted;
  FixedRun run(clock, milliseconds(2));
  const SampleSet set = Take(run);
  EXPECT_TRUE(set.noisy);
  EXPECT_FALSE(set.samples.empty());
  EXPECT_EQ(set.undisturbed, 0U);
  EXPECT_LE(set.spent, options.budget + milliseconds(2));
}

TEST_F(Sampling, ASampleThatLosesItsCoreForAMomentCounts) {
  ScriptedInterference scripted([](std::int64_t) { return true; });
  scripted.LoseLittle(clock);
  interference = &scripted;
  FixedRun run(clock, milliseconds(2));
  const SampleSet set = Take(run);
  EXPECT_EQ(set.disturbed, 0U);
  EXPECT_EQ(set.undisturbed, 10U);
  EXPECT_FALSE(set.noisy);
}

TEST_F(Sampling, WithPatienceItWaitsForAQuietMomentBeyondItsBudget) {
  const Clock::Duration quiet_from = clock.Now() + milliseconds(700);
  ScriptedInterference scripted([&](std::int64_t) { return clock.Now() < quiet_from; });
  interference = &scripted;
  FixedRun run(clock, milliseconds(2));
  options.patience = milliseconds(1000);
  const SampleSet waited = Take(run);
  EXPECT_EQ(waited.undisturbed, options.quick_samples);
  EXPECT_EQ(waited.samples.size(), options.quick_samples);
  EXPECT_LE(waited.spent, milliseconds(720));
  // A run too long for so many samples is no reason.
  scripted = ScriptedInterference([](std::int64_t) { return false; });
  FixedRun long_run(clock, options.budget);
  const SampleSet few = *TakeSamples(long_run, CacheState::kWarm, options, clock, *interference, flusher);
  EXPECT_EQ(few.samples.size(), 1U);
  scripted = ScriptedInterference([](std::int64_t) { return true; });
  const SampleSet never = Take(run);
  EXPECT_EQ(never.undisturbed, 0U);
  EXPECT_FALSE(never.samples.empty());
  EXPECT_LE(never.spent, options.budget + options.patience + milliseconds(2));
}

TEST_F(Sampling, TimeStolenByTheHypervisorIsNoise) {
  ScriptedInterference scripted([](std::int64_t) { return false; });
  scripted.StealEachTime(milliseconds(10));
  interference = &scripted;
  FixedRun run(clock, milliseconds(2));
  const SampleSet set = Take(run);
  EXPECT_EQ(set.stolen, milliseconds(10));
  EXPECT_TRUE(set.noisy);
}

TEST_F(Sampling, ARunThatTakesNoTimeEndsAllTheSame) {
  FixedRun run(clock, Clock::Duration(0));
  const SampleSet set = Take(run);
  EXPECT_THAT(set.samples, ::testing::Each(Latency(0)));
}

TEST_F(Sampling, ARunThatFailsIsAnError) {
  class Failing : public FixedRun {
   public:
    using FixedRun::FixedRun;
    Status Run() override { return Error{"no device"}; }
  };
  Failing run(clock, milliseconds(1));
  const Result<SampleSet> set = TakeSamples(run, CacheState::kWarm, options, clock, none, flusher);
  ASSERT_FALSE(set.ok());
  EXPECT_EQ(set.error().message, "no device");
}

TEST_F(Sampling, TheFirstLaunchIsTheLeastOfThreeWhereTheyAreShort) {
  FixedRun run(clock, [](std::int64_t launch) { return microseconds(launch == 0 ? 900 : 100); });
  EXPECT_EQ(*TimeFirstLaunch(run, clock, none), Latency(100));
  EXPECT_EQ(run.launches(), 3);
  FixedRun slow(clock, milliseconds(30));
  EXPECT_EQ(*TimeFirstLaunch(slow, clock, none), Latency(30000));
  EXPECT_EQ(slow.launches(), 1);
}

TEST_F(Sampling, AFirstLaunchThatWasDisturbedDoesNotCount) {
  ScriptedInterference scripted([](std::int64_t launch) { return launch < 2; });
  FixedRun run(clock, [](std::int64_t launch) { return milliseconds(launch < 2 ? 50 : 1); });
  EXPECT_EQ(*TimeFirstLaunch(run, clock, scripted), Latency(1000));
  EXPECT_EQ(run.launches(), 3);
  ScriptedInterference always([](std::int64_t) { return true; });
  FixedRun hopeless(clock, milliseconds(50));
  EXPECT_EQ(*TimeFirstLaunch(hopeless, clock, always), Latency(50000));
  EXPECT_EQ(hopeless.launches(), 4);
}

// A device that tells its own time, 40 us a launch, while the host's clock passes twice as fast.
class DeviceRun : public PreparedRun {
 public:
  explicit DeviceRun(FakeClock& host) : host_(host) {}
  Status Run() override {
    host_.Advance(microseconds(80));
    return {};
  }
  Result<std::optional<Clock::Duration>> TimeLaunches(std::int64_t launches) override {
    host_.Advance(microseconds(80) * launches);
    return std::optional<Clock::Duration>(microseconds(40) * launches);
  }
  Result<std::optional<Clock::Duration>> TimeColdLaunch(bool constants_alone) override {
    if (!empties_caches) return std::optional<Clock::Duration>();
    host_.Advance(microseconds(500));
    return std::optional<Clock::Duration>(microseconds(constants_alone ? 45 : 70));
  }
  Bytes constants() const override { return weights; }
  Status RotateConstants(std::size_t copies) override {
    places.push_back(copies);
    return {};
  }
  std::optional<Latency> TimingFloor() override { return floor; }
  Result<std::optional<double>> NumericError() override { return std::optional<double>(); }
  Bytes footprint() const override { return Bytes{64}; }

  bool empties_caches = true;
  std::optional<Latency> floor;
  Bytes weights;
  std::vector<std::size_t> places;

 private:
  FakeClock& host_;
};

TEST_F(Sampling, ADeviceTellsItsOwnTime) {
  DeviceRun run(clock);
  const SampleSet warm = Take(run);
  EXPECT_THAT(warm.samples, ::testing::Each(Latency(40)));
  EXPECT_GE(warm.launches_per_sample, 13);  // 0.5 ms of the device's time
  EXPECT_FALSE(warm.unconverged);
  EXPECT_THAT(Take(run, CacheState::kCold).samples, ::testing::Each(Latency(70)));
  EXPECT_EQ(*TimeFirstLaunch(run, clock, none), Latency(40));
}

TEST_F(Sampling, ADeviceEmptiesItsCachesForConstantsThatAreTooSmallToGoThrough) {
  DeviceRun run(clock);
  run.weights = Bytes{1 << 20};
  EXPECT_THAT(Take(run, CacheState::kColdWeights).samples, ::testing::Each(Latency(40)));
  run.places.clear();
  run.weights = Bytes{2};
  const SampleSet alone = Take(run, CacheState::kColdWeights);
  EXPECT_THAT(alone.samples, ::testing::Each(Latency(45)));
  EXPECT_EQ(alone.launches_per_sample, 1);
  EXPECT_THAT(run.places, ::testing::ElementsAre(2, 1));
}

TEST_F(Sampling, WhereADeviceDoesNotEmptyItsCachesTheHostsAreFlushed) {
  DeviceRun run(clock);
  run.empties_caches = false;
  EXPECT_THAT(Take(run, CacheState::kCold).samples, ::testing::Each(Latency(40)));
}

TEST_F(Sampling, ATimeNearAnEmptyLaunchIsLaunchBound) {
  DeviceRun run(clock);
  EXPECT_FALSE(Take(run).launch_bound);
  run.floor = Latency(13);
  EXPECT_FALSE(Take(run).launch_bound);
  run.floor = Latency(14);
  EXPECT_TRUE(Take(run).launch_bound);
}

TEST(CacheFlusher, TouchesTwiceTheLastLevelCacheAndTheFootprint) {
  EXPECT_EQ(CacheFlusher::FlushedBytes(Bytes{1 << 20}, Bytes{100}), Bytes{2 << 20});
  EXPECT_EQ(CacheFlusher::FlushedBytes(Bytes{1 << 20}, Bytes{5 << 20}), Bytes{5 << 20});
  EXPECT_EQ(CacheFlusher::FlushedBytes(Bytes{0}, Bytes{100}), Bytes{64 << 20});
  EXPECT_EQ(CacheFlusher::FlushedBytes(Bytes{std::int64_t{1} << 40}, Bytes{0}), Bytes{1 << 30});
  CacheFlusher flusher{Bytes{4096}};
  flusher.Flush(Bytes{100000});
  flusher.Flush(Bytes{1});
}

TEST(SystemInterference, CountsNeverGoBack) {
  SystemInterference probe({});
  const std::int64_t switches = probe.InvoluntarySwitches();
  const Clock::Duration stolen = probe.StolenTime();
  EXPECT_GE(switches, 0);
  EXPECT_GE(probe.InvoluntarySwitches(), switches);
  EXPECT_EQ(probe.TimeOnCores(), Clock::Duration(0));
  SystemInterference of_core({0}), of_cores({0, 1});
  const Clock::Duration time = of_core.TimeOnCores();
  EXPECT_GT(time, Clock::Duration(0));
  EXPECT_LT(of_cores.TimeOnCores(), time);  // a half of what there was
  EXPECT_GE(probe.StolenTime(), stolen);
}

TEST_F(Sampling, TheRealClockWorksToo) {
  class Busy : public PreparedRun {
   public:
    Status Run() override {
      const Clock::Duration end = SteadyClock().Now() + microseconds(50);
      while (SteadyClock().Now() < end) {
      }
      return {};
    }
    Result<std::optional<double>> NumericError() override { return std::optional<double>(); }
    Bytes footprint() const override { return Bytes{64}; }
  } busy;
  SystemInterference system({});
  options.budget = milliseconds(40);
  const Result<SampleSet> set = TakeSamples(busy, CacheState::kWarm, options, SteadyClock(), system, flusher);
  ASSERT_TRUE(set.ok());
  EXPECT_GE(Quantile(set->samples, 0), Latency(50));
  EXPECT_GE(set->launches_per_sample, 5);
}

}  // namespace
}  // namespace infimum
