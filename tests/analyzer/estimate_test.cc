#include "analyzer/estimate/estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/parsed_workload.h"

namespace infimum::estimate_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A GPU of so many FLOP/s, and a hundredth of that in bytes/s.
KnownDevice MakeDevice(const std::string& name, double year, double flops) {
  const auto peak = [](PeakRate::Kind kind, double rate) {
    return PeakRate{kind, Bytes{0}, DataType::kF32, 1, rate, "data sheet: test"};
  };
  const Result<DeviceModel> peaks = DeviceModel::Make(
      {"gpu/" + name}, {{peak(PeakRate::Kind::kRead, flops / 100), peak(PeakRate::Kind::kArithmetic, flops)}, Bytes{0}},
      1);
  INFIMUM_CHECK(peaks.ok(), "a device of a test has peaks");
  return {name, year, *peaks, 1, {}};
}

KeyedWorkload Relu(std::int64_t elements) {
  return Keyed(testing::ParsedWorkload("pointwise kind=relu dtype=f32:-:f32 in=" + std::to_string(elements)));
}
KeyedWorkload Product(std::int64_t rows, std::int64_t columns) {
  return Keyed(testing::ParsedWorkload("matmul dtype=f32:f32:f32 a=1x" + std::to_string(rows) + "x512 b=1x512x" +
                                       std::to_string(columns) + " bias=no weights=const"));
}

// 8 bytes an element.
double ReluSeconds(std::int64_t elements, double flops) { return 8 * static_cast<double>(elements) * 100 / flops; }

void Measure(KnownDevice& device, const KeyedWorkload& of, double seconds, EstimateQuestion& question) {
  device.best[of.key] = std::chrono::duration<double>(seconds);
  question.workloads.emplace(of.key, of);
}

// Two other devices, a year and three years before the target.
EstimateQuestion Two(double ratio_near, double ratio_far) {
  EstimateQuestion question{MakeDevice("target", 2020, 1e13), {}, {}, {{Relu(1000000), 3}}, {}};
  question.others = {MakeDevice("near", 2019, 5e12), MakeDevice("far", 2017, 1e12)};
  Measure(question.others[0], Relu(1000000), ratio_near * ReluSeconds(1000000, 5e12), question);
  Measure(question.others[1], Relu(1000000), ratio_far * ReluSeconds(1000000, 1e12), question);
  return question;
}

TEST(Estimate, OtherDevicesCountByTheirRatioToTheRooflineAndTheirYear) {
  const Result<Estimate> estimate = EstimateModel(Two(2, 4));
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  const double near = std::exp(-1.0), far = std::exp(-3.0);
  const double ratio = std::exp((near * std::log(2) + far * std::log(4)) / (near + far));
  EXPECT_NEAR(estimate->latency.count(), 1e6 * 3 * ratio * ReluSeconds(1000000, 1e13), 1e-6);
  EXPECT_EQ(estimate->transferred, 1);
  // Each is wrong by two about the other, and two devices allow no more than 67 %.
  EXPECT_EQ(estimate->devices, 2U);
  EXPECT_NEAR(estimate->level, 2.0 / 3, 1e-12);
  // They are two years apart, the target is one from the nearer of them.
  const double factor = std::exp(std::log(2) * std::sqrt(2.0 / 3));
  EXPECT_NEAR(estimate->interval->high / estimate->latency, factor, 1e-9);
  EXPECT_NEAR(estimate->latency / estimate->interval->low, factor, 1e-9);
  EstimateQuestion later = Two(2, 4);
  later.target.year = 2030;
  const Result<Estimate> far_from_all = EstimateModel(later);
  EXPECT_NEAR(far_from_all->interval->high / far_from_all->latency, std::exp(std::log(2) * std::sqrt(12.0 / 3)), 1e-9);
}

TEST(Estimate, OfOneOtherDeviceThereIsNoInterval) {
  EstimateQuestion question = Two(2, 4);
  question.others.pop_back();
  const Result<Estimate> estimate = EstimateModel(question);
  ASSERT_TRUE(estimate.ok());
  EXPECT_GT(estimate->latency, Latency(0));
  EXPECT_EQ(estimate->interval, std::nullopt);
}

