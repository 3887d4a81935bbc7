#include "infimum/measurement/contract.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "infimum/measurement/candidate.h"
#include "infimum/measurement/measurement.h"
#include "tests/support/parsed_workload.h"

namespace infimum {
namespace {

std::string MatMul(const std::string& types, int k) {
  const std::string size = std::to_string(k);
  return "matmul dtype=" + types + " a=1x8x" + size + " b=1x" + size + "x8 bias=no weights=const";
}

TEST(NativeContract, FollowsTheStorageTypes) {
  const auto native = [](const std::string& text) { return NativeContract(testing::ParsedWorkload(text)); };
  EXPECT_EQ(native(MatMul("f32:f32:f32", 8)), NumericContract::kStrictF32);
  EXPECT_EQ(native(MatMul("f16:f16:f16", 8)), NumericContract::kF16);
  EXPECT_EQ(native(MatMul("bf16:bf16:f32", 8)), NumericContract::kBf16);
  EXPECT_EQ(native(MatMul("u8:s8:s32", 8)), NumericContract::kInt8);
  EXPECT_EQ(native(MatMul("f8e4m3:f8e4m3:f16", 8)), NumericContract::kFp8);
  EXPECT_EQ(native(MatMul("f16:u4:f16", 8)), NumericContract::kF16);  // 4-bit weights are multiplied as f16
  EXPECT_EQ(native(MatMul("f16:f8e4m3:f16", 8)), NumericContract::kF16);
  EXPECT_EQ(native(MatMul("f32:f4e2m1:f32", 8)), NumericContract::kStrictF32);
  EXPECT_EQ(native(MatMul("f16:f8e4m3:f8e4m3", 8)), NumericContract::kFp8);
  EXPECT_EQ(native("pointwise kind=quantize dtype=f32:-:u8 in=1024"), NumericContract::kInt8);
  EXPECT_EQ(native("pointwise kind=cast dtype=f32:-:f16 in=1024"), NumericContract::kF16);
  EXPECT_EQ(native("pointwise kind=where dtype=f32:bool:f32 in=64,64,64"), NumericContract::kStrictF32);
  EXPECT_EQ(native("movement kind=gather dtype=f32:s64:f32 in=30522x768 out=128x768 axis=0 indices=128"),
            NumericContract::kStrictF32);
}

// An accuracy level of the model's, not of the run: a part of the layer's text.
TEST(Tolerance, GrowsByWhatActivationsMayBeRoundedTo) {
  const std::string plain = MatMul("f32:s4:f32", 64) + " scales=32x1:f32";
  const auto tolerance = [&](const std::string& activations) {
    return Tolerance(NumericContract::kStrictF32, testing::ParsedWorkload(plain + activations));
  };
  EXPECT_LT(tolerance(""), 1e-5);
  EXPECT_NEAR(tolerance(" activations=f16") - tolerance(""), 2 * 0x1p-11, 1e-12);
  EXPECT_NEAR(tolerance(" activations=s8") - tolerance(""), 4 * 0x1p-8, 1e-12);
}

TEST(NativeContract, OfARegionIsItsFirstProducts) {
  EXPECT_EQ(NativeContract(testing::ParsedWorkload("region [" + MatMul("bf16:bf16:bf16", 64) +
                                                   "](in0,w0) ; [pointwise kind=cast dtype=bf16:-:f32 in=64](%0)")),
            NumericContract::kBf16);
}

TEST(ContractRefusal, IsForWhatIsStoredInOtherNarrowTypes) {
  const auto product = [](const std::string& type) {
    return *ParseWorkload("matmul dtype=" + type + ":" + type + ":" + type +
                          " a=1x8x16 b=1x16x32 bias=no weights=const");
  };
  using enum NumericContract;
  for (const NumericContract contract : {kStrictF32, kTf32, kF16, kBf16})
    EXPECT_EQ(ContractRefusal(contract, product("f32")), "") << Name(contract);
  for (const NumericContract contract : {kStrictF32, kTf32, kF16, kBf16, kInt8})
    EXPECT_EQ(ContractRefusal(contract, product("s8")), "") << Name(contract);
  EXPECT_EQ(ContractRefusal(kInt8, product("f32")),
            "it is stored as the contract strict-f32 has it, and int8 asks for 8-bit integers: a quantized model has "
            "such layers");
  EXPECT_EQ(ContractRefusal(kF16, product("f16")), "");
  for (const NumericContract contract : {kStrictF32, kTf32, kBf16, kInt8, kFp8})
    EXPECT_NE(ContractRefusal(contract, product("f16")), "") << Name(contract);
}

TEST(Tolerance, OfF32ProductsGrowsWithTheRootOfTheirLength) {
  const auto tolerance = [](int k) {
    return Tolerance(NumericContract::kStrictF32, testing::ParsedWorkload(MatMul("f32:f32:f32", k)));
  };
  EXPECT_NEAR(tolerance(576), 7.7e-6, 2e-7);
  EXPECT_LT(tolerance(64), tolerance(4096));
  EXPECT_LT(tolerance(4096), 2e-5);
}

// A product of random numbers computed by `round`ing its operands, accumulated in f32.
double ErrorOfProducts(int k, float (*round)(float)) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  double worst = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    double exact = 0;
    double magnitude = 0;
    float sum = 0;
    for (int i = 0; i < k; ++i) {
      const float a = uniform(random);
      const float b = uniform(random);
      exact += static_cast<double>(a) * b;
      magnitude += std::abs(static_cast<double>(a) * b);
      sum += round(a) * round(b);
    }
    worst = std::max(worst, std::abs(sum - exact) / magnitude);
  }
  return worst;
}

