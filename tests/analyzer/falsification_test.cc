// Programs that do less than a floor counts, with the same results: each belongs to the class of programs that its
// floor is of, or it does not. Every program counts the bytes that it reads and writes and the products that it
// computes.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "analyzer/floor/compulsory_traffic.h"
#include "analyzer/floor/floor.h"
#include "tests/support/graph_builder.h"

namespace infimum {
namespace {

using testing::GraphBuilder;

constexpr std::size_t kRows = 512, kColumns = 384;

struct Outcome {
  std::vector<float> result;
  double bytes = 0;  // read and written, each distinct one once
  double products = 0;
};

double Uniform(std::mt19937& random) { return std::uniform_real_distribution<double>(-1, 1)(random); }

// x[1 x kRows] behind a Relu: half of it is zero. W[kRows x kColumns] as a model that was trained in bf16 is exported:
// the lower halves of its f32 values are zero.
struct ProductData {
  std::vector<float> x, w, v;  // v: a second branch's weights

  explicit ProductData(std::uint32_t seed) : x(kRows), w(kRows * kColumns), v(kRows * kColumns) {
    std::mt19937 random(seed);
    for (float& value : x) value = std::max(0.0F, static_cast<float>(Uniform(random)));
    for (std::vector<float>* weights : {&w, &v})
      for (float& value : *weights)
        value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(Uniform(random))) & 0xFFFF0000U);
  }
};

constexpr double kEnds = 4.0 * (kRows + kColumns);  // bytes of x and of the result

// y += x[i] W[i], row by row; `read` gives a weight.
template <class Read>
void AddRow(float x, std::size_t row, Read read, Outcome& outcome) {
  for (std::size_t j = 0; j < kColumns; ++j) outcome.result[j] += x * read(row * kColumns + j);
  outcome.products += kColumns;
}

Outcome Dense(const std::vector<float>& x, const std::vector<float>& w) {
  Outcome outcome{std::vector<float>(kColumns), kEnds, 0};
  for (std::size_t i = 0; i < kRows; ++i) {
    AddRow(
        x[i], i, [&](std::size_t k) { return w[k]; }, outcome);
    outcome.bytes += 4.0 * kColumns;
  }
  return outcome;
}

Outcome SkippingZeros(const std::vector<float>& x, const std::vector<float>& w) {
  Outcome outcome{std::vector<float>(kColumns), kEnds, 0};
  for (std::size_t i = 0; i < kRows; ++i) {
    if (x[i] == 0) continue;
    AddRow(
        x[i], i, [&](std::size_t k) { return w[k]; }, outcome);
    outcome.bytes += 4.0 * kColumns;
  }
  return outcome;
}

Outcome KeepingHalves(const std::vector<float>& x, const std::vector<float>& w) {
  std::vector<std::uint16_t> halves;  // made once, before the first inference
  for (float value : w) halves.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
  Outcome outcome{std::vector<float>(kColumns), kEnds, 0};
  for (std::size_t i = 0; i < kRows; ++i) {
    AddRow(
        x[i], i, [&](std::size_t k) { return std::bit_cast<float>(std::uint32_t{halves[k]} << 16); }, outcome);
    outcome.bytes += 2.0 * kColumns;
  }
  return outcome;
}

GraphBuilder Product() {
  GraphBuilder model;
  model.Output(model.MatMul("fc", model.Input("x", {1, kRows}), model.Weight("w", {kRows, kColumns})));
  return model;
}

double CompulsoryBytes(GraphBuilder& model) {
  const CompulsoryTraffic traffic = FindCompulsoryTraffic(model.graph());
  return traffic.read + traffic.written;
}

TEST(Falsification, AProgramThatReadsEveryWeightOnceMovesWhatDenseReadCounts) {
  GraphBuilder model = Product();
  const ProductData layer(1);
  EXPECT_EQ(Dense(layer.x, layer.w).bytes, CompulsoryBytes(model));
}

TEST(Falsification, ProgramsThatSkipZerosOrKeepHalvesAreNotInTheClassDenseRead) {
  GraphBuilder model = Product();
  const ProductData layer(2);
  const Outcome dense = Dense(layer.x, layer.w);
  for (const auto program : {SkippingZeros, KeepingHalves}) {
    const Outcome outcome = program(layer.x, layer.w);
    EXPECT_EQ(outcome.result, dense.result);  // to the bit
    EXPECT_LT(outcome.bytes, 0.6 * CompulsoryBytes(model));
  }
}

