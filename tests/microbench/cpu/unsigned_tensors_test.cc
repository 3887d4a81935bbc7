// Signed bytes that readers want unsigned are written so, and only those that can be.
#include "microbench/cpu/unsigned_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "microbench/cpu/onednn_backend.h"
#include "microbench/kernels/cpu/cpu_kernels.h"
#include "tests/support/replay_network.h"

namespace infimum {
namespace {

using testing::ReplayNetwork;

ReplayTensor Tensor(const std::string& name, ReplayTensorKind kind, DataType type, Shape shape) {
  return {name, kind, type, std::move(shape)};
}

ReplayValues Scales(const std::vector<std::pair<std::string, double>>& zeros) {
  ReplayValues values;
  for (const auto& [place, zero] : zeros) {
    values[place + "_scale"] = {place == "in1" ? 0.01 : 0.02};
    values[place + "_zero"] = {zero};
  }
  return values;
}

// The library's plain loops, which every processor has.
constexpr const char* kReference = "onednn/as-u8/ref:any";

constexpr const char* kConvolution =
    "convolution dtype=s8:s8:s8 in=1x8x6x6 out_channels=8 kernel=1x1 stride=1x1 dilation=1x1 pad=0,0,0,0 groups=1 "
    "bias=no weights=const";

// image -> quantize -> q -> maximum -> m -> convolution -> c -> convolution + m -> r -> dequantize -> y
ReplaySchedule Network() {
  using enum ReplayTensorKind;
  const Shape image{{1, 8, 6, 6}}, weights{{8, 8, 1, 1}};
  ReplaySchedule schedule;
  schedule.model = "bytes";
  schedule.tensors = {
      Tensor("image", kInput, DataType::kF32, image),   Tensor("q", kIntermediate, DataType::kS8, image),
      Tensor("m", kIntermediate, DataType::kS8, image), Tensor("w1", kWeight, DataType::kS8, weights),
      Tensor("c", kIntermediate, DataType::kS8, image), Tensor("w2", kWeight, DataType::kS8, weights),
      Tensor("r", kIntermediate, DataType::kS8, image), Tensor("y", kIntermediate, DataType::kF32, image)};
  schedule.tensors[7].is_output = true;
  schedule.steps = {
      ReplayNetwork::Step("quantize", "pointwise kind=quantize dtype=f32:-:s8 in=288", "", {0}, {1},
                          Scales({{"out", -128}})),
      ReplayNetwork::Step("maximum",
                          "pooling kind=max dtype=s8:-:s8 in=1x8x6x6 out=1x8x6x6 kernel=3x3 stride=1x1 dilation=1x1 "
                          "pad=1,1,1,1",
                          "", {1}, {2}),
      ReplayNetwork::Step("first", kConvolution, kReference, {2, 3}, {4},
                          Scales({{"in0", -128}, {"in1", 0}, {"out", -100}})),
      ReplayNetwork::Step(
          "second",
          "region [" + std::string(kConvolution) + "](in0,w0) ; [pointwise kind=add dtype=s8:s8:s8 in=288,288](%0,in1)",
          kReference, {4, 2, 5}, {6}),
      ReplayNetwork::Step("dequantize", "pointwise kind=dequantize dtype=s8:-:f32 in=288", "", {6}, {7},
                          Scales({{"in0", -7}})),
  };
  schedule.steps[3].values = {Scales({{"in0", -100}, {"in1", 0}, {"out", 5}}),
                              Scales({{"in0", 5}, {"in1", -128}, {"out", -7}})};
  return schedule;
}

DataType TypeIn(const ReplaySchedule& schedule, const std::string& tensor) {
  return std::ranges::find(schedule.tensors, tensor, &ReplayTensor::name)->type;
}

TEST(StoreUnsigned, ChangesWhatReadersWantAndWhatHangsOnIt) {
  ReplaySchedule schedule = Network();
  cpu::StoreUnsigned(schedule);
  EXPECT_EQ(Validate(schedule).ok(), true);
  for (const char* tensor : {"q", "m", "c"}) EXPECT_EQ(TypeIn(schedule, tensor), DataType::kU8) << tensor;
  // Nobody wants this one unsigned.
  EXPECT_EQ(TypeIn(schedule, "r"), DataType::kS8);
  EXPECT_EQ(schedule.steps[0].values[0].at("out_zero"), std::vector<double>{0});
  EXPECT_EQ(schedule.steps[2].values[0].at("in0_zero"), std::vector<double>{0});
  EXPECT_EQ(schedule.steps[2].values[0].at("out_zero"), std::vector<double>{28});
  EXPECT_EQ(schedule.steps[2].candidate.name, "onednn/ref:any");
  EXPECT_EQ(schedule.steps[3].values[0].at("in0_zero"), std::vector<double>{28});
  EXPECT_EQ(schedule.steps[3].values[1].at("in1_zero"), std::vector<double>{0});
  EXPECT_EQ(Format(schedule.steps[3].workload),
            "region [convolution dtype=u8:s8:s8 in=1x8x6x6 out_channels=8 kernel=1x1 stride=1x1 dilation=1x1 "
            "pad=0,0,0,0 groups=1 bias=no weights=const](in0,w0) ; [pointwise kind=add dtype=s8:u8:s8 in=288,288]"
            "(%0,in1)");
}

// Each step against the reference, and the outputs of two inferences against each other.
void ExpectRight(const ReplaySchedule& schedule) {
  OneDnnBackend backend{BackendOptions{}};
  const auto replay = backend.PrepareReplay(schedule, nullptr);
  ASSERT_TRUE(replay.ok()) << replay.error().message;
  const Result<ReplayResult> result = (*replay)->Check();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->FirstFault().value_or(""), "");
  for (const ReplayPart& part : result->parts) EXPECT_TRUE(part.is_reorder || part.error.has_value()) << part.name;
}

TEST(StoreUnsigned, AReplayOfItIsRightAsOneThatConverts) {
  ExpectRight(Network());
  ReplaySchedule converted = Network();
  for (ReplayStep& step : converted.steps) step.candidate = "";
  ExpectRight(converted);
}

// Network, and c and r as one beside it: a concatenation's tensors have one type.
ReplaySchedule Joined() {
  ReplaySchedule schedule = Network();
  schedule.tensors.push_back(Tensor("both", ReplayTensorKind::kIntermediate, DataType::kS8, Shape{{1, 16, 6, 6}}));
  schedule.tensors.push_back(Tensor("z", ReplayTensorKind::kIntermediate, DataType::kF32, Shape{{1, 16, 6, 6}}));
  schedule.tensors[9].is_output = true;
  schedule.steps.push_back(ReplayNetwork::Step("concat",
                                               "movement kind=concat dtype=s8:-:s8 in=1x8x36,1x8x36 out=1x16x36 axis=1",
                                               "", {4, 6}, {8}, Scales({{"in0", -100}, {"in1", -7}, {"out", 0}})));
  schedule.steps.push_back(ReplayNetwork::Step("dequantize both", "pointwise kind=dequantize dtype=s8:-:f32 in=576", "",
                                               {8}, {9}, Scales({{"in0", 0}})));
  return schedule;
}

TEST(StoreUnsigned, AConcatenationIsUnsignedAsAWholeOrNotAtAll) {
  ReplaySchedule schedule = Joined();
  ASSERT_TRUE(Validate(schedule).ok());
  ExpectRight(schedule);
  cpu::StoreUnsigned(schedule);
  EXPECT_TRUE(Validate(schedule).ok());
  for (const char* tensor : {"c", "r", "both"}) EXPECT_EQ(TypeIn(schedule, tensor), DataType::kU8) << tensor;
  EXPECT_EQ(schedule.steps[5].values[0].at("in1_zero"), std::vector<double>{121});
  EXPECT_EQ(schedule.steps[5].values[0].at("out_zero"), std::vector<double>{128});

  ReplaySchedule returned = Joined();
  returned.tensors[6].is_output = true;
  ExpectRight(returned);
  cpu::StoreUnsigned(returned);
  for (const char* tensor : {"c", "r", "both"}) EXPECT_EQ(TypeIn(returned, tensor), DataType::kS8) << tensor;
  EXPECT_EQ(TypeIn(returned, "m"), DataType::kU8);
}

// A benchmark, whose bytes have no scales, names a mean by its kernel.
TEST(StoreUnsigned, ACandidateIsOfferedByItsPlainNameToo) {
  ReplaySchedule schedule = Network();
  schedule.tensors.push_back(Tensor("mean", ReplayTensorKind::kIntermediate, DataType::kS8, Shape{{8}}));
  schedule.tensors.push_back(Tensor("z", ReplayTensorKind::kIntermediate, DataType::kF32, Shape{{8}}));
  schedule.tensors[9].is_output = true;
  const std::string set = std::string(cpu::KernelOffer("reduction", nullptr).candidate.name());
  schedule.steps.push_back(ReplayNetwork::Step("mean", "reduction kind=mean dtype=s8:-:s8 in=8x36 axes=1", set, {4},
                                               {8}, Scales({{"in0", -100}, {"out", -100}})));
  schedule.steps.push_back(ReplayNetwork::Step("dequantize mean", "pointwise kind=dequantize dtype=s8:-:f32 in=8", "",
                                               {8}, {9}, Scales({{"in0", -100}})));
  cpu::StoreUnsigned(schedule);
  EXPECT_EQ(TypeIn(schedule, "c"), DataType::kU8);
}

TEST(StoreUnsigned, WhatTheModelReturnsOrHasNoZeroPointStaysSigned) {
  ReplaySchedule returned = Network();
  returned.tensors[4].is_output = true;
  cpu::StoreUnsigned(returned);
  EXPECT_EQ(TypeIn(returned, "c"), DataType::kS8);
  EXPECT_EQ(returned.steps[3].candidate.name, kReference);

  // What a maximum is taken of hangs on its result.
  ReplaySchedule without = Network();
  without.steps[0].values[0].erase("out_zero");
  cpu::StoreUnsigned(without);
  EXPECT_EQ(TypeIn(without, "q"), DataType::kS8);
  EXPECT_EQ(TypeIn(without, "m"), DataType::kS8);
  EXPECT_EQ(TypeIn(without, "c"), DataType::kU8);
}

}  // namespace
}  // namespace infimum