TEST(Estimate, WhatTheTargetMeasuredCountsAndShiftsTheRest) {
  EstimateQuestion question = Two(2, 2);
  question.model = {{Relu(1000000), 1}, {Relu(2000000), 1}};
  for (KnownDevice& device : question.others)
    Measure(device, Relu(2000000), 2 * ReluSeconds(2000000, device.name == "near" ? 5e12 : 1e12), question);
  Measure(question.target, Relu(1000000), 6 * ReluSeconds(1000000, 1e13), question);
  const Result<Estimate> estimate = EstimateModel(question);
  ASSERT_TRUE(estimate.ok());
  const double shift = std::log(3.0) / 4;
  EXPECT_NEAR(estimate->latency.count(),
              1e6 * (6 * ReluSeconds(1000000, 1e13) + 2 * std::exp(shift) * ReluSeconds(2000000, 1e13)), 1e-6);
  EXPECT_GT(estimate->measured, 0.5);
}

TEST(Estimate, WhatNoDeviceHasIsEstimatedByItsNeighboursOrMissing) {
  EstimateQuestion question = Two(2, 2);
  question.model = {{Relu(1100000), 1}};
  const Result<Estimate> near = EstimateModel(question);
  ASSERT_TRUE(near.ok());
  EXPECT_EQ(near->neighbours, 1);
  EXPECT_NEAR(near->latency.count(), 1e6 * 2 * ReluSeconds(1100000, 1e13), 1e-6);
  question.model = {{Relu(1000000), 1}, {Product(512, 512), 1}};
  const Result<Estimate> missing = EstimateModel(question);
  ASSERT_TRUE(missing.ok());
  EXPECT_GT(missing->missing, 0.05);
  EXPECT_EQ(missing->interval, std::nullopt);
  question.model = {{Product(512, 512), 1}};
  EXPECT_THAT(EstimateModel(question).error().message, HasSubstr("no device has a row of any family"));
}

// A device alone: another shape of a family that it has rows of, by the roofline's ratio.
TEST(Estimate, WithoutOtherDevicesItsOwnNearRowsCount) {
  EstimateQuestion question = Two(2, 2);
  question.others.clear();
  Measure(question.target, Relu(1000000), 3 * ReluSeconds(1000000, 1e13), question);
  question.model = {{Relu(1000000), 1}, {Relu(4000000), 2}};
  Result<Estimate> estimate = EstimateModel(question);
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  const double own = 3 * ReluSeconds(1000000, 1e13), near = 2 * 3 * ReluSeconds(4000000, 1e13);
  EXPECT_NEAR(estimate->latency.count(), 1e6 * (own + near), 1e-6);
  EXPECT_NEAR(estimate->measured, own / (own + near), 1e-9);
  EXPECT_NEAR(estimate->neighbours, near / (own + near), 1e-9);
  EXPECT_EQ(estimate->interval, std::nullopt);
  // A shape that is far from all says nothing of it.
  question.model = {{Relu(1000000), 1}, {Relu(16000000), 1}};
  estimate = EstimateModel(question);
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  EXPECT_EQ(estimate->neighbours, 0);
  EXPECT_GT(estimate->missing, 0.9);
}

TEST(Estimate, ADeviceOfWhichNothingIsKnownIsRefused) {
  EstimateQuestion question = Two(2, 2);
  question.others.clear();
  EXPECT_THAT(EstimateModel(question).error().message, HasSubstr("no device of this kind has rows"));
  question = Two(2, 2);
  question.model = {{Product(512, 512), 1}};
  const PeakRate memory{PeakRate::Kind::kRead, Bytes{0}, DataType::kF32, 1, 1e11, "data sheet: test"};
  question.target.peaks = *DeviceModel::Make({"gpu/x"}, {{memory}, Bytes{0}}, 1);
  EXPECT_THAT(EstimateModel(question).error().message, HasSubstr("the arithmetic of 'target' is not known"));
  // What memory decides on any device needs none.
  question.model = {{Relu(1000000), 1}};
  EXPECT_TRUE(EstimateModel(question).ok());
}