TEST(Falsification, AProgramThatMergesBranchesIsNotInTheClassDenseRead) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {1, kRows});
  model.Output(model.Binary("sum", PointwiseKind::kAdd, model.MatMul("a", x, model.Weight("w", {kRows, kColumns})),
                            model.MatMul("b", x, model.Weight("v", {kRows, kColumns}))));
  const ProductData layer(3);
  std::vector<float> merged(layer.w);
  for (std::size_t i = 0; i < merged.size(); ++i) merged[i] += layer.v[i];
  const Outcome a = Dense(layer.x, layer.w), b = Dense(layer.x, layer.v), outcome = Dense(layer.x, merged);
  for (std::size_t j = 0; j < kColumns; ++j) EXPECT_NEAR(outcome.result[j], a.result[j] + b.result[j], 1e-4);
  EXPECT_LT(outcome.bytes, 0.6 * CompulsoryBytes(model));
  EXPECT_LE(CompulsoryBytes(model), a.bytes + b.bytes);
}

// F(2x2, 3x3) on one channel, tile by tile (Lavin and Gray, arXiv 1509.09308).
Outcome MinimalFiltering(const std::vector<float>& image, std::size_t side, const std::vector<float>& taps) {
  const float g[4][3] = {{1, 0, 0}, {0.5F, 0.5F, 0.5F}, {0.5F, -0.5F, 0.5F}, {0, 0, 1}};
  const float b[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
  const float a[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
  const auto both = []<std::size_t rows, std::size_t inner>(const float(&m)[rows][inner],
                                                            const std::vector<float>& in) {
    std::vector<float> out(rows * rows);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < rows; ++j)
        for (std::size_t k = 0; k < inner; ++k)
          for (std::size_t l = 0; l < inner; ++l) out[i * rows + j] += m[i][k] * in[k * inner + l] * m[j][l];
    return out;
  };
  const std::vector<float> filter = both(g, taps);
  const std::size_t outputs = side - 2;
  Outcome outcome{std::vector<float>(outputs * outputs), 0, 0};
  for (std::size_t y = 0; y < outputs; y += 2)
    for (std::size_t x = 0; x < outputs; x += 2) {
      std::vector<float> tile(16);
      for (std::size_t i = 0; i < 16; ++i) tile[i] = image[(y + i / 4) * side + x + i % 4];
      tile = both(b, tile);
      for (std::size_t i = 0; i < 16; ++i) tile[i] *= filter[i];
      outcome.products += 16;
      tile = both(a, tile);
      for (std::size_t i = 0; i < 4; ++i) outcome.result[(y + i / 2) * outputs + x + i % 2] = tile[i];
    }
  return outcome;
}

TEST(Falsification, MinimalFilteringDoesLessThanTheTextbookAndNoLessThanTheClassWinograd) {
  constexpr std::size_t kSide = 18, kOutputs = kSide - 2;
  std::mt19937 random(4);
  std::vector<float> image(kSide * kSide), taps(9);
  for (float& value : image) value = static_cast<float>(Uniform(random));
  for (float& value : taps) value = static_cast<float>(Uniform(random));
  const Outcome outcome = MinimalFiltering(image, kSide, taps);
  for (std::size_t y = 0; y < kOutputs; ++y)
    for (std::size_t x = 0; x < kOutputs; ++x) {
      float sum = 0;
      for (std::size_t i = 0; i < 9; ++i) sum += taps[i] * image[(y + i / 3) * kSide + x + i % 3];
      ASSERT_NEAR(outcome.result[y * kOutputs + x], sum, 1e-5);
    }
  ConvolutionConfig config;
  config.input = Shape{{1, 1, kSide, kSide}};
  config.kernel = Shape{{3, 3}};
  config.stride = config.dilation = Shape{{1, 1}};
  config.padding = {0, 0, 0, 0};
  const double textbook = static_cast<double>(WorkOf(config).conventional.value) / 2;
  EXPECT_LT(outcome.products, textbook);
  EXPECT_GE(outcome.products, textbook / WinogradSaving(config));
}

}  // namespace
}  // namespace infimum
