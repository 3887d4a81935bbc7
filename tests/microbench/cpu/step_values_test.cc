// A model's own values reach every candidate that may run a step: each is held against plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>

#include "microbench/cpu/offers.h"
#include "microbench/cpu/step_offer.h"
#include "microbench/libraries/onednn/program/region_problem.h"
#include "microbench/reference/random_fill.h"
#include "microbench/reference/reference.h"

namespace infimum::step_values_test {
namespace {

using cpu::HostTensor;
using ::testing::HasSubstr;

ReplayStep StepOf(const std::string& workload, std::vector<ReplayValues> values) {
  Result<Workload> parsed = ParseWorkload(workload);
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
  return {"step", {"step"}, *parsed, "", {}, {}, std::move(values)};
}

// A step's tensors: operands seeded, outputs poisoned.
struct Tensors {
  std::deque<HostTensor> held;
  cpu::Operands operands;
  cpu::Outputs outputs;

  explicit Tensors(const Workload& workload) {
    for (const Operand& operand : OperandsOf(workload)) {
      HostTensor tensor = *HostTensor::Make(operand.shape, operand.type);
      const std::uint64_t seed = held.size() + 1;
      for (std::int64_t i = 0; i < tensor.count(); ++i) {
        const double uniform = static_cast<double>(cpu::HashOf(seed, static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53;
        // Weights within 7 bits, as processors without VNNI want them.
        const double range = operand.type == DataType::kS32 ? 4000 : operand.constant ? 126 : 250;
        const double low = operand.type == DataType::kU8 ? 0 : -range / 2;
        tensor.Set(i, IsInteger(operand.type) ? std::floor(low + uniform * range) : uniform * 2 - 1);
      }
      operands.push_back(&held.emplace_back(std::move(tensor)));
    }
    for (const Operand& output : OutputsOf(workload))
      outputs.push_back(&held.emplace_back(*HostTensor::Make(output.shape, output.type)));
  }
  double In(std::size_t operand, std::int64_t element) const { return operands[operand]->Get(element); }
};

double Stored(double value, double scale, double zero, bool is_signed) {
  return std::clamp(std::nearbyint(value / scale) + zero, is_signed ? -128.0 : 0.0, is_signed ? 127.0 : 255.0);
}

// Runs every candidate of the step; `expected` gives an element of output 0.
void ExpectAll(const ReplayStep& step, double tolerance,
               const std::function<double(const Tensors&, std::int64_t)>& expected) {
  const auto values = cpu::ValuesOf(step);
  ASSERT_TRUE(values.ok()) << values.error().message;
  std::vector<std::string> candidates;
  if (const auto* config = std::get_if<LayerConfig>(&step.workload)) {
    for (const cpu::Offer& offer : cpu::OffersFor(*config, CandidateTier::kExhaustive, (*values)[0]))
      candidates.push_back(offer.candidate.name());
  } else {
    for (const auto& offer : cpu::RegionOffersFor(std::get<Region>(step.workload), CandidateTier::kExhaustive, *values))
      candidates.push_back(offer.candidate.name());
  }
  ASSERT_FALSE(candidates.empty());
  Tensors tensors(step.workload);
  const HostTensor& output = *tensors.outputs[0];
  for (const std::string& candidate : candidates) {
    SCOPED_TRACE(candidate);
    ReplayStep named = step;
    named.candidate = candidate;
    const Result<cpu::StepOffer> offer = cpu::FindStepOffer(named);
    ASSERT_TRUE(offer.ok()) << offer.error().message;
    EXPECT_EQ(offer->candidate, candidate);
    for (std::int64_t i = 0; i < output.count(); ++i) tensors.outputs[0]->Set(i, 99);
    auto program = offer->make(tensors.operands, tensors.outputs);
    if (!program.ok() && program.error().message.starts_with("unsupported")) continue;
    ASSERT_TRUE(program.ok()) << program.error().message;
    ASSERT_TRUE((*program)->Run().ok());
    double largest = 0;
    std::int64_t equal = 0;
    for (std::int64_t i = 0; i < output.count(); ++i) {
      const double difference = std::fabs(output.Get(i) - expected(tensors, i));
      largest = std::max(largest, difference);
      equal += difference == 0 ? 1 : 0;
    }
    EXPECT_LE(largest, tolerance);
    // Rounding may differ where the quotient is a half, not elsewhere.
    if (IsInteger(output.type())) {
      EXPECT_GE(equal * 100, output.count() * 97);
    }
    const auto error = cpu::StepError(named, tensors.operands, tensors.outputs, 1);
    ASSERT_TRUE(error.ok() && error->has_value());
    EXPECT_LE(**error, tolerance);
  }
}

constexpr int kIn = 16, kOut = 8, kSide = 5;

struct Signs {
  const char* input;
  const char* output;
};

class QuantizedConvolution : public ::testing::TestWithParam<Signs> {};

TEST_P(QuantizedConvolution, HasTheScalesAndZeroPointsOfItsModel) {
  const std::string input = GetParam().input, output = GetParam().output;
  const bool is_signed = output == "s8";
  std::vector<double> scales;
  for (int c = 0; c < kOut; ++c) scales.push_back(0.01 + 0.003 * c);
  const double in_zero = input == "s8" ? -5 : 131, out_zero = is_signed ? 7 : 100;
  const ReplayStep step =
      StepOf("convolution dtype=" + input + ":s8:" + output +
                 " in=1x16x5x5 out_channels=8 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 bias=yes "
                 "weights=const",
             {{{"in0_scale", {0.02}},
               {"in0_zero", {in_zero}},
               {"in1_scale", scales},
               {"in1_zero", std::vector<double>(kOut, 0)},
               {"out_scale", {0.35}},
               {"out_zero", {out_zero}}}});
  ExpectAll(step, 1, [&](const Tensors& tensors, std::int64_t element) {
    const std::int64_t o = element / (kSide * kSide), y = element / kSide % kSide, x = element % kSide;
    double sum = tensors.In(2, o);
    for (int i = 0; i < kIn; ++i) {
      for (int tap = 0; tap < 9; ++tap) {
        const std::int64_t row = y + tap / 3 - 1, column = x + tap % 3 - 1;
        if (row < 0 || row >= kSide || column < 0 || column >= kSide) continue;
        sum += (tensors.In(0, (i * kSide + row) * kSide + column) - in_zero) * tensors.In(1, (o * kIn + i) * 9 + tap);
      }
    }
    return Stored(sum * 0.02 * scales[static_cast<std::size_t>(o)], 0.35, out_zero, is_signed);
  });
}

INSTANTIATE_TEST_SUITE_P(Signs, QuantizedConvolution,
                         ::testing::Values(Signs{"s8", "s8"}, Signs{"u8", "u8"}, Signs{"u8", "s8"}),
                         [](const auto& tested) { return std::string(tested.param.input) + tested.param.output; });

TEST(QuantizedProduct, HasTheScalesAndZeroPointsOfItsModel) {
  for (const bool stays_float : {false, true}) {
    const ReplayStep step = StepOf(
        std::string("matmul dtype=s8:s8:") + (stays_float ? "f32" : "s8") +
            " a=1x6x32 b=1x32x4 bias=" + (stays_float ? "no" : "column") + " weights=const",
        {stays_float ? ReplayValues{{"in0_scale", {0.5}}, {"in0_zero", {3}}, {"in1_scale", {0.25}}, {"in1_zero", {0}}}
                     : ReplayValues{{"in0_scale", {0.5}},
                                    {"in0_zero", {3}},
                                    {"in1_scale", {0.25, 0.5, 1, 2}},
                                    {"in1_zero", {0}},
                                    {"out_scale", {60}},
                                    {"out_zero", {-20}}}});
    ExpectAll(step, stays_float ? 1e-4 : 1, [&](const Tensors& tensors, std::int64_t element) {
      const std::int64_t row = element / 4, column = element % 4;
      double sum = stays_float ? 0 : tensors.In(2, column);
      for (std::int64_t k = 0; k < 32; ++k) sum += (tensors.In(0, row * 32 + k) - 3) * tensors.In(1, k * 4 + column);
      if (stays_float) return sum * 0.5 * 0.25;
      return Stored(sum * 0.5 * std::exp2(static_cast<double>(column) - 2), 60, -20, true);
    });
  }
}

TEST(QuantizedProduct, WeightsThatAreNotSymmetricAreRunByNoLibrary) {
  const ReplayStep step =
      StepOf("matmul dtype=s8:s8:s8 a=1x6x32 b=1x32x4 bias=no weights=const", {{{"in0_scale", {0.5}},
                                                                                {"in1_scale", {0.25}},
                                                                                {"in1_zero", {1, 0, -2, 0}},
                                                                                {"out_scale", {60}},
                                                                                {"out_zero", {-20}}}});
  const auto offer = cpu::FindStepOffer(step);
  ASSERT_TRUE(offer.ok()) << offer.error().message;
  EXPECT_TRUE(offer->candidate.starts_with("infimum/")) << offer->candidate;
  Tensors tensors(step.workload);
  const auto program = offer->make(tensors.operands, tensors.outputs);
  ASSERT_TRUE(program.ok());
  ASSERT_TRUE((*program)->Run().ok());
  const double zeros[] = {1, 0, -2, 0};
  for (std::int64_t i = 0; i < 24; ++i) {
    double sum = 0;
    for (std::int64_t k = 0; k < 32; ++k)
      sum += tensors.In(0, i / 4 * 32 + k) * (tensors.In(1, k * 4 + i % 4) - zeros[i % 4]);
    EXPECT_EQ(tensors.outputs[0]->Get(i), Stored(sum * 0.125, 60, -20, true));
  }
}

TEST(QuantizedPointwise, SumsAndProductsAreThoseOfTheNumbersThatElementsStandFor) {
  const ReplayValues values{{"in0_scale", {0.5}}, {"in0_zero", {3}},     {"in1_scale", {0.125}},
                            {"in1_zero", {-9}},   {"out_scale", {0.75}}, {"out_zero", {-20}}};
  const auto a = [](const Tensors& t, std::int64_t i) { return (t.In(0, i) - 3) * 0.5; };
  const auto b = [](const Tensors& t, std::int64_t i) { return (t.In(1, i % 40) + 9) * 0.125; };
  for (const char* const shape : {"in=40,40", "in=5x40,40"}) {
    ExpectAll(StepOf(std::string("pointwise kind=add dtype=s8:s8:s8 ") + shape, {values}), 1,
              [&](const Tensors& t, std::int64_t i) { return Stored(a(t, i) + b(t, i), 0.75, -20, true); });
    ExpectAll(StepOf(std::string("pointwise kind=multiply dtype=s8:s8:s8 ") + shape, {values}), 1,
              [&](const Tensors& t, std::int64_t i) { return Stored(a(t, i) * b(t, i), 0.75, -20, true); });
  }
}

TEST(QuantizedStatistic, AMeanIsRequantized) {
  const ReplayStep step =
      StepOf("reduction kind=mean dtype=s8:-:s8 in=64x49 axes=1",
             {{{"in0_scale", {0.5}}, {"in0_zero", {-128}}, {"out_scale", {0.3}}, {"out_zero", {-128}}}});
  ExpectAll(step, 1, [](const Tensors& tensors, std::int64_t element) {
    double sum = 0;
    for (std::int64_t i = 0; i < 49; ++i) sum += (tensors.In(0, element * 49 + i) + 128) * 0.5;
    return Stored(sum / 49, 0.3, -128, true);
  });
}

TEST(QuantizedMovement, PartsOfOneScaleAreMovedAndOthersConverted) {
  const char* const workload = "movement kind=concat dtype=s8:-:s8 in=4x8,4x8 out=4x16 axis=1";
  const auto part = [](const Tensors& t, std::int64_t i) { return t.In(i % 16 < 8 ? 0 : 1, i / 16 * 8 + i % 8); };
  ExpectAll(StepOf(workload, {{{"in0_scale", {0.5}},
                               {"in0_zero", {1}},
                               {"in1_scale", {0.5}},
                               {"in1_zero", {1}},
                               {"out_scale", {0.5}},
                               {"out_zero", {1}}}}),
            0, part);
  ExpectAll(StepOf(workload, {{{"in0_scale", {0.5}}, {"in1_scale", {0.25}}, {"in1_zero", {2}}, {"out_scale", {0.5}}}}),
            1, [&](const Tensors& t, std::int64_t i) {
              const bool first = i % 16 < 8;
              return Stored((part(t, i) - (first ? 0 : 2)) * (first ? 0.5 : 0.25), 0.5, 0, true);
            });
}

// As a view it would hand on elements in another scale than its readers take them for.
TEST(QuantizedMovement, OfSeveralScalesIsNoView) {
  for (const double scale : {0.5, 0.25}) {
    ReplayStep step = StepOf("movement kind=concat dtype=s8:-:s8 in=4x8,4x8 out=8x8 axis=0",
                             {{{"in0_scale", {0.5}}, {"in1_scale", {scale}}, {"out_scale", {0.5}}}});
    step.candidate = std::string(kViewCandidate);
    const Result<cpu::StepOffer> offer = cpu::FindStepOffer(step);
    ASSERT_TRUE(offer.ok()) << offer.error().message;
    EXPECT_EQ(offer->view != nullptr, scale == 0.5);
  }
}

TEST(QuantizedPointwise, AQuantizeLinearHasItsOwnScale) {
  ExpectAll(StepOf("pointwise kind=quantize dtype=f32:-:u8 in=1000", {{{"out_scale", {0.007}}, {"out_zero", {77}}}}), 1,
            [](const Tensors& t, std::int64_t i) { return Stored(t.In(0, i), 0.007, 77, false); });
  ExpectAll(StepOf("pointwise kind=dequantize dtype=s8:-:f32 in=1000", {{{"in0_scale", {0.25}}, {"in0_zero", {-3}}}}),
            0, [](const Tensors& t, std::int64_t i) { return (t.In(0, i) + 3) * 0.25; });
}

TEST(QuantizedStep, ScalesThatNoTensorHasAreRefused) {
  const auto error = [](const char* workload, ReplayValues values) {
    const auto found = cpu::ValuesOf(StepOf(workload, {std::move(values)}));
    return found.ok() ? std::string() : found.error().message;
  };
  const char* const add = "pointwise kind=add dtype=s8:s8:s8 in=8,8";
  EXPECT_THAT(error(add, {{"in0_scale", {1, 2}}}), HasSubstr("2 scales"));
  EXPECT_THAT(error(add, {{"in2_scale", {1}}}), HasSubstr("3 operands of 2"));
  EXPECT_THAT(error(add, {{"in0_scale", {0}}}), HasSubstr("not positive"));
  EXPECT_THAT(error(add, {{"inx_scale", {1}}}), HasSubstr("not known"));
  EXPECT_THAT(error("matmul dtype=s8:s8:s8 a=1x6x32 b=1x32x4 bias=no weights=const", {{"in1_scale", {1, 2, 3}}}),
              HasSubstr("for 4 channels"));
}

TEST(AttentionStep, HasItsModelsScaleMaskAndKeys) {
  constexpr int kRows = 6, kKeys = 5, kHead = 8;
  const ReplayStep step = StepOf("attention dtype=f32:-:f32 n=1 heads=2 kv_heads=2 q=6 kv=5 head=8 mask=full",
                                 {{{"scale", {0.7}}, {"mask_scale", {1.5}}, {"keys_transposed", {1}}}});
  ExpectAll(step, 2e-5, [&](const Tensors& tensors, std::int64_t element) {
    const std::int64_t column = element % kHead, row = element / kHead % kRows, head = element / kHead / kRows;
    double total = 0, result = 0;
    for (int key = 0; key < kKeys; ++key) {
      double score = 0;
      for (int i = 0; i < kHead; ++i) {
        score += tensors.In(0, (head * kRows + row) * kHead + i) * tensors.In(1, (head * kHead + i) * kKeys + key);
      }
      const double weight = std::exp(0.7 * score + 1.5 * tensors.In(3, row * kKeys + key));
      total += weight;
      result += weight * tensors.In(2, (head * kKeys + key) * kHead + column);
    }
    return result / total;
  });
}

TEST(SliceStep, LeavesOutWhatItsStepsLeaveOut) {
  const ReplayStep step =
      StepOf("movement kind=slice dtype=f32:-:f32 in=6x10 out=2x4", {{{"starts", {1, 0}}, {"steps", {2, 3}}}});
  ExpectAll(step, 0, [](const Tensors& tensors, std::int64_t element) {
    return tensors.In(0, (1 + element / 4 * 2) * 10 + element % 4 * 3);
  });
  const auto outside = cpu::ValuesOf(
      StepOf("movement kind=slice dtype=f32:-:f32 in=6x10 out=2x4", {{{"starts", {1, 1}}, {"steps", {2, 3}}}}));
  ASSERT_FALSE(outside.ok());
  EXPECT_THAT(outside.error().message, HasSubstr("leads out of"));
}

TEST(RecurrentStep, WritesBothDirectionsWhereTheModelHasThem) {
  const ReplayStep step = StepOf(
      "recurrent kind=lstm dtype=f32:f32:f32 sequence=3 batch=1 input=2 hidden=16 directions=2 bias=yes weights=const",
      {{}});
  const std::unique_ptr<cpu::Reference> reference = cpu::MakeReference(std::get<LayerConfig>(step.workload));
  std::deque<cpu::TensorSource> held;
  cpu::Sources sources;
  ExpectAll(step, 1e-5, [&](const Tensors& tensors, std::int64_t element) {
    if (sources.empty())
      for (const HostTensor* operand : tensors.operands) sources.push_back(&held.emplace_back(*operand));
    return reference->At(0, element, sources).value;
  });
}

TEST(RecurrentStep, StartsFromZerosOrNotAtAll) {
  const char* const workload =
      "recurrent kind=lstm dtype=f32:f32:f32 sequence=3 batch=1 input=2 hidden=4 directions=1 bias=no weights=const";
  EXPECT_TRUE(cpu::ValuesOf(StepOf(workload, {{{"initial_h", {0, 0, 0, 0}}, {"initial_c", {0, 0, 0, 0}}}})).ok());
  const auto values = cpu::ValuesOf(StepOf(workload, {{{"initial_h", {0, 0, 0.5, 0}}}}));
  ASSERT_FALSE(values.ok());
  EXPECT_THAT(values.error().message, HasSubstr("is not zero"));
}

TEST(RegionStep, HasTheValuesOfEachMember) {
  const ReplayStep step = StepOf(
      "region [matmul dtype=f32:f32:f32 a=1x6x32 b=1x32x4 bias=no weights=const](in0,w0) ; "
      "[pointwise kind=leaky_relu dtype=f32:-:f32 in=24](%0)",
      {{}, {{"leaky_slope", {0.75}}}});
  ExpectAll(step, 1e-5, [](const Tensors& tensors, std::int64_t element) {
    double sum = 0;
    for (std::int64_t k = 0; k < 32; ++k)
      sum += tensors.In(0, element / 4 * 32 + k) * tensors.In(1, k * 4 + element % 4);
    return sum < 0 ? 0.75 * sum : sum;
  });
}

class ResidualsOn8Bits : public ::testing::TestWithParam<Signs> {};

// Steps of 0.12, 0.24 and 0.12: y's rounding and saturation, which happens here, show in every bit of the sum.
TEST_P(ResidualsOn8Bits, IsAddedInItsOwnScaleAndZeroPoint) {
  const std::string input = GetParam().input, output = GetParam().output;
  const bool is_signed = output == "s8";
  const double in_zero = input == "s8" ? -128 : 0, r_zero = is_signed ? -9 : 120, out_zero = is_signed ? -100 : 28;
  const std::vector<double> scales = {0.01, 0.02, 0.03, 0.04};
  const ReplayStep step = StepOf("region [convolution dtype=" + input +
                                     ":s8:s8 in=1x16x5x5 out_channels=4 kernel=1x1 stride=1x1 dilation=1x1 pad=0,0,0,0 "
                                     "groups=1 bias=yes weights=const](in0,w0,w1) ; [pointwise kind=add dtype=s8:" +
                                     output + ":" + output + " in=100,100](%0,in1)",
                                 {{{"in0_scale", {0.02}},
                                   {"in0_zero", {in_zero}},
                                   {"in1_scale", scales},
                                   {"in1_zero", std::vector<double>(4, 0)},
                                   {"out_scale", {0.12}},
                                   {"out_zero", {6}}},
                                  {{"in0_scale", {0.12}},
                                   {"in0_zero", {6}},
                                   {"in1_scale", {0.24}},
                                   {"in1_zero", {r_zero}},
                                   {"out_scale", {0.12}},
                                   {"out_zero", {out_zero}}}});
  std::int64_t saturated = 0;
  // A region's operands: its inputs, then its weights and bias.
  ExpectAll(step, 1, [&](const Tensors& tensors, std::int64_t element) {
    const std::int64_t o = element / 25;
    double sum = tensors.In(3, o);
    for (std::int64_t i = 0; i < 16; ++i)
      sum += (tensors.In(0, i * 25 + element % 25) - in_zero) * tensors.In(2, o * 16 + i);
    const double y = Stored(sum * 0.02 * scales[static_cast<std::size_t>(o)], 0.12, 6, true);
    saturated += y == 127 || y == -128 ? 1 : 0;
    return Stored((y - 6) * 0.12 + (tensors.In(1, element) - r_zero) * 0.24, 0.12, out_zero, is_signed);
  });
  EXPECT_GT(saturated, 0);
}
INSTANTIATE_TEST_SUITE_P(Signs, ResidualsOn8Bits,
                         ::testing::Values(Signs{"s8", "s8"}, Signs{"u8", "u8"}, Signs{"s8", "u8"}));

// A sum whose steps are much smaller than y's would show that y was not rounded.
TEST(RegionStep, AResidualOfFineStepsIsALayerOfItsOwn) {
  const auto workload = *ParseWorkload(
      "region [convolution dtype=s8:s8:s8 in=1x16x5x5 out_channels=4 kernel=1x1 stride=1x1 dilation=1x1 pad=0,0,0,0 "
      "groups=1 bias=no weights=const](in0,w0) ; [pointwise kind=add dtype=s8:s8:s8 in=100,100](%0,in1)");
  for (const double scale : {0.25, 0.24}) {
    cpu::RegionValues values(2);
    values[0].operands = {{{0.02}, {0}}, {{0.01}, {0}}};
    values[0].output = cpu::Quantization{{0.5}, {0}};
    values[1].operands = {{{0.5}, {0}}, {{0.1}, {0}}};
    values[1].output = cpu::Quantization{{scale}, {0}};
    const auto offers = cpu::RegionOffersFor(std::get<Region>(workload), CandidateTier::kEngine, values);
    const bool is_fused =
        std::ranges::any_of(offers, [](const auto& offer) { return offer.candidate.library == "onednn"; });
    EXPECT_EQ(is_fused, scale == 0.25);
    EXPECT_FALSE(offers.empty());
  }
}

TEST(RegionStep, AFilteredConvolutionHasTheValuesOfWhatFollows) {
  const ReplayStep step = StepOf(
      "region [convolution dtype=f32:f32:f32 in=1x16x5x6 out_channels=16 kernel=3x3 stride=1x1 dilation=1x1 "
      "pad=1,1,1,1 groups=1 bias=no weights=const](in0,w0) ; [pointwise kind=leaky_relu dtype=f32:-:f32 in=480](%0)",
      {{}, {{"leaky_slope", {0.75}}}});
  ExpectAll(step, 1e-4, [](const Tensors& tensors, std::int64_t element) {
    const std::int64_t channel = element / 30, y = element / 6 % 5, x = element % 6;
    double sum = 0;
    for (std::int64_t c = 0; c < 16; ++c)
      for (std::int64_t row = std::max<std::int64_t>(y - 1, 0); row <= std::min<std::int64_t>(y + 1, 4); ++row)
        for (std::int64_t column = std::max<std::int64_t>(x - 1, 0); column <= std::min<std::int64_t>(x + 1, 5);
             ++column)
          sum += tensors.In(0, (c * 5 + row) * 6 + column) *
                 tensors.In(1, (channel * 16 + c) * 9 + (row - y + 1) * 3 + column - x + 1);
    return sum < 0 ? 0.75 * sum : sum;
  });
}

}  // namespace
}  // namespace infimum::step_values_test