// Devices that are each too slow or too fast as a whole, workloads that are so everywhere, and chance: of all of them,
// left out in turn, the intervals cover what they say, and a row of its own narrows one.
TEST(Estimate, IntervalsCoverWhatTheySay) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> of_device(0, 0.25), of_workload(0, 1), chance(0, 0.2);
  std::uniform_int_distribution<std::int64_t> size(10, 4000);
  double covered = 0, count = 0, narrowed = 0, advised = 0;
  for (int world = 0; world < 12; ++world) {
    EstimateQuestion all{MakeDevice("none", 2020, 1e13), {}, {}, {}, {}};
    std::vector<ModelWork> models(4);
    std::map<WorkloadKey, double> ratio;
    for (ModelWork& model : models) {
      for (int i = 0; i < 12; ++i) {
        const KeyedWorkload of = i % 2 == 0 ? Relu(1000 * size(random)) : Product(size(random), size(random));
        ratio.emplace(of.key, 1 + of_workload(random));
        all.workloads.emplace(of.key, of);
        model.push_back({of, 1});
      }
    }
    for (int d = 0; d < 8; ++d) {
      const double flops = 1e12 * (1 + d), whole = of_device(random);
      KnownDevice device = MakeDevice("device " + std::to_string(d), 2012 + d, flops);
      for (const auto& [key, of] : all.workloads) {
        const double roofline =
            std::max(static_cast<double>(of.work.read().value + of.work.written.value) * 100 / flops,
                     static_cast<double>(of.work.conventional.value) / flops);
        Measure(device, of, roofline * std::exp(ratio[key] + whole + chance(random)), all);
      }
      all.others.push_back(std::move(device));
    }
    for (std::size_t left_out = 0; left_out < 8; ++left_out) {
      for (const ModelWork& model : models) {
        EstimateQuestion question = all;
        question.target = all.others[left_out];
        question.others.erase(question.others.begin() + static_cast<std::ptrdiff_t>(left_out));
        question.model = model;
        const std::map<WorkloadKey, Latency> best = std::exchange(question.target.best, {});
        Latency truth{0};
        for (const WorkloadUse& use : model) truth += best.at(use.of.key);
        const Result<Estimate> estimate = EstimateModel(question);
        ASSERT_TRUE(estimate.ok() && estimate->interval);
        covered += estimate->interval->low <= truth && truth <= estimate->interval->high ? 1 : 0;
        count += 1;
        if (left_out != 3) continue;
        const Result<std::vector<MeasureNext>> advice = WhatToMeasureNext(question, 3);
        ASSERT_TRUE(advice.ok());
        if (advice->empty()) continue;
        advised += 1;
        for (const MeasureNext& next : *advice) {
          EXPECT_EQ(next.device, question.target.name);
          question.target.best[next.workload] = best.at(next.workload);
        }
        const Result<Estimate> after = EstimateModel(question);
        EXPECT_NEAR(after->interval->high / after->latency, advice->back().factor, 1e-9);
        narrowed += after->interval->high / after->latency < estimate->interval->high / estimate->latency ? 1 : 0;
      }
    }
  }
  EXPECT_GE(covered, 0.7 * count);
  EXPECT_LE(covered, 0.97 * count);
  EXPECT_GE(advised, 0.7 * 48);
  EXPECT_GE(narrowed, 0.8 * advised);
}

// Of a ReLU of 4,000,000 elements the ratio is another, so that neighbours err more than other devices do.
TEST(Advice, AWorkloadThatNoDeviceHasIsForADeviceAtHand) {
  EstimateQuestion question = Two(2, 2.2);
  for (KnownDevice& device : question.others) {
    const double flops = device.name == "near" ? 5e12 : 1e12;
    Measure(device, Relu(2000000), 2 * ReluSeconds(2000000, flops), question);
    Measure(device, Relu(4000000), 4 * ReluSeconds(4000000, flops), question);
  }
  question.model = {{Relu(1500000), 1}};
  question.other_models = {{{Relu(1000000), 1}, {Relu(2000000), 1}}};
  const Result<std::vector<MeasureNext>> advice = WhatToMeasureNext(question, 5);
  ASSERT_THAT(*advice, ::testing::SizeIs(1));
  EXPECT_EQ((*advice)[0].device, "near");
  EXPECT_EQ((*advice)[0].workload, Relu(1500000).key);
  const Result<Estimate> before = EstimateModel(question);
  EXPECT_LT((*advice)[0].factor, before->interval->high / before->latency);
  Measure(question.others[0], Relu(1500000), 2 * ReluSeconds(1500000, 5e12), question);
  const Result<Estimate> after = EstimateModel(question);
  EXPECT_EQ(after->transferred, 1);
  EXPECT_LT(after->interval->high / after->latency, before->interval->high / before->latency);
}

TEST(Advice, NothingIsAdvisedWhereNothingWouldHelpOrNoTimeIsLeft) {
  EstimateQuestion question = Two(2, 2);
  EXPECT_THAT(*WhatToMeasureNext(question, 0), IsEmpty());
  question.others.pop_back();
  EXPECT_THAT(*WhatToMeasureNext(question, 5), IsEmpty());  // nothing can be left out
}

}  // namespace
}  // namespace infimum::estimate_test
