// Bounds in context: rows between warm and with weights from memory, by how near an inference leaves the weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analyzer/floor/floor.h"
#include "analyzer/floor/residency.h"
#include "analyzer/rows/timed_rows.h"
#include "tests/analyzer/known_rows.h"
#include "tests/support/graph_builder.h"

namespace infimum::in_context_test {
namespace {

using testing::BracketOf;
using ::testing::Contains;
using testing::GraphBuilder;
using testing::KnownRows;
using testing::MeasuredRow;
using ::testing::Not;
using testing::TestEnvironment;

constexpr double kMiB = 1 << 20;

const WorkloadKey kProduct{"matmul dtype=f32:f32:f32 a=1x8x8 b=1x8x8 bias=no weights=const"};

Measurement Row(const std::string& algorithm, std::vector<Latency> medians, CacheState cache) {
  Measurement row = MeasuredRow(kProduct, algorithm, std::move(medians));
  row.cache = cache;
  return row;
}

TimedRows InContext(std::vector<Measurement> rows, double share_near) {
  return TimedRows(std::move(rows), [=](const WorkloadKey&) { return NearConstants{256, share_near}; });
}

const TimedRow& Find(const TimedRows& rows, std::string_view algorithm) {
  return *std::ranges::find(rows.all(), algorithm, [](const TimedRow& row) { return row.row->candidate.algorithm; });
}

TEST(RowsInContext, EachRepetitionLiesBetweenItsTwoStates) {
  const TimedRows rows = InContext({Row("gemm", {Latency(10), Latency(12)}, CacheState::kWarm),
                                    Row("gemm", {Latency(20), Latency(22)}, CacheState::kColdWeights)},
                                   0.3);
  ASSERT_EQ(rows.all().size(), 1u);
  const TimedRow& row = rows.all()[0];
  EXPECT_EQ(row.weights, WeightsFrom::kBoth);
  EXPECT_DOUBLE_EQ(row.row->repetitions[0].median.count(), 0.3 * 10 + 0.7 * 20);
  EXPECT_DOUBLE_EQ(row.row->repetitions[1].median.count(), 0.3 * 12 + 0.7 * 22);
  EXPECT_DOUBLE_EQ(row.logs[0], std::log(17.0));
  EXPECT_DOUBLE_EQ(row.time.count(), PointValue(row.row->repetitions).count());
  EXPECT_DOUBLE_EQ(row.best_seen.count(), 10);  // rates are read off what was seen
}

TEST(RowsInContext, AtTheEndsTheyAreTheStatesThemselves) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> time(1, 100);
  for (int i = 0; i < 100; ++i) {
    const Measurement warm = Row("gemm", {Latency(time(random)), Latency(time(random))}, CacheState::kWarm);
    const Measurement cold = Row("gemm", {Latency(time(random)), Latency(time(random))}, CacheState::kColdWeights);
    EXPECT_DOUBLE_EQ(InContext({cold, warm}, 1).all()[0].time.count(), PointValue(warm.repetitions).count());
    EXPECT_NEAR(InContext({cold, warm}, 0).all()[0].time.count(), PointValue(cold.repetitions).count(), 1e-9);
    // Each repetition in the middle of its pair.
    const double between = InContext({warm, cold}, 0.5).all()[0].row->repetitions[1].median.count();
    EXPECT_NEAR(between, (warm.repetitions[1].median + cold.repetitions[1].median).count() / 2, 1e-9);
  }
}

TEST(RowsInContext, RepetitionsBeyondThoseFromMemoryLoseWhatTheRowLosesInTheMiddle) {
  const TimedRows rows = InContext({Row("gemm", {Latency(10), Latency(10), Latency(10)}, CacheState::kWarm),
                                    Row("gemm", {Latency(16)}, CacheState::kColdWeights)},
                                   0.5);
  for (const Repetition& repetition : rows.all()[0].row->repetitions) EXPECT_NEAR(repetition.median.count(), 13, 1e-9);
}

TEST(RowsInContext, ACandidateWithoutSuchARowLosesAsMuchAsTheOneThatLosesLeast) {
  const TimedRows rows =
      InContext({Row("a", {Latency(10)}, CacheState::kWarm), Row("b", {Latency(11)}, CacheState::kWarm),
                 Row("c", {Latency(9)}, CacheState::kWarm), Row("a", {Latency(16)}, CacheState::kColdWeights),
                 Row("b", {Latency(15)}, CacheState::kColdWeights)},
                0.25);
  EXPECT_NEAR(Find(rows, "a").time.count(), 10 + 0.75 * 6, 1e-9);
  EXPECT_NEAR(Find(rows, "b").time.count(), 11 + 0.75 * 4, 1e-9);
  EXPECT_NEAR(Find(rows, "c").time.count(), 9 + 0.75 * 4, 1e-9);
  EXPECT_EQ(Find(rows, "c").weights, WeightsFrom::kBorrowed);
}

TEST(RowsInContext, WhereNoneWasMeasuredSoTheyAreWarmAndSayIt) {
  const TimedRows rows = InContext({Row("a", {Latency(10)}, CacheState::kWarm)}, 0.25);
  EXPECT_NEAR(rows.all()[0].time.count(), 10, 1e-9);
  EXPECT_EQ(rows.all()[0].weights, WeightsFrom::kCaches);
}

TEST(RowsInContext, AFailedRowFromMemoryIsNone) {
  Measurement failed = Row("a", {}, CacheState::kColdWeights);
  failed.outcome = infimum::Outcome::kFailed;
  const TimedRows rows = InContext({Row("a", {Latency(10)}, CacheState::kWarm), failed}, 0);
  EXPECT_EQ(rows.rows().size(), 1u);
  EXPECT_EQ(rows.all()[0].weights, WeightsFrom::kCaches);
}

// Of twice the bytes, and of as many; what has another number of constants borrows nothing.
TEST(RowsInContext, AWorkloadWithoutSuchARowLosesForEachByteWhatOthersWithAsManyConstantsLose) {
  const std::map<std::string, double> bytes{{"known", 1000}, {"like", 990}, {"other", 2000}};
  const auto row = [](const std::string& workload, double time, CacheState cache) {
    Measurement made = Row("gemm", {Latency(time)}, cache);
    made.workload.text = workload;
    return made;
  };
  const TimedRows rows({row("known", 10, CacheState::kWarm), row("like", 20, CacheState::kWarm),
                        row("other", 30, CacheState::kWarm), row("known", 14, CacheState::kColdWeights)},
                       [&](const WorkloadKey& key) {
                         return NearConstants{bytes.at(key.text), 0};
                       });
  for (const TimedRow& timed : rows.all()) {
    const std::string& workload = timed.row->workload.text;
    EXPECT_NEAR(timed.time.count(), workload == "known" ? 14 : workload == "like" ? 20 + 4 * 0.99 : 30, 1e-9);
    EXPECT_EQ(timed.weights, workload == "known"  ? WeightsFrom::kBoth
                             : workload == "like" ? WeightsFrom::kBorrowed
                                                  : WeightsFrom::kCaches);
  }
}

// Filtered weights of four times the bytes lose 40 us; blocked ones would lose 10, and are the better then. Larger ones
// need not lose more.
TEST(RowsInContext, ACandidateLosesForEachByteOfItsConstantsAsItPacksThem) {
  const auto row = [](const char* algorithm, double time, std::int64_t bytes, CacheState cache) {
    Measurement made = Row(algorithm, {Latency(time)}, cache);
    if (bytes > 0) made.constants = infimum::Bytes{bytes};
    return made;
  };
  const TimedRows rows =
      InContext({row("filtered", 100, 1024, CacheState::kWarm), row("blocked", 120, 256, CacheState::kWarm),
                 row("unknown", 120, 0, CacheState::kWarm), row("larger", 130, 4096, CacheState::kWarm),
                 row("filtered", 140, 1024, CacheState::kColdWeights)},
                0);
  ASSERT_EQ(rows.all().size(), 4u);
  EXPECT_NEAR(rows.all()[0].time.count(), 140, 1e-9);
  EXPECT_NEAR(rows.all()[1].time.count(), 130, 1e-9);
  EXPECT_NEAR(rows.all()[2].time.count(), 130, 1e-9);  // 256 bytes, as the layer's own operands
  EXPECT_NEAR(rows.all()[3].time.count(), 170, 1e-9);
}

// 32 MiB of cache at 40 GB/s, and memory at 10.
DevicePeaks Curve() {
  DevicePeaks peaks;
  for (double mib = 0.0625; mib <= 256; mib *= 2) {
    const double seconds = std::min(mib, 32.0) * kMiB / 40e9 + std::max(0.0, mib - 32) * kMiB / 10e9;
    peaks.rates.push_back({PeakRate::Kind::kRead, Bytes{static_cast<std::int64_t>(mib * kMiB)}, DataType::kNone, 1,
                           mib * kMiB / seconds, "measured"});
  }
  return peaks;
}

DeviceModel Device() {
  Result<DeviceModel> model = DeviceModel::Make({"cpu/x/l1=48K/l2=1M/l3=32M/cores=1"}, Curve(), 1);
  EXPECT_TRUE(model.ok());
  return *std::move(model);
}

TEST(ShareNear, IsWhatTheCachesKeepOfAllThatAnInferenceGoesThrough) {
  const DeviceModel device = Device();
  EXPECT_DOUBLE_EQ(device.ShareNear(kMiB, 16 * kMiB), 1);
  // Caches that keep 0.5 and 0.25 of it at best, in one order and by chance: s = exp(-(1 - s) / 0.5).
  EXPECT_NEAR(device.ShareNear(kMiB, 64 * kMiB), 0.2032, 1e-3);
  EXPECT_NEAR(device.ShareNear(kMiB, 128 * kMiB), 0.0198, 1e-3);
  EXPECT_DOUBLE_EQ(device.ShareNear(0, 128 * kMiB), 1);
  EXPECT_DOUBLE_EQ(device.ShareNear(64 * kMiB, 64 * kMiB), 1);  // alone it was gone through just so
}

TEST(ShareNear, FallsWithTheWorkingSet) {
  const DeviceModel device = Device();
  double last = 1;
  for (double mib = 2; mib < 4096; mib *= 1.3) {
    const double share = device.ShareNear(kMiB, mib * kMiB);
    EXPECT_LE(share, last + 1e-12) << mib;
    EXPECT_GE(share, 0);
    last = share;
  }
}

// 10 GB/s everywhere, but for what rounding and noise make of it.
TEST(ShareNear, IsAllWhereTheCurveTellsNothing) {
  DevicePeaks peaks = Curve();
  for (std::size_t i = 0; i < peaks.rates.size(); ++i)
    peaks.rates[i].per_second = 1e10 * (1 + 0.01 * static_cast<double>(i % 3));
  const Result<DeviceModel> device = DeviceModel::Make({"cpu/x/l1=48K/l2=1M/l3=32M/cores=1"}, peaks, 1);
  ASSERT_TRUE(device.ok());
  for (double mib = 0.01; mib < 1024; mib *= 2) EXPECT_EQ(device->ShareNear(mib * kMiB, 1024 * kMiB), 1) << mib;
}

TEST(ShareNear, WithoutACurveCachesHoldAllOrNothing) {
  DevicePeaks peaks;
  peaks.rates.push_back({PeakRate::Kind::kRead, Bytes{0}, DataType::kNone, 1, 800e9, "data sheet: x"});
  const Result<DeviceModel> device = DeviceModel::Make({"gpu/x/l2=40M"}, peaks, 1);
  ASSERT_TRUE(device.ok());
  EXPECT_DOUBLE_EQ(device->ShareNear(kMiB, 30 * kMiB), 1);
  EXPECT_DOUBLE_EQ(device->ShareNear(kMiB, 50 * kMiB), 0);
}

PeakRate Retention(double seconds) {
  return {PeakRate::Kind::kRetention, Bytes{2 << 20}, DataType::kNone, 1, seconds, "measured"};
}

TEST(ShareKept, FallsWithTheTimeThatOthersHave) {
  EXPECT_EQ(Device().ShareKept(16 * kMiB, std::chrono::milliseconds(5)), 1) << "nothing is known of others";
  DevicePeaks peaks = Curve();
  peaks.rates.push_back(Retention(1e-3));
  peaks.rates.push_back(Retention(2e-3));  // the longest that was seen
  const Result<DeviceModel> device = DeviceModel::Make({"cpu/x/l1=48K/l2=1M/l3=32M/cores=1"}, peaks, 1);
  ASSERT_TRUE(device.ok());
  EXPECT_EQ(device->ShareKept(16 * kMiB, Latency(0)), 1);
  EXPECT_NEAR(device->ShareKept(16 * kMiB, std::chrono::milliseconds(2)), std::exp(-1.0), 1e-9);
  EXPECT_NEAR(device->ShareKept(16 * kMiB, std::chrono::milliseconds(200)), 0, 1e-9);
  EXPECT_EQ(device->ShareKept(2 * kMiB, std::chrono::milliseconds(200)), 1) << "the threads' own caches hold it";
  // It is a property of the caches, and no rate: floors stay as they were.
  EXPECT_EQ(device->Memory(16 * kMiB, 0).latency, Device().Memory(16 * kMiB, 0).latency);
}

// A chain of `layers` products, each with weights of 4 MiB.
ModelGraph Chain(int layers) {
  GraphBuilder model;
  ValueId last = model.Input("x", {1, 1024});
  for (int i = 0; i < layers; ++i)
    last = model.MatMul("fc" + std::to_string(i), last, model.Weight("w" + std::to_string(i), {1024, 1024}));
  model.Output(last);
  return model.Take();
}

class CurveRows : public KnownRows {
 public:
  CurveRows() { SetPeaks(testing::TestDeviceKey(), Curve()); }
  void AddCold(const Layer& layer, const std::string& algorithm, double microseconds) {
    Measurement row = MeasuredRow(KeyOf(*layer.workload), algorithm, {Latency(microseconds)});
    row.cache = CacheState::kColdWeights;
    Add(std::move(row), TestEnvironment(1));
  }
};

TEST(WorkingSet, IsEachWeightOnceAndWhatLivesAtOnce) {
  const double row = 1024 * 4;
  EXPECT_NEAR(WorkingSetOf(Chain(1)), 4 * kMiB + 2 * row, 1);              // input and output
  EXPECT_NEAR(WorkingSetOf(Chain(16)), 64 * kMiB + 2 * row + 2 * row, 1);  // and two intermediates
}

TEST(BracketInContext, CountsWeightsFromMemoryWhereTheModelDoesNotFit) {
  const ModelGraph small = Chain(4), large = Chain(32);
  CurveRows rows;
  rows.Add(small.layers[0], "gemm", {100});
  EXPECT_NEAR(BracketOf(small, rows).BestKnown()->latency.count(), 400, 1e-6);
  const Bracket warm = BracketOf(large, rows);
  EXPECT_NEAR(warm.BestKnown()->latency.count(), 3200, 1e-6);
  EXPECT_THAT(warm.BestKnown()->assumptions, Contains("in-context"));
  EXPECT_THAT(warm.BestKnown()->assumptions, Contains("some-weights-warm"));
  EXPECT_DOUBLE_EQ(warm.context->cold_share(), 0);

  rows.AddCold(small.layers[0], "gemm", 400);
  const Bracket bracket = BracketOf(large, rows);
  EXPECT_NEAR(bracket.context->near_share(), 0.02, 0.01);
  EXPECT_DOUBLE_EQ(bracket.context->cold_share(), 1);
  EXPECT_NEAR(bracket.BestKnown()->latency.count(), 32 * (100 + 300 * (1 - bracket.context->near_share())), 1e-6);
  EXPECT_THAT(bracket.BestKnown()->assumptions, Not(Contains("some-weights-warm")));
  EXPECT_NEAR(BracketOf(small, rows).BestKnown()->latency.count(), 400, 1e-6) << "it fits";

  Selection selection = testing::TestSelection(1);
  selection.cache = CacheState::kWarm;
  EXPECT_NEAR(BracketOf(large, rows, selection).BestKnown()->latency.count(), 3200, 1e-6);
  EXPECT_FALSE(BracketOf(large, rows, selection).context.has_value());
  selection.cache = CacheState::kColdWeights;
  EXPECT_NEAR(BracketOf(large, rows, selection).BestKnown()->latency.count(), 32 * 400, 1e-6);
}

// Sixteen MiB fit, but others take them before their turn comes again: at least the roofline of the four layers later.
TEST(BracketInContext, WeightsThatFitAreLostWhereOthersUseTheCaches) {
  const ModelGraph small = Chain(4);
  CurveRows rows;
  rows.Add(small.layers[0], "gemm", {100});
  rows.AddCold(small.layers[0], "gemm", 400);
  DevicePeaks peaks = Curve();
  peaks.rates.push_back(Retention(1e-3));
  rows.SetPeaks(testing::TestDeviceKey(), peaks);
  const Bracket bracket = BracketOf(small, rows);
  const Result<DeviceModel> device = DeviceModel::Make(testing::TestDeviceKey(), peaks, 1);
  ASSERT_TRUE(device.ok());
  const double kept = std::exp(-(4 * FloorOfLayer(small.layers[0], *device) / Latency(1000)));
  EXPECT_LT(kept, 0.9);
  EXPECT_NEAR(bracket.context->near_share(), kept, 1e-6);
  EXPECT_NEAR(bracket.BestKnown()->latency.count(), 4 * (100 + 300 * (1 - kept)), 1e-3);
}

TEST(BracketInContext, TheBestCandidateIsTheBestInContext) {
  const ModelGraph large = Chain(64);
  CurveRows rows;
  rows.Add(large.layers[0], "warm-best", {100});
  rows.Add(large.layers[0], "cold-best", {120});
  rows.AddCold(large.layers[0], "warm-best", 500);
  rows.AddCold(large.layers[0], "cold-best", 300);
  EXPECT_EQ(BracketOf(large, rows).layers[0].candidate->algorithm, "cold-best");
}

TEST(BracketInContext, ABorrowedLossIsSaid) {
  const ModelGraph large = Chain(64);
  CurveRows rows;
  rows.Add(large.layers[0], "measured", {100});
  rows.Add(large.layers[0], "borrows", {90});
  rows.AddCold(large.layers[0], "measured", 300);
  const Bracket bracket = BracketOf(large, rows);
  EXPECT_EQ(bracket.layers[0].candidate->algorithm, "borrows");
  EXPECT_THAT(bracket.BestKnown()->assumptions, Contains("borrowed-cold-weights"));
  EXPECT_DOUBLE_EQ(bracket.context->cold_share(), 0);
}

}  // namespace
}  // namespace infimum::in_context_test
