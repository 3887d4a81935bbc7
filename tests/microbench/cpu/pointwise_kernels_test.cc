// Our elementary functions over the whole range of floats, in every instruction set that the processor has.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "microbench/kernels/cpu/broadcast_rows.h"
#include "microbench/kernels/cpu/vector/cpu_features.h"
#include "microbench/kernels/cpu/vector/vector_kernels.h"

namespace infimum::cpu {
namespace {

std::vector<const VectorKernels*> AllKernels() {
  std::vector<const VectorKernels*> all{&BaselineKernels()};
  if (Features().avx2) all.push_back(&Avx2Kernels());
  if (Features().avx512) all.push_back(&Avx512Kernels());
  return all;
}

// Floats of every exponent and both signs, and the special ones.
std::vector<float> AllMagnitudes() {
  std::vector<float> values{0.0F,
                            -0.0F,
                            INFINITY,
                            -INFINITY,
                            std::numeric_limits<float>::denorm_min(),
                            std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::lowest()};
  for (std::uint64_t bits = 0; bits < 0x7f800000; bits += 38501) {
    const auto narrow = static_cast<std::uint32_t>(bits);
    float value;
    std::memcpy(&value, &narrow, 4);
    values.push_back(value);
    values.push_back(-value);
  }
  return values;
}

struct Function {
  PointwiseKind kind;
  double (*exact)(double);
  double tolerance;    // relative to max(1, |exact|)
  double least, most;  // of the arguments
};

class EveryFunction : public ::testing::TestWithParam<Function> {};

TEST_P(EveryFunction, IsAccurateOverTheWholeRangeInEveryInstructionSet) {
  std::vector<float> inputs;
  for (const float value : AllMagnitudes()) {
    if (value >= GetParam().least && value <= GetParam().most) inputs.push_back(value);
  }
  for (const VectorKernels* kernels : AllKernels()) {
    SCOPED_TRACE(kernels->name);
    std::vector<float> outputs(inputs.size());
    const UnaryRow row = kernels->find_unary(GetParam().kind, ComputeType::kF32);
    ASSERT_NE(row, nullptr);
    row(inputs.data(), outputs.data(), static_cast<std::int64_t>(inputs.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const double exact = GetParam().exact(inputs[i]);
      const auto nearest = static_cast<float>(exact);
      if (outputs[i] == nearest || (std::isnan(nearest) && std::isnan(outputs[i]))) continue;
      ASSERT_LE(std::fabs(outputs[i] - exact) / std::max(1.0, std::fabs(exact)), GetParam().tolerance)
          << "at " << inputs[i] << ": " << outputs[i] << ", not " << exact;
    }
  }
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

INSTANTIATE_TEST_SUITE_P(
    Pointwise, EveryFunction,
    ::testing::Values(
        Function{PointwiseKind::kExponential, std::exp, 1e-6, -INFINITY, INFINITY},
        Function{PointwiseKind::kLogarithm, std::log, 1e-6, -INFINITY, INFINITY},
        Function{PointwiseKind::kTanh, std::tanh, 1e-6, -INFINITY, INFINITY},
        Function{PointwiseKind::kErrorFunction, std::erf, 1e-6, -INFINITY, INFINITY},
        Function{PointwiseKind::kSigmoid, Sigmoid, 1e-6, -INFINITY, INFINITY},
        Function{PointwiseKind::kSine, std::sin, 1e-6, -1e8, 1e8},
        Function{PointwiseKind::kCosine, std::cos, 1e-6, -1e8, 1e8},
        Function{PointwiseKind::kElu, [](double x) { return x < 0 ? std::expm1(x) : x; }, 1e-6, -INFINITY, INFINITY},
        Function{PointwiseKind::kSoftplus,
                 [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }, 1e-6, -INFINITY,
                 INFINITY},
        Function{PointwiseKind::kGeluErf, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }, 4e-6,
                 -1e30, 1e30}));

TEST(PointwiseKernels, NotANumberStaysOne) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const VectorKernels* kernels : AllKernels()) {
    for (const PointwiseKind kind : {PointwiseKind::kExponential, PointwiseKind::kLogarithm, PointwiseKind::kTanh,
                                     PointwiseKind::kErrorFunction, PointwiseKind::kSigmoid, PointwiseKind::kRelu}) {
      std::vector<float> values(17, nan), results(17, 0);
      kernels->find_unary(kind, ComputeType::kF32)(values.data(), results.data(), 17);
      for (const float result : results) EXPECT_TRUE(std::isnan(result)) << static_cast<int>(kind);
    }
  }
}

TEST(PointwiseKernels, HalvesRoundToNearestEvenInEveryInstructionSet) {
  for (const VectorKernels* kernels : AllKernels()) {
    SCOPED_TRACE(kernels->name);
    std::vector<std::uint16_t> halves;
    for (std::uint32_t bits = 0; bits < 65536; ++bits) halves.push_back(static_cast<std::uint16_t>(bits));
    std::vector<float> floats(halves.size());
    std::vector<std::uint16_t> back(halves.size());
    const auto count = static_cast<std::int64_t>(halves.size());
    kernels->find_convert(DataType::kF16, DataType::kF32)(halves.data(), floats.data(), count);
    kernels->find_convert(DataType::kF32, DataType::kF16)(floats.data(), back.data(), count);
    for (std::size_t i = 0; i < halves.size(); ++i) {
      if (!std::isnan(floats[i])) {
        ASSERT_EQ(back[i], halves[i]) << floats[i];
      }
    }
    const std::vector<float> ties{2049.0F, 2051.0F, 65519.0F, 65520.0F, 1e-8F, 0x1.8p-24F};
    const std::vector<std::uint16_t> rounded{0x6800, 0x6802, 0x7bff, 0x7c00, 0x0000, 0x0002};
    std::vector<std::uint16_t> results(ties.size());
    kernels->find_convert(DataType::kF32, DataType::kF16)(ties.data(), results.data(),
                                                          static_cast<std::int64_t>(ties.size()));
    EXPECT_EQ(results, rounded);
  }
}

TEST(BroadcastRows, MergesWhatEveryOperandAllows) {
  const BroadcastRows rows(Shape{{4, 128, 768}}, {Shape{{4, 128, 768}}, Shape{{768}}});
  EXPECT_EQ(rows.count(), 512);
  EXPECT_EQ(rows.length(), 768);
  EXPECT_EQ(rows.step(0), 1);
  EXPECT_EQ(rows.step(1), 1);
  EXPECT_EQ(rows.Offset(0, 5), 5 * 768);
  EXPECT_EQ(rows.Offset(1, 5), 0);
}

}  // namespace
}  // namespace infimum::cpu