float Exactly(float value) { return value; }

template <int kBits>
float ToMantissa(float value) {
  int exponent = 0;
  const float fraction = std::frexp(value, &exponent);
  return std::ldexp(std::round(std::ldexp(fraction, kBits)), exponent - kBits);
}

TEST(Tolerance, OfStrictF32AdmitsF32SumsAndRefusesTf32AndBf16) {
  for (int k : {27, 576, 2304}) {
    const double tolerance = Tolerance(NumericContract::kStrictF32, testing::ParsedWorkload(MatMul("f32:f32:f32", k)));
    EXPECT_LT(ErrorOfProducts(k, Exactly), tolerance) << k;
    EXPECT_GT(ErrorOfProducts(k, ToMantissa<11>), tolerance) << k;
    EXPECT_GT(ErrorOfProducts(k, ToMantissa<8>), tolerance) << k;
  }
}

TEST(Tolerance, OfACoarserContractAdmitsItsOwnArithmetic) {
  for (int k : {1, 27, 576}) {
    const Workload workload = testing::ParsedWorkload(MatMul("f32:f32:f32", k));
    EXPECT_LT(ErrorOfProducts(k, ToMantissa<11>), Tolerance(NumericContract::kTf32, workload)) << k;
    EXPECT_LT(ErrorOfProducts(k, ToMantissa<8>), Tolerance(NumericContract::kBf16, workload)) << k;
  }
}

TEST(Tolerance, RisesFromContractToCoarserContract) {
  const Workload workload = testing::ParsedWorkload(MatMul("f32:f32:f32", 512));
  const double strict = Tolerance(NumericContract::kStrictF32, workload);
  const double tf32 = Tolerance(NumericContract::kTf32, workload);
  const double f16 = Tolerance(NumericContract::kF16, workload);
  const double bf16 = Tolerance(NumericContract::kBf16, workload);
  const double fp8 = Tolerance(NumericContract::kFp8, workload);
  EXPECT_LT(strict, tf32);
  EXPECT_LT(tf32, f16);
  EXPECT_LT(f16, bf16);
  EXPECT_LT(bf16, fp8);
  EXPECT_LT(fp8, 1);
}

TEST(Tolerance, OfEightBitResultsIsOneStepAndOfExactOnesNothing) {
  const auto tolerance = [](NumericContract contract, const std::string& text) {
    return Tolerance(contract, testing::ParsedWorkload(text));
  };
  EXPECT_EQ(tolerance(NumericContract::kInt8, MatMul("u8:s8:u8", 8)), 1);
  EXPECT_EQ(tolerance(NumericContract::kInt8, MatMul("u8:s8:s32", 8)), 0);
  EXPECT_EQ(tolerance(NumericContract::kInt8, "pointwise kind=quantize dtype=f32:-:u8 in=1024"), 1);
  EXPECT_EQ(tolerance(NumericContract::kStrictF32, "movement kind=transpose dtype=f32:-:f32 in=8x4 out=4x8 perm=1,0"),
            0);
  EXPECT_EQ(tolerance(NumericContract::kBf16, "pointwise kind=relu dtype=bf16:-:bf16 in=1024"), 0);
}

TEST(Tolerance, OfARegionAddsItsMembers) {
  const std::string product = MatMul("f32:f32:f32", 64);
  const std::string gelu = "pointwise kind=gelu_erf dtype=f32:-:f32 in=64";
  const NumericContract contract = NumericContract::kStrictF32;
  EXPECT_DOUBLE_EQ(
      Tolerance(contract, testing::ParsedWorkload("region [" + product + "](in0,w0) ; [" + gelu + "](%0)")),
      Tolerance(contract, testing::ParsedWorkload(product)) + Tolerance(contract, testing::ParsedWorkload(gelu)));
}

TEST(Tolerance, OfAFloatRegionWithAnEightBitMemberStaysBelowOne) {
  const Workload workload = testing::ParsedWorkload(
      "region [pointwise kind=quantize dtype=f32:-:u8 in=64](in0) ; "
      "[pointwise kind=dequantize dtype=u8:-:f32 in=64](%0)");
  EXPECT_LT(Tolerance(NativeContract(workload), workload), 0.1);
}

TEST(ErrorMeasure, FollowsTheFamilyAndTheOutputType) {
  EXPECT_EQ(MeasureOf(testing::ParsedWorkload(MatMul("f32:f32:f32", 8))), ErrorMeasure::kProduct);
  EXPECT_EQ(MeasureOf(testing::ParsedWorkload(MatMul("u8:s8:u8", 8))), ErrorMeasure::kSteps);
  EXPECT_EQ(MeasureOf(testing::ParsedWorkload("softmax kind=softmax dtype=f32:-:f32 in=1536x128x1 axis=1")),
            ErrorMeasure::kMaximum);
  EXPECT_EQ(MeasureOf(testing::ParsedWorkload("pointwise kind=relu dtype=f32:-:f32 in=64")), ErrorMeasure::kRelative);
}

TEST(Names, OfContractsTiersOutcomesAndCacheStatesAreFoundAgain) {
  for (auto contract : {NumericContract::kStrictF32, NumericContract::kTf32, NumericContract::kF16,
                        NumericContract::kBf16, NumericContract::kInt8, NumericContract::kFp8}) {
    EXPECT_EQ(FindContract(Name(contract)), contract);
  }
  for (auto tier : {CandidateTier::kHeuristic, CandidateTier::kEngine, CandidateTier::kExhaustive}) {
    EXPECT_EQ(FindTier(Name(tier)), tier);
  }
  for (auto outcome : {Outcome::kMeasured, Outcome::kUnsupported, Outcome::kSkipped, Outcome::kFailed}) {
    EXPECT_EQ(FindOutcome(Name(outcome)), outcome);
  }
  for (auto state : {CacheState::kWarm, CacheState::kCold, CacheState::kColdWeights})
    EXPECT_EQ(FindCacheState(Name(state)), state);
  EXPECT_EQ(Name(CacheState::kColdWeights), "cold-weights");
  EXPECT_FALSE(FindContract("F16").has_value());
  EXPECT_FALSE(FindTier("").has_value());
  EXPECT_FALSE(FindOutcome("ok").has_value());
  EXPECT_FALSE(FindCacheState("hot").has_value());
}

TEST(CacheState, ColdWeightsAreWarmWhereThereAreNone) {
  const Workload relu = testing::ParsedWorkload("pointwise kind=relu dtype=f32:-:f32 in=64");
  const Workload product = testing::ParsedWorkload(MatMul("f32:f32:f32", 8));
  EXPECT_EQ(StateOfRows(CacheState::kColdWeights, relu), CacheState::kWarm);
  EXPECT_EQ(StateOfRows(CacheState::kColdWeights, product), CacheState::kColdWeights);
  for (auto state : {CacheState::kWarm, CacheState::kCold}) {
    EXPECT_EQ(StateOfRows(state, relu), state);
    EXPECT_EQ(StateOfRows(state, product), state);
  }
}

}  // namespace
}  // namespace infimum
